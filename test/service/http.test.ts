/** The service layer against a server that does everything wrong. */
import { createServer as createRawServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TrainerCurveReader } from '../../src/contract/trainer-curve-reader.ts';
import { untypedCall } from '../../src/service/call.ts';
import { CancelledError, NetworkError, RequestError, ResponseError, ServiceError } from '../../src/service/errors.ts';
import {
  apiKey,
  type Behaviour,
  errorOf,
  type HostileServer,
  hostileServer,
  json,
  open,
  refusal,
  resetAfter,
  resetAtOnce,
  serviceAt,
  silent,
  text,
} from './hostile-server.ts';

const emptyPage = json({ items: [], has_more: false, next_cursor: null });
const aStart = json({ eval_run_id: 'evr_1' });
const start = { display_name: 'baseline', model_slug: 'acme/small' };

describe('rate limits and overload', () => {
  it.each([
    [429, { 'retry-after': '2' }, [2_000]],
    [503, { 'retry-after': '1.5' }, [1_500]],
    [429, { 'retry-after-ms': '70' }, [70]],
    [503, { 'retry-after': 'nonsense' }, [438]],
    [429, {}, [438]],
  ])('retries %i with %o after the requested wait', async (status, headers, expected) => {
    const server = await hostileServer(refusal(status, 'rate_limit_error', 'rate_limited', {}, headers), emptyPage);
    const { service, waits } = serviceAt(server.url);
    await service.call('listBenchmarks');
    expect(waits).toEqual(expected);
    expect(server.requests).toHaveLength(2);
  });

  it('reads Retry-After as a date', async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    const server = await hostileServer(
      refusal(503, 'api_error', 'service_unavailable', {}, { 'retry-after': date }),
      emptyPage,
    );
    const { service, waits } = serviceAt(server.url);
    await service.call('listBenchmarks');
    expect(waits[0]).toBeGreaterThan(20_000);
    expect(waits[0]).toBeLessThanOrEqual(30_000);
  });

  it('gives up at once if the wait is longer than a minute, and says so', async () => {
    const server = await hostileServer(refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'retry-after': '3600' }));
    const { service } = serviceAt(server.url);
    await expect(service.call('listBenchmarks')).rejects.toMatchObject({
      kind: 'rate_limit',
      retryAfterMs: 3_600_000,
      attempts: 1,
      message: 'it says rate_limited. Try again in 60 min.',
    });
  });

  it.each([
    ['rate_limited', 'it says rate_limited.'],
    ['service_unavailable', 'it says service_unavailable. The service failed.'],
  ])('says what happened to a poll answered %s, but not when to retry', async (code, message) => {
    const server = await hostileServer(refusal(503, 'api_error', code, {}, { 'retry-after': '3600' }));
    const { service } = serviceAt(server.url);
    await expect(service.background.call('listBenchmarks')).rejects.toMatchObject({ retryAfterMs: 3_600_000, message });
  });

  it('tries three times in all', async () => {
    const server = await hostileServer(refusal(500, 'api_error', 'internal_error'));
    const { service, waits, log } = serviceAt(server.url);
    await expect(service.call('listBenchmarks')).rejects.toMatchObject({ kind: 'server', attempts: 3, status: 500 });
    expect(server.requests).toHaveLength(3);
    expect(waits).toEqual([438, 875]);
    expect(log.map(({ attempt, error, retryInMs }) => [attempt, error, retryInMs])).toEqual([
      [1, 'server', 438],
      [2, 'server', 875],
      [3, 'server', undefined],
    ]);
  });

  it('follows the service about retries, both ways', async () => {
    const no = await hostileServer(
      refusal(503, 'api_error', 'service_unavailable', {}, { 'service-should-retry': 'false' }),
    );
    await errorOf(serviceAt(no.url).service.call('listBenchmarks'));
    expect(no.requests).toHaveLength(1);
    const yes = await hostileServer(
      refusal(400, 'api_error', 'x', {}, { 'x-should-retry': 'true' }),
      json({ data: [] }),
    );
    await serviceAt(yes.url).service.call('listBenchmarks');
    expect(yes.requests).toHaveLength(2);
    const write = await hostileServer(refusal(500, 'api_error', 'x', {}, { 'x-should-retry': 'true' }));
    const secret = { body: { name: 'a', value: 'b' } };
    await expect(serviceAt(write.url).service.call('createSecret', secret)).rejects.toMatchObject({ attempts: 1 });
    expect(write.requests).toHaveLength(1);
  });

  it('stops retrying once the budget of the host is spent', async () => {
    const server = await hostileServer(refusal(503, 'api_error', 'service_unavailable'));
    const { service } = serviceAt(server.url);
    for (let call = 0; call < 6; call += 1) await errorOf(service.call('listBenchmarks'));
    // Ten retries, for six calls that would have made twelve.
    expect(server.requests).toHaveLength(16);
  });

  it('does not wait past the deadline', async () => {
    const server = await hostileServer(refusal(503, 'api_error', 'service_unavailable', {}, { 'retry-after': '50' }));
    const { service, waits } = serviceAt(server.url);
    await expect(service.call('listBenchmarks', {}, { deadlineMs: 20_000 })).rejects.toMatchObject({
      attempts: 1,
      retryAfterMs: 50_000,
    });
    expect(waits).toEqual([]);
  });
});

