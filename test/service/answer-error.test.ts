import { describe, expect, it } from 'vitest';
import { errorOfAnswer } from '../../src/service/answer-error.ts';
import type { CallFacts } from '../../src/service/wire-error.ts';
import { inTime } from '../in-time.ts';
import { callFacts } from './call-facts.ts';
import { errorOf, hostileServer, json, refusal, serviceAt } from './hostile-server.ts';

const redact: CallFacts['redact'] = text => text.replaceAll('the-key', '[hidden]');

function errorFor(status: number, body: unknown, more: Partial<CallFacts> = {}, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const parsed = typeof body === 'string' ? undefined : body;
  return errorOfAnswer({ status, headers, text, body: parsed }, { ...callFacts, redact, ...more }, 0);
}

describe('the envelope counts before the status', () => {
  it.each([
    ['authentication_error', 'authentication_required', 'authentication'],
    ['permission_error', 'permission_denied', 'permission'],
    ['invalid_request_error', 'validation_error', 'validation'],
    ['rate_limit_error', 'rate_limited', 'rate_limit'],
    ['dependency_error', 'sandbox_down', 'server'],
    ['invalid_request_error', 'invalid_trajectory_upload', 'validation'],
    ['conflict_error', 'trajectory_upload_conflict', 'conflict'],
    ['invalid_request_error', 'resource_not_found', 'not_found'],
    ['conflict_error', 'trajectory_already_terminal', 'conflict'],
    ['invalid_request_error', 'something_new', 'validation'],
    ['invalid_request_error', 'model_not_found', 'not_found'],
    // The code says more than the type.
    ['api_error', 'rate_limited', 'rate_limit'],
  ])('%s / %s is %s, whatever the status', (type, code, kind) => {
    for (const status of [400, 418, 500]) {
      const error = errorFor(status, { error: { type, code, message: 'm' } });
      expect(error).toMatchObject({ kind, type, code, status });
    }
  });

  it.each(['internal_error', 'service_unavailable', 'trajectory_upload_failed', 'something_new'])(
    'api_error / %s is a failure of the service only with a status that fits (B5)',
    code => {
      const errorWith = (status: number) => errorFor(status, { error: { type: 'api_error', code, message: 'm' } });
      const kinds = [200, 400, 401, 404, 405, 408, 409, 422, 429, 500, 503].map(status => errorWith(status).kind);
      expect(kinds).toEqual([
        ...['server', 'validation', 'authentication', 'not_found', 'api', 'server', 'conflict', 'validation'],
        ...['rate_limit', 'server', 'server'],
      ]);
      expect(errorWith(422).message).not.toContain('later');
    },
  );

  it.each([
    [400, 'validation'],
    [401, 'authentication'],
    [403, 'permission'],
    [404, 'not_found'],
    [409, 'conflict'],
    [418, 'api'],
    [422, 'validation'],
    [429, 'rate_limit'],
    [500, 'server'],
    [503, 'server'],
  ])('status %i decides without a useful envelope: %s', (status, kind) => {
    expect(errorFor(status, '<html>').kind).toBe(kind);
    expect(errorFor(status, {}).kind).toBe(kind);
    expect(errorFor(status, { error: { message: 'm', type: 'BadThing', code: null } }).kind).toBe(kind);
  });

  it('reads the envelope of inference, numbers and nulls too', () => {
    expect(
      errorFor(400, { error: { message: 'no such model', type: 'not_found_error', param: 'model', code: null } }),
    ).toMatchObject({ kind: 'not_found', param: 'model', code: undefined });
    expect(errorFor(400, { error: { message: 'm', type: 'x', param: null, code: 400 } })).toMatchObject({
      code: '400',
    });
  });

  it('reads what it can from an envelope with fields of a wrong type', () => {
    expect(errorFor(401, { error: { type: 'authentication_error', message: 'm', context: 'words' } })).toMatchObject({
      kind: 'authentication',
      context: undefined,
    });
  });
});

