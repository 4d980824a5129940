/**
 * Resumed uploads: after a refusal, a lost answer, a lost id, in another program. Nothing is lost, nothing is created
 * twice.
 */

import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  NetworkError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  ValidationError,
} from '../../src/service/errors.ts';
import { createService, type Service } from '../../src/service/index.ts';
import type { Supervisor } from '../../src/service/options.ts';
import type { BenchmarkUpload } from '../../src/uploads/benchmark-upload.ts';
import { clientOf, startService, type TestService } from '../local/server/running.ts';
import { withAnswers } from '../service/fake-service.ts';
import { hostileServer, json, resetAtOnce } from '../service/hostile-server.ts';
import {
  around,
  benchmarksOf,
  type Folder,
  folderOf,
  nameOf,
  remembered,
  task,
  type UploadCall,
  uploadOf,
  watched,
} from './world.ts';

let local: TestService;
let service: Service;
beforeAll(async () => {
  local = await startService();
  service = clientOf(local);
});
afterAll(async () => {
  await service.close();
  await local.end();
});

const run = (upload: BenchmarkUpload, on: Service = service): Promise<void> => upload.run(async () => on);
const made = ({ label }: Folder) => benchmarksOf(local.folder, label);
const dead = new NetworkError('The line is cut.', {});

/** Fails the first call of a kind, or every one; `name` limits it to one file. */
function failing(call: UploadCall, error: Error, { name = '', times = 1 } = {}): Service {
  let left = times;
  return around(service, async (each, called, go) => {
    if (each !== call || (name !== '' && called !== name) || left === 0) return go();
    left -= 1;
    throw error;
  });
}

describe('an upload whose id the service has forgotten', () => {
  it('makes no second benchmark once its ingest was accepted (A4)', async () => {
    const folder = folderOf();
    const memory = remembered();
    const unknown = new NotFoundError('No such benchmark.', { status: 404, type: 'x', code: 'benchmark_not_found' });
    const late = withAnswers(service, {
      buildBenchmarkImages: () => Promise.reject(unknown),
      getBenchmarkReadiness: () => Promise.reject(unknown),
    });
    const upload = await uploadOf(folder, memory());
    await run(upload, late);
    const [first, ...others] = made(folder);
    expect(others).toEqual([]);
    expect(upload.state.phase).toBe('failed');
    expect(upload.state.error?.message).toContain(`${first?.id} was ingested, but the builds of its images could not`);
    // Once the service knows it, only the builds are started.
    const later = watched(service);
    await run(await uploadOf(folder, memory()), later.service);
    expect([later.asked, made(folder).length]).toEqual([['build'], 1]);
  });

  it('starts a new one, and forgets at once what the old one had sent', async () => {
    const folder = folderOf();
    const memory = remembered();
    // All but one were sent to a service that is now gone.
    const other = await startService();
    const elsewhere = clientOf(other);
    const begun = await uploadOf(folder, memory());
    await run(
      begun,
      around(elsewhere, (call, name, go) => (name === nameOf(2) && call === 'put' ? Promise.reject(dead) : go())),
    );
    expect(begun.state.sentFiles).toBe(2);
    // Sent files are shown before anything is sent again.
    expect((await uploadOf(folder, memory())).state).toMatchObject({ phase: 'waiting', sentFiles: 2 });
    await elsewhere.close();
    await other.end();

    // The program ends in the middle of the second attempt.
    const second = watched(failing('put', dead, { name: nameOf(1), times: 9 }));
    const cut = await uploadOf(folder, memory());
    await run(cut, second.service);
    expect(cut.state.phase).toBe('failed');
    expect(cut.state.notes.join()).toContain('no longer knows');

    const third = watched(service);
    const whole = await uploadOf(folder, memory());
    await run(whole, third.service);
    expect(whole.state).toMatchObject({ phase: 'done', error: undefined });
    expect(made(folder)).toEqual([{ id: whole.state.benchId, files: [nameOf(0), nameOf(1), nameOf(2)] }]);
    expect([...second.asked, ...third.asked]).toContain(`put ${nameOf(1)}`);
  });

  it('starts a new one if a file is refused because its upload is unknown', async () => {
    const folder = folderOf(2);
    const unknown = new NotFoundError('No such upload.', { status: 404, type: 'x', code: 'upload_not_found' });
    const upload = await uploadOf(folder, remembered()());
    await run(upload, failing('put', unknown));
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(upload.state.notes).toEqual([expect.stringContaining('The service no longer knows ')]);
    expect(made(folder)).toHaveLength(1);
  });

  it('does not start one by itself if the id is gone when its images should be built (A4)', async () => {
    const folder = folderOf();
    const memory = remembered();
    const other = await startService();
    const elsewhere = clientOf(other);
    await run(
      await uploadOf(folder, memory()),
      around(elsewhere, (call, _, go) => (call === 'build' ? Promise.reject(dead) : go())),
    );
    await elsewhere.close();
    await other.end();
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect(upload.state.error?.name).toBe('BuildsNotStarted');
    expect(made(folder)).toEqual([]);
    upload.startOver();
    await run(upload);
    expect(made(folder)).toHaveLength(1);
  });

  it('makes no second benchmark if only the build is answered with 404', async () => {
    const folder = folderOf(1);
    const refusing = around(service, (call, name, go) =>
      call === 'build'
        ? Promise.reject(
            new ServiceError('not_found', `There is no ${name}.`, { status: 404, code: 'resource_not_found' }),
          )
        : go(),
    );
    const upload = await uploadOf(folder, remembered()());
    await run(upload, refusing);
    expect(upload.state.error?.message).toMatch(/^There is no bench_/);
    expect(made(folder)).toHaveLength(1);
  });

  it('is not confused with a manifest with an unknown name, which is not sent again', async () => {
    const folder = folderOf(2);
    const unknown = new ServiceError('not_found', 'There is no runtime rt_1.', {
      status: 404,
      code: 'resource_not_found',
      param: 'tasks[0].runtime',
    });
    const { service: spy, asked } = watched(failing('ingest', unknown, { times: 9 }));
    const upload = await uploadOf(folder, remembered()());
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: 'There is no runtime rt_1.' } });
    expect(asked.filter(each => each.startsWith('put'))).toHaveLength(2);
  });
});

