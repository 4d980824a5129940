import { describe, expect, it } from 'vitest';
import { Capabilities } from '../../src/service/capabilities.ts';
import {
  CapabilityMissingError,
  isGone,
  isNotOffered,
  mayLackPath,
  NotFoundError,
  PermissionError,
  ServerError,
  ValidationError,
} from '../../src/service/errors.ts';
import type { Supervisor } from '../../src/service/options.ts';
import {
  type Behaviour,
  errorOf,
  hostileServer,
  json,
  refusal,
  resetAtOnce,
  serviceAt,
  text,
} from './hostile-server.ts';
import { manualClock } from './manual-clock.ts';

const missingResource = refusal(404, 'invalid_request_error', 'resource_not_found');
const html404 = text('<html><title>404 Not Found</title></html>', 404);

describe('a missing endpoint is remembered', () => {
  it.each<[string, Behaviour]>([
    ['404 of a gateway', html404],
    ['404 without a body', text('', 404)],
    ['404 that names no resource', missingResource],
    ['404 of FastAPI', json({ detail: 'Not Found' }, 404)],
    ['405', refusal(405, 'invalid_request_error', 'method_not_allowed')],
    ['501', refusal(501, 'api_error', 'not_implemented')],
  ])('%s, if the path has no id', async (_, behaviour) => {
    const server = await hostileServer(behaviour);
    const { service } = serviceAt(server.url);
    expect(service.capabilities.has('listDeployments')).toBe(true);
    const error = await errorOf(service.call('listDeployments'));
    expect(error).toBeInstanceOf(CapabilityMissingError);
    expect(error).toMatchObject({ kind: 'capability_missing', operation: 'listDeployments', attempts: 1 });
    expect(service.capabilities.has('listDeployments')).toBe(false);
    expect(service.capabilities.missing()).toEqual(['listDeployments']);
    // Asked for again, nothing is sent.
    expect(await errorOf(service.call('listDeployments'))).toBeInstanceOf(CapabilityMissingError);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, Behaviour]>([
    ['a page', html404],
    ['FastAPI', json({ detail: 'Not Found' }, 404)],
    ['Go', text('404 page not found\n', 404)],
    ['Express', text('Cannot GET /api/v1/eval/evr_1', 404)],
    ['an envelope for routes', refusal(404, 'invalid_request_error', 'route_not_found')],
    [
      'an envelope of OpenAI',
      json({ error: { message: 'Invalid URL (GET /x)', type: 'invalid_request_error', code: null } }, 404),
    ],
    ['405', text('', 405)],
    ['501', text('', 501)],
  ])('%s, if the path has an id and the body says unknown route', async (_, behaviour) => {
    const server = await hostileServer(behaviour);
    const { service } = serviceAt(server.url);
    expect(await errorOf(service.call('getEvalRun', { params: { eval_run_id: 'evr_1' } }))).toBeInstanceOf(
      CapabilityMissingError,
    );
    expect(service.capabilities.has('getEvalRun')).toBe(false);
  });
});

it('a 404 in the envelope of the document concerns the path if the resource has just been listed', async () => {
  const server = await hostileServer((response, request) =>
    (request.url.endsWith('/runs')
      ? json([{ eval_run_id: 'r1' }])
      : refusal(404, 'invalid_request_error', request.url.endsWith('r2') ? 'resource_not_found' : 'not_found'))(
      response,
      request,
    ),
  );
  const { service } = serviceAt(server.url);
  const read = (eval_run_id: string) => errorOf(service.call('getEvalRun', { params: { eval_run_id } }));
  expect(await read('r1')).toBeInstanceOf(NotFoundError);
  await service.call('listEvalRuns', { params: { bench_id: 'b1' } });
  expect(await read('r2')).toBeInstanceOf(NotFoundError);
  expect(await read('r3')).toBeInstanceOf(NotFoundError);
  expect(await read('r1')).toBeInstanceOf(CapabilityMissingError);
});

describe('the refusal of an optional operation (C1)', () => {
  const read = { params: { eval_run_id: 'evr_1' } };
  const field = (place: string, name: string) =>
    json({ detail: [{ type: 'x', loc: [place, name], msg: 'Input is wrong' }] }, 422);

  it.each<[string, Behaviour]>([
    ['the 404 of the document', missingResource],
    ['a 404 without a body', text('', 404)],
    ['a 422 of an id', field('path', 'eval_run_id')],
    ['a 422 in the envelope', refusal(422, 'invalid_request_error', 'validation_error')],
    ['a 400 in the envelope (B24)', refusal(400, 'invalid_request_error', 'validation_error')],
    ['a 403 of a gateway (B24)', json({ message: 'Missing Authentication Token' }, 403)],
    ['a 410 (B24)', json({}, 410)],
  ])('%s does not settle it for a resource', async (_, behaviour) => {
    const server = await hostileServer((response, request) =>
      (request.url.includes('/models/') ? json({ items: [] }) : behaviour)(response, request),
    );
    const { service } = serviceAt(server.url);
    const error = await errorOf(service.call('getEvalRun', read));
    expect([isGone(error), isNotOffered(error), service.capabilities.has('getEvalRun')]).toEqual([false, true, true]);
    // The resource was found elsewhere.
    service.capabilities.confirmMissing(error);
    expect(service.capabilities.has('getEvalRun')).toBe(false);
  });

  it('settles it if the operation has worked, or the code names the resource', async () => {
    const server = await hostileServer(
      refusal(404, 'invalid_request_error', 'eval_run_not_found'),
      json({ eval_run_id: 'evr_1' }),
      missingResource,
    );
    const { service } = serviceAt(server.url);
    expect(isGone(await errorOf(service.call('getEvalRun', read)))).toBe(true);
    await service.call('getEvalRun', read);
    const error = await errorOf(service.call('getEvalRun', read));
    service.capabilities.confirmMissing(error);
    expect([isGone(error), service.capabilities.has('getEvalRun')]).toEqual([true, true]);
  });

  it('names what a list refused, and is remembered (B24)', async () => {
    const server = await hostileServer(json({ items: [] }), json({ message: 'Missing Authentication Token' }, 403));
    const { service } = serviceAt(server.url);
    await service.call('listSupportedTrainingModels');
    const error = await errorOf(service.call('listDeployments'));
    expect(error).toBeInstanceOf(CapabilityMissingError);
    expect(error).toMatchObject({
      message:
        'This service does not list deployments. It answered: The service answered 403 Forbidden: Missing Authentication Token.',
    });
    expect(service.capabilities.has('listDeployments')).toBe(false);
  });

  it.each<[string, Behaviour]>([
    ['the key has worked nowhere', json({ message: 'Forbidden' }, 403)],
    ['the envelope names the permission', refusal(403, 'permission_error', 'permission_denied')],
  ])('concerns the key if %s (B24)', async (_, behaviour) => {
    const server = await hostileServer(behaviour);
    const { service } = serviceAt(server.url);
    for (const error of [
      await errorOf(service.call('listDeployments')),
      await errorOf(service.call('getEvalRun', read)),
      await errorOf(service.call('listBenchmarks')),
    ]) {
      expect([error, isNotOffered(error)]).toEqual([expect.any(PermissionError), false]);
    }
    expect(service.capabilities.missing()).toEqual([]);
  });

  it('concerns the page or the order if these were requested (B24)', async () => {
    const server = await hostileServer(json({}, 410), json({}, 400));
    const { service } = serviceAt(server.url);
    for (const query of [{ cursor: 'old' }, { sort: 'name' }]) {
      expect(isNotOffered(await errorOf(service.call('listDeployments', { query })))).toBe(false);
    }
  });

  it('concerns the input if it names a field of it', async () => {
    const server = await hostileServer(field('query', 'limit'), field('body', 'bench_id'), field('query', 'other'));
    const { service } = serviceAt(server.url);
    const errors = [
      await errorOf(service.call('listDeployments', { query: { limit: 5 } })),
      await errorOf(service.call('startTraining', { body: { bench_id: 'b' } })),
      await errorOf(service.call('getTrainingOptions')),
    ];
    for (const error of errors) expect([error, isNotOffered(error)]).toEqual([expect.any(ValidationError), false]);
  });

  it('of a write means that the service does not offer it, if the resource has been read', async () => {
    const server = await hostileServer((response, request) =>
      (request.method === 'GET' ? json([{ eval_run_id: 'evr_1' }]) : missingResource)(response, request),
    );
    const { service } = serviceAt(server.url);
    expect(await errorOf(service.call('cancelEval', read))).toBeInstanceOf(NotFoundError);
    await service.call('listEvalRuns', { params: { bench_id: 'b1' } });
    const error = await errorOf(service.call('cancelEval', read));
    expect(error).toMatchObject({
      message: 'This service does not cancel evaluation runs. It answered: it says resource_not_found.',
    });
    expect(service.capabilities.has('cancelEval')).toBe(true);
  });
});

it('a refusal may concern the path unless its code names a kind of resource', () => {
  const refused = (word: object) =>
    new NotFoundError('It is not there.', { operation: 'getEvalRun', attempts: 1, ...word });
  const words = [{ type: 't' }, { code: 'gone' }, { code: 'eval_run_not_found' }, {}, { mayLackPath: true }];
  expect(words.map(refused).map(mayLackPath)).toEqual([true, true, false, false, true]);
  expect([null, new Error('other')].map(mayLackPath)).toEqual([false, false]);
});

describe('resources that were read', () => {
  const run = { bench_id: 'b1', eval_run_id: 'evr_1' };

  it('are known from the name in a body too, whatever else was read since', async () => {
    const server = await hostileServer(json([{ bench_id: 'b1' }]), json([{ eval_run_id: 'evr_1' }]), missingResource);
    const { service } = serviceAt(server.url);
    await service.call('listBenchmarks');
    await service.call('listEvalRuns', { params: { bench_id: 'b2' } });
    expect(await errorOf(service.call('startTraining', { body: { bench_id: 'b1' } }))).toBeInstanceOf(
      CapabilityMissingError,
    );
  });

  it('are forgotten once they are deleted', async () => {
    const { service } = serviceAt((await hostileServer(json([run]), json(run), missingResource)).url);
    await service.call('listEvalRuns', { params: { bench_id: 'b1' } });
    await service.call('deleteEvalRun', { params: run });
    expect(await errorOf(service.call('cancelEval', { params: { eval_run_id: 'evr_1' } }))).toBeInstanceOf(
      NotFoundError,
    );
  });
});

it('a refused list is gone, even if it has answered before', async () => {
  const server = await hostileServer(json({ items: [] }), missingResource);
  const { service } = serviceAt(server.url);
  await service.call('listDeployments');
  expect(await errorOf(service.call('listDeployments'))).toBeInstanceOf(CapabilityMissingError);
});

it.each([
  [{ code: 'resource_not_found' }, false],
  [{ type: 'invalid_request_error' }, false],
  [{}, true],
])('a path is tried again if its resource was found elsewhere: after %j %s', async (word, again) => {
  const clock = manualClock();
  const capabilities = new Capabilities(clock);
  const facts = { operation: 'getEvalRun', status: 404, mayLackPath: true, ...word };
  capabilities.confirmMissing(new NotFoundError('It is not there.', { ...facts, attempts: 1 }));
  expect(capabilities.has('getEvalRun')).toBe(false);
  await clock.advance(60_000);
  expect(capabilities.has('getEvalRun')).toBe(again);
});

describe('a missing resource is not a missing endpoint', () => {
  it('if the endpoint has answered before, whatever the message', async () => {
    const unknown = json({ detail: 'Not Found' }, 404);
    const server = await hostileServer((response, request) =>
      (request.url.endsWith('evr_1') ? json({ eval_run_id: 'evr_1' }) : unknown)(response, request),
    );
    const { service } = serviceAt(server.url);
    await service.call('getEvalRun', { params: { eval_run_id: 'evr_1' } });
    expect(await errorOf(service.call('getEvalRun', { params: { eval_run_id: 'evr_2' } }))).toBeInstanceOf(
      NotFoundError,
    );
    expect(service.capabilities.has('getEvalRun')).toBe(true);
  });

  it.each<[string, Behaviour]>([
    ['an envelope', missingResource],
    ['words of another framework', json({ detail: 'Run not found' }, 404)],
    ['no body', text('', 404)],
  ])('%s', async (_, behaviour) => {
    const server = await hostileServer(behaviour);
    const { service } = serviceAt(server.url);
    expect(await errorOf(service.call('getEvalRun', { params: { eval_run_id: 'evr_1' } }))).toBeInstanceOf(
      NotFoundError,
    );
    expect(service.capabilities.has('getEvalRun')).toBe(true);
  });

  it('even if a body or a filter names it', async () => {
    const server = await hostileServer(missingResource);
    const { service } = serviceAt(server.url);
    expect(await errorOf(service.call('startTraining', { body: { bench_id: 'gone' } }))).toBeInstanceOf(NotFoundError);
    expect(
      await errorOf(service.call('listTrajectories', { query: { eval_run_id: 'gone', limit: 5 } })),
    ).toBeInstanceOf(NotFoundError);
    expect(service.capabilities.missing()).toEqual([]);
    expect(await errorOf(service.call('listTrajectories', { query: { limit: 5 } }))).toBeInstanceOf(
      CapabilityMissingError,
    );
  });
});

it('never calls missing what the document lists', async () => {
  const server = await hostileServer(html404, refusal(501, 'api_error', 'not_implemented'));
  const { service } = serviceAt(server.url);
  expect(await errorOf(service.call('listBenchmarks'))).toBeInstanceOf(NotFoundError);
  expect(await errorOf(service.call('listBenchmarks'))).toBeInstanceOf(ServerError);
  expect(service.capabilities.missing()).toEqual([]);
});

describe('a missing endpoint is remembered', () => {
  const found = json({ items: [], has_more: false });

  it.each<[string, Behaviour]>([
    ['an envelope', missingResource],
    ['FastAPI', json({ detail: 'Not Found' }, 404)],
    ['Go', text('404 page not found\n', 404)],
    ['a 405 in an envelope', refusal(405, 'invalid_request_error', 'method_not_allowed')],
  ])('for the session if the service says so: %s', async (_, behaviour) => {
    const server = await hostileServer(behaviour, found);
    const clock = manualClock();
    const { service } = serviceAt(server.url, { clock });
    expect(await errorOf(service.call('listDeployments'))).toMatchObject({ retryAfterMs: undefined });
    await clock.advance(86_400_000);
    expect(await errorOf(service.call('listDeployments'))).toBeInstanceOf(CapabilityMissingError);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, Behaviour]>([
    ['a page', html404],
    ['nothing at all', text('', 404)],
    ['a page with 405', text('<html>not allowed</html>', 405)],
  ])('for a minute if a gateway may have answered: %s', async (_, behaviour) => {
    const server = await hostileServer(behaviour, found);
    const clock = manualClock();
    const { service } = serviceAt(server.url, { clock });
    expect(await errorOf(service.call('listDeployments'))).toMatchObject({
      kind: 'capability_missing',
      retryAfterMs: 60_000,
    });
    await clock.advance(59_000);
    expect(await errorOf(service.call('listDeployments'))).toMatchObject({ attempts: 0, retryAfterMs: 1_000 });
    expect([service.capabilities.has('listDeployments'), server.requests.length]).toEqual([false, 1]);
    await clock.advance(1_000);
    await expect(service.call('listDeployments')).resolves.toMatchObject({ items: [] });
    expect(service.capabilities.missing()).toEqual([]);
  });

  it('until another instance of the service answers', async () => {
    const first = await hostileServer(missingResource, resetAtOnce);
    const second = await hostileServer(found);
    const targets = [first, second].map(({ url }) => ({ baseUrl: url, apiKey: 'k' }));
    const supervisor: Supervisor = {
      locate: async () => targets[0] ?? { baseUrl: '', apiKey: '' },
      recover: async () => {
        targets.shift();
        return true;
      },
    };
    const { service } = serviceAt('http://localhost', { supervisor });
    expect(await errorOf(service.call('listDeployments'))).toBeInstanceOf(CapabilityMissingError);
    await service.call('listBenchmarks');
    await expect(service.call('listDeployments')).resolves.toMatchObject({ items: [] });
  });
});
