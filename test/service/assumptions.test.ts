import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/contract/common.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import type { Generation } from '../../src/contract/generation.ts';
import { Assumptions } from '../../src/service/assumptions.ts';
import { RequestError } from '../../src/service/errors.ts';
import { hostileServer, json, serviceAt } from './hostile-server.ts';

describe('overrides', () => {
  it('are refused by name if they are unknown or malformed', () => {
    const refused: [Record<string, string>, string][] = [
      [{ nonsense: 'x' }, 'assumptions.nonsense'],
      [{ 'query.limit': 'a&b' }, 'assumptions.query.limit'],
      [{ streamUsage: 'maybe' }, 'assumptions.streamUsage'],
      [{ honoursIdempotencyKey: 'maybe' }, 'assumptions.honoursIdempotencyKey'],
      [{ idempotencyHeader: 'a b' }, 'assumptions.idempotencyHeader'],
      [{ 'path.nothing': '/x' }, 'assumptions.path.nothing'],
      [{ 'path.getEvalRun': 'https://evil.example/' }, 'assumptions.path.getEvalRun'],
      [{ 'path.getEvalRun': '/a/../b?x' }, 'assumptions.path.getEvalRun'],
      [{ 'path.getEvalRun': '/a/{bench_id}' }, 'assumptions.path.getEvalRun'],
      [{ 'path.getEvalRun': '/a/{eval_run_id}/{nonsense}' }, 'assumptions.path.getEvalRun'],
    ];
    for (const [overrides, param] of refused) {
      const make = () => new Assumptions(overrides);
      expect(make).toThrow(RequestError);
      expect(make).toThrow(expect.objectContaining({ code: 'assumptions_invalid', param }));
      expect(make).toThrow(param);
    }
  });
});

describe('an operation with another path on newer services', () => {
  const { deleteEvalRun, getEvalRun } = endpoints;
  const formOf = (endpoint: Endpoint, path?: string, generation: Generation = 'document') => {
    const set = path === undefined ? {} : { [`path.${endpoint.operation}`]: path };
    const assumptions = new Assumptions(set, { stated: undefined, current: generation });
    return [assumptions.generationOf(endpoint), assumptions.path(endpoint)];
  };

  it.each([
    ['/x/{bench_id}/{eval_run_id}', 'document'],
    ['/x/{eval_run_id}', 'newest'],
  ])('set to %s has the path %s, whatever generation the service is', (path, form) => {
    expect(formOf(deleteEvalRun, path, 'newest')).toEqual([form, path]);
    expect(formOf(deleteEvalRun, path, 'document')).toEqual([form, path]);
  });

  it('has the path of the generation otherwise, like all others', () => {
    expect(formOf(deleteEvalRun)).toEqual(['document', deleteEvalRun.path]);
    expect(formOf(deleteEvalRun, undefined, 'newest')).toEqual(['newest', '/api/v1/eval/{eval_run_id}']);
    expect(formOf(getEvalRun, '/x/{eval_run_id}', 'newest')).toEqual(['newest', '/x/{eval_run_id}']);
    expect(formOf(getEvalRun, undefined, 'newest')).toEqual(['newest', getEvalRun.path]);
  });
});

describe('advice on a refused field (C4)', () => {
  const start = endpoints.startEval;
  const sent = (query: string, body?: object) => ({ query: new URLSearchParams(query), body });
  const advice = (
    request: ReturnType<typeof sent>,
    param: string | undefined,
    message: string,
    { endpoint = start, set = {} }: { readonly endpoint?: Endpoint; readonly set?: Record<string, string> } = {},
  ) => new Assumptions(set).adviceOn(endpoint, request, { param, message });
  const model = sent('', { display_name: 'd', model_slug: 'm', checkpoint_id: undefined });

  it('names the assumption for a field that the service has under another name', () => {
    expect(advice(model, 'model', 'model: Field required')).toBe(
      "If that is this service's name for model_slug, set it with 'benchtop config set profiles.PROFILE.assumptions.startEval.model_slug model'.",
    );
    const both = sent('', { model_slug: 'm', checkpoint_id: 'c', options: {} });
    expect(advice(both, 'body.checkpoint', 'checkpoint is missing')).toContain('startEval.checkpoint_id checkpoint');
    expect(advice(both, 'options', 'Field required')).toContain('startEval.options options');
    expect(advice(model, 'model', 'Field required', { set: { 'startEval.model_slug': 'base_model' } })).toContain(
      'name for base_model, set it with',
    );
  });

  it.each([
    ['limit', 'Extra inputs are not permitted: limit'],
    [undefined, 'Extra inputs are not permitted: limit'],
    ['limit', 'Unknown query parameter'],
    ['limit', "Unrecognized key(s) in object: 'limit'"],
    ['query.limit', 'property limit should not exist'],
  ])('names the assumption for a field unknown to the service, with param %s and %s', (param, message) => {
    expect(advice(sent('limit=100'), param, message, { endpoint: endpoints.listBenchmarks })).toBe(
      "If this service has another name for limit, set it with 'benchtop config set profiles.PROFILE.assumptions.query.limit NAME'.",
    );
  });

  it('names none for a field that only starts alike, with an underscore', () => {
    const set = { 'startEval.model_slug': '_base' };
    expect(advice(model, '_other', 'Field required', { set })).toBeUndefined();
    expect(advice(model, '_base_slug', 'Field required', { set })).toContain('startEval.model_slug _base_slug');
  });

  it.each<[string, ReturnType<typeof sent>, string | undefined, string, Endpoint]>([
    ['of a wrong value', sent('limit=100'), 'limit', 'must be at most 50', endpoints.listBenchmarks],
    [
      'of a field that the document shows',
      sent('limit=5'),
      'limit',
      'Unknown parameter',
      endpoints.listBenchmarkRuntimes,
    ],
    ['of a field that was not sent', sent(''), 'limit', 'Unknown parameter', endpoints.listBenchmarks],
    ['of a field that was left out', sent('', { checkpoint_id: 'c' }), 'model', 'Field required', start],
    ['of a field like none', model, 'bench_id', 'Field required', start],
    ['of a field that is an id like it', sent('', { checkpoint_id: 'c' }), 'bench_id', 'Field required', start],
    ['of a name that is none', model, 'model; rm', 'Field required', start],
    ['of a model that does not exist', model, 'model_slug', 'unknown model m', start],
    [
      'of another operation',
      sent('', { base_model_slug: 'm' }),
      'base_model_slug',
      'Unknown field',
      { ...start, operation: 'otherTraining' },
    ],
  ])('names none %s', (_, request, param, message, endpoint) => {
    expect(advice(request, param, message, { endpoint })).toBeUndefined();
  });

  it('is in the error, from a framework or with an envelope', async () => {
    const missing = { detail: [{ loc: ['body', 'model'], msg: 'Field required', type: 'missing' }] };
    const extra = {
      error: { message: 'Extra inputs are not permitted: limit', code: 'validation_error', param: 'limit' },
    };
    const server = await hostileServer(json(missing, 422), json(extra, 400));
    const { service } = serviceAt(server.url);
    const body = { display_name: 'd', model_slug: 'm' };
    await expect(service.call('startEval', { params: { bench_id: 'b' }, body })).rejects.toThrow(
      "model: Field required. If that is this service's name for model_slug, set it with 'benchtop config set profiles.PROFILE.assumptions.startEval.model_slug model'.",
    );
    await expect(service.call('listBenchmarks', { query: { limit: 5 } })).rejects.toThrow(
      "not permitted: limit. If this service has another name for limit, set it with 'benchtop config set profiles.PROFILE.assumptions.query.limit NAME'.",
    );
  });
});

