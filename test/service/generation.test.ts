/** The generation of a service is detected from its answers, and moved operations are then sent to their new paths. */
import { describe, expect, it } from 'vitest';
import { evidenceIn } from '../../src/contract/generation.ts';
import type { FoundGeneration } from '../../src/service/generation.ts';
import type { ServiceOptions } from '../../src/service/options.ts';
import { type Behaviour, errorOf, hostileServer, json, refusal, serviceAt, text } from './hostile-server.ts';

const started = json({ eval_run_id: 'evr_1', bench_id: 'b' });
const noRoute = json({ detail: 'Not Found' }, 404);
const noBenchmark = refusal(404, 'invalid_request_error', 'resource_not_found');

/** Answers by method and path; anything else is an unknown route. */
const routes =
  (known: Readonly<Record<string, Behaviour>>, otherwise = noRoute): Behaviour =>
  (response, request) =>
    (known[`${request.method} ${request.url.split('?')[0]}`] ?? otherwise)(response, request);

const paths = {
  document: { start: 'POST /api/v1/eval/b/start', delete: 'DELETE /api/v1/eval/b/runs/evr_1' },
  newest: { start: 'POST /api/v1/eval', delete: 'DELETE /api/v1/eval/evr_1' },
} as const;

/** @param found the generation that an earlier session has detected */
const memoryOf =
  (
    found: FoundGeneration | undefined,
    save: (found: FoundGeneration | undefined) => void = () => {},
  ): NonNullable<ServiceOptions['memory']> =>
  () => ({ setting: () => found, setSetting: (_, value) => save(value as FoundGeneration | undefined) });

async function serviceWith(known: Readonly<Record<string, Behaviour>>, options: Partial<ServiceOptions> = {}) {
  const server = await hostileServer(routes(known));
  const saved: (FoundGeneration | undefined)[] = [];
  const memory = memoryOf(undefined, found => saved.push(found));
  const { service } = serviceAt(server.url, { generation: undefined, memory, ...options });
  const start = () =>
    service.call('startEval', {
      params: { bench_id: 'b' },
      body: { display_name: 'd', model_slug: 'm', checkpoint_id: 'c' },
    });
  const remove = () => service.call('deleteEvalRun', { params: { bench_id: 'b', eval_run_id: 'evr_1' } });
  const sent = () => server.requests.map(({ method, url }) => `${method} ${url}`);
  return { service, server, saved, start, remove, sent };
}

const askModels = 'GET /api/v1/models/supported-training-models';
const askBenchmarks = 'GET /api/v1/benchmarks';
const models = (row: object) => ({ [askModels]: json({ items: [row] }) });
const benchmarks = (row: object) => ({ [askBenchmarks]: json({ items: [row] }) });

describe('the generation', () => {
  it.each([
    ['document', 'getBenchmark', { bench_id: 'b', label: 'l' }],
    ['newest', 'getBenchmark', { bench_id: 'b', name: 'l' }],
    ['newest', 'getDeployment', { deployment_id: 'd', model_endpoint_id: 'e' }],
    [undefined, 'getBenchmark', null],
    [undefined, 'listBenchmarks', { items: [null] }],
    [undefined, 'getEvalRun', { label: 'l' }],
  ] as const)('%s is recognised by the body of %s %j', (generation, operation, body) => {
    expect(evidenceIn(operation, body)?.generation).toBe(generation);
  });

  it.each([
    ['document', models({ model_slug: 'm' })],
    ['document', models({ model_slug: 'm', base_model_slug: 'm' })],
    ['newest', models({ base_model_slug: 'm' })],
    ['document', benchmarks({ bench_id: 'b', label: 'l', name: 'l' })],
    ['newest', benchmarks({ bench_id: 'b', name: 'l' })],
    [undefined, benchmarks({ bench_id: 'b' })],
  ] as const)('%s', async (generation, known) => {
    const { service, saved } = await serviceWith(known);
    // Only one of the two is there.
    await Promise.allSettled([service.call('listBenchmarks', {}), service.call('listSupportedTrainingModels')]);
    expect(service.generation.found?.generation).toBe(generation);
    expect(saved.map(each => each?.generation)).toEqual(generation === undefined ? [] : [generation]);
  });

  it('is found once in a session, by the first answer that shows it (V22)', async () => {
    const known = { ...models({ model_slug: 'm' }), ...benchmarks({ bench_id: 'b', name: 'l' }) };
    const { service, saved } = await serviceWith(known);
    await service.call('listBenchmarks', {});
    await service.call('listSupportedTrainingModels');
    expect(service.generation.current).toBe('newest');
    expect(saved).toMatchObject([{ generation: 'newest', reason: 'its benchmarks have name in place of label' }]);
  });

  it('is kept for the next start, until an answer shows another', async () => {
    const found: FoundGeneration = { generation: 'newest', reason: 'seen before', at: 5 };
    const saved: unknown[] = [];
    const memory = memoryOf(found, each => saved.push(each?.generation));
    const known = { [paths.newest.start]: started, ...benchmarks({ bench_id: 'b', label: 'l' }) };
    const { service, start, sent } = await serviceWith(known, { memory });
    await start();
    expect(sent()).toEqual([paths.newest.start]);
    expect(service.generation.found).toEqual(found);
    await service.call('listBenchmarks', {});
    expect([service.generation.current, saved]).toEqual(['document', ['document']]);
  });

  it('is not detected if the profile sets it', async () => {
    const { service, saved } = await serviceWith(models({ base_model_slug: 'm' }), { generation: 'document' });
    await service.call('listSupportedTrainingModels');
    expect([service.generation.current, saved]).toEqual(['document', []]);
  });
});