describe('an upload whose files the service has lost', () => {
  const storageOf = (data: string): string => join(data, 'uploads');

  it.each([
    ['that a task names', [task]],
    ['that no task names', [{ ...task, files: [] }]],
  ])('resends them after a restart that swept them: files %s', async (_, tasks) => {
    const first = await startService();
    const folder = folderOf();
    folder.putManifest(tasks);
    const memory = remembered();
    const client = clientOf(first);
    await run(
      await uploadOf(folder, memory()),
      around(client, (call, name, go) => (call === 'put' && name === nameOf(2) ? Promise.reject(dead) : go())),
    );
    await client.close();
    await first.stop();
    const old = Date.now() / 1000 - 2 * 24 * 60 * 60;
    for (const name of readdirSync(storageOf(first.folder))) utimesSync(join(storageOf(first.folder), name), old, old);
    const again = await startService({ dataFolder: first.folder });
    const next = clientOf(again);
    const upload = await uploadOf(folder, memory());
    await run(upload, next);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(benchmarksOf(first.folder, folder.label)).toEqual([
      { id: upload.state.benchId, files: [nameOf(0), nameOf(1), nameOf(2)] },
    ]);
    await next.close();
    await again.end();
  });

  it('resends one that is missing at ingest, and ingests once more', async () => {
    const folder = folderOf();
    folder.putManifest([{ ...task, files: [] }]);
    const memory = remembered();
    const half = await uploadOf(folder, memory());
    expect(half.share).toBe(0);
    await run(half, failing('put', dead, { name: nameOf(2), times: 9 }));
    const { sent, plan } = half.state;
    expect(half.share).toBe(sent / plan.bytes);
    expect(half.share).toBeGreaterThan(0.5);
    expect(half.share).toBeLessThan(1);
    for (const upload of readdirSync(storageOf(local.folder))) {
      for (const name of readdirSync(join(storageOf(local.folder), upload))) {
        const path = join(storageOf(local.folder), upload, name);
        if (/^[0-9a-f]{64}$/.test(name) && statSync(path).size === 'content 0'.length) rmSync(path);
      }
    }
    const { service: spy, asked } = watched(service);
    const upload = await uploadOf(folder, memory());
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(made(folder)).toEqual([{ id: upload.state.benchId, files: [nameOf(0), nameOf(1), nameOf(2)] }]);
    expect(asked.filter(each => each === 'ingest')).toHaveLength(2);
    expect(upload.state.notes).toEqual(['The service has lost 2 files; sending again.']);
  });

  it('names the lost one', async () => {
    const folder = folderOf(2);
    const refusal = new ValidationError(`"${nameOf(1)}" was not uploaded`, { status: 422 });
    const memory = remembered();
    const stopped = await uploadOf(folder, memory());
    await run(stopped, failing('ingest', dead, { times: 99 }));
    const upload = await uploadOf(folder, memory());
    await run(upload, failing('ingest', refusal, { times: 1 }));
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(upload.state.notes).toEqual([`The service has lost ${nameOf(1)}; sending again.`]);
  });

  it('does not loop forever if the service reports a file lost that was just sent', async () => {
    const folder = folderOf(2);
    const refusal = new ValidationError(`tasks[0].files[0]: ${nameOf(0)} was not uploaded (and 1 more, see context)`, {
      status: 422,
      context: { issues: [{ path: 'tasks[0]', message: `"${nameOf(1)}" was not uploaded` }] },
    });
    const memory = remembered();
    const first = watched(failing('ingest', refusal, { times: 99 }));
    await run(await uploadOf(folder, memory()), first.service);
    expect(first.asked.filter(each => each === 'ingest')).toHaveLength(1);
    const second = watched(failing('ingest', refusal, { times: 99 }));
    const upload = await uploadOf(folder, memory());
    await run(upload, second.service);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: refusal.message } });
    expect(second.asked.filter(each => each.startsWith('put')).sort()).toEqual([
      `put ${nameOf(0)}`,
      `put ${nameOf(1)}`,
    ]);
    expect(second.asked.filter(each => each === 'ingest')).toHaveLength(2);
  });
});