describe('on the wire', () => {
  const answer = json({ items: [], eval_run_id: 'e', training_run_id: 't', trajectory_id: 'tr' });

  async function sent(assumptions: Record<string, string>) {
    const server = await hostileServer(answer);
    const { service } = serviceAt(server.url, { assumptions });
    await service.call('listBenchmarks', { query: { limit: 5, cursor: 'c', order: 'asc' } });
    await service.call('listBenchmarkRuntimes', { query: { limit: 5 } });
    await service.call('getTrajectory', { params: { trajectory_id: 'tr' }, query: { include_steps: false } });
    await service.call(
      'startEval',
      { params: { bench_id: 'b' }, body: { display_name: 'd', model_slug: 'm', checkpoint_id: 'c' } },
      { idempotencyKey: 'k' },
    );
    await service.call('startTraining', { body: { bench_id: 'b', base_model_slug: 'm', parent_checkpoint_id: 'c' } });
    await service.call('deleteEvalRun', { params: { bench_id: 'b', eval_run_id: 'e' } });
    return server.requests;
  }

  it('the names are those of the document and of observed services', async () => {
    const [list, runtimes, trajectory, evaluation, training, deletion] = await sent({});
    expect(list?.url).toBe('/api/v1/benchmarks?cursor=c&limit=5&order=asc');
    expect(runtimes?.url).toBe('/api/v1/benchmarks/runtimes?limit=5');
    expect(trajectory?.url).toBe('/api/v1/trajectories/tr?include_steps=false');
    expect(JSON.parse(evaluation?.body ?? '')).toEqual({ display_name: 'd', model_slug: 'm', checkpoint_id: 'c' });
    expect(evaluation?.headers['idempotency-key']).toBe('k');
    expect(JSON.parse(training?.body ?? '')).toEqual({
      bench_id: 'b',
      base_model_slug: 'm',
      parent_checkpoint_id: 'c',
    });
    expect(deletion?.url).toBe('/api/v1/eval/b/runs/e');
  });

  it('the profile may differ, except about what the document shows', async () => {
    const [list, runtimes, trajectory, evaluation, training, deletion] = await sent({
      'query.limit': 'page_size',
      'query.include_steps': 'with_steps',
      'startEval.model_slug': 'base_model_slug',
      'startEval.checkpoint_id': 'parent_checkpoint_id',
      'startTraining.base_model_slug': 'model',
      idempotencyHeader: 'X-Once',
      'path.deleteEvalRun': '/api/v2/eval/{eval_run_id}',
    });
    expect(list?.url).toBe('/api/v1/benchmarks?cursor=c&page_size=5&order=asc');
    expect(runtimes?.url).toBe('/api/v1/benchmarks/runtimes?limit=5');
    expect(trajectory?.url).toBe('/api/v1/trajectories/tr?with_steps=false');
    expect(JSON.parse(evaluation?.body ?? '')).toEqual({
      display_name: 'd',
      base_model_slug: 'm',
      parent_checkpoint_id: 'c',
    });
    expect(evaluation?.headers['x-once']).toBe('k');
    expect(JSON.parse(training?.body ?? '')).toMatchObject({ model: 'm' });
    expect(deletion?.url).toBe('/api/v2/eval/e');
  });

  it('rewards can be kept from the key of the organization', async () => {
    const server = await hostileServer(json({ ok: true }));
    const reward = { reward_id: 'r', name: 'n', value: 1 };
    const { service } = serviceAt(server.url, { assumptions: { rewardsWithApiKey: 'no' } });
    await expect(service.call('logReward', { params: { trajectory_id: 't' }, body: reward })).rejects.toMatchObject({
      code: 'credential_missing',
    });
    await service.call('logReward', { params: { trajectory_id: 't' }, body: reward }, { token: 'tok' });
    expect(server.requests).toHaveLength(1);
  });
});
