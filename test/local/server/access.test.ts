/** Access: separate organizations, rate limits, sizes, inference errors, an upstream server. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../src/commands/exit.ts';
import { exitCodeOf } from '../../../src/commands/failure.ts';
import type { Endpoint } from '../../../src/contract/common.ts';
import { endpoints } from '../../../src/contract/endpoints.ts';
import { foreignOperations } from '../../../src/local/server/handlers.ts';
import { Database } from '../../../src/local/store/database.ts';
import { isLastingRefusal } from '../../../src/service/errors.ts';
import { eventually } from '../../eventually.ts';
import { createOrganization } from '../organizations.ts';
import { clientOf, startService, type TestService, until } from './running.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.end());

const chat = (model: string, more: object = {}, headers: Record<string, string> = {}) =>
  service.call(
    'POST',
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'hello' }], max_tokens: 4, ...more },
    { 'X-API-Key': '', Authorization: `Bearer ${service.apiKey}`, ...headers },
  );

describe('organizations', () => {
  it('cannot see each other: a foreign id is an unknown one', async () => {
    const benchId = await service.readyBenchmark('opposites');
    const { body: run } = await service.call('POST', `/api/v1/eval/${benchId}/start`, {
      display_name: 'mine',
      model_slug: 'benchtop/tutor-base',
    });
    const options = { num_steps: 1, train_batch_size: 1, samples_per_instance: 2 };
    const { body: training } = await service.call('POST', '/api/v1/train', {
      bench_id: benchId,
      base_model_slug: 'benchtop/tutor-base',
      options,
    });
    const trainingId = training.training_run_id;
    await until(
      async () => (await service.call('GET', `/api/v1/train/${trainingId}`)).body,
      ({ status }) => status === 'succeeded',
    );
    const [checkpoint] = (await service.call('GET', `/api/v1/train/${trainingId}/checkpoints`)).body.items;
    const { body: deployment } = await service.call('POST', '/api/v1/deploy', {
      checkpoint_id: checkpoint.checkpoint_id,
      model_slug: 'mine',
      role: 'production',
    });
    const { body: secret } = await service.call('POST', '/api/v1/secrets', { name: 'MINE', value: 'v' });
    const { body: rewards } = await service.call('GET', `/api/v1/train/${trainingId}/steps/1/trajectory-rewards`);
    const { body: allocated } = await service.call('POST', '/api/v1/benchmarks/uploads', {
      files: [{ path: 'a', content_type: 'text/plain', size_bytes: 1 }],
    });

    const database = new Database(join(service.folder, 'benchtop.db'));
    createOrganization(database, 'others', 'sk-others');
    database.close();
    const theirs: Record<string, string> = {
      bench_id: benchId,
      eval_run_id: run.eval_run_id,
      training_run_id: trainingId,
      deployment_id: deployment.deployment_id,
      secret_id: secret.secret.secret_id,
      trajectory_id: rewards.trajectory_rewards[0].trajectory_id,
      step: '1',
      step_index: '1',
    };
    const bodies: Record<string, object> = {
      startEval: { display_name: 'x', model_slug: 'benchtop/tutor-base' },
      logReward: { reward_id: 'r', name: 'n', value: 1 },
      completeTrajectory: { termination_reason: 'ERROR' },
      ingestBenchmark: { name: 'x' },
    };
    const key = { 'X-API-Key': 'sk-others' };
    const isOfId = ({ operation, path }: Endpoint): boolean =>
      path.includes('{') && !path.startsWith('/v1/') && !foreignOperations.has(operation);
    const about = Object.values<Endpoint>(endpoints).filter(isOfId);
    expect(about.length).toBeGreaterThan(25);
    for (const { operation, method, path } of about) {
      const filled = (ids: Record<string, string>) => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
      const unknown = Object.fromEntries(Object.keys(theirs).map(name => [name, 'unknown']));
      const ask = (ids: Record<string, string>) =>
        service.call(method, filled(ids), method === 'POST' ? (bodies[operation] ?? {}) : undefined, key);
      const [foreign, missing] = [await ask(theirs), await ask(unknown)];
      expect([operation, foreign.status, foreign.body.error?.code]).toEqual([operation, 404, 'resource_not_found']);
      const message = (answer: typeof foreign) => answer.body.error.message.replaceAll(/\S*(_\w+|unknown)\S*/g, '…');
      expect([operation, missing.status, message(missing)]).toEqual([operation, foreign.status, message(foreign)]);
    }
    for (const path of ['benchmarks', 'benchmarks/runtimes', 'trajectories', 'datasets', 'deploy', 'secrets']) {
      expect((await service.call('GET', `/api/v1/${path}`, undefined, key)).body.items).toEqual([]);
    }
    const more = { files: [{ path: 'b', content_type: 'text/plain', size_bytes: 1 }], bench_id: allocated.bench_id };
    expect((await service.call('POST', '/api/v1/benchmarks/uploads', more, key)).body.error.code).toBe(
      'resource_not_found',
    );
    const body = { bench_id: benchId, base_model_slug: 'benchtop/tutor-base' };
    expect((await service.call('POST', '/api/v1/train', body, key)).body.error.code).toBe('resource_not_found');
    const bearer = { Authorization: 'Bearer sk-others' };
    expect((await chat('mine', {}, bearer)).body.error.code).toBe('model_not_found');
  });
});