describe('lost connections', () => {
  it('retries a read after a reset before the answer', async () => {
    const server = await hostileServer(resetAtOnce, emptyPage);
    await serviceAt(server.url).service.call('listBenchmarks');
    expect(server.requests).toHaveLength(2);
  });

  it('retries a read after a reset in the middle of the response', async () => {
    const server = await hostileServer(resetAfter('{"items": ['), emptyPage);
    await serviceAt(server.url).service.call('listBenchmarks');
    expect(server.requests).toHaveLength(2);
  });

  it('says where the connection was lost', async () => {
    const before = await hostileServer(resetAtOnce);
    await expect(serviceAt(before.url).service.call('listBenchmarks')).rejects.toMatchObject({
      name: 'NetworkError',
      code: 'ECONNRESET',
      attempts: 3,
      outcomeUnknown: false,
      message: expect.stringContaining('was lost before a response arrived'),
    });
    const during = await hostileServer(resetAfter('{', { 'x-request-id': 'req_7' }));
    await expect(serviceAt(during.url).service.call('listBenchmarks')).rejects.toMatchObject({
      kind: 'network',
      status: 200,
      requestId: 'req_7',
      message: expect.stringContaining('in the middle of the response'),
    });
  });

  it('does not retry a write whose answer was lost, and says that it may have happened', async () => {
    const server = await hostileServer(resetAtOnce);
    const error = await errorOf(
      serviceAt(server.url).service.call('createSecret', { body: { name: 'TOKEN', value: 'hunter2' } }),
    );
    expect(error).toMatchObject({ kind: 'network', outcomeUnknown: true, attempts: 1 });
    expect((error as Error).message).toContain('It may have happened anyway. It is safe to repeat.');
    expect(server.requests).toHaveLength(1);
  });

  it.each(['startEval', 'startTraining', 'startDeployment', 'uploadTrajectories', 'logReward'] as const)(
    'does not retry %s, as the document promises nothing about keys (C3, V8)',
    async operation => {
      const inputs = {
        startEval: { params: { bench_id: 'b1' }, body: start },
        startTraining: { body: { bench_id: 'b1' } },
        startDeployment: { body: { checkpoint_id: 'c', model_slug: 's', role: 'test' } },
        uploadTrajectories: { body: { dataset: 'd', trajectories: [{ trace_id: 'a' }] } },
        logReward: { params: { trajectory_id: 't' }, body: { reward_id: 'r', name: 'n', value: 1, explanation: 'e' } },
      };
      const server = await hostileServer(resetAtOnce);
      const error = await errorOf(untypedCall(serviceAt(server.url).service)(operation, inputs[operation]));
      expect(error).toMatchObject({ kind: 'network', outcomeUnknown: true, attempts: 1 });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('retries an upload with a trace id for every trajectory once the service has skipped stored ones (V8, A5)', async () => {
    const server = await hostileServer(resetAtOnce, json({ uploaded: 1 }));
    const saved: unknown[] = [];
    const memory = () => ({
      setting: () => saved.at(-1),
      setSetting: (_: string, skips: unknown) => saved.push(skips),
    });
    const { service } = serviceAt(server.url, { memory });
    service.learnSkipping(true);
    const body = { dataset: 'd', trajectories: [{ trace_id: 'a' }] };
    // Another program remembers it.
    await serviceAt(server.url, { memory }).service.call('uploadTrajectories', { body });
    expect(server.requests).toHaveLength(2);
    service.learnSkipping(false);
    expect([service.skipsStored(true), saved]).toEqual([false, [true, false]]);
  });

  it('retries a start once the service has shown that it honours the key (C3)', async () => {
    const replayed = json({ eval_run_id: 'evr_1' }, 200, { 'Idempotent-Replayed': 'true' });
    const server = await hostileServer(replayed, resetAtOnce, aStart);
    const { service } = serviceAt(server.url);
    const again = () => service.call('startEval', { params: { bench_id: 'b1' }, body: start });
    await again();
    await again();
    expect(server.requests).toHaveLength(3);
  });

  it('does not retry a start after one that was simply accepted (C3)', async () => {
    const server = await hostileServer(aStart, resetAtOnce);
    const { service } = serviceAt(server.url);
    const again = () => service.call('startEval', { params: { bench_id: 'b1' }, body: start });
    await again();
    expect(await errorOf(again())).toMatchObject({ outcomeUnknown: true, attempts: 1 });
  });

  it('retries a start under a rate limit, whatever the service does with keys (C3)', async () => {
    const limited = refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'retry-after-ms': '1' });
    const server = await hostileServer(limited, aStart);
    await serviceAt(server.url).service.call('startEval', { params: { bench_id: 'b1' }, body: start });
    expect(server.requests).toHaveLength(2);
  });

  it('retries a start with the same key if the profile says that keys are honoured', async () => {
    const server = await hostileServer(resetAtOnce, resetAfter('{'), aStart);
    const assumptions = { honoursIdempotencyKey: 'yes' };
    await serviceAt(server.url, { assumptions }).service.call('startEval', { params: { bench_id: 'b1' }, body: start });
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
  });

  it('keeps the doubt about a start when a later attempt fails', async () => {
    const server = await hostileServer(
      resetAtOnce,
      refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'x-should-retry': 'false' }),
    );
    const error = await errorOf(
      serviceAt(server.url, { assumptions: { honoursIdempotencyKey: 'yes' } }).service.call(
        'startEval',
        { params: { bench_id: 'b1' }, body: start },
        { idempotencyKey: 'mine' },
      ),
    );
    expect(error).toMatchObject({ kind: 'rate_limit', outcomeUnknown: true, idempotencyKey: 'mine', attempts: 2 });
  });

  it('leaves open if a 404 on the second deletion means that the first succeeded (A8)', async () => {
    const gone = refusal(404, 'invalid_request_error', 'resource_not_found');
    const server = await hostileServer(resetAtOnce, gone);
    await expect(
      serviceAt(server.url).service.call('deleteEvalRun', { params: { bench_id: 'b1', eval_run_id: 'evr_1' } }),
    ).rejects.toMatchObject({ kind: 'not_found', outcomeUnknown: true });
    // If nothing was sent before, the answer is conclusive.
    const never = await hostileServer(gone);
    await expect(
      serviceAt(never.url).service.call('deleteEvalRun', { params: { bench_id: 'b1', eval_run_id: 'evr_1' } }),
    ).rejects.toMatchObject({ kind: 'not_found', outcomeUnknown: false });
    const limited = await hostileServer(refusal(429, 'rate_limit_error', 'rate_limited'), gone);
    await expect(
      serviceAt(limited.url).service.call('deleteEvalRun', { params: { bench_id: 'b1', eval_run_id: 'evr_1' } }),
    ).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('reports a refused connection after retries, as nothing was sent', async () => {
    const { service, waits } = serviceAt('http://127.0.0.1:1');
    const error = await errorOf(service.call('createSecret', { body: { name: 'a', value: 'b' } }));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: 'ECONNREFUSED', attempts: 3, outcomeUnknown: false });
    expect((error as Error).message).toBe(
      '127.0.0.1:1 refuses connections (ECONNREFUSED). Nothing was sent. Check the network, the proxy settings and the base URL.',
    );
    expect(waits).toHaveLength(2);
  });

  it('reuses its connections', async () => {
    const server = await hostileServer(emptyPage);
    const { service } = serviceAt(server.url);
    for (let call = 0; call < 5; call += 1) await service.call('listBenchmarks');
    expect(server.connections()).toBe(1);
    await service.close();
    await service.call('listBenchmarks');
    expect(server.connections()).toBe(2);
  });

  it('opens at most eight connections for reads, and neither streams nor writes wait for them', async () => {
    const held = Promise.withResolvers<void>();
    const wait: Behaviour = async (response, request) => {
      if (request.url.startsWith('/v1/')) return open(['data: [DONE]\n\n'])(response, request);
      if (request.method === 'DELETE') return void response.writeHead(204).end();
      await held.promise;
      return emptyPage(response, request);
    };
    const server = await hostileServer(wait);
    const { service } = serviceAt(server.url);
    const calls = Array.from({ length: 12 }, () => service.call('listBenchmarks'));
    await expect.poll(() => server.connections()).toBe(8);
    const chat = service.chat.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    expect((await chat.next()).done).toBe(true);
    expect(server.connections()).toBe(9);
    await service.call('deleteSecret', { params: { secret_id: 's1' } });
    expect(server.connections()).toBe(10);
    held.resolve();
    await Promise.all(calls);
    expect(server.requests).toHaveLength(14);
  });
});