it('continues an upload even from one opened before it started', async () => {
  const folder = folderOf(2);
  const memory = remembered();
  const [one, other] = [await uploadOf(folder, memory()), await uploadOf(folder, memory())];
  await run(one, failing('build', dead, { times: 9 }));
  await run(other);
  expect(other.state.phase).toBe('done');
  expect(made(folder)).toHaveLength(1);
  expect(other.state.benchId).toBe(one.state.benchId);
});

it('does not resend a file for being named in a failure of the service', async () => {
  const folder = folderOf(2);
  const memory = remembered();
  await run(await uploadOf(folder, memory()), failing('put', dead, { name: nameOf(1), times: 9 }));
  const failure = new ServiceError('server', `${nameOf(0)} could not be read.`, { status: 500 });
  const { service: spy, asked } = watched(failing('ingest', failure, { times: 9 }));
  const upload = await uploadOf(folder, memory());
  await run(upload, spy);
  expect(upload.state.error?.message).toBe(failure.message);
  expect(asked).toEqual(['createUpload', `put ${nameOf(1)}`, 'ingest']);
});

describe('a folder edited between two attempts', () => {
  it('has its manifest read again, even by the same program', async () => {
    const folder = folderOf();
    folder.putManifest([{ ...task, grader: { kind: 'regex', pattern: '(' } }]);
    const { service: spy, asked } = watched(service);
    const upload = await uploadOf(folder, remembered()());
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { param: 'tasks[0].grader.pattern' } });
    folder.putManifest();
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    // Nothing was left to send, and the id is still known.
    expect(upload.state.benchId).toBe(made(folder)[0]?.id);
    expect(asked.filter(each => each.startsWith('put'))).toHaveLength(3);
  });

  it('sends new and changed files, and nothing else', async () => {
    const folder = folderOf();
    folder.putManifest([{ ...task, grader: { kind: 'regex', pattern: '(' } }]);
    const memory = remembered();
    await run(await uploadOf(folder, memory()));
    folder.putManifest();
    folder.put(nameOf(1), 'something else');
    folder.put('new.txt', 'x');
    const { service: spy, asked } = watched(service);
    const upload = await uploadOf(folder, memory());
    await run(upload, spy);
    expect(upload.state.phase).toBe('done');
    expect(asked.filter(each => each.startsWith('put')).sort()).toEqual([`put ${nameOf(1)}`, 'put new.txt']);
    expect(made(folder)[0]?.files).toEqual([nameOf(0), nameOf(1), nameOf(2), 'new.txt']);
  });

  it('makes no benchmark with a deleted file', async () => {
    const folder = folderOf();
    const memory = remembered();
    const before = await uploadOf(folder, memory());
    await run(before, failing('ingest', dead));
    folder.remove(nameOf(2));
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect(upload.state.phase).toBe('done');
    expect(upload.state.notes.join()).toContain(`${nameOf(2)} is no longer in the folder`);
    expect(made(folder)).toEqual([{ id: upload.state.benchId, files: [nameOf(0), nameOf(1)] }]);
    expect(upload.state.benchId).not.toBe(before.state.benchId);
  });

  it('makes none with a file that was deleted before it was sent', async () => {
    const folder = folderOf();
    const memory = remembered();
    await run(await uploadOf(folder, memory()), failing('put', dead, { name: nameOf(2), times: 9 }));
    folder.remove(nameOf(2));
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect(upload.state.phase).toBe('done');
    expect(made(folder)[0]?.files).toEqual([nameOf(0), nameOf(1)]);
  });

  it('notices changes during the upload', async () => {
    const folder = folderOf();
    let changed = false;
    const changing = around(service, async (call, name, go) => {
      const result = await go();
      if (call === 'put' && name === nameOf(1) && !changed) {
        changed = true;
        folder.put(nameOf(0), 'longer than it was before');
        folder.put(nameOf(1), 'also longer than it was');
        folder.put('new.txt', 'x');
      }
      return result;
    });
    const { service: spy, asked } = watched(changing);
    const upload = await uploadOf(folder, remembered()());
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(asked.filter(each => each === `put ${nameOf(1)}`)).toHaveLength(2);
    expect(made(folder)[0]?.files).toContain('new.txt');
    expect(upload.state.sent).toBe(upload.state.plan.bytes);
  });

  it('says if it keeps changing', async () => {
    const folder = folderOf(1);
    let times = 0;
    const restless = around(service, async (call, _, go) => {
      const result = await go();
      times += 1;
      if (call === 'put') folder.put(nameOf(0), 'x'.repeat(times));
      return result;
    });
    const upload = await uploadOf(folder, remembered()());
    await run(upload, restless);
    expect(upload.state.phase).toBe('failed');
    expect(upload.state.error?.message).toContain(`${nameOf(0)} changed while it was being sent`);
    expect(made(folder)).toEqual([]);
  });
});