it('returns every field of the envelope, the failures and the headers', () => {
  const failures = [
    { code: 'bad_step', message: 'step 3 has no messages', item_index: 4, context: { step: 3 } },
    'not a failure',
    { code: 'bad_reward' },
  ];
  const error = errorFor(
    422,
    {
      error: {
        type: 'invalid_request_error',
        code: 'invalid_trajectory_upload',
        message: 'Two of five are wrong',
        param: 'trajectories',
        doc_url: 'https://docs.example',
        context: { failures, more: 1 },
      },
    },
    {},
    { 'x-request-id': 'req_1', 'retry-after': '7' },
  );
  expect(error).toMatchObject({
    name: 'ValidationError',
    param: 'trajectories',
    requestId: 'req_1',
    retryAfterMs: 7_000,
    operation: 'op',
    attempts: 1,
    context: { failures, more: 1 },
    message:
      'Two of five are wrong. The first of 2 errors is item 4: step 3 has no messages. Fix trajectories and try again.',
  });
  expect(error.failures).toEqual([failures[0], failures[2]]);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ kind: 'validation', requestId: 'req_1', status: 422 });
});

describe('the message says what to do', () => {
  it.each([
    ['apiKey', 'Check the API key of this profile.'],
    ['inferenceToken', 'Check the inference token of this profile'],
    ['trajectoryToken', 'Trajectory tokens are short-lived'],
  ] as const)('%s', (auth, words) => {
    expect(errorFor(401, { error: { type: 'authentication_error', message: 'who?' } }, { auth }).message).toContain(
      `who? ${words}`,
    );
  });

  it('tells another organization from a wrong address', () => {
    expect(errorFor(404, { error: { type: 'x', code: 'resource_not_found', message: 'No such run' } }).message).toBe(
      'No such run. It may have been deleted, or belong to another organization.',
    );
    expect(errorFor(404, '<html><head><TITLE>\n Not\n found </TITLE>').message).toBe(
      'The service answered 404 Not Found: Not found. Check the base URL of this profile.',
    );
  });

  it.each([
    ['list', 'resource_not_found', 'This service does not offer GET /api/v1/datasets.'],
    ['list', 'not_found', 'This service does not offer GET /api/v1/datasets.'],
    [
      'secret',
      'resource_not_found',
      'A resource that the request names may not exist, or this service does not offer POST /api/v1/secrets.',
    ],
    ['secret', 'secret_not_found', 'It may have been deleted, or belong to another organization.'],
    [
      'raw',
      'resource_not_found',
      'A resource that the request names may not exist, or this service does not offer GET /api/v2/notes.',
    ],
    ['record', 'resource_not_found', 'It may have been deleted, or belong to another organization.'],
  ] as const)('says what the 404 of a %s may mean, with the code %s', async (what, code, words) => {
    const server = await hostileServer(refusal(404, 'invalid_request_error', code, { message: 'Nothing here' }));
    const { service } = serviceAt(server.url);
    const calls = {
      list: () => service.call('listDatasets'),
      secret: () => service.call('createSecret', { body: { name: 'A', value: 'b' } }),
      raw: () => service.sendRaw({ method: 'GET', path: '/api/v2/notes?a=b' }),
      record: () => service.call('getTrajectory', { params: { trajectory_id: 'traj_1' } }),
    };
    expect(await errorOf(calls[what]())).toMatchObject({ message: `Nothing here. ${words}` });
  });

  it.each([
    [429, {}, 'Try again later.'],
    [429, { 'retry-after': '7' }, 'Try again in 7 s.'],
    [503, {}, 'The service failed: try again later.'],
    [503, { 'retry-after': '7' }, 'Try again in 7 s.'],
    [418, {}, ''],
    [418, { 'retry-after': '7' }, 'Try again in 7 s.'],
  ])('says for status %i with %j when to retry', (status, headers, when) => {
    const { message } = errorFor(status, { error: { message: 'Not now' } }, {}, headers);
    expect(message).toBe(when === '' ? 'Not now.' : `Not now. ${when}`);
  });

  it.each([
    [{ item_index: null, message: 'no steps' }, 'The error is no steps.'],
    [{ item_index: 0, code: 'bad_step' }, 'The error is item 0: bad_step.'],
    [{ item_index: 4 }, 'The error is item 4: not described.'],
  ])('the failure %j', (failure, words) => {
    expect(errorFor(422, { error: { message: 'Wrong', context: { failures: [failure] } } }).message).toContain(
      `Wrong. ${words}`,
    );
  });

  it('reads errors of other frameworks', () => {
    expect(errorFor(422, { detail: 'limit is too large' }).message).toContain('limit is too large.');
    expect(errorFor(400, { message: 'no' }).message).toContain(': no.');
    expect(errorFor(400, { error: 'plain words' }).message).toContain(': plain words.');
    expect(errorFor(422, { detail: [{ loc: [], msg: 'x' }] }).message).toContain('422 Unprocessable Entity: x.');
    expect(errorFor(422, { detail: [{ loc: 'x' }] }).message).toContain('422 Unprocessable Entity.');
  });

  it('is one line, and keeps its own words, whatever the service sends', () => {
    const evil = 'no\n::error::owned\u001b[';
    const body = { error: { type: 'invalid_request_error', code: 'validation_error', message: evil, param: evil } };
    expect(errorFor(422, body).message).toBe('no ::error::owned. Fix no ::error::owned and try again.');
    expect(errorFor(422, { detail: [{ loc: ['body', evil], msg: evil }] }).message).toContain(
      ': no ::error::owned: no ::error::owned. Fix no',
    );
  });

  it('says that a failed write may have happened, whichever side reports the failure', () => {
    const write = { method: 'POST', isWrite: true } as const;
    const enveloped = { error: { type: 'api_error', code: 'internal_error', message: 'Out of luck' } };
    expect(errorFor(504, '<html>', write)).toMatchObject({ outcomeUnknown: true });
    expect(errorFor(504, '<html>', write).message).toContain('check before you repeat it');
    expect(errorFor(500, enveloped, write)).toMatchObject({
      outcomeUnknown: true,
      message: 'Out of luck. The service failed. It may have happened anyway: check before you repeat it.',
    });
    expect(errorFor(503, enveloped, write, { 'retry-after': '7' }).message).not.toMatch(/try again/i);
    const refused = { error: { type: 'invalid_request_error', code: 'validation_error', message: 'No' } };
    expect(errorFor(500, refused, write).outcomeUnknown).toBe(false);
    // No room to store it: nothing was.
    for (const status of [501, 507]) expect(errorFor(status, enveloped, write).outcomeUnknown).toBe(false);
    expect(errorFor(400, '<html>', write).outcomeUnknown).toBe(false);
    expect(errorFor(504, '<html>').outcomeUnknown).toBe(false);
  });
});