describe('silence', () => {
  const brief = { timeouts: { silenceMs: 60 } };

  it('gives up on a server that accepts the request and never answers', async () => {
    const server = await hostileServer(silent);
    await expect(serviceAt(server.url, brief).service.call('listBenchmarks')).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'silence',
      attempts: 3,
      message: expect.stringContaining('was silent for 60 ms. Nothing was changed.'),
    });
    await Promise.all(server.requests.map(({ closed }) => closed));
  });

  it('gives up on a trickle that stops', async () => {
    const server = await hostileServer(open(['{"items"', ': ['], { 'content-type': 'application/json' }));
    await expect(serviceAt(server.url, brief).service.call('listBenchmarks')).rejects.toMatchObject({
      code: 'silence',
      message: expect.stringContaining('in the middle of its response'),
    });
  });

  it('accepts a trickle that lasts longer than the allowed silence, and ends it at the deadline', async () => {
    const trickle =
      (parts: number): Behaviour =>
      response => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"items": [], "has_more": false');
        let left = parts;
        const timer = setInterval(() => {
          response.write(' ');
          left -= 1;
          if (left === 0) response.end('}');
        }, 20);
        response.once('close', () => clearInterval(timer));
      };
    const patient = { timeouts: { silenceMs: 500 } };
    const server = await hostileServer(trickle(40));
    await expect(serviceAt(server.url, patient).service.call('listBenchmarks')).resolves.toMatchObject({ items: [] });
    const endless = await hostileServer(trickle(10_000));
    await expect(
      serviceAt(endless.url, patient).service.call('listBenchmarks', {}, { deadlineMs: 500 }),
    ).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'deadline',
      attempts: 1,
    });
  });

  it('gives up on a connection that is never established', async () => {
    // Accepts the connection, and never speaks TLS.
    const sockets = new Set<{ destroy: () => void }>();
    const mute = createRawServer(socket => void sockets.add(socket));
    await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const address = mute.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { service } = serviceAt(`https://127.0.0.1:${port}`, { timeouts: { connectMs: 50 } });
    const error = await errorOf(service.call('createSecret', { body: { name: 'a', value: 'b' } }));
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'connect_timeout', outcomeUnknown: false, attempts: 3 });
  });
});

