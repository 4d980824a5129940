/** Uploads of benchmarks: signed URLs, storage, ingest, images. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SignedUploads, uploadLifetimeMs } from '../../../src/local/server/signed-uploads.ts';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { UploadClosed, UploadFolder } from '../../../src/local/store/upload-folder.ts';
import { eventually } from '../../eventually.ts';
import { startService, type TestService, until } from './running.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.end());

interface Declared {
  path: string;
  content_type: string;
  size_bytes: number;
}
interface Address {
  path: string;
  url: string;
  headers: Record<string, string>;
}

const file = (path: string, text = 'hello'): Declared => ({
  path,
  content_type: 'text/plain',
  size_bytes: Buffer.byteLength(text),
});
const allocate = (files: Declared[], bench_id?: string) =>
  service.call('POST', '/api/v1/benchmarks/uploads', { files, ...(bench_id && { bench_id }) });
const put = ({ url, headers }: Address, text: string) =>
  fetch(url, { method: 'PUT', headers, body: text }).then(async answer => ({
    status: answer.status,
    code: /<Code>(\w+)</.exec(await answer.text())?.[1],
  }));
const task = (name: string, more: object = {}) => ({
  name,
  split: 'test',
  input_messages: [{ role: 'user', content: 'say yes' }],
  run_command: 'answer',
  grader: { kind: 'exact', expected: 'yes' },
  ...more,
});
const ingest = (benchId: string, manifest: object) =>
  service.call('POST', `/api/v1/benchmarks/${benchId}/ingest`, manifest);

async function uploaded(files: Declared[], text = 'hello'): Promise<string> {
  const { body } = await allocate(files);
  for (const address of body.urls as Address[]) expect((await put(address, text)).status).toBe(200);
  return body.bench_id;
}

describe('a signed URL', () => {
  let address: Address;
  beforeAll(async () => {
    address = (await allocate([file('data/one.txt')])).body.urls[0];
  });

  it('takes its file, more than once, and nothing is listed before ingest', async () => {
    const { status, body } = await allocate([file('a.txt'), file('b/c.txt')]);
    expect(status).toBe(200);
    expect(body.urls.map(({ path }: Address) => path)).toEqual(['a.txt', 'b/c.txt']);
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(uploadLifetimeMs);
    expect((await put(body.urls[0], 'hello')).status).toBe(200);
    expect((await put(body.urls[0], 'HELLO')).status).toBe(200);
    expect((await service.call('GET', `/api/v1/benchmarks/${body.bench_id}`)).status).toBe(404);
  });

  it.each([
    ['path', 'data/two.txt'],
    ['size', '6'],
    ['type', 'text/html'],
    ['expires', String(Date.now() + 10 * uploadLifetimeMs)],
    ['signature', 'x'],
  ])('is invalid with another %s', async (name, value) => {
    const changed = new URL(address.url);
    changed.searchParams.set(name, value);
    const answer = await put({ ...address, url: changed.href }, 'hello');
    expect(answer).toEqual({ status: 403, code: 'SignatureDoesNotMatch' });
  });

  it('is valid for one method, one type, one benchmark and one length', async () => {
    expect((await fetch(address.url)).status).toBe(403);
    expect((await fetch(address.url, { method: 'DELETE' })).status).toBe(403);
    expect((await put({ ...address, headers: { 'Content-Type': 'text/html' } }, 'hello')).status).toBe(403);
    expect((await put({ ...address, url: address.url.replace('/storage/', '/storage/x') }, 'hello')).status).toBe(403);
    expect(await put(address, 'hello!')).toEqual({ status: 400, code: 'EntitySizeMismatch' });
  });

  it('refuses a body that is shorter or longer than declared if its length is not sent', async () => {
    const send = (text: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const call = request(address.url, { method: 'PUT', headers: address.headers }, answer => {
          answer.resume();
          resolve(answer.statusCode);
        });
        call.on('error', reject);
        call.write(text);
        call.end();
      });
    expect([await send('hell'), await send('hello, you'), await send('hello')]).toEqual([400, 400, 200]);
    const folders = readdirSync(join(service.folder, 'uploads'), { recursive: true, encoding: 'utf8' });
    expect(folders.filter(name => name.endsWith('.part'))).toEqual([]);
  });

  it('expires', async () => {
    let now = Date.now();
    const keyring = new Keyring(new Uint8Array(32));
    const uploads = new SignedUploads(keyring, new UploadFolder(service.folder), () => now);
    const { Hono } = await import('hono');
    const app = new Hono().all('/storage/:bench_id', context => uploads.receive(context, () => false));
    const { url, headers } = uploads.allocate('http://localhost', 'bench_x', [file('a')]).urls[0] as Address;
    const ask = () => app.request(url, { method: 'PUT', headers, body: 'hello' });
    expect((await ask()).status).toBe(200);
    now += uploadLifetimeMs;
    const late = await ask();
    expect([late.status, (await late.text()).includes('RequestExpired')]).toEqual([403, true]);
  });
});

describe('allocation', () => {
  it.each(['a\ud800b', '\udc00'])('refuses %j, which no URL can contain, with a message (X13)', async path => {
    const { status, body } = await allocate([file(path)]);
    expect([status, body.error?.code]).toEqual([422, 'validation_error']);
    expect(body.error.message).toContain('contains half of a surrogate pair');
    expect(body.urls).toBeUndefined();
  });

  it.each(['/etc/passwd', '../up', 'a/../b', 'a//b', './a', 'C:/x', 'a\\b', 'a\u0000b', 'e\u0301'])(
    'refuses the path %j',
    async path => {
      const { status, body } = await allocate([file(path)]);
      expect([status, body.error.param]).toEqual([422, 'files[0].path']);
    },
  );

  it('takes a limited number of files per request, more of them under the same id, and none twice', async () => {
    const many = Array.from({ length: 201 }, (_, index) => file(`f${index}`));
    const refused = await allocate(many);
    expect([refused.status, refused.body.error.context.limit]).toEqual([422, 200]);
    const { body } = await allocate(many.slice(0, 200));
    const more = await allocate(many.slice(200), body.bench_id);
    expect([more.status, more.body.bench_id]).toEqual([200, body.bench_id]);
    expect((await allocate([file('same'), file('same')])).body.error.param).toBe('files[1].path');
    expect((await allocate([])).status).toBe(422);
    expect((await allocate([{ ...file('a'), size_bytes: -1 }])).body.error.param).toBe('files[0].size_bytes');
    expect((await allocate([{ ...file('a'), size_bytes: 1e12 }])).body.error.param).toBe('files[0].size_bytes');
  });

  it('takes only ids that it issued', async () => {
    expect((await allocate([file('a')], 'bench_made_up')).body.error.code).toBe('resource_not_found');
    expect((await ingest('bench_made_up', { name: 'x', tasks: [task('a')] })).body.error.code).toBe(
      'resource_not_found',
    );
  });
});

describe('ingest', () => {
  it('makes a benchmark of the uploaded files, once; then it takes no more files', async () => {
    const benchId = await uploaded([file('run.sh')]);
    const manifest = { name: 'mine', family: 'test', tasks: [task('one', { files: ['run.sh'] }), task('two')] };
    const { body } = await ingest(benchId, manifest);
    expect(body).toMatchObject({ bench_id: benchId, ok: true, task_count: 2, file_count: 1 });
    expect((await service.call('GET', `/api/v1/benchmarks/${benchId}`)).body).toMatchObject({ label: 'mine' });
    const { body: before } = await service.call('GET', `/api/v1/benchmarks/${benchId}/readiness`);
    expect(before).toMatchObject({ ready: false, missing_secret_names: [], unready_task_image_counts: { pending: 2 } });
    for (const answer of [await ingest(benchId, manifest), await allocate([file('late')], benchId)]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'benchmark_already_ingested']);
    }
    const { body: build } = await service.call('POST', `/api/v1/benchmarks/${benchId}/images/build`);
    expect(build.images[0].build_status).toBe('building');
    const images = await until(
      async () => (await service.call('GET', `/api/v1/benchmarks/${benchId}/images`)).body.images,
      all => all.every(({ build_status }: { build_status: string }) => build_status === 'ready'),
    );
    expect(images[0].provider_ref).toMatch(/^sha256:/);
    // The files a task needs are part of its image.
    expect(images[0].provider_ref).not.toBe(images[1].provider_ref);
    expect((await service.call('GET', `/api/v1/benchmarks/${benchId}/readiness`)).body.ready).toBe(true);
  });

  it('lists every problem with its place, slow expressions too, and stores nothing (X1)', async () => {
    const { body: allocated } = await allocate([file('here'), file('never')]);
    await put(allocated.urls[0], 'hello');
    const bad = await ingest(allocated.bench_id, {
      name: 'bad',
      tasks: [task('one'), task('one'), task('three', { files: ['missing'] })],
    });
    expect(bad.status).toBe(422);
    expect(bad.body.error.context.issues.map(({ path }: { path: string }) => path)).toEqual([
      'files: never',
      'tasks[1].name',
      'tasks[2].files[0]',
    ]);
    // All of them in words too (out34 C10).
    for (const words of ['files: never: declared', 'tasks[1].name: one is also', 'tasks[2].files[0]: missing was not'])
      expect(bad.body.error.message).toContain(words);
    const absent = await ingest(allocated.bench_id, { name: 'bad', tasks: [{}] });
    expect(absent.body.error.message).toMatch(/tasks\[0\]\.name: is missing/);
    const worse = await ingest(allocated.bench_id, {
      name: '',
      tasks: [task('one', { split: 'dev' }), task('two', { grader: { kind: 'regex', pattern: '(' } })],
      extra: 1,
    });
    const places = worse.body.error.context.issues.map(({ path }: { path: string }) => path);
    expect(places.sort()).toEqual(['name', 'tasks[0].split', 'tasks[1].grader.pattern']);
    const slow = await ingest(allocated.bench_id, {
      name: 'slow',
      tasks: [task('one'), task('two', { grader: { kind: 'regex', pattern: '(?:.?){100000}y' } })],
    });
    expect(slow.body.error).toMatchObject({
      param: 'tasks[1].grader.pattern',
      message: expect.stringContaining('takes too long'),
    });
    expect((await service.call('GET', `/api/v1/benchmarks/${allocated.bench_id}`)).status).toBe(404);
  });

  it('is ready only once its secrets exist, and its images fail if a file has changed', async () => {
    const benchId = await uploaded([file('needed')]);
    const secret = { name: 'TOKEN', secret_name: 'UPLOAD_TEST_TOKEN' };
    await ingest(benchId, { name: 'needy', tasks: [task('one', { files: ['needed'], environment: [secret] })] });
    const folder = join(service.folder, 'uploads');
    const stored = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
      /[0-9a-f]{64}$/.test(name),
    );
    expect(stored.some(name => existsSync(join(folder, name)))).toBe(true);
    const uploads = new UploadFolder(service.folder);
    async function* other() {
      yield Buffer.from('HELLO');
    }
    await uploads.receive(benchId, 'needed', 5, other(), () => false);
    const path = `/api/v1/benchmarks/${benchId}`;
    await service.call('POST', `${path}/images/build`);
    const { images } = await until(
      async () => (await service.call('GET', `${path}/images`)).body,
      ({ images: all }) => all[0].build_status === 'failed',
    );
    expect(images[0].failure_message).toContain('needed');
    const { body: blocked } = await service.call('GET', `${path}/readiness`);
    expect(blocked).toMatchObject({
      ready: false,
      missing_secret_names: ['UPLOAD_TEST_TOKEN'],
      unready_task_image_counts: { failed: 1 },
    });
    const start = await service.call('POST', `/api/v1/eval/${benchId}/start`, {
      display_name: 'x',
      model_slug: 'benchtop/tutor-base',
    });
    expect([start.status, start.body.error.code]).toEqual([409, 'benchmark_not_ready']);
    expect(start.body.error.context.missing_secret_names).toEqual(['UPLOAD_TEST_TOKEN']);
  });
});

describe('an upload that started before the ingest', () => {
  const first = async () => {
    const { body } = await allocate([file('a.txt')]);
    return { benchId: body.bench_id as string, address: body.urls[0] as Address };
  };
  const begun = ({ url, headers }: Address) => {
    const sending = request(url, { method: 'PUT', headers: { ...headers, 'Content-Length': 5 } });
    const status = new Promise<number | undefined>((resolve, reject) => {
      sending.on('response', answer => resolve(answer.resume().statusCode));
      sending.on('error', reject);
    });
    sending.write('HE');
    return { status, end: () => sending.end('LLO') };
  };
  const parts = () =>
    readdirSync(join(service.folder, 'uploads'), { recursive: true, encoding: 'utf8' }).filter(name =>
      name.endsWith('.part'),
    );

  it('does not replace a file after it (V4, X6)', async () => {
    const { benchId, address } = await first();
    const late = begun(address);
    await eventually(() => expect(parts()).toHaveLength(1));
    expect((await put(address, 'hello')).status).toBe(200);
    expect((await ingest(benchId, { name: 'whole', tasks: [task('one', { files: ['a.txt'] })] })).status).toBe(200);
    late.end();
    expect(await late.status).toBe(409);
    expect(parts()).toEqual([]);
    const build = async () => (await service.call('POST', `/api/v1/benchmarks/${benchId}/images/build`)).body.images;
    await until(build, ([image]) => image.build_status === 'ready');
  });

  it('replaces no file while the ingest reads them (V4)', async () => {
    const uploads = new UploadFolder(service.folder);
    uploads.declare('bench_read', [file('a.txt')]);
    const receive = (text: string) =>
      uploads.receive('bench_read', 'a.txt', 5, ReadableStream.from([Buffer.from(text)]), () => false);
    await receive('hello');
    const hash = await uploads.whileUnchanged('bench_read', async () => {
      await expect(receive('HELLO')).rejects.toBeInstanceOf(UploadClosed);
      return uploads.hash('bench_read', 'a.txt');
    });
    await uploads.verify('bench_read', { path: 'a.txt', sha256: hash ?? '' });
    await receive('HELLO');
  });
});

describe('an upload not ingested for a day', () => {
  const dayMs = 24 * 60 * 60 * 1000;
  const foldersOf = (): string[] => readdirSync(join(service.folder, 'uploads'));
  /** As after a restart. */
  function age(): void {
    const uploads = join(service.folder, 'uploads');
    const old = (Date.now() - 2 * dayMs) / 1000;
    for (const name of foldersOf()) utimesSync(join(uploads, name), old, old);
  }

  it('is removed with its id: nothing can be added to it, or made of it', async () => {
    const { body } = await allocate([file('a'), file('b')]);
    const [first, second] = body.urls as [Address, Address];
    expect((await put(first, 'hello')).status).toBe(200);
    age();
    new UploadFolder(service.folder).sweep([]);
    expect(foldersOf()).toEqual([]);
    expect((await put(second, 'hello')).code).toBe('NoSuchUpload');
    expect((await allocate([file('b')], body.bench_id)).body.error.code).toBe('resource_not_found');
    const answer = await ingest(body.bench_id, { name: 'half', tasks: [task('one')] });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'resource_not_found']);
  });

  it('is removed despite files that do not belong to it', () => {
    mkdirSync(join(service.folder, 'uploads'), { recursive: true });
    const stray = join(service.folder, 'uploads', '.DS_Store');
    writeFileSync(stray, 'x');
    const long = new Date(Date.now() - 2 * 24 * 60 * 60_000);
    new UploadFolder(service.folder).sweep([]);
    utimesSync(stray, long, long);
    new UploadFolder(service.folder).sweep([]);
    expect(existsSync(stray)).toBe(true);
    rmSync(stray);
  });

  it('is removed completely even if a sweep was interrupted', async () => {
    const { body } = await allocate([file('a')]);
    const [name = ''] = foldersOf();
    renameSync(join(service.folder, 'uploads', name), join(service.folder, 'uploads', `${name}.swept`));
    expect((await allocate([file('a')], body.bench_id)).status).toBe(404);
    new UploadFolder(service.folder).sweep([]);
    expect(foldersOf()).toEqual([]);
  });

  it('is kept if it was ingested, or is younger', async () => {
    const ingested = await uploaded([file('a')]);
    await ingest(ingested, { name: 'kept', tasks: [task('one')] });
    age();
    const { body } = await allocate([file('a')]);
    new UploadFolder(service.folder).sweep([ingested]);
    expect(foldersOf()).toHaveLength(2);
    expect((await allocate([file('b')], body.bench_id)).status).toBe(200);
  });
});