describe('an ingest with a lost answer', () => {
  const losing = (): Service => {
    let lost = false;
    return around(service, async (call, _, go) => {
      const result = await go();
      if (call !== 'ingest' || lost) return result;
      lost = true;
      throw new NetworkError('The connection was lost.', { outcomeUnknown: true });
    });
  };

  it('is not a failure the next time: the benchmark exists', async () => {
    const folder = folderOf();
    const memory = remembered();
    const first = await uploadOf(folder, memory());
    await run(first, losing());
    expect(first.state.phase).toBe('failed');
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect(upload.state).toMatchObject({ phase: 'done', benchId: first.state.benchId });
    expect(made(folder)).toHaveLength(1);
  });

  it('is no failure either if the manifest was sent alone, before there were files', async () => {
    const folder = folderOf(0);
    folder.putManifest([{ ...task, files: undefined }]);
    const memory = remembered();
    await run(await uploadOf(folder, memory()), failing('ingest', new ValidationError('It is refused.', {})));
    folder.put('README.md', 'added later');
    const second = await uploadOf(folder, memory());
    await run(second, losing());
    expect(second.state.phase).toBe('failed');
    const third = await uploadOf(folder, memory());
    await run(third, failing('build', dead));
    expect(third.state).toMatchObject({ phase: 'failed', error: dead, benchId: second.state.benchId });
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect(upload.state).toMatchObject({ phase: 'done', notes: [], benchId: second.state.benchId });
    expect(made(folder)).toHaveLength(1);
  });

  it.each<[string, (folder: Folder) => void]>([
    ['the manifest', folder => folder.putManifest([task, { ...task, name: 'two' }])],
    ['a file', folder => folder.put(nameOf(0), 'quite another one')],
  ])('is not counted as success if %s has changed since; a new benchmark is made only on request', async (_, edit) => {
    const folder = folderOf();
    const memory = remembered();
    const first = await uploadOf(folder, memory());
    await run(first, losing());
    edit(folder);
    const upload = await uploadOf(folder, memory());
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await run(upload);
      expect(upload.state.phase).toBe('failed');
      expect(upload.state.error?.message).toContain('was already ingested with different content');
      expect(upload.isTaken).toBe(true);
      expect(made(folder)).toHaveLength(1);
    }
    upload.startOver();
    await run(upload);
    expect(upload.state.phase).toBe('done');
    expect(made(folder)).toHaveLength(2);
    expect(upload.state.benchId).not.toBe(first.state.benchId);
  });

  it('is not counted as success if someone else ingested it', async () => {
    const folder = folderOf();
    const memory = remembered();
    const first = await uploadOf(folder, memory());
    await run(first, failing('ingest', new RateLimitError('Slow down.', { status: 429 })));
    await service.call('ingestBenchmark', {
      params: { bench_id: first.state.benchId ?? '' },
      body: { name: 'other', label: folder.label, tasks: [task] },
    });
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect([upload.state.phase, upload.isTaken]).toEqual(['failed', true]);
  });
});