describe('a record with another id than the requested one', () => {
  const runOf = async (answer: unknown, eval_run_id = 'evr_1') => {
    const { service } = serviceAt((await hostileServer(json(answer))).url);
    return service.call('getEvalRun', { params: { eval_run_id } });
  };

  it('is an error with both ids', async () => {
    const error = await errorOf(runOf({ eval_run_id: 'evr_2', status: 'completed' }));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({
      code: 'answer_of_another',
      attempts: 1,
      message: 'The service sent the record evr_2 instead of evr_1. It was not used.',
    });
    const { service } = serviceAt((await hostileServer(json({ eval_run_id: 'evr_2', trajectory_rewards: [] }))).url);
    expect(await errorOf(service.call('getTrajectoryRewards', { params: { eval_run_id: 'evr_1' } }))).toMatchObject({
      code: 'answer_of_another',
    });
  });

  it('is accepted if the id differs in case, is a number, or is absent', async () => {
    const uuid = '9B2F6C1E-0000-4000-8000-00000000ABCD';
    await expect(runOf({ eval_run_id: uuid.toLowerCase() }, uuid)).resolves.toMatchObject({});
    const { service } = serviceAt((await hostileServer(json({ checkpoint_id: 'c', step_index: 4 }))).url);
    const params = { training_run_id: 'trn_1', step_index: '4' };
    await expect(service.call('getCheckpoint', { params })).resolves.toMatchObject({ step_index: 4 });
  });
});

