/** A preview shows exactly the request that is sent. */
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/contract/common.ts';
import { endpoints, type Operation } from '../../src/contract/endpoints.ts';
import { Assumptions } from '../../src/service/assumptions.ts';
import { untypedCall } from '../../src/service/call.ts';
import { describeRequest } from '../../src/service/request.ts';
import { apiKey, hostileServer, inferenceToken, json, serviceAt } from './hostile-server.ts';

const renamed = {
  'path.startEval': '/api/v2/evaluations/{bench_id}',
  'startEval.model_slug': 'base_model_slug',
  'query.cursor': 'after',
};

describe('the preview of a call', () => {
  it.each<[Operation, object]>([
    ['startEval', { params: { bench_id: 'a/b c' }, body: { display_name: 'x', model_slug: 'm' } }],
    ['listTrajectories', { query: { cursor: 'é&=', limit: 5, eval_run_id: 'evr_1' } }],
    ['listTrajectories', { query: { cursor: null, limit: undefined, eval_run_id: 'evr_1' } }],
    ['deleteEvalRun', { params: { bench_id: 'b', eval_run_id: 'e' } }],
    ['cancelTraining', { params: { training_run_id: 't' } }],
    ['buildBenchmarkImages', { params: { bench_id: 'b' } }],
  ])('%s matches what arrives at the service', async (operation, input) => {
    const server = await hostileServer(json({}));
    const { service } = serviceAt(`${server.url}/prefix/`, { assumptions: renamed });
    const preview = service.preview(operation, input);
    expect(preview.path).not.toMatch(/=(null|undefined)/);
    await untypedCall(service)(operation, input).catch(() => {});
    const [request] = server.requests;
    expect(request).toMatchObject({ method: preview.method });
    const [path, query] = (request?.url ?? '').split('?');
    const [shownPath, shownQuery] = preview.path.split('?');
    expect(shownPath).toBe(path);
    expect([...new URLSearchParams(shownQuery)]).toEqual([...new URLSearchParams(query)]);
    expect(preview.body).toEqual(request?.body ? JSON.parse(request.body) : undefined);
    expect(JSON.stringify(preview)).not.toMatch(new RegExp(`${apiKey}|${inferenceToken}`));
  });

  it('shows no secret values', () => {
    const { service } = serviceAt('https://service.example');
    const preview = service.preview('createSecret', { body: { name: 'TOKEN', value: 'hunter2' } });
    expect(preview).toEqual({
      operation: 'createSecret',
      method: 'POST',
      path: '/api/v1/secrets',
      body: { name: 'TOKEN', value: '••••' },
    });
  });

  it('shows incomplete input as far as it goes', () => {
    const assumptions = new Assumptions({ 'startEval.model_slug': 'base_model_slug' });
    const show = (input: object) => describeRequest(endpoints.startEval as Endpoint, input, assumptions);
    const start = { operation: 'startEval', method: 'POST' };
    expect(show({})).toEqual({ ...start, path: '/api/v1/eval/{bench_id}/start', body: {} });
    expect(show({ params: { bench_id: '' }, body: { display_name: '', model_slug: 'm' } })).toEqual({
      ...start,
      path: '/api/v1/eval/{bench_id}/start',
      body: { display_name: '', base_model_slug: 'm' },
    });
  });

  it('exists for every operation', () => {
    const { service } = serviceAt('https://service.example');
    for (const [operation, { method, path }] of Object.entries(endpoints)) {
      expect(service.preview(operation as Operation, {})).toMatchObject({ operation, method, path });
    }
  });
});
