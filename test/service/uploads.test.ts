import dns, { type LookupOptions } from 'node:dns';
import { type FileHandle, mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { UploadUrlError } from '../../src/service/errors.ts';
import { uploadDeadline } from '../../src/service/uploads.ts';
import {
  type Behaviour,
  errorOf,
  type HostileServer,
  hostileServer,
  json,
  resetAtOnce,
  serviceAt,
  silent,
  text,
} from './hostile-server.ts';
import { manualClock } from './manual-clock.ts';

const signature = 'X-Goog-Signature=0123456789abcdef&X-Goog-Expires=900';
const stored: Behaviour = response => void response.writeHead(200).end();

function target(server: HostileServer, headers: Record<string, string> = {}) {
  return { path: 'tasks/one.json', url: `${server.url}/bucket/tasks/one.json?${signature}`, headers };
}

async function fileOf(content: string): Promise<{ handle: FileHandle; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'benchtop-upload-'));
  const path = join(folder, 'file');
  await writeFile(path, content);
  const handle = await openFile(path);
  onTestFinished(async () => {
    await handle.close();
    await rm(folder, { recursive: true });
  });
  return { handle, path };
}

it('sends the bytes with the given headers and nothing from the profile', async () => {
  const server = await hostileServer(stored);
  const { service, log } = serviceAt(server.url);
  await service.putUpload(
    target(server, { 'Content-Type': 'application/json', 'x-goog-content-length-range': '0,9', 'Content-Length': '1' }),
    new TextEncoder().encode('{"a": 1}'),
  );
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'PUT', url: `/bucket/tasks/one.json?${signature}`, body: '{"a": 1}' });
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-goog-content-length-range': '0,9',
    'content-length': '8',
    'user-agent': 'benchtop/test',
  });
  expect(request?.headers).not.toHaveProperty('x-api-key');
  expect(request?.headers).not.toHaveProperty('authorization');
  expect(request?.headers).not.toHaveProperty('idempotency-key');
  expect(log).toMatchObject([{ operation: 'putUpload', path: '/bucket/tasks/one.json', status: 200 }]);
  expect(JSON.stringify(log)).not.toContain('Signature');
});

it('streams an open file, reports progress, and leaves the file open', async () => {
  const content = 'abcdefgh'.repeat(64 * 1024);
  const { handle } = await fileOf(content);
  const server = await hostileServer(stored);
  const progress: [number, number][] = [];
  await serviceAt(server.url).service.putUpload(
    target(server),
    { handle, size: content.length },
    { onProgress: (sent, total) => progress.push([sent, total]) },
  );
  expect(server.requests[0]?.body).toBe(content);
  expect(server.requests[0]?.headers['content-length']).toBe(String(content.length));
  expect(progress.length).toBeGreaterThan(4);
  expect(progress.map(([sent]) => sent)).toEqual(progress.map(([sent]) => sent).toSorted((a, b) => a - b));
  expect(progress.at(-1)).toEqual([content.length, content.length]);
  expect((await handle.stat()).size).toBe(content.length);
});

it('sends an empty file, and only the declared bytes of a file that has grown', async () => {
  const { handle } = await fileOf('abcdef');
  const server = await hostileServer(stored);
  const { service } = serviceAt(server.url);
  await service.putUpload(target(server), { handle, size: 0 });
  await service.putUpload(target(server), { handle, size: 3 });
  expect(server.requests.map(({ body, headers }) => [body, headers['content-length']])).toEqual([
    ['', '0'],
    ['abc', '3'],
  ]);
  // Both went over one connection.
  expect(server.connections()).toBe(1);
});

it('sends the file from its start on a retry', async () => {
  const content = 'x'.repeat(200_000);
  const { handle } = await fileOf(content);
  const server = await hostileServer(resetAtOnce, text('', 503, { 'retry-after': '1' }), stored);
  const { service, waits } = serviceAt(server.url);
  await service.putUpload(target(server), { handle, size: content.length });
  expect(server.requests.map(({ body }) => body.length)).toEqual([200_000, 200_000, 200_000]);
  expect(waits).toEqual([438, 1_000]);
});