describe('inference', () => {
  it('has its own envelope for each error', async () => {
    const cases = [
      [await chat('benchtop/tutor-base', { messages: [] }), 422, 'validation_error'],
      [await chat('benchtop/tutor-base', { temperature: -1 }), 422, 'validation_error'],
      [await chat('nobody/nothing'), 404, 'model_not_found'],
      [await chat('benchtop/tutor-base', {}, { Authorization: '' }), 401, 'authentication_required'],
      [await chat('benchtop/tutor-base', {}, { Authorization: 'Bearer wrong' }), 401, 'authentication_required'],
    ] as const;
    for (const [{ status, body, headers }, expected, code] of cases) {
      expect([status, body.error.code]).toEqual([expected, code]);
      expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
      const { param, ...others } = body.error;
      for (const value of Object.values(others)) expect(typeof value).toBe('string');
      expect([null, 'messages', 'temperature', 'model']).toContain(param);
      expect(headers.get('x-request-id')).toMatch(/^req_/);
    }
    const garbled = await service.call('POST', '/v1/chat/completions', '{', {
      Authorization: `Bearer ${service.apiKey}`,
    });
    expect([garbled.status, garbled.body.error.type]).toEqual([400, 'invalid_request_error']);
  });
});

describe('limits', () => {
  it('say when to retry, in the envelope of the path', async () => {
    const limited = await startService({ rateLimit: { perSecond: 0.5, burst: 3 } });
    try {
      const ask = () => limited.call('GET', '/api/v1/datasets');
      const statuses = [(await ask()).status, (await ask()).status, (await ask()).status];
      expect(statuses).toEqual([200, 200, 200]);
      const refused = await ask();
      expect([refused.status, refused.body.error.type, refused.body.error.code]).toEqual([
        429,
        'rate_limit_error',
        'rate_limited',
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get('service-should-retry')).toBe('true');
      const chatting = await limited.call(
        'POST',
        '/v1/chat/completions',
        {},
        { Authorization: `Bearer ${limited.apiKey}` },
      );
      expect([chatting.status, Object.keys(chatting.body.error)]).toEqual([429, ['message', 'type', 'param', 'code']]);
      expect((await limited.call('GET', '/local/health')).status).toBe(200);
    } finally {
      await limited.end();
    }
  });

  it('refuse a body that is too long before it is read', async () => {
    const declared = await fetch(`${service.baseUrl}/api/v1/trajectories/upload`, {
      method: 'POST',
      headers: { 'X-API-Key': service.apiKey },
      body: new Uint8Array(33 * 1024 * 1024),
    }).catch(() => undefined);
    // The connection may end before everything was sent.
    if (declared)
      expect([declared.status, ((await declared.json()) as { error: { code: string } }).error.code]).toEqual([
        413,
        'request_too_large',
      ]);
    async function* endless() {
      for (let part = 0; part < 40; part += 1) yield new Uint8Array(1024 * 1024);
    }
    const streamed = await fetch(`${service.baseUrl}/api/v1/trajectories/upload`, {
      method: 'POST',
      headers: { 'X-API-Key': service.apiKey },
      body: ReadableStream.from(endless()),
      duplex: 'half',
    } as RequestInit).catch(() => undefined);
    if (streamed) expect(streamed.status).toBe(413);
    expect((await service.call('GET', '/api/v1/datasets')).status).toBe(200);
  });
});

describe('a client without the key', () => {
  const open = () => connect(Number(new URL(service.baseUrl).port), '127.0.0.1');

  it.each([
    ['401', '/api/v1/trajectories/upload', ''],
    ['403', '/api/v1/trajectories/upload', 'Origin: http://page.example\r\n'],
    ['403', '/storage/bench_1?path=a&size=1&type=b&expires=1&signature=c', ''],
    ['404', '/nowhere', ''],
  ])('gets %s, and its endless body is not read (X10)', async (status, path, header) => {
    const socket = open();
    socket.on('error', () => {});
    const method = path.startsWith('/storage') ? 'PUT' : 'POST';
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${header}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*\r\nconnection: close\r\n`, 'is'));
    socket.resume();
    await once(socket, 'close');
  });

  it('cannot hold many connections open without a request (X10)', async () => {
    const socket = open();
    socket.on('error', () => {});
    socket.write('GET /local/health HTTP/1.1\r\nHost: localhost\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is refused beyond 512 connections, and the first one is answered (X10)', async () => {
    const sockets = Array.from({ length: 600 }, () => open().on('error', () => {}));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const isClosed = (socket: Socket): boolean => socket.destroyed || socket.readableEnded;
    const isRefused = (socket: Socket): boolean => isClosed(socket) && socket.bytesRead === 0;
    for (const socket of sockets) socket.resume();
    await eventually(() => expect(sockets.filter(isRefused).length).toBeGreaterThanOrEqual(600 - 512));
    const [first] = sockets;
    first?.write('GET /local/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = first ? ((await once(first, 'data')) as [Buffer]) : [];
    expect(answer?.toString()).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('does not keep the service awake (X10)', async () => {
    const idle = await startService({ idleMs: 30 });
    let isRefused = true;
    let hasEnded = false;
    void idle.ended.then(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      const answer = await fetch(`${idle.baseUrl}/local/health`).catch(() => undefined);
      if (answer) isRefused &&= answer.status === 401 || answer.status === 503;
    }
    expect(isRefused).toBe(true);
    await idle.end();
  });
});

describe('an upstream server', () => {
  let upstream: Server;
  let relayed: TestService;
  const seen: { key: string | undefined; names: string[]; body: { model: string; stream?: boolean } }[] = [];

  const refusals: Readonly<Record<string, { status: number; message: string; code?: string }>> = {
    expired: { status: 401, message: 'Your plan has expired.' },
    unpaid: { status: 402, message: 'Insufficient credits' },
    foreign: { status: 403, message: 'No access to this model' },
    used: { status: 429, message: 'You exceeded your current quota', code: 'insufficient_quota' },
  };

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      let text = '';
      request.on('data', part => {
        text += part;
      });
      request.on('end', () => {
        const body = JSON.parse(text) as { model: string; stream?: boolean };
        const refusal = refusals[body.model];
        seen.push({ key: request.headers.authorization, names: Object.keys(request.headers), body });
        if (body.model === 'busy') {
          // By a clock that is years behind.
          const [date, until] = ['00', '07'].map(second => `Wed, 04 Mar 2020 05:06:${second} GMT`);
          response.writeHead(429, { Date: date, 'Retry-After': until }).end('{"error":{"message":"slow down"}}');
        } else if (body.model === 'broken') {
          response.writeHead(500).end('<html>oh no</html>');
        } else if (body.model === 'teapot') {
          const error = { message: 'sk-upstream is a teapot', type: 'x', code: 'is_teapot', param: 'brew' };
          response.writeHead(418).end(JSON.stringify({ error }));
        } else if (refusal) {
          const { status, ...error } = refusal;
          response.writeHead(status).end(JSON.stringify({ error }));
        } else if (body.model === 'unknown') {
          response.writeHead(404).end('{"error":"no such model"}');
        } else if (body.model === 'coy' && body.stream) {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
          const parts = ['not ', 'this'].map(refusal => chunk({ delta: { refusal } }));
          response.end(`${parts.join('')}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
        } else if (body.model === 'coy') {
          const message = { role: 'assistant', content: null, refusal: 'not this', reasoning_content: 'may I?' };
          response.setHeader('Content-Type', 'application/json');
          response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'content_filter' }] }));
        } else if (body.model === 'calls' || body.model === 'draws') {
          const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
          const function_ = { name: 'look', arguments: '{"at":"t"}' };
          const message =
            body.model === 'calls'
              ? { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: function_ }] }
              : { role: 'assistant', content: [{ type: 'text', text: 'cold' }, image] };
          response.setHeader('Content-Type', 'application/json');
          response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
        } else if (body.stream) {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          response.write('data: {"choices":[{"index":0,"delta":{"content":"cold"}}]}\n\n');
          if (body.model === 'dies') setTimeout(() => response.destroy(), 20);
          else response.end(': ping\n\ndata: [DONE]\n\n');
        } else {
          const message = { role: 'assistant', content: 'cold' };
          const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
          response.setHeader('Content-Type', 'application/json');
          response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
        }
      });
    });
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    relayed = await startService({ upstream: { url: `http://127.0.0.1:${port}/v1`, key: 'sk-upstream' } });
  });
  afterAll(async () => {
    await relayed.end();
    upstream.close();
  });

  const ask = (model: string, stream = false, headers = {}) =>
    relayed.call(
      'POST',
      '/v1/chat/completions',
      { model, stream, messages: [{ role: 'user', content: 'hi' }] },
      { Authorization: `Bearer ${relayed.apiKey}`, ...headers },
    );

  it('has each complete answer recorded as a step of the trajectory in the request', async () => {
    const { tid } = (await relayed.call('POST', '/api/v1/trajectories', {})).body;
    const named = { 'X-Trajectory-Id': tid };
    expect((await ask('gpt-x', false, named)).body.choices[0].message.content).toBe('cold');
    expect(seen.at(-1)?.names).not.toContain('x-trajectory-id');
    expect((await ask('gpt-x', true, named)).body).toContain(': ping');
    await ask('dies', true, named);
    const { body } = await relayed.call('GET', `/api/v1/trajectories/${tid}?include_steps=true`);
    expect(body).toMatchObject({ num_steps: 2, model_id: 'gpt-x', model_association_source: 'chat' });
    for (const { messages } of body.steps) {
      expect(messages.map(({ content }: { content: string }) => content)).toEqual(['hi', 'cold']);
    }
    await ask('coy', false, named);
    await ask('coy', true, named);
    const { steps } = (await relayed.call('GET', `/api/v1/trajectories/${tid}`)).body;
    expect(steps.slice(2).map(({ messages }: { messages: object[] }) => messages.at(-1))).toMatchObject([
      { content: '', refusal: 'not this', reasoning: 'may I?', finish_reason: 'content_filter' },
      { content: '', refusal: 'not this', finish_reason: 'stop' },
    ]);
    const before = seen.length;
    expect((await ask('gpt-x', false, { 'X-Trajectory-Id': 'unknown' })).status).toBe(404);
    expect(seen.length).toBe(before);
  });

  it('answers if no local model does, with its own key and never with ours', async () => {
    expect((await ask('gpt-x')).body.choices[0].message.content).toBe('cold');
    expect(seen.at(-1)).toMatchObject({ key: 'Bearer sk-upstream', body: { model: 'gpt-x' } });
    const before = seen.length;
    expect((await ask('benchtop/tutor-base')).status).toBe(200);
    expect(seen.length).toBe(before);
  });

  it('streams through as data arrives, and says so if it breaks off', async () => {
    expect((await ask('gpt-x', true)).body).toContain(': ping');
    const broken: string = (await ask('dies', true)).body;
    expect(broken).toContain('"content":"cold"');
    const last = broken.trim().split('\n\n').at(-1) ?? '';
    expect(JSON.parse(last.replace('data: ', '')).error.code).toBe('internal_error');
  });

  it('has its errors translated', async () => {
    const busy = await ask('busy');
    expect([busy.status, busy.body.error.code, busy.headers.get('retry-after')]).toEqual([429, 'rate_limited', '7']);
    const broken = await ask('broken');
    expect([broken.status, broken.body.error.code]).toEqual([502, 'upstream_failed']);
    const unknown = await ask('unknown');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'model_not_found']);
    expect(unknown.body.error.message).toContain('no such model');
    const teapot = await ask('teapot');
    expect([teapot.status, teapot.body.error]).toMatchObject([418, { code: 'is_teapot', param: 'brew' }]);
    expect(teapot.body.error.message).not.toContain('sk-upstream');
  });

  it.each([
    ['expired', 'The upstream server answered 401: Your plan has expired. Check the upstream key.'],
    ['unpaid', 'The upstream server answered 402: Insufficient credits.'],
    ['foreign', 'The upstream server answered 403: No access to this model. Check the upstream key.'],
    ['used', 'The upstream server answered 429: You exceeded your current quota.'],
  ])('has its refusals reported as final: %s (B8)', async (model, message) => {
    const answer = clientOf(relayed).chat.complete({ model, messages: [{ role: 'user', content: 'hi' }] });
    const error = await answer.catch((each: unknown) => each);
    expect(error).toMatchObject({ kind: 'permission', message, attempts: 1 });
    expect([isLastingRefusal(error), exitCodeOf(error)]).toEqual([true, exitCodes.forbidden]);
  });

  it('samples the rollouts of an evaluation, graded here, and notes what was refused (B3)', async () => {
    const benchId = await relayed.readyBenchmark('opposites');
    const start = (model_slug: string) =>
      relayed.call('POST', `/api/v1/eval/${benchId}/start`, { display_name: model_slug, model_slug });
    const end = async (model: string) => {
      const { eval_run_id } = (await start(model)).body;
      return until(
        async () => (await relayed.call('GET', `/api/v1/eval/${eval_run_id}`)).body,
        ({ status }) => status === 'completed' || status === 'failed',
      );
    };
    const good = await end('gpt-x');
    expect(good.status).toBe('completed');
    expect(good.reward_mean).toBeGreaterThanOrEqual(0);
    expect(good.reward_mean).toBeLessThan(1);
    const lastOf = async (model: string) => {
      const { eval_run_id } = await end(model);
      const listed = (await relayed.call('GET', `/api/v1/trajectories?eval_run_id=${eval_run_id}`)).body.items;
      expect(listed.length).toBeGreaterThan(0);
      const { body } = await relayed.call('GET', `/api/v1/trajectories/${listed[0].trajectory_id}`);
      return body.steps[0].messages.slice(-2);
    };
    const [called, grade] = await lastOf('calls');
    expect(JSON.parse(called.tool_calls)).toMatchObject([{ id: 'c1', function: { name: 'look' } }]);
    expect(grade).toMatchObject({
      role: 'grader',
      content: expect.stringContaining('no answer: the model only called tools'),
    });
    // The grader sees the text alone.
    const [drawn] = await lastOf('draws');
    expect(drawn).toMatchObject({ content_parts: [{ text: 'cold' }, { type: 'image_url' }] });
    expect(await lastOf('coy')).toMatchObject([
      { content: '', refusal: 'not this', reasoning: 'may I?', finish_reason: 'content_filter' },
      { role: 'grader', content: 'no answer: the model refused' },
    ]);
    const bad = await end('broken');
    expect([bad.status, bad.failure.code]).toEqual(['failed', 'no_rollout_scored']);
    expect(bad.failure.message).toContain('oh no');
  });
});
