/** Uploads on the real local service: a folder to upload, a persistent store, and misbehaving services. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import type { Service } from '../../src/service/index.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { planUpload } from '../../src/uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../src/uploads/benchmark-upload.ts';
import { withAnswers } from '../service/fake-service.ts';

export const task = {
  name: 'one',
  split: 'test',
  input_messages: [{ role: 'user', content: 'say yes' }],
  run_command: 'x',
  grader: { kind: 'exact', expected: 'yes' },
  files: ['data/a.txt'],
};

export interface Folder {
  readonly path: string;
  readonly label: string;
  readonly put: (path: string, text: string) => void;
  readonly remove: (path: string) => void;
  /** Writes the manifest, with other tasks if given. */
  readonly putManifest: (tasks?: readonly object[], more?: object) => void;
}

let folders = 0;

/** A folder with a manifest and this many files `data/a.txt`, `data/b.txt`…, removed with the test. */
export function folderOf(files = 3): Folder {
  const path = mkdtempSync(join(tmpdir(), 'benchtop-upload-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  folders += 1;
  const label = `upload ${folders}`;
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  const putManifest: Folder['putManifest'] = (tasks = [task], more = {}) =>
    put('manifest.json', JSON.stringify({ name: 'mine', label, tasks, ...more }));
  putManifest();
  for (let index = 0; index < files; index += 1) put(nameOf(index), `content ${index}`);
  return { path, label, put, putManifest, remove: name => rmSync(join(path, name)) };
}

export const nameOf = (index: number): string => `data/${String.fromCharCode(97 + index)}.txt`;

/** The remembered store on disk: each program opens it separately. */
export function remembered(): () => RememberedStore {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-remembered-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return () => RememberedStore.open(join(folder, 'remembered.db'), 'test');
}

/** An upload of the folder, as a new program sees it. */
export async function uploadOf({ path }: Pick<Folder, 'path'>, memory: RememberedStore): Promise<BenchmarkUpload> {
  return new BenchmarkUpload(path, await planUpload(path), memory);
}

export type UploadCall = 'createUpload' | 'put' | 'ingest' | 'build';

/** Wraps every call of an upload; `name` is the path of a file, or the id of the benchmark. */
export type Around = <Result>(call: UploadCall, name: string, go: () => Promise<Result>) => Promise<Result>;

export function around(service: Service, wrap: Around): Service {
  const spied = withAnswers(service, {
    createBenchmarkUpload: (input, options) =>
      wrap('createUpload', input.body.bench_id ?? '', () => service.call('createBenchmarkUpload', input, options)),
    ingestBenchmark: (input, options) =>
      wrap('ingest', String(input.params.bench_id), () => service.call('ingestBenchmark', input, options)),
    buildBenchmarkImages: (input, options) =>
      wrap('build', String(input.params.bench_id), () => service.call('buildBenchmarkImages', input, options)),
  });
  const putUpload: Service['putUpload'] = (target, source, options) =>
    wrap('put', target.path, () => service.putUpload(target, source, options));
  return { ...spied, putUpload };
}

/** The service, and a log of its requests: `put data/a.txt`, `ingest`… */
export function watched(service: Service): { readonly service: Service; readonly asked: string[] } {
  const asked: string[] = [];
  const spy = around(service, (call, name, go) => {
    asked.push(call === 'put' ? `put ${name}` : call);
    return go();
  });
  return { service: spy, asked };
}

/** The benchmarks with a label, each with its files. */
export function benchmarksOf(dataFolder: string, label: string): { readonly id: string; readonly files: string[] }[] {
  const database = new DatabaseSync(join(dataFolder, 'benchtop.db'), { readOnly: true });
  try {
    const rows = database.prepare('select bench_id from benchmarks where label = ?').all(label);
    return rows.map(({ bench_id: id }) => {
      const files = database
        .prepare('select path from benchmark_files where bench_id = ? order by path')
        .all(id ?? null);
      return { id: String(id), files: files.map(({ path }) => String(path)) };
    });
  } finally {
    database.close();
  }
}