it('hides secrets anywhere', () => {
  const error = errorFor(401, {
    error: {
      type: 'authentication_error',
      message: 'the-key is wrong',
      context: { 'the-key': [{ seen: 'x the-key' }] },
    },
  });
  expect(JSON.stringify(error)).not.toContain('the-key');
  expect(error.message).toContain('[hidden] is wrong');
  expect(errorFor(500, { detail: 'the-key?' }).message).not.toContain('the-key');
});

it('takes only a valid request id', () => {
  expect(errorFor(500, '', {}, { 'x-request-id': 'a\u001b[31mb' }).requestId).toBeUndefined();
  expect(errorFor(500, '', {}, { 'x-request-id': 'x'.repeat(500) }).requestId).toBeUndefined();
});

it('cuts a message that is not for people', () => {
  const { message } = errorFor(400, { error: { type: 'api_error', message: 'x'.repeat(100_000) } });
  expect(message).toMatch(/^x{2000}… /);
  expect(message.length).toBeLessThan(3_000);
});

describe('a request refused by a framework', () => {
  const detail = [{ type: 'missing', loc: ['query', 'agent_id'], msg: 'Field required' }];

  it('names the field, and what to do about an agent', async () => {
    const server = await hostileServer(json({ detail }, 422));
    const { service } = serviceAt(server.url);
    const call = service.call('ingestBenchmark', { params: { bench_id: 'b' }, body: {} });
    const error = await errorOf(call);
    expect(error).toMatchObject({ kind: 'validation', param: 'agent_id' });
    expect(String(error)).toContain('agent_id: Field required');
    expect(String(error)).toContain('as agent in the profile');
  });
});

