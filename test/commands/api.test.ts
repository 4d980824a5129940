/** `benchtop api`: response headers, and paths outside the contract. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { type Behaviour, hostileServer, json, refusal, text } from '../service/hostile-server.ts';
import { type CliOptions, cliOn, testFolder } from './cli.ts';

const apiKey = 'organization-key-0123456789';

async function apiOn(...script: readonly Behaviour[]) {
  const server = await hostileServer(...script);
  const url = `${server.url}/base`;
  const cli = cliOn({ baseUrl: url, apiKey });
  const api = (args: readonly string[], options?: CliOptions) => cli('api', args, options);
  return { api, url, requests: server.requests };
}

it('prints a page with the fields of the contract, and notes unreadable rows (C3)', async () => {
  const { api } = await apiOn(json({ items: [{ bench_id: 'b1' }, 'nonsense'], has_more: false, next_cursor: null }));
  const { out, notes } = await api(['listBenchmarks']);
  expect(JSON.parse(out)).toEqual({ items: [{ bench_id: 'b1' }], has_more: false, next_cursor: null });
  expect(notes).toBe('1 row in the response could not be read.');
});

describe('a path outside the contract', () => {
  it.each<[args: string[], method: string, url: string, body: string]>([
    [['/v9/notes'], 'GET', '/base/v9/notes', ''],
    [['v9/notes?tag=a&tag=b%20c'], 'GET', '/base/v9/notes?tag=a&tag=b%20c', ''],
    [['/v9/notes?a=1', '-X', 'GET', '-f', 'q=x y', '-F', 'n=2'], 'GET', '/base/v9/notes?a=1&q=x+y&n=2', ''],
    [['/v9/notes?tag=a', '-X', 'GET', '-f', 'tag=b', '-f', 'tag=c'], 'GET', '/base/v9/notes?tag=a&tag=b&tag=c', ''],
    [['/v9/notes', '-f', 'n=2'], 'POST', '/base/v9/notes', '{"n":"2"}'],
    [['/v9/notes', 'n=2'], 'POST', '/base/v9/notes', '{"n":"2"}'],
    [
      ['PUT', '/v9/notes/{1}', '-F', 'n=2', '-F', 'ok=true', '-F', 'is=a=b'],
      'PUT',
      '/base/v9/notes/%7B1%7D',
      '{"n":2,"ok":true,"is":"a=b"}',
    ],
    [['patch', '/v9/notes', '--body', '[1, 2]'], 'PATCH', '/base/v9/notes', '[1, 2]'],
    [['/v9/notes', '--input', '-'], 'POST', '/base/v9/notes', 'from {the input'],
    [['/v9/notes', '--input', '-', '-f', 'dry=1'], 'POST', '/base/v9/notes?dry=1', 'from {the input'],
    [['DELETE', '/v9/notes/1'], 'DELETE', '/base/v9/notes/1', ''],
  ])('is requested as typed: %j', async (args, method, url, body) => {
    const { api, requests } = await apiOn(text('<b>as it came', 200));
    expect(await api(args, { input: 'from {the input' })).toEqual({
      code: exitCodes.done,
      out: '<b>as it came',
      notes: '',
    });
    expect(requests).toMatchObject([{ method, url, body, headers: { 'x-api-key': apiKey } }]);
  });

  it('takes a field from a file, and prints JSON answers', async () => {
    const { api, requests } = await apiOn(json({ id: 'note_1', stars: 5 }));
    const file = join(testFolder(), 'text.txt');
    writeFileSync(file, 'hello\n');
    expect((await api(['/notes', '-F', `text=@${file}`, '--field', 'id'])).out).toBe('note_1\n');
    expect((await api(['/notes', '--json'])).out).toBe('{\n  "id": "note_1",\n  "stars": 5\n}\n');
    expect(requests[0]?.body).toBe('{"text":"hello\\n"}');
    const { api: other } = await apiOn(text('no JSON'));
    expect(await other(['/notes', '--field', 'id'])).toMatchObject({ code: exitCodes.failed, out: '' });
  });

  it('cannot control the terminal', async () => {
    const { api } = await apiOn(text('\u001b[2Jcleared\u0007'));
    expect((await api(['/notes'], { columns: 80 })).out).toBe('cleared\n');
  });

  it('sends no writes in read-only mode', async () => {
    const { api, requests } = await apiOn(json({}));
    for (const args of [
      ['POST', '/notes'],
      ['/notes', '-f', 'a=b'],
      ['/notes', '-X', 'DELETE'],
    ]) {
      const { code, out, notes } = await api([...args, '--read-only']);
      expect([code, out]).toEqual([exitCodes.usage, '']);
      expect(notes).toContain('read-only');
    }
    expect(requests).toEqual([]);
  });

  it.each([
    [404, exitCodes.notFound],
    [401, exitCodes.forbidden],
    [409, exitCodes.failed],
  ])('refused with %i exits with %i', async (status, code) => {
    const { api } = await apiOn(refusal(status, 'some_error', 'some_code'));
    const outcome = await api(['/notes']);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.notes).toMatch(/^benchtop: ./);
  });

  it('retries only safe requests', async () => {
    const { api, requests } = await apiOn(json({}, 503, { 'retry-after': '0' }), json({}, 503, { 'retry-after': '0' }));
    expect((await api(['POST', '/notes'])).code).toBe(exitCodes.endUnseen);
    expect(requests).toHaveLength(1);
  });
});

it.each([
  [['createChatCompletion', '-F', 'seed=9007199254740993'], 'seed'],
  [['createChatCompletion', 'max_tokens=9007199254740993'], 'max_tokens'],
  [['createChatCompletion', '--body', '{"seed": 9007199254740993}'], 'the body'],
  [['/v9/notes', '-F', 'at=[1e400]'], 'at'],
])('does not send a number that JSON would round: %j', async (args, what) => {
  const { api, requests } = await apiOn(json({}));
  const { code, notes } = await api(args);
  expect(code).toBe(exitCodes.usage);
  expect(notes).toContain(`A number in ${what} cannot be sent exactly. Nothing was sent.`);
  expect(requests).toEqual([]);
});

it('sends a whole body to another path with its numbers as typed', async () => {
  const { api, requests } = await apiOn(json({}));
  await api(['/v9/notes', '--body', '{"seed": 9007199254740993}']);
  expect(requests[0]?.body).toBe('{"seed": 9007199254740993}');
});

describe('--include', () => {
  const headers = { 'x-request-id': 'req_1', 'set-cookie': 'session=secret', 'x-echo': apiKey };

  it('prints the status and headers first, without secrets', async () => {
    const { api } = await apiOn(json({ items: [], has_more: false }, 200, headers));
    for (const words of [['listBenchmarks'], ['/api/v1/other']]) {
      const { code, out, notes } = await api([...words, '-i']);
      expect([code, notes]).toEqual([exitCodes.done, '']);
      const [head = '', body = ''] = out.split('\n\n');
      expect(head).toMatch(/^HTTP\/1\.1 200 OK\n/);
      expect(head).toContain('\nx-request-id: req_1\n');
      expect(head).not.toMatch(new RegExp(`session=secret|${apiKey}`));
      expect(JSON.parse(body)).toMatchObject({ items: [] });
    }
  });

  it('prints them for a refusal too', async () => {
    const { api } = await apiOn(refusal(422, 'invalid_request_error', 'nope', {}, headers));
    const { code, out, notes } = await api(['listBenchmarks', '--include']);
    expect(code).toBe(exitCodes.usage);
    expect(out).toMatch(/^HTTP\/1\.1 422 Unprocessable Entity\n.*\n\n$/s);
    expect(notes).toContain('it says nope');
  });
});

it('takes a full URL of the service in place of a path', async () => {
  const { api, requests, url } = await apiOn(json({ items: [], has_more: false, next_cursor: null }));
  for (const words of [[`${url}/api/v1/benchmarks?limit=1`], ['GET', `${url}/api/v9/other?a=%20b`, 'c=d']]) {
    expect(await api(words)).toMatchObject({ code: exitCodes.done, notes: '' });
  }
  expect(requests.map(request => request.url)).toEqual([
    '/base/api/v1/benchmarks?limit=1',
    '/base/api/v9/other?a=%20b&c=d',
  ]);
});

it.each([
  [['listBenchmark'], /no operation listBenchmark\. Did you mean listBenchmarks\?/],
  [['GET'], /GET needs a path/],
  [['GET', 'listBenchmarks'], /no path listBenchmarks: paths begin with a slash/],
  [['GET', '/x', '-X', 'POST'], /Give the method once/],
  [['listBenchmarks', '-X', 'POST'], /--method is for paths/],
  [['https://service.example/x'], /service\.example is not the service at http:.* Give only the path/],
  [['GET', 'http://127.0.0.1:1/api/v1/benchmarks'], /127\.0\.0\.1:1 is not the service at/],
  [['http://user:word@127.0.0.1:9/x'], /is not the service at/],
  [['/x', '-X', 'FETCH'], /--method takes one of GET, POST/],
  [['/x', '-f', 'a'], /a is not NAME=VALUE/],
  [['/x', '-F', '=a'], /=a is not NAME=VALUE/],
  [['/x', '-F', 'a=@nope.json'], /cannot be read from nope\.json \(ENOENT\)/],
  [['/x', '--input', 'nope.json'], /cannot be read from nope\.json \(ENOENT\)/],
  [['GET', '/x', '--body', '{}'], /A GET has no body/],
  [['/x', '--body', '{}', '--input', '-'], /cannot be used with/],
  [['/x', '--paginate'], /--paginate is for lists/],
  [['listBenchmarks', '-i', '--paginate'], /cannot be used with/],
  [['listBenchmarks', '-i', '--field', 'x'], /cannot be used with/],
  [['listBenchmarks', '--body', '{}'], /listBenchmarks has no body/],
  [['createSecret', '--body', '[1]'], /is a JSON object/],
  [['createChatCompletion', 'model=m', 'messages=[]', '-F', 'stream=true'], /is a stream, not JSON/],
  [['listBenchmarks', 'limit=1', 'limit=2'], /limit is given twice\. Nothing was sent/],
  [['/api/v1/benchmarks?limit=1', 'limit=2', '-X', 'GET'], /limit is given twice/],
  [['/api/v1/benchmarks?limit=1&limit=2'], /limit is given twice/],
  [['GET', '/api/v1/benchmarks/b1', 'bench_id=b2'], /bench_id is given twice/],
  [['createSecret', 'name=a', '-f', 'name=b'], /name is given twice/],
  [['/v9/notes', '-f', 'n=1', '-F', 'n=2'], /n is given twice/],
  [['GET', '/api/v1/eval/%zz'], /not a valid percent-encoded path/],
])('refuses %j, and sends nothing', async (args, words) => {
  const { api, requests } = await apiOn(json({}));
  const { code, out, notes } = await api(args);
  expect([code, out]).toEqual([exitCodes.usage, '']);
  expect(notes).toMatch(words);
  expect(requests).toEqual([]);
});