describe('a build that cannot start', () => {
  const limited = new RateLimitError('Slow down.', { status: 429 });

  it('is all that is repeated, in the same program and in another', async () => {
    const folder = folderOf();
    const memory = remembered();
    const first = watched(failing('build', limited, { times: 2 }));
    const upload = await uploadOf(folder, memory());
    await run(upload, first.service);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: 'Slow down.' } });
    await run(upload, first.service);
    expect(first.asked.slice(-2)).toEqual(['build', 'build']);
    const second = watched(service);
    const other = await uploadOf(folder, memory());
    await run(other, second.service);
    expect(other.state).toMatchObject({ phase: 'done', benchId: upload.state.benchId, notes: [] });
    expect(second.asked).toEqual(['build']);
    expect(made(folder)).toHaveLength(1);
  });

  it('builds what was ingested even if the folder has changed since, and says so', async () => {
    const folder = folderOf();
    const memory = remembered();
    await run(await uploadOf(folder, memory()), failing('build', limited));
    folder.put('new.txt', 'x');
    const upload = await uploadOf(folder, memory());
    await run(upload);
    expect(upload.state.phase).toBe('done');
    expect(upload.state.notes.join()).toContain('has changed since it was ingested');
    // After that, the folder can be uploaded like any other.
    const next = await uploadOf(folder, memory());
    await run(next);
    expect(made(folder).map(({ files }) => files.length)).toEqual(expect.arrayContaining([3, 4]));
  });
});

describe('a service with a low limit of files per request', () => {
  it.each([
    ['says how many', { limit: 3 }, 3],
    ['says a limit that it does not keep', { limit: 64 }, 4],
    ['says nothing', {}, 4],
    ['says nonsense', { limit: -1 }, 4],
  ])('that %s is sent fewer until it accepts them', async (_, context, second) => {
    const folder = folderOf(8);
    const sizes: number[] = [];
    const strict = withAnswers(service, {
      createBenchmarkUpload: ({ body }, options) => {
        sizes.push(body.files.length);
        if (body.files.length > 3) throw new ValidationError('Too many.', { status: 422, param: 'files', context });
        return service.call('createBenchmarkUpload', { body }, options);
      },
    });
    const upload = await uploadOf(folder, remembered()());
    await run(upload, strict);
    expect(upload.state.phase).toBe('done');
    expect(sizes.slice(0, 2)).toEqual([8, second]);
    expect(made(folder)[0]?.files).toHaveLength(8);
    expect(sizes.filter(size => size > 3).length).toBeLessThan(4);
  });

  it('that refuses even one is quoted', async () => {
    const folder = folderOf(8);
    let asked = 0;
    const none = around(service, (call, _, go) => {
      if (call !== 'createUpload') return go();
      asked += 1;
      return Promise.reject(
        new ValidationError('No files today.', { status: 422, param: 'files', context: { limit: 64 } }),
      );
    });
    const upload = await uploadOf(folder, remembered()());
    await run(upload, none);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: 'No files today.' } });
    expect(asked).toBeLessThan(6);
  });
});