describe('the advice at the end of a message', () => {
  const messageOf = (...given: Parameters<typeof errorFor>) => errorFor(...given).message;
  const said = (type: string, code?: string, param?: string) => ({ error: { type, code, message: 'No.', param } });
  const after = { 'retry-after': '7' };

  it.each([
    ['apiKey', 'No. Check the API key of this profile.'],
    ['shownWithout', 'No. Check the API key of this profile.'],
    ['inferenceToken', 'No. Check the inference token of this profile; without one, the API key is sent.'],
    ['trajectoryToken', 'No. Trajectory tokens are short-lived and valid for one trajectory: get a new one.'],
  ] as const)('of a refused credential names the one that was sent: %s', (auth, words) => {
    expect(messageOf(401, said('authentication_error'), { auth })).toBe(words);
  });

  it('of a refusal, or a temporary one, names who could do it', () => {
    expect(messageOf(403, said('permission_error'))).toBe('No. This key lacks the permission: use another one.');
    expect(messageOf(409, said('conflict_error'))).toBe('No.');
    expect(messageOf(409, 'no')).toContain('Its current state does not allow this.');
    expect(messageOf(404, 'no')).toContain('Check the base URL of this profile.');
  });

  it('of something missing names what may be missing', () => {
    const missing = said('invalid_request_error', 'resource_not_found');
    const of = (more: Partial<CallFacts>) => messageOf(404, missing, { method: 'GET', path: '/x', ...more });
    expect(of({})).toBe('No. It may have been deleted, or belong to another organization.');
    expect(of({ subject: 'path' })).toBe('No. This service does not offer GET /x.');
    expect(of({ subject: 'input' })).toBe(
      'No. A resource that the request names may not exist, or this service does not offer GET /x.',
    );
    const details = { ...callFacts.details, mayLackPath: true, operation: 'cancelEval' };
    expect(of({ details })).toBe(
      'No. It may have been deleted, it may belong to another organization, or this service does not cancel evaluation runs.',
    );
  });

  it('of a 501 does not promise that a retry may work', () => {
    expect(messageOf(501, said('api_error', 'internal_error'))).toMatch(
      /^No\. This service does not offer GET \/api\S+\.$/,
    );
  });

  it('of an invalid request names the field', () => {
    const wrong = (param?: string, more: Partial<CallFacts> = {}) =>
      messageOf(422, said('invalid_request_error', 'validation_error', param), more);
    expect(wrong()).toMatch(/^No\. Check the request to GET \/api\S+, and try again\.$/);
    expect(wrong('limit')).toBe('No. Fix limit and try again.');
    expect(wrong('limit', { fieldAdvice: 'Call it otherwise.' })).toBe('No. Call it otherwise.');
    for (const param of ['agent', 'agent_id', 'agent_name'])
      expect(wrong(param, { fieldAdvice: 'Call it otherwise.' })).toBe(
        'No. This service requires an agent for uploads: set it with --agent, or as agent in the profile.',
      );
    expect(wrong('agents')).toBe('No. Fix agents and try again.');
    // A message that names it already (out33 C10).
    const named = { ...said('invalid_request_error', 'validation_error', 'limit').error, message: 'limit: too large' };
    expect(messageOf(422, { error: named })).toBe('limit: too large. Fix it and try again.');
  });

  it('of a temporary failure says when to retry, unless that is done already', () => {
    const limited = said('rate_limit_error');
    expect(messageOf(429, limited)).toBe('No. Try again later.');
    expect(messageOf(429, limited, {}, after)).toBe('No. Try again in 7 s.');
    expect(messageOf(429, limited, { isPolled: true }, after)).toBe('No.');
    const failed = said('api_error');
    expect(messageOf(500, failed)).toBe('No. The service failed: try again later.');
    expect(messageOf(500, failed, {}, after)).toBe('No. Try again in 7 s.');
    expect(messageOf(500, failed, { isPolled: true }, after)).toBe('No. The service failed.');
    expect(messageOf(418, { error: { message: 'No.' } })).toBe('No.');
    expect(messageOf(418, { error: { message: 'No.' } }, {}, after)).toBe('No. Try again in 7 s.');
  });
});

it('reads a page with endless titles once', () => {
  const error = inTime('the error', () => errorFor(500, '<title'.repeat(150_000)));
  expect(error).toMatchObject({ kind: 'server', status: 500 });
});

it('reports an error that is the same for all items once (attack34 C)', () => {
  const message = 'Nothing in the batch was stored: the disk is full.';
  const failuresWith = (of: string) => ({ failures: [0, 1].map(item_index => ({ item_index, message: of })) });
  const errorWith = (of: string) =>
    errorFor(507, {
      error: { type: 'api_error', code: 'trajectory_upload_failed', message, context: failuresWith(of) },
    });
  expect(errorWith(message).message.split('disk is full')).toHaveLength(2);
  expect(errorWith('It has no role.').message).toContain('The first of 2 errors is item 0: It has no role.');
});