describe('what has moved in the newest generation', () => {
  it('is requested at its path, with ids that have no place there in the body', async () => {
    const known = { [paths.newest.start]: started, [paths.newest.delete]: json({ eval_run_id: 'evr_1' }) };
    const { server, start, remove, sent } = await serviceWith(known, { generation: 'newest' });
    await start();
    await remove();
    expect(sent()).toEqual([paths.newest.start, paths.newest.delete]);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      bench_id: 'b',
      display_name: 'd',
      base_model_slug: 'm',
      parent_checkpoint_id: 'c',
    });
  });

  it('is previewed as it will be sent', async () => {
    const { service } = await serviceWith({}, { generation: 'newest' });
    const [preview] = service.describe(({ call }) =>
      call('startEval', { params: { bench_id: 'b' }, body: { display_name: 'd', model_slug: 'm' } }),
    );
    expect(preview).toEqual({
      operation: 'startEval',
      method: 'POST',
      path: '/api/v1/eval',
      body: { bench_id: 'b', display_name: 'd', base_model_slug: 'm' },
    });
  });

  it.each<[string, Readonly<Record<string, Behaviour>>, readonly string[]]>([
    ['models', models({ base_model_slug: 'm' }), [askModels]],
    ['benchmarks, if models do not show it', benchmarks({ bench_id: 'b', name: 'l' }), [askModels, askBenchmarks]],
  ])('is found by a read before the write, if nothing was known: by %s (V32)', async (_, known, asked) => {
    const { service, start, sent } = await serviceWith({ ...known, [paths.newest.start]: started });
    await expect(start()).resolves.toMatchObject({ eval_run_id: 'evr_1' });
    await start();
    expect(sent()).toEqual([...asked, paths.newest.start, paths.newest.start]);
    expect(service.generation.current).toBe('newest');
  });

  it('is assumed to be at the path of the document, if no answer shows otherwise', async () => {
    const { start, sent } = await serviceWith({ [paths.document.start]: started });
    await start();
    expect(sent()).toEqual([askModels, askBenchmarks, paths.document.start]);
  });

  it.each<[string, Behaviour, Partial<ServiceOptions>]>([
    ['it is not there', noRoute, {}],
    ['its id is not there', noBenchmark, {}],
    ['a gateway said so', text('<html>404</html>', 404), {}],
    ['it failed', refusal(500, 'api_error', 'internal_error'), {}],
    ['it was refused for its content', refusal(422, 'invalid_request_error', 'validation_error'), {}],
    ['the profile says which it is', noRoute, { generation: 'document' }],
    ['the profile says where it is', noRoute, { assumptions: { 'path.startEval': '/v2/{bench_id}/go' } }],
  ])('is never sent to a second path, even if %s (V32)', async (_, answer, options) => {
    const server = await hostileServer(answer);
    const { service } = serviceAt(server.url, { generation: undefined, ...options });
    await errorOf(service.call('startEval', { params: { bench_id: 'b' }, body: { display_name: 'd' } }));
    const writes = server.requests.filter(({ method }) => method === 'POST');
    expect(new Set(writes.map(({ url }) => url)).size).toBe(1);
  });

  it.each<[string, Partial<ServiceOptions>, boolean]>([
    ['the document', {}, true],
    ['the profile', { generation: 'document' }, false],
    ['a setting', { assumptions: { 'path.deleteEvalRun': '/eval/{bench_id}/{eval_run_id}' } }, false],
  ])('may be at its other path, if %s rules out the first (A8)', async (_, options, hasOther) => {
    const { service, sent } = await serviceWith({ [paths.newest.delete]: started }, options);
    const params = { bench_id: 'b', eval_run_id: 'evr_1' };
    await service.call('deleteEvalRun', { params }, { otherPath: true }).catch(() => {});
    await service.call('undeploy', { params: { deployment_id: 'd' } }, { otherPath: true }).catch(() => {});
    expect(sent()).toEqual(hasOther ? [paths.newest.delete] : []);
  });

  it('is found again by the next call, if the remembered generation has the wrong path', async () => {
    const memory = memoryOf({ generation: 'newest', reason: 'seen before', at: 5 });
    const known = { ...models({ model_slug: 'm' }), [paths.document.start]: started };
    const { start, sent } = await serviceWith(known, { memory });
    const error = await errorOf(start());
    expect(error).toMatchObject({ noSuchPath: true });
    expect(String(error)).toContain('POST /api/v1/eval, the path of generation newest');
    await start();
    expect(sent()).toEqual([paths.newest.start, askModels, paths.document.start]);
  });

  it('is not sent if the read before it shows that no request is answered', async () => {
    const denied = refusal(401, 'authentication_error', 'invalid_api_key');
    const { start, sent } = await serviceWith({ [askModels]: denied, [paths.document.start]: started });
    expect(await errorOf(start())).toMatchObject({ kind: 'authentication' });
    expect(sent()).toEqual([askModels]);
  });

  it('is not looked for if the request is refused locally', async () => {
    const { service, sent } = await serviceWith({}, { readOnly: true });
    const input = { params: { bench_id: 'b' }, body: { display_name: 'd' } };
    expect(await errorOf(service.call('startEval', input))).toMatchObject({ kind: 'read_only' });
    expect(sent()).toEqual([]);
  });
});