it('reports that a file has become shorter, and stores nothing', async () => {
  const { handle } = await fileOf('abc');
  const server = await hostileServer(stored);
  const error = await errorOf(serviceAt(server.url).service.putUpload(target(server), { handle, size: 500 }));
  expect(error).toMatchObject({
    kind: 'request',
    code: 'file_changed',
    message: expect.stringContaining('tasks/one.json'),
  });
  expect(server.requests).toEqual([]);
});

describe('the upload URL', () => {
  it.each<[string, Behaviour, string]>([
    [
      '403',
      text('<Error><Code>AccessDenied</Code><StringToSign>PUT secret</StringToSign></Error>', 403),
      ' (AccessDenied)',
    ],
    ['403 without a code', text('', 403), ''],
    ['401, though no key was sent', text('', 401), ''],
    ['400 of an expired token', text('<Error><Code>ExpiredToken</Code></Error>', 400), ' (ExpiredToken)'],
  ])('refused with %s causes a request for a new one', async (_, behaviour, code) => {
    const server = await hostileServer(behaviour);
    const error = await errorOf(serviceAt(server.url).service.putUpload(target(server), new Uint8Array(3)));
    expect(error).toBeInstanceOf(UploadUrlError);
    expect(error).toMatchObject({ kind: 'upload_url', code: 'upload_url_refused', attempts: 1 });
    expect(error).toMatchObject({
      name: 'UploadUrlError',
      message: `The upload address for tasks/one.json was refused${code}. Nothing was stored. Run the upload again to get a new address.`,
    });
    expect(inspect(error)).not.toMatch(/Signature|StringToSign/);
  });

  it.each<[string, Behaviour, string]>([
    ['the code that the storage gives', text('<Error><Code>EntityTooLarge</Code></Error>', 400), ' (EntityTooLarge)'],
    ['nothing more if it gives none', text('<Error/>', 400), ''],
  ])('refused for another reason fails with %s', async (_, behaviour, code) => {
    const server = await hostileServer(behaviour);
    const error = await errorOf(serviceAt(server.url).service.putUpload(target(server), new Uint8Array(3)));
    expect(error).not.toBeInstanceOf(UploadUrlError);
    expect((error as Error).message).toBe(`Storage refused tasks/one.json${code}. Fix the request and try again.`);
  });

  it('is not used once the service that issued it has moved', async () => {
    const [before, after] = [await hostileServer(json({ items: [], has_more: false })), await hostileServer(stored)];
    let baseUrl = before.url;
    const supervisor = { locate: async () => ({ baseUrl, apiKey: '' }), recover: async () => false };
    const { service } = serviceAt(before.url, { supervisor });
    await service.call('listBenchmarks');
    baseUrl = after.url;
    const error = await errorOf(service.putUpload(target(before), new Uint8Array(3)));
    expect(error).toMatchObject({
      kind: 'upload_url',
      code: 'upload_url_expired',
      message:
        'The service has moved since it gave the address for tasks/one.json. Nothing was stored. Run the upload again to get a new address.',
    });
    expect([before.requests.length, after.requests.length]).toEqual([1, 0]);
  });

  it('is not used once it has expired', async () => {
    const server = await hostileServer(stored);
    const clock = manualClock();
    const { service } = serviceAt(server.url, { clock });
    await service.putUpload(target(server), new Uint8Array(3), { untilMs: 1_000 });
    await clock.advance(1_000);
    const error = await errorOf(service.putUpload(target(server), new Uint8Array(3), { untilMs: 1_000 }));
    expect(error).toMatchObject({ kind: 'upload_url', code: 'upload_url_expired' });
    expect(server.requests).toHaveLength(1);
    await service.putUpload(target(server), new Uint8Array(3));
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['2026-03-04T05:21:07Z', 'Wed, 04 Mar 2026 05:06:07 GMT', 900_050],
    ['2026-03-11T05:06:07Z', 'Wed, 04 Mar 2026 05:06:07 GMT', 604_800_050],
    ['2026-03-11T05:06:08Z', 'Wed, 04 Mar 2026 05:06:07 GMT', undefined],
    ['2026-03-04T05:06:06Z', 'Wed, 04 Mar 2026 05:06:07 GMT', undefined],
    ['2027-03-04T05:06:07Z', 'Wed, 04 Mar 2026 05:06:07 GMT', undefined],
    ['2026-03-04T05:21:07Z', undefined, undefined],
    ['2026-03-04T05:21:07Z', 'today', undefined],
    ['some day', 'Wed, 04 Mar 2026 05:06:07 GMT', undefined],
    [null, 'Wed, 04 Mar 2026 05:06:07 GMT', undefined],
  ])('that expires at %s in an answer of %s has the deadline %s (V6)', (expiresAt, date, deadline) => {
    const headers: Record<string, string> = date === undefined ? {} : { date };
    expect(uploadDeadline(expiresAt, { status: 200, headers, receivedMs: 50 })).toBe(deadline);
  });

  it.each([
    [`http://storage.example/a?${signature}`, 'address_insecure', 'the upload address for a'],
    [
      `https://me:pw@storage.example/a?${signature}`,
      'upload_url_invalid',
      'for a contains a user name. Nothing was sent.',
    ],
    [
      `https://:pw@storage.example/a?${signature}`,
      'upload_url_invalid',
      'for a contains a user name. Nothing was sent.',
    ],
    [`file:///etc/passwd?${signature}`, 'address_insecure', 'the upload address for a'],
    [`nowhere?${signature}`, 'upload_url_invalid', 'for a is not a URL. Nothing was sent.'],
  ])('%s is refused without a retry', async (url, code, words) => {
    const { service } = serviceAt('https://service.example');
    const error = await errorOf(service.putUpload({ path: 'a', url, headers: {} }, new Uint8Array(3)));
    expect(error).toMatchObject({ kind: 'request', code, message: expect.stringContaining(words) });
    expect(inspect(error)).not.toContain('Signature');
  });

  const outside = [
    'http://127.0.0.1:9/a',
    'http://2130706433:9/a',
    'http://127.1:9/a',
    'http://0.0.0.0:9/a',
    'http://[::1]:9/a',
    'http://[::ffff:127.0.0.1]:9/a',
    'http://localhost:9/a',
    'http://localhost.:9/a',
    'https://127.0.0.1:9/a',
    'https://10.1.2.3/a',
    'https://192.168.0.1/a',
    'https://172.31.0.1/a',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/a',
  ];
  it.each(outside)('%s is refused, as the service is elsewhere (X4)', async url => {
    const { service, log } = serviceAt('https://203.0.113.1');
    const error = await errorOf(service.putUpload({ path: 'a', url, headers: {} }, new Uint8Array(3)));
    expect(error).toMatchObject({ kind: 'request', code: 'upload_url_invalid' });
    expect(log).toEqual([]);
  });

  it('is judged by the address of the connection, not by an earlier lookup', async () => {
    const storage = await hostileServer(stored);
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_: string, { all }: LookupOptions, done: (...found: unknown[]) => void) =>
        all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)) as never);
    onTestFinished(() => lookup.mockRestore());
    const { service } = serviceAt('https://203.0.113.1', { allowInsecureHttp: true });
    const url = storage.url.replace('127.0.0.1', 'rebound.invalid');
    const error = await errorOf(service.putUpload({ path: 'a', url, headers: {} }, new Uint8Array(3)));
    expect(error).toMatchObject({
      code: 'upload_url_invalid',
      message: expect.stringMatching(
        /leads to rebound\.invalid:\d+ \(this machine\), further inside your network than the service itself/,
      ),
    });
    expect(storage.connections()).toBe(0);
    expect(lookup).toHaveBeenCalledTimes(1);
  });

  it('whose host is not found is named, with what to check', async () => {
    const { service } = serviceAt('https://203.0.113.1');
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_: string, __: object, done: (error: Error) => void) =>
        done(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))) as never);
    onTestFinished(() => lookup.mockRestore());
    const target = { path: 'a', url: 'https://storage.invalid/a', headers: {} };
    expect(await errorOf(service.putUpload(target, new Uint8Array(3)))).toMatchObject({
      kind: 'network',
      message:
        'storage.invalid was not found in DNS (ENOTFOUND). Nothing was sent. The service uses this host for uploads: check the network and the proxy settings.',
    });
  });

  it('may be on this machine if the service is', async () => {
    const [storage, server] = [await hostileServer(stored), await hostileServer(stored)];
    await serviceAt(server.url).service.putUpload(target(storage), new Uint8Array(3));
    expect(storage.requests).toHaveLength(1);
  });

  it('carries the headers from the service, and no credentials or other recipients (X4, B7)', async () => {
    const server = await hostileServer(stored, text('', 403), text('', 400));
    const headers = {
      Authorization: 'Basic x',
      Cookie: 'a=b',
      Host: 'evil.example',
      'Proxy-Authorization': 'Basic y',
      'Transfer-Encoding': 'chunked',
      Connection: 'upgrade',
      'X-Injected': '1\r\nAuthorization: Basic z',
      'bad name': '1',
      'Content-Length': '7',
      'Cache-Control': 'no-store',
      'If-None-Match': '*',
      'X-Amz-Meta': 'm',
      'x-ms-blob-type': 'BlockBlob',
      'Content-MD5': 'abc',
    };
    const { service } = serviceAt(server.url);
    await service.putUpload(target(server, headers), new Uint8Array(3));
    const sent = server.requests[0]?.headers;
    expect(sent).toMatchObject({
      'x-amz-meta': 'm',
      'x-ms-blob-type': 'BlockBlob',
      'content-md5': 'abc',
      'cache-control': 'no-store',
      'if-none-match': '*',
      'content-length': '3',
    });
    expect(Object.keys(sent ?? {}).sort()).toEqual([
      'accept-encoding',
      'cache-control',
      'connection',
      'content-length',
      'content-md5',
      'host',
      'if-none-match',
      'user-agent',
      'x-amz-meta',
      'x-ms-blob-type',
    ]);
    expect(sent?.['host']).not.toContain('evil');
    const unsent =
      'benchtop did not send the headers authorization, cookie, host, proxy-authorization, transfer-encoding, connection, x-injected, bad name, which the service asked for.';
    for (const what of ['The upload address for tasks/one.json was refused.', 'Storage refused tasks/one.json.']) {
      const error = await errorOf(service.putUpload(target(server, headers), new Uint8Array(3)));
      expect((error as Error).message).toContain(`${what} ${unsent}`);
    }
  });

  it('has headers whose values are in no error and no trace (B7)', async () => {
    const server = await hostileServer(text('<Error><Code>k3y-0f-the-storage</Code></Error>', 418));
    const traced: unknown[] = [];
    const { service } = serviceAt(server.url, { tracer: part => traced.push(part) });
    const headers = { 'X-Upload-Key': 'k3y-0f-the-storage' };
    const error = await errorOf(service.putUpload(target(server, headers), new Uint8Array(3)));
    expect(server.requests[0]?.headers['x-upload-key']).toBe('k3y-0f-the-storage');
    expect(traced.length).toBeGreaterThan(0);
    expect(inspect(error, { depth: 9 }) + JSON.stringify([error, traced])).not.toContain('k3y-0f');
  });

  it('is in no error', async () => {
    const limits = { timeouts: { silenceMs: 50 } };
    for (const behaviour of [
      silent,
      resetAtOnce,
      text(`<h1>${signature}</h1><title>${signature}</title>`, 500),
      text('', 418),
    ]) {
      const server = await hostileServer(behaviour);
      const error = await errorOf(serviceAt(server.url, limits).service.putUpload(target(server), new Uint8Array(3)));
      expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toMatch(/Signature|0123456789abcdef/);
    }
  });
});

it('has no time limit', async () => {
  const server = await hostileServer(stored);
  const { service } = serviceAt(server.url, { timeouts: { deadlineMs: 0 } });
  await service.putUpload(target(server), new Uint8Array(3));
  expect(server.requests).toHaveLength(1);
});

it('stops when it is cancelled', async () => {
  const { handle } = await fileOf('x'.repeat(100_000));
  const server = await hostileServer(silent);
  const controller = new AbortController();
  const { service } = serviceAt(server.url);
  const upload = errorOf(service.putUpload(target(server), { handle, size: 100_000 }, { signal: controller.signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  controller.abort();
  expect(await upload).toMatchObject({ kind: 'cancelled' });
  await server.requests[0]?.closed;
});
