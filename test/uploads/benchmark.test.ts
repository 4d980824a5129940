/** The upload of a benchmark: which files are sent, and how it resumes after a failure. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RequestError, ServerError, UploadUrlError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { FolderError, planUpload } from '../../src/uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../src/uploads/benchmark-upload.ts';
import { eventually } from '../eventually.ts';
import { clientOf, startService, type TestService } from '../local/server/running.ts';
import { withAnswers } from '../service/fake-service.ts';

let folder: string;
const put = (path: string, text: string): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const task = {
  name: 'one',
  split: 'test',
  input_messages: [{ role: 'user', content: 'say yes' }],
  run_command: 'x',
  grader: { kind: 'exact', expected: 'yes' },
  files: ['data/a.txt'],
};
const manifest = (more: object = {}) => JSON.stringify({ name: 'mine', tasks: [task], ...more });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-upload-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a folder', () => {
  it('has all its files except the manifest and hidden ones', async () => {
    put('manifest.json', manifest({ label: 'Mine' }));
    put('data/a.txt', 'hello');
    put('b.txt', '');
    put('.git/config', 'x');
    put('data/.hidden', 'x');
    const plan = await planUpload(folder);
    expect(plan).toMatchObject({ name: 'Mine', taskCount: 1, bytes: 5 });
    expect(plan.files.map(({ path, size }) => [path, size])).toEqual([
      ['b.txt', 0],
      ['data/a.txt', 5],
    ]);
    expect(plan.notes).toEqual(['Left out: 2 hidden entries']);
  });

  it('is counted without a hidden entry', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    put('.env', 'x');
    expect((await planUpload(folder)).notes).toEqual(['Left out: 1 hidden entry']);
  });

  it.each([[{}], [{ label: '' }]])('is named after its manifest if that has no label: %j', async more => {
    put('manifest.json', manifest(more));
    put('data/a.txt', 'hello');
    expect((await planUpload(folder)).name).toBe('mine');
  });

  it('has a limited number of files', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    put('data/b.txt', 'hello');
    expect((await planUpload(folder, 2)).files).toHaveLength(2);
    await expect(planUpload(folder, 1)).rejects.toThrow(new FolderError('The folder has more than 1 files.'));
  });

  it.each([
    ['without a manifest', () => {}, /no manifest.json/],
    ['with one that is no JSON', () => put('manifest.json', '{'), /not JSON/],
    ['with one that is a list', () => put('manifest.json', '[]'), /must contain an object/],
    ['with one that is a text', () => put('manifest.json', '"mine"'), /must contain an object/],
    [
      'with a link out of it',
      () => {
        put('manifest.json', manifest());
        symlinkSync('/etc/hostname', join(folder, 'out'));
      },
      /is a link out of the folder/,
    ],
    [
      'with a name that no address can hold',
      () => {
        put('manifest.json', manifest());
        put('a\nb', 'x');
      },
      /cannot be uploaded/,
    ],
  ])('%s is refused before anything is sent', async (_, make, words) => {
    make();
    await expect(planUpload(folder)).rejects.toThrow(words);
    await expect(planUpload(folder)).rejects.toBeInstanceOf(FolderError);
  });

  it('is refused with all errors of its manifest, which say what is missing', async () => {
    const tasks = [{ name: 'one' }, { name: 'two', run_command: 7 }, { split: 'dev' }, {}];
    put('manifest.json', JSON.stringify({ tasks }));
    await expect(planUpload(folder)).rejects.toThrow(
      'manifest.json cannot be sent: name is missing; tasks[0].run_command is missing; tasks[1].run_command must be text; ' +
        'tasks[2].name is missing; tasks[2].split must be one of train, test; tasks[2].run_command is missing; ' +
        'tasks[3].name is missing; tasks[3].run_command is missing. Correct it and try again.',
    );
  });
});

describe('an upload', () => {
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
  const uploadOf = async (memory = RememberedStore.inMemory('test')) =>
    new BenchmarkUpload('job', await planUpload(folder), memory);

  it('sends more files than fit one request, ingests and builds', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    for (let index = 0; index < 250; index += 1) put(`many/${index}.txt`, String(index));
    const upload = await uploadOf();
    await upload.run(async () => service);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(upload.state.sent).toBe(upload.state.plan.bytes);
    expect((await service.call('getBenchmark', { params: { bench_id: upload.state.benchId ?? '' } })).label).toBe(
      'mine',
    );
  });

  it('shows a file as being sent as soon as its turn comes', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    const upload = await uploadOf();
    const during: unknown[] = [];
    const spied: Service = {
      ...service,
      putUpload: (...order) => {
        during.push(upload.files);
        order[2]?.onProgress?.(2, 5);
        during.push(upload.files, upload.state);
        return service.putUpload(...order);
      },
      call: (operation, ...order) => {
        if (operation === 'ingestBenchmark') during.push(upload.state);
        return service.call(operation, ...order);
      },
    };
    await upload.run(async () => spied);
    expect(during).toMatchObject([
      [{ state: 'sending', sent: 0 }],
      [{ state: 'sending', sent: 2 }],
      { phase: 'uploading', sent: 2, began: { sent: 0 } },
      { phase: 'ingesting', sent: 5 },
    ]);
    expect(upload.files).toMatchObject([{ state: 'sent', sent: 5 }]);
  });

  it('shows a file that changed meanwhile as waiting', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    put('data/b.txt', 'hello');
    const upload = await uploadOf();
    const spied: Service = {
      ...service,
      putUpload: async (...order) => {
        if (order[0].path === 'data/b.txt') await eventually(() => expect(upload.files[0]?.state).not.toBe('sending'));
        else if (upload.files[0]?.file.size === 5) put('data/a.txt', 'hello again');
        during.push(upload.files[0]?.state);
        return service.putUpload(...order);
      },
    };
    const during: unknown[] = [];
    await upload.run(async () => spied);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(during).toEqual(['sending', 'waiting', 'sending']);
  });

  it('names another host or port that a file is sent to, once per service, unless it is refused (X4, A10)', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    const memory = RememberedStore.inMemory('test');
    const { host } = new URL(local.baseUrl);
    const elsewhere = { ...service, storageOf: (address: string) => new URL(address).host };
    const refusing: Service = { ...elsewhere, putUpload: () => Promise.reject(new RequestError('Not there.')) };
    const notes: (readonly string[])[] = [];
    const told: unknown[] = [];
    let current: BenchmarkUpload | undefined;
    // Named once bytes were sent there, even if the file does not arrive.
    const breaking: Service = {
      ...elsewhere,
      putUpload: async (_target, _source, options) => {
        for (const sent of [0, 3]) {
          options?.onProgress?.(sent, 5);
          told.push(current?.state.notes.length);
        }
        throw new RequestError('Broken off.');
      },
    };
    const first = await uploadOf(RememberedStore.inMemory('test'));
    current = first;
    await first.run(async () => breaking);
    expect(told.slice(0, 2)).toEqual([0, 1]);
    for (const to of [refusing, elsewhere, elsewhere]) {
      const upload = await uploadOf(memory);
      upload.startOver();
      await upload.run(async () => to);
      notes.push(upload.state.notes);
    }
    expect(notes).toEqual([[], [`The service stores uploads at ${host}: the files go there, without a key.`], []]);
  });

  it('resends a file that became shorter while it was sent', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    const shorter = new RequestError('It became shorter.', { code: 'file_changed' });
    let tries = 0;
    const upload = await uploadOf();
    await upload.run(async () => ({
      ...service,
      putUpload: (...input) => {
        tries += 1;
        return tries === 1 ? Promise.reject(shorter) : service.putUpload(...input);
      },
    }));
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
    expect(tries).toBe(2);
  });

  it('says which tasks the service left out, and names the agent it asks for', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    const queries: unknown[] = [];
    const short = withAnswers(service, {
      ingestBenchmark: async ({ query }) => {
        queries.push(query);
        return {
          bench_id: 'b',
          task_count: 0,
          failed_tasks: [{ task_id: 't1', label: 'one', error: 'no such image' }],
          warnings: ['visibility was ignored', null],
        };
      },
      buildBenchmarkImages: async () => ({ bench_id: 'b', images: [] }),
    });
    const upload = await uploadOf();
    upload.setAgent('name:Mine');
    await upload.run(async () => short);
    expect(queries).toEqual([{ agent_name: 'Mine' }]);
    expect(upload.state).toMatchObject({
      phase: 'done',
      failedTasks: [{ task_id: 't1' }],
      notes: [
        'The service accepted 0 of 1 tasks.',
        'Not accepted: one, no such image',
        'The service warns: visibility was ignored',
      ],
    });
  });

  it('says that the service does not answer, never rejects, and can be restarted', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    const upload = await uploadOf();
    await expect(upload.run(() => Promise.reject(new Error('The local service did not start.')))).resolves.toBe(
      undefined,
    );
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: 'The local service did not start.' } });
    await upload.run(async () => service);
    expect(upload.state).toMatchObject({ phase: 'done', error: undefined });
  });

  it('requests a new URL if one has expired', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    let refused = 0;
    const late: Service = {
      ...service,
      putUpload: async (...order) => {
        refused += 1;
        if (refused === 1) throw new UploadUrlError('The address has expired.', { operation: 'putUpload' });
        return service.putUpload(...order);
      },
    };
    const upload = await uploadOf();
    await upload.run(async () => late);
    expect([upload.state.phase, refused]).toEqual(['done', 2]);
  });

  it('stops at the first file that the service has no room for', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    const upload = await uploadOf();
    const putUpload = () =>
      Promise.reject(new ServerError('The disk is full.', { status: 507, operation: 'putUpload' }));
    await upload.run(async () => ({ ...service, putUpload }));
    expect(upload.state).toMatchObject({ phase: 'failed', error: { message: 'The disk is full.' } });
  });

  it('resumes where it stopped, in another program too, and sends nothing twice', async () => {
    put('manifest.json', manifest());
    put('data/a.txt', 'hello');
    put('data/b.txt', 'world');
    const memory = RememberedStore.inMemory('test');
    const sent: string[] = [];
    const failing = (broken: string | undefined): Service => ({
      ...service,
      putUpload: async (target, ...order) => {
        if (target.path === broken) throw new Error('the line is cut');
        sent.push(target.path);
        return service.putUpload(target, ...order);
      },
    });
    const first = await uploadOf(memory);
    await first.run(async () => failing('data/b.txt'));
    expect(first.state.phase).toBe('failed');
    expect(first.state.error?.message).toContain('Not sent: data/b.txt');
    expect(first.files.map(({ state }) => state)).toEqual(['sent', 'failed']);
    const second = await uploadOf(memory);
    await second.run(async () => failing(undefined));
    expect([second.state.phase, sent]).toEqual(['done', ['data/a.txt', 'data/b.txt']]);
    expect(second.state.benchId).toBe(first.state.benchId);
  });

  it('prints what the service found wrong with the manifest, and keeps what was sent', async () => {
    put(
      'manifest.json',
      JSON.stringify({ name: 'bad', tasks: [{ ...task, grader: { kind: 'regex', pattern: '(' } }] }),
    );
    put('data/a.txt', 'hello');
    const upload = await uploadOf();
    await upload.run(async () => service);
    expect(upload.state).toMatchObject({ phase: 'failed', error: { param: 'tasks[0].grader.pattern' } });
    expect(upload.files[0]?.state).toBe('sent');
  });
});