describe('declared files', () => {
  it('are known one by one after a crash in the middle of a line, and the last declaration counts', () => {
    const uploads = new UploadFolder(service.folder);
    uploads.declare('bench_torn', [file('a'), file('b', 'short')]);
    const folder = join(service.folder, 'uploads');
    const [path = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('declared.jsonl'))
      .map(name => join(folder, name))
      .filter(name => readFileSync(name, 'utf8').includes('"b"'));
    appendFileSync(path, '\n{"path":"c","content_');
    uploads.declare('bench_torn', [file('d'), file('b', 'much longer')]);
    expect(uploads.declared('bench_torn').map(each => [each.path, each.size_bytes])).toEqual([
      ['a', 5],
      ['b', 11],
      ['d', 5],
    ]);
  });
});

it('returns the same run for its key, even if its benchmark is no longer ready', async () => {
  const benchId = await uploaded([file('a')]);
  const needs = { environment: [{ name: 'KEY', secret_name: 'SOON_GONE' }] };
  await ingest(benchId, { name: 'needs a secret', tasks: [task('one', needs)] });
  const { body } = await service.call('POST', '/api/v1/secrets', { name: 'SOON_GONE', value: 'for a while' });
  await service.call('POST', `/api/v1/benchmarks/${benchId}/images/build`);
  await until(
    async () => (await service.call('GET', `/api/v1/benchmarks/${benchId}/readiness`)).body,
    ({ ready }) => ready,
  );
  const start = (key: string) =>
    service.call(
      'POST',
      `/api/v1/eval/${benchId}/start`,
      { display_name: 'once', model_slug: 'benchtop/tutor-base' },
      { 'Idempotency-Key': key },
    );
  const first = await start('the key');
  expect(first.status).toBe(200);
  await service.call('DELETE', `/api/v1/secrets/${body.secret.secret_id}`);
  expect((await start('another key')).status).toBe(409);
  const again = await start('the key');
  expect([again.status, again.body.eval_run_id]).toEqual([200, first.body.eval_run_id]);
});