describe('a missing path is named, with its source', () => {
  it.each<[string, Partial<ServiceOptions>, string[]]>([
    [
      'the profile’s generation',
      { generation: 'document' },
      [paths.document.start, 'generation document, which the profile sets', 'POST /api/v1/eval.'],
    ],
    [
      'the newest in the profile',
      { generation: 'newest' },
      ['POST /api/v1/eval,', 'generation newest, which the profile sets', '/{bench_id}/start'],
    ],
    [
      'a setting',
      { assumptions: { 'path.startEval': '/v2/{bench_id}/go' } },
      ['POST /v2/{bench_id}/go', 'assumptions.path.startEval'],
    ],
    [
      'nothing',
      {},
      [
        '/{bench_id}/start, the path of generation document',
        'newest has POST /api/v1/eval.',
        'assumptions.path.startEval',
      ],
    ],
  ])('%s', async (_, options, words) => {
    const { start } = await serviceWith({}, options);
    const error = await errorOf(start());
    for (const word of words) expect(String(error)).toContain(word.replace('/eval/b/', '/eval/{bench_id}/'));
    expect(error).toMatchObject({ noSuchPath: true, status: 404 });
  });

  it('names the configured path of an optional operation', async () => {
    const { service } = await serviceWith({}, { assumptions: { 'path.listTrajectories': '/api/v2/trajectories' } });
    const error = await errorOf(service.call('listTrajectories', {}));
    expect(String(error)).toContain('assumptions.path.listTrajectories');
    expect(service.capabilities.has('listTrajectories')).toBe(true);
  });
});

describe('a configured path', () => {
  it('without an id that the newest generation has in the body sends it there', async () => {
    const { server, start } = await serviceWith(
      { 'POST /api/v2/evaluations': started },
      { assumptions: { 'path.startEval': '/api/v2/evaluations' } },
    );
    await start();
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ bench_id: 'b', base_model_slug: 'm' });
  });

  it.each([
    ['path.deleteEvalRun', '/api/v1/eval/{bench_id}', '{eval_run_id}'],
    ['path.getEvalRun', '/api/v1/eval', '{eval_run_id}'],
    ['path.ingestBenchmark', '/api/v1/ingest', '{bench_id}'],
  ])('%s without an id that nothing else contains is refused', (name, path, missing) => {
    expect(() => serviceAt('http://127.0.0.1:9', { assumptions: { [name]: path } })).toThrow(
      expect.objectContaining({ code: 'assumptions_invalid', message: expect.stringContaining(missing) }),
    );
  });
});

describe('the agent of the profile', () => {
  const answers = routes(
    { 'POST /api/v1/benchmarks/b/ingest': json({ bench_id: 'b' }), 'POST /api/v1/trajectories/upload': json({}) },
    noRoute,
  );

  it.each([
    ['agent_7', '?agent_id=agent_7', { agent_id: 'agent_7' }],
    ['name:My agent', '?agent_name=My+agent', { agent_name: 'My agent' }],
    [undefined, '', {}],
  ])('%s', async (agent, query, fields) => {
    const server = await hostileServer(answers);
    const { service } = serviceAt(server.url, { agent });
    await service.call('ingestBenchmark', { params: { bench_id: 'b' }, body: { name: 'n' } });
    await service.call('uploadTrajectories', { body: { dataset: 'd', trajectories: [] } });
    expect(server.requests[0]?.url).toBe(`/api/v1/benchmarks/b/ingest${query}`);
    expect(JSON.parse(server.requests[1]?.body ?? '')).toEqual({ dataset: 'd', trajectories: [], ...fields });
  });

  it('gives way to the agent of the call', async () => {
    const server = await hostileServer(answers);
    const { service } = serviceAt(server.url, { agent: 'agent_7' });
    await service.call('ingestBenchmark', { params: { bench_id: 'b' }, query: { agent_id: 'mine' }, body: {} });
    expect(server.requests[0]?.url).toBe('/api/v1/benchmarks/b/ingest?agent_id=mine');
  });
});