describe('invalid upload URLs', () => {
  it('are requested again, once for all files left', async () => {
    const folder = folderOf(12);
    let stale = true;
    const slow = withAnswers(service, {
      createBenchmarkUpload: async (input, options) => {
        const answer = await service.call('createBenchmarkUpload', input, options);
        if (!stale) return answer;
        stale = false;
        return { ...answer, urls: answer.urls.map(each => ({ ...each, url: `${each.url}0` })) };
      },
    });
    const { service: spy, asked } = watched(slow);
    const upload = await uploadOf(folder, remembered()());
    await run(upload, spy);
    expect(upload.state.phase).toBe('done');
    expect(asked.filter(each => each === 'createUpload')).toHaveLength(2);
    expect(made(folder)[0]?.files).toHaveLength(12);
  });

  it('have the old port of a service that was restarted: the upload continues at the new one', async () => {
    const data = await startService();
    let now: TestService = data;
    const supervisor: Supervisor = {
      locate: async () => now,
      recover: async ({ baseUrl }) => baseUrl !== now.baseUrl,
    };
    const key = async (): Promise<string> => now.apiKey;
    const moving = createService({
      baseUrl: data.baseUrl,
      supervisor,
      apiKey: key,
      inferenceToken: key,
      userAgent: 'test',
    });
    const folder = folderOf(10);
    let puts = 0;
    const restarting = around(moving, async (call, _, go) => {
      if (call === 'put') puts += 1;
      if (call === 'put' && puts === 4) {
        await now.stop();
        now = await startService({ dataFolder: data.folder });
      }
      return go();
    });
    const upload = await uploadOf(folder, remembered()());
    await run(upload, restarting);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(benchmarksOf(data.folder, folder.label)[0]?.files).toHaveLength(10);
    await moving.close();
    await now.end();
  });

  it('are requested three times per file', async () => {
    const { service: spy, asked } = watched(failing('put', dead, { times: 1_000 }));
    await run(await uploadOf(folderOf(1), remembered()()), spy);
    expect(asked.filter(each => each === 'createUpload')).toHaveLength(3);
    expect(asked.filter(each => each === `put ${nameOf(0)}`)).toHaveLength(3);
  });

  it('are not requested endlessly if none works', async () => {
    const folder = folderOf(20);
    const { service: spy, asked } = watched(failing('put', dead, { times: 1_000 }));
    const upload = await uploadOf(folder, remembered()());
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: 'The line is cut.' } });
    expect(asked.length).toBeLessThan(40);
  });
});

describe('a killed program', () => {
  const calls = 6;
  const moments = Array.from({ length: calls }, (_, index) => [
    [index + 1, 'before'],
    [index + 1, 'after'],
  ]).flat() as [number, 'before' | 'after'][];

  it.each(moments)('at call %i, %s it reached the service, is continued by the next', async (at, when) => {
    const folder = folderOf();
    const memory = remembered();
    const store = memory();
    const died = Promise.withResolvers<void>();
    const { promise: never, reject: end } = Promise.withResolvers<never>();
    onTestFinished(() => end(new Error('killed')));
    let count = 0;
    const dying = around(service, async (_, __, go) => {
      count += 1;
      const mine = count;
      if (mine > at || (mine === at && when === 'before')) {
        died.resolve();
        return never;
      }
      const result = await go();
      if (mine < at) return result;
      died.resolve();
      return never;
    });
    never.catch(() => {});
    void run(await uploadOf(folder, store), dying);
    await died.promise;
    store.close();

    const { service: spy, asked } = watched(service);
    const upload = await uploadOf(folder, memory());
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(made(folder)).toEqual([{ id: upload.state.benchId, files: [nameOf(0), nameOf(1), nameOf(2)] }]);
    // Completed work is not repeated, except for the last few files, whose fingerprints may be lost with the program.
    if (at === calls) expect(asked).toEqual(['build']);
  });
});