describe('an ingest repeated with its key', () => {
  const send = (benchId: string, tasks: object[], key = 'same') =>
    service.call(
      'POST',
      `/api/v1/benchmarks/${benchId}/ingest`,
      { name: 'repeated', tasks },
      { 'Idempotency-Key': key },
    );

  it('gets the answer of the first, even while that is in progress', async () => {
    const id = await uploaded([file('a.txt')]);
    const answers = await Promise.all([1, 2].map(() => send(id, [task('one')])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const later = await send(id, [task('one')]);
    for (const { body } of [...answers, later]) expect(body).toMatchObject({ bench_id: id, task_count: 1 });
    expect((await send(id, [task('two')])).body.error.code).toBe('idempotency_key_reused');
    expect((await send(id, [task('one')], 'other')).body.error.code).toBe('benchmark_already_ingested');
    const { body } = await service.call('GET', '/api/v1/benchmarks?search=repeated');
    expect(body.items).toHaveLength(1);
  });
});

describe('a run on a benchmark', () => {
  it.each([
    ['test', 'train', '/api/v1/train', { base_model_slug: 'benchtop/tutor-base' }],
    ['train', 'test', '/api/v1/eval', { base_model_slug: 'benchtop/tutor-base' }],
  ])('with tasks in its %s split only is refused if it needs the %s split', async (split, other, path, body) => {
    const bench_id = await uploaded([file('a.txt')]);
    const name = `only ${split}`;
    expect((await ingest(bench_id, { name, tasks: [task('one', { split })] })).status).toBe(200);
    await service.call('POST', `/api/v1/benchmarks/${bench_id}/images/build`);
    await service.readyBenchmark(name);
    const started = await service.call('POST', path, { ...body, bench_id, display_name: 'x' });
    expect([started.status, started.body.error?.param]).toEqual([422, 'bench_id']);
    expect(started.body.error.message).toBe(`bench_id: the benchmark has no tasks in its ${other} split.`);
    if (other !== 'test') return;
    const asDocumented = { model_slug: body.base_model_slug, display_name: 'x' };
    expect((await service.call('POST', `/api/v1/eval/${bench_id}/start`, asDocumented)).status).toBe(422);
    expect((await service.call('GET', `/api/v1/eval/${bench_id}/runs`)).body).toEqual([]);
  });
});