describe('invalid answers', () => {
  it.each<[string, Behaviour, string, string]>([
    [
      'HTML instead of JSON',
      text('<!doctype html><title>Sign in</title>'),
      'answer_not_json',
      'is a web page, not JSON',
    ],
    ['truncated JSON', text('{"items": [{"bench_id": "b1", "lab'), 'answer_not_json', 'is incomplete JSON'],
    ['cut off in a text', text('{"items": [{"label": "NaN \\" NaN'), 'answer_not_json', 'is incomplete JSON'],
    [
      'the NaN of a field',
      text('{"note": "NaN \\" Infinity", "items": [{"reward" : NaN}]}'),
      'answer_not_json',
      'is not JSON: it has NaN as reward, which Python writes but JSON does not allow. The service must send null instead.',
    ],
    [
      'an infinite number of a list',
      text('{"items": [1, -Infinity]}'),
      'answer_not_json',
      'it has -Infinity at character 15',
    ],
    ['a wrong type', json({ items: 'none', has_more: false }), 'answer_unexpected', 'items must be a list'],
    ['nothing at all', text(''), 'answer_empty', 'is empty'],
    ['a bare word', json('ok'), 'answer_unexpected', 'is not what benchtop expects'],
  ])('%s', async (_, behaviour, code, words) => {
    const server = await hostileServer(behaviour);
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code, status: 200, attempts: 1, outcomeUnknown: false });
    expect((error as Error).message).toContain('The response to GET /api/v1/benchmarks');
    expect((error as Error).message).toContain(words);
  });

  it.each([
    ['[{"step": 1, "trainer_reward": 1}, {"step": 2, "trainer_reward": NaN}]', 'it has NaN as trainer_reward, which'],
    ['[{"step": 1, "trainer_reward": 1}, {"step": 2, "parts": [NaN]}]', 'it has NaN, which'],
    ['[{"step": 1, "trainer_reward": 1}, {"step": 2, "trainer_re', 'is incomplete JSON'],
  ])('%s, whose rows are read as they arrive', async (rows, words) => {
    const [first = '', second = ''] = rows.split(/(?<=, )(?=\{"step": 2)/);
    const server = await hostileServer(response => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"trainer_rewards": ${first}`);
      response.end(rows.endsWith(']') ? `${second}}` : second);
    });
    const longList = { name: 'trainer_rewards', begin: () => new TrainerCurveReader() };
    const params = { training_run_id: 'trn_1' };
    const error = await errorOf(serviceAt(server.url).service.call('getTrainerRewards', { params }, { longList }));
    expect((error as Error).message).toContain(words);
  });

  it('to a write say that it was accepted all the same', async () => {
    const server = await hostileServer(text('{"secret": {"sec', 201));
    await expect(
      serviceAt(server.url).service.call('createSecret', { body: { name: 'a', value: 'b' } }),
    ).rejects.toMatchObject({
      kind: 'response',
      outcomeUnknown: true,
      status: 201,
    });
  });

  it('may be empty, and then have the ids of the request', async () => {
    const server = await hostileServer(response => void response.writeHead(204).end());
    await expect(
      serviceAt(server.url).service.call('undeploy', { params: { deployment_id: 'dep_1' } }),
    ).resolves.toEqual({
      deployment_id: 'dep_1',
    });
  });

  it('keep unknown statuses and extra fields, and the valid rows next to an invalid one', async () => {
    const run = { eval_run_id: 'evr_1', status: 'hibernating', mood: { good: true } };
    const server = await hostileServer(json({ items: [run, { status: 'no id' }, 7], has_more: false }));
    const { service } = serviceAt(server.url);
    const [first, ...others] = await service.call('listEvalRuns', { params: { bench_id: 'b1' } });
    expect(first).toMatchObject(run);
    expect(others).toEqual([]);
    const list = await hostileServer(json({ items: [{ bench_id: 'b1' }, { bench_id: null }], has_more: false }));
    await expect(serviceAt(list.url).service.call('listBenchmarks')).resolves.toMatchObject({
      items: [{ bench_id: 'b1' }],
      dropped: 1,
    });
  });

  it('of ten megabytes are read', async () => {
    const content = 'x'.repeat(10 * 1024 * 1024);
    const server = await hostileServer(json({ trajectory_id: 't', steps: [{ messages: [{ content }] }] }));
    const trajectory = await serviceAt(server.url).service.call('getTrajectory', { params: { trajectory_id: 't' } });
    expect(trajectory.steps?.[0]?.messages?.[0]?.content).toHaveLength(content.length);
  });

  it('are read up to the limit, announced or not, compressed or not', async () => {
    const large = JSON.stringify({ trajectory_id: 't', error: 'x'.repeat(300_000) });
    const packed = gzipSync(large);
    const behaviours: Behaviour[] = [
      text(large),
      response => void response.writeHead(200, { 'content-length': large.length }).end(large),
      response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
    ];
    expect(packed.length).toBeLessThan(10_000);
    for (const behaviour of behaviours) {
      const server = await hostileServer(behaviour);
      const error = await errorOf(
        serviceAt(server.url).service.call('getTrajectory', { params: { trajectory_id: 't' } }, { maxBytes: 100_000 }),
      );
      expect(error).toMatchObject({ kind: 'response', code: 'answer_too_large', attempts: 1 });
    }
  });

  it('with deep nesting do not break an error', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const server = await hostileServer(
      text(`{"error": {"type": "api_error", "message": "no", "context": {"a": ${deep}}}}`, 400),
    );
    await expect(serviceAt(server.url).service.call('listBenchmarks')).rejects.toMatchObject({ kind: 'validation' });
  });
});

describe('redirects', () => {
  it.each([300, 301, 302, 303, 307, 308])('to another origin carry nothing there: %i', async status => {
    const elsewhere = await hostileServer(emptyPage);
    const target = `${elsewhere.url}/stolen?signature=abc`;
    const server = await hostileServer(response => void response.writeHead(status, { location: target }).end());
    const { service } = serviceAt(server.url);
    for (const call of [
      () => service.call('listBenchmarks'),
      () => service.call('startEval', { params: { bench_id: 'b1' }, body: start }),
      () => service.chat.complete({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
      () => service.chat.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] }).next(),
      () => service.putUpload({ path: 'a', url: `${server.url}/up`, headers: {} }, new Uint8Array(3)),
    ]) {
      const error = await errorOf(call());
      expect(error).toMatchObject({ kind: 'response', code: 'redirected', status, attempts: 1 });
      expect((error as Error).message).toContain(`to ${elsewhere.url}. `);
      expect((error as Error).message).not.toContain('signature');
    }
    expect(elsewhere.requests).toEqual([]);
    expect(elsewhere.connections()).toBe(0);
  });

  it.each([{}, { location: 'http://' }])('without a valid address are reported: %j', async headers => {
    const server = await hostileServer(response => void response.writeHead(307, headers).end());
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(error).toMatchObject({ code: 'redirected', status: 307, attempts: 1 });
    expect((error as Error).message).toContain(
      'answered 307 to GET /api/v1/benchmarks without a valid address to go to.',
    );
  });

  const slashed = (url: string): string => url.replace(/^([^?]*[^/?])(?=\?|$)/, '$1/');
  /** Adds a slash to every path, as FastAPI does. */
  const slashing = (status: number, behaviour: Behaviour): Promise<HostileServer> =>
    hostileServer((response, request) => {
      const location = slashed(request.url);
      if (location === request.url) return behaviour(response, request);
      response.writeHead(status, { location }).end();
    });

  it.each([301, 302, 303, 307, 308])(
    'with %i on the same origin are followed once by a read, with its key (C8)',
    async status => {
      const server = await slashing(status, emptyPage);
      await serviceAt(server.url).service.call('listBenchmarks', { query: { limit: 50 } });
      expect(server.requests.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
        ['/api/v1/benchmarks?limit=50', apiKey],
        ['/api/v1/benchmarks/?limit=50', apiKey],
      ]);
    },
  );

  it('end the call at the second one, naming both paths (C8)', async () => {
    const server = await hostileServer((response, request) => {
      response.writeHead(307, { location: `${request.url}x` }).end();
    });
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(error).toMatchObject({ code: 'redirected', attempts: 2 });
    expect((error as Error).message).toContain(
      'redirects GET /api/v1/benchmarksx to /api/v1/benchmarksxx. benchtop follows one redirect of a request.',
    );
  });

  it('of a write are followed only if it cannot happen twice (C8)', async () => {
    const params = { bench_id: 'b1' };
    const server = await slashing(307, json({ eval_run_id: 'evr_1', row_deleted: true }));
    const { service } = serviceAt(server.url);
    const error = await errorOf(service.call('startEval', { params, body: start }));
    expect(error).toMatchObject({ code: 'redirected', attempts: 1, outcomeUnknown: false });
    expect((error as Error).message).toContain(
      'redirects POST /api/v1/eval/b1/start to /api/v1/eval/b1/start/. benchtop did not follow it, because the request could happen twice. Set assumptions.path.startEval in the profile to /api/v1/eval/{bench_id}/start/.',
    );
    const told = serviceAt(server.url, { assumptions: { 'path.startEval': '/api/v1/eval/{bench_id}/start/' } });
    await told.service.call('startEval', { params, body: start });
    await service.call('undeploy', { params: { deployment_id: 'dep_1' } });
    const paths = server.requests.map(({ method, url }) => `${method} ${url}`);
    expect(paths.slice(1)).toEqual([
      'POST /api/v1/eval/b1/start/',
      'DELETE /api/v1/deploy/dep_1',
      'DELETE /api/v1/deploy/dep_1/',
    ]);
  });

  it.each(['http://evil:secret@HOST', '//evil:secret@HOST'])('carry no user or password of %s (C5)', async origin => {
    const server = await hostileServer((response, request) => {
      const { url, headers } = request;
      if (url.endsWith('/')) return emptyPage(response, request);
      response.writeHead(307, { location: `${origin.replace('HOST', headers.host ?? '')}${url}/` }).end();
    });
    await serviceAt(server.url).service.call('listBenchmarks');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it.each([
    ['/tenant-b/api/v1/benchmarks', 1],
    ['/tenant-ab/api/v1/benchmarks', 1],
    ['../../../tenant-b/', 1],
    ['%2e%2e/%2e%2e/%2e%2e/tenant-b/', 1],
    ['/tenant-a', 1],
    ['/tenant-a/other', 2],
  ])('to %s are followed only below a base URL with a path (C5)', async (location, requests) => {
    const server = await hostileServer((response, request) =>
      request.url === '/tenant-a/api/v1/benchmarks'
        ? void response.writeHead(307, { location }).end()
        : emptyPage(response, request),
    );
    const call = serviceAt(`${server.url}/tenant-a`).service.call('listBenchmarks');
    const error = await call.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(server.requests).toHaveLength(requests);
    const refused = { code: 'redirected', message: expect.stringContaining('it leads outside the base URL') };
    if (requests === 1) expect(error).toMatchObject(refused);
    else expect(error).toBeUndefined();
  });

  it('do not include 304 (C5)', async () => {
    const server = await hostileServer(response => void response.writeHead(304, { location: '/elsewhere' }).end());
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'api', status: 304, attempts: 1 });
    expect((error as Error).message).toBe('The service answered 304 Not Modified.');
  });

  it('with See Other may name the result of a write: its outcome is unknown (C8)', async () => {
    const server = await slashing(303, emptyPage);
    const call = serviceAt(server.url).service.call('startEval', { params: { bench_id: 'b1' }, body: start });
    expect(await errorOf(call)).toMatchObject({ code: 'redirected', attempts: 1, outcomeUnknown: true });
  });

  it('are not retried, whatever their headers ask', async () => {
    const headers = { location: 'https://elsewhere.example/', 'x-should-retry': 'true', 'retry-after': '1' };
    const server = await hostileServer(response => void response.writeHead(302, headers).end());
    await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(server.requests).toHaveLength(1);
  });
});

describe('cancelling', () => {
  it('sends nothing if it is cancelled already', async () => {
    const server = await hostileServer(emptyPage);
    const error = await errorOf(
      serviceAt(server.url).service.call('listBenchmarks', {}, { signal: AbortSignal.abort() }),
    );
    expect(error).toBeInstanceOf(CancelledError);
    expect((error as Error).message).toBe('Cancelled. Nothing was sent.');
    expect(server.connections()).toBe(0);
  });

  it('closes the connection of a running call', async () => {
    const server = await hostileServer(silent);
    const { service } = serviceAt(server.url);
    const controller = new AbortController();
    const call = errorOf(
      service.call('createSecret', { body: { name: 'a', value: 'b' } }, { signal: controller.signal }),
    );
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort();
    expect(await call).toMatchObject({ kind: 'cancelled', outcomeUnknown: true });
    await server.requests[0]?.closed;
  });

  it('does not read the body of an error', async () => {
    const server = await hostileServer(response => {
      response.writeHead(400).flushHeaders();
    });
    const controller = new AbortController();
    const call = serviceAt(server.url).service.call(
      'listBenchmarks',
      {},
      { signal: controller.signal, onAnswer: () => setImmediate(() => controller.abort()) },
    );
    expect(await errorOf(call)).toBeInstanceOf(CancelledError);
  });

  it('tells a timeout of the signal from an abort', async () => {
    const server = await hostileServer(silent);
    const { service } = serviceAt(server.url);
    const error = await errorOf(service.call('listBenchmarks', {}, { signal: AbortSignal.timeout(30) }));
    expect(error).toMatchObject({ kind: 'timeout', code: 'deadline' });
    // On a busy machine, nothing may have been sent yet.
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });

  it('ends the wait between two attempts', async () => {
    const server = await hostileServer(refusal(503, 'api_error', 'service_unavailable', {}, { 'retry-after': '30' }));
    const controller = new AbortController();
    const { service } = serviceAt(server.url, { clock: undefined });
    const call = errorOf(service.call('listBenchmarks', {}, { signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    setImmediate(() => controller.abort());
    expect(await call).toMatchObject({ kind: 'cancelled' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a request refused before it is sent', () => {
  it('violates the contract, and says how', async () => {
    const server = await hostileServer(emptyPage);
    const { service } = serviceAt(server.url);
    const wrong: [Promise<unknown>, string | undefined, string][] = [
      [service.call('listBenchmarks', { query: { limit: 201 } }), 'limit', 'limit must be at most 200'],
      [service.call('listBenchmarkRuntimes', { query: { limit: 0 } }), 'limit', 'limit must be at least 1'],
      [
        service.call('startEval', { params: { bench_id: 'b' }, body: { display_name: '' } }),
        'display_name',
        'must not be empty',
      ],
      [
        service.call('startEval', { params: { bench_id: 'b' }, body: { display_name: 'x'.repeat(257) } }),
        'display_name',
        'at most 256',
      ],
      [
        service.call('startEval', { params: { bench_id: 'b' }, body: { display_name: 'x', label: 'y' } as never }),
        'label',
        'unknown field: label',
      ],
      [service.call('getEvalRun', { params: { eval_run_id: '' } }), 'eval_run_id', 'eval_run_id is missing'],
      [service.call('getEvalRun', { params: { eval_run_id: '..' } }), 'eval_run_id', 'eval_run_id cannot be “..”'],
    ];
    for (const [call, param, words] of wrong) {
      const error = await errorOf(call);
      expect(error).toBeInstanceOf(RequestError);
      expect(error).toMatchObject({ code: 'invalid_request', param, attempts: 0 });
      expect((error as Error).message).toContain(words);
    }
    expect(server.requests).toEqual([]);
  });

  it('has a credential that cannot be read or sent', async () => {
    const server = await hostileServer(emptyPage);
    const broken = serviceAt(server.url, { apiKey: async () => Promise.reject(new Error('the command failed.')) });
    await expect(broken.service.call('listBenchmarks')).rejects.toMatchObject({
      kind: 'request',
      code: 'credential_unavailable',
      message: 'Nothing was sent, because the API key could not be read: the command failed.',
    });
    const odd = serviceAt(server.url, { apiKey: async () => 'a\r\nx-evil: 1' });
    await expect(odd.service.call('listBenchmarks')).rejects.toMatchObject({
      kind: 'request',
      code: 'credential_invalid',
    });
    expect(server.requests).toEqual([]);
  });
});

it('throws only its own errors, each with the name of the operation', async () => {
  const server = await hostileServer(resetAtOnce, text('<html>', 502), json({}, 404), text('nope', 418));
  const { service } = serviceAt(server.url);
  for (let call = 0; call < 4; call += 1) {
    const error = await errorOf(service.call('listSupportedTrainingModels'));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ operation: 'listSupportedTrainingModels' });
  }
});

describe('an answer without a reader (X11)', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const rowWith = (levels: number) => `{"items":[{"bench_id":"b","deep":${nested(levels)}}],"has_more":false}`;

  it.each([
    ['whole', nested(3_000_000)],
    ['in a field of a row', rowWith(50_000)],
  ])('nested too deeply, %s, is an error with advice', async (_, body) => {
    const server = await hostileServer(text(body, 200, { 'content-type': 'application/json' }));
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'response', code: 'answer_too_deep', attempts: 1 });
    expect((error as Error).message).toContain('nested deeper than 1000 levels');
  });

  it('nested too deeply in a step of a trajectory is an error with advice', async () => {
    const body = `{"trajectory_id":"t","steps":[{"step_index":0},{"messages":[{"content":${nested(50_000)}}]}],"n":1}`;
    const server = await hostileServer(text(body, 200, { 'content-type': 'application/json' }));
    const params = { trajectory_id: 't' };
    const error = await errorOf(serviceAt(server.url).service.call('getTrajectory', { params }));
    expect(error).toMatchObject({ code: 'answer_too_deep' });
  });

  it('nested up to the limit is read and can be printed', async () => {
    const server = await hostileServer(text(rowWith(900), 200, { 'content-type': 'application/json' }));
    const { items } = await serviceAt(server.url).service.call('listBenchmarks');
    expect(JSON.stringify(items)).toContain(nested(900));
  });

  it('keeps a field called __proto__ as data', async () => {
    const row = '{"bench_id":"b","name":"n","__proto__":{"status":"forged"}}';
    const server = await hostileServer(
      text(`{"items":[${row}],"has_more":false}`, 200, { 'content-type': 'application/json' }),
    );
    const [read] = (await serviceAt(server.url).service.call('listBenchmarks')).items;
    expect(JSON.stringify(read)).toContain('"__proto__":{"status":"forged"}');
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  it('sends a field called __proto__ as data', async () => {
    const server = await hostileServer(json({ uploaded: 1 }));
    const item = '{"trace_id":"a","__proto__":{"b":1}}';
    const body = { dataset: 'd', trajectories: [JSON.parse(item)] };
    await serviceAt(server.url).service.call('uploadTrajectories', { body });
    expect(server.requests[0]?.body).toContain(item);
  });

  it('that redirects to a file names the kind of URL', async () => {
    const server = await hostileServer(text('', 302, { location: 'file:///etc/passwd' }));
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect((error as Error).message).toContain('redirects to an address that begins with file:.');
  });

  it.each(['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'])('with 101 fails at once, with %j', async headers => {
    const server = await hostileServer(
      response => void response.socket?.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`),
    );
    const error = await errorOf(serviceAt(server.url).service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'network', code: 'SWITCHING_PROTOCOLS', attempts: 1 });
    expect((error as Error).message).toContain('unexpected 101 Switching Protocols');
  });
});
