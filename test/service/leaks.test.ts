/** No credential is in any error or log line, for any text that the service repeats and any inspection of the error. */
import { inspect } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import type { ErrorKind, ServiceError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import {
  apiKey,
  type Behaviour,
  errorOf,
  hostileServer,
  inferenceToken,
  json,
  refusal,
  resetAfter,
  resetAtOnce,
  type SeenRequest,
  serviceAt,
  silent,
  stream,
  text,
} from './hostile-server.ts';

const token = 'trajectory-token-0123456789';
const value = 'correct horse battery staple';
const credentials = [apiKey, inferenceToken, token, value];

/** All that has been sent so far: a service knows no more than that. */
function sentText(server: { readonly requests: readonly SeenRequest[] }): string {
  return server.requests
    .map(({ headers, body }) => `${headers['x-api-key']} ${headers.authorization} ${body}`)
    .join(' ');
}

type Parrot = (echo: string) => Behaviour;

const repeat =
  (status: number, type: string, code: string): Parrot =>
  echo => {
    const context = { seen: [echo], [echo]: { deep: echo }, failures: [{ message: echo, context: { echo } }] };
    const more = { message: echo, param: echo, doc_url: echo, context };
    return refusal(status, type, code, more, { 'x-request-id': apiKey, 'retry-after': '0' });
  };

function expectClean(text: string) {
  for (const credential of credentials) {
    expect(text).not.toContain(credential);
    expect(text).not.toContain(encodeURIComponent(credential));
  }
}

const kindsSeen = new Set<ErrorKind>();

/** Everything that a crash report, a debugger, a log or a screen could make of it. */
function expectNoLeak(error: unknown) {
  kindsSeen.add((error as ServiceError).kind);
  expectClean(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null }));
  expectClean(JSON.stringify(error));
  expectClean(JSON.stringify(Object.getOwnPropertyDescriptors(error)));
  expectClean(`${String(error)} ${(error as Error).stack}`);
  expect(error).not.toHaveProperty('cause');
}

const question = { model: 'm', messages: [{ role: 'user', content: 'x' }] };

/** Long enough for the server to read the request, even on a busy machine. */
const brief = { silenceMs: 250 };

/** One call with each credential, and one with a secret in its body. */
const calls: ((service: Service) => Promise<unknown>)[] = [
  service => service.call('getEvalRun', { params: { eval_run_id: 'evr_1' } }, brief),
  service =>
    service.call(
      'logReward',
      { params: { trajectory_id: 't' }, body: { reward_id: 'r', name: 'n', value: 1 } },
      { ...brief, token },
    ),
  service => service.chat.complete(question, brief),
  async service => {
    for await (const event of service.chat.stream(question, brief)) void event;
  },
  service => service.call('listDeployments', {}, brief),
  service => service.call('createSecret', { body: { name: 'TOKEN', value } }, brief),
];

const streamed =
  (lines: (echo: string) => string): Parrot =>
  echo =>
    stream([lines(echo)]);

const parrots: [string, Parrot][] = [
  ['authentication', repeat(401, 'authentication_error', 'authentication_required')],
  ['permission', repeat(403, 'permission_error', 'permission_denied')],
  ['not found', repeat(404, 'invalid_request_error', 'resource_not_found')],
  ['conflict', repeat(409, 'conflict_error', 'conflict')],
  ['validation', repeat(422, 'invalid_request_error', 'validation_error')],
  ['rate limit', repeat(429, 'rate_limit_error', 'rate_limited')],
  ['server', repeat(500, 'api_error', 'internal_error')],
  ['no such endpoint', repeat(501, 'api_error', apiKey)],
  ['another status', echo => text(`<title>${echo}</title>${echo}`, 418)],
  ['another framework', echo => json({ detail: echo }, 400)],
  ['redirect', echo => text(echo, 302, { location: `https://${apiKey}@${apiKey}.example/?k=${apiKey}` })],
  ['lost', () => resetAtOnce],
  ['cut', echo => resetAfter(`{"echo": "${echo}`, { 'x-request-id': apiKey })],
  ['silent', () => silent],
  ['not JSON', echo => text(echo)],
  ['not of the contract', echo => json({ items: echo, choices: echo, secret: echo, eval_run_id: null, ok: echo })],
  [
    'an error in a stream',
    streamed(echo => `data: ${JSON.stringify({ error: { message: echo, type: echo, context: { echo } } })}\n\n`),
  ],
  ['words in a stream', streamed(echo => `event: error\ndata: ${echo}\n\n`)],
];

it.each(parrots)('%s: the error contains no credential', async (_, parrot) => {
  const server = await hostileServer((response, request) => parrot(sentText(server))(response, request));
  const { service, log, trace } = serviceAt(server.url, { timeouts: brief });
  for (const call of calls) expectNoLeak(await errorOf(call(service)));
  expect(server.requests.length).toBeGreaterThanOrEqual(calls.length);
  // The service did know them all.
  for (const credential of credentials) expect(sentText(server)).toContain(credential);
  expectClean(JSON.stringify(log));
  expect(trace.length).toBeGreaterThan(calls.length);
  expectClean(JSON.stringify(trace));
});

it('nor does an error for what is refused, cancelled or timed out here', async () => {
  const server = await hostileServer(silent);
  const { service } = serviceAt(server.url);
  expectNoLeak(await errorOf(service.call('createSecret', { body: { name: '', value } })));
  expectNoLeak(await errorOf(service.call('createSecret', { body: { name: 'n', value, extra: value } as never })));
  expectNoLeak(await errorOf(service.call('listBenchmarks', {}, { signal: AbortSignal.abort(apiKey) })));
  expectNoLeak(await errorOf(service.call('listBenchmarks', {}, { deadlineMs: 30 })));
  expectNoLeak(
    await errorOf(
      serviceAt(server.url, { readOnly: true }).service.call('createSecret', { body: { name: 'n', value } }),
    ),
  );
  expectNoLeak(
    await errorOf(serviceAt(server.url, { apiKey: async () => `${apiKey}\u0000` }).service.call('listBenchmarks')),
  );
  expectNoLeak(
    await errorOf(
      service.putUpload({ path: 'p', url: `${server.url}/?k=${apiKey}` }, new Uint8Array(), {
        untilMs: 0,
      }),
    ),
  );
});

afterAll(() => {
  // Every kind of error has been looked at.
  const kinds: Record<ErrorKind, true> = {
    api: true,
    authentication: true,
    permission: true,
    not_found: true,
    conflict: true,
    validation: true,
    rate_limit: true,
    server: true,
    network: true,
    timeout: true,
    response: true,
    request: true,
    upload_url: true,
    cancelled: true,
    read_only: true,
    capability_missing: true,
  };
  expect([...kindsSeen].sort()).toEqual(Object.keys(kinds).sort());
});