describe('errors in a folder', () => {
  it('are reported before anything is sent', async () => {
    const folder = folderOf();
    const upload = await uploadOf(folder, remembered()());
    folder.put(
      'manifest.json',
      JSON.stringify({ name: 'mine', tasks: [{ ...task, split: 'dev', run_command: undefined }] }),
    );
    const { service: spy, asked } = watched(service);
    await run(upload, spy);
    expect(upload.state.phase).toBe('failed');
    expect(upload.state.error?.message).toMatch(/manifest\.json.*tasks\[0\]\.split.*tasks\[0\]\.run_command/);
    expect(asked).toEqual([]);
  });

  it('include a folder with only a manifest, if a task needs a file', async () => {
    const words = /no files except manifest\.json, where task one names data\/a\.txt/;
    await expect(uploadOf(folderOf(0), remembered()())).rejects.toThrow(words);
  });

  it('do not include tasks that need no file: the manifest is sent first', async () => {
    const folder = folderOf(0);
    folder.putManifest([{ ...task, files: undefined }]);
    const upload = await uploadOf(folder, remembered()());
    const { service: spy, asked } = watched(service);
    await run(upload, spy);
    expect(upload.state).toMatchObject({ phase: 'done', sentFiles: 1, error: undefined });
    expect(asked.filter(call => call.startsWith('put'))).toEqual(['put manifest.json']);
  });
});

describe('a stopped upload', () => {
  it('can be continued by the same program, and by another', async () => {
    const folder = folderOf(6);
    const memory = remembered();
    const upload = await uploadOf(folder, memory());
    let puts = 0;
    const stopping = around(service, async (call, _, go) => {
      const result = await go();
      if (call === 'put') {
        puts += 1;
        if (puts === 2) upload.cancel();
      }
      return result;
    });
    await run(upload, stopping);
    expect(upload.state).toMatchObject({ phase: 'cancelled', error: undefined });
    expect(upload.busy).toBe(false);
    const { service: spy, asked } = watched(service);
    await run(upload, spy);
    expect(upload.state.phase).toBe('done');
    expect(asked.filter(each => each.startsWith('put')).length).toBeLessThan(6);
    expect(made(folder)).toHaveLength(1);
  });
});

describe('an upload to the local service', () => {
  /** Passes everything on, and loses the first answer at a path with its connection, as a service does that is killed. */
  const losing = (ending: string, asked: string[]) => {
    let isLost = false;
    return hostileServer(async (response, request) => {
      const { method, url, headers, body } = request;
      const { host: _, connection: __, ...sent } = headers as Record<string, string>;
      const answer = await fetch(local.baseUrl + url, { method, headers: sent, ...(body && { body }) });
      const content = await answer.text();
      if (url.endsWith(ending)) asked.push(method);
      if (isLost || !url.endsWith(ending)) return json(JSON.parse(content), answer.status)(response, request);
      isLost = true;
      return resetAtOnce(response, request);
    });
  };

  it.each(['/benchmarks/uploads', '/ingest', '/images/build'])(
    'continues by itself if the service exits before its answer to %s, and makes one benchmark',
    async ending => {
      const asked: string[] = [];
      const { url: baseUrl } = await losing(ending, asked);
      const supervisor: Supervisor = {
        locate: async () => ({ baseUrl, apiKey: local.apiKey }),
        recover: async () => true,
      };
      const none = async () => '';
      const restarted = createService({ baseUrl, apiKey: none, inferenceToken: none, userAgent: 'test', supervisor });
      onTestFinished(() => restarted.close());
      const folder = folderOf();
      const upload = await uploadOf(folder, remembered()());
      await run(upload, restarted);
      expect(upload.state.error).toBeUndefined();
      expect(upload.state.phase).toBe('done');
      expect(asked).toEqual(['POST', 'POST']);
      expect(made(folder)).toHaveLength(1);
    },
  );
});
