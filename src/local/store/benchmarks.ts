/** Benchmarks with their tasks, images and blockers. */
import { parseExactly } from '../../base/exact-json.ts';
import type { ListQuery } from '../../contract/common.ts';
import {
  type Manifest,
  type ManifestTask,
  readTask,
  runtimeOf,
  secretNames,
  type Task,
  warningsOf,
} from '../samples/manifest.ts';
import type { Database } from './database.ts';
import { newId, now, sha256 } from './ids.ts';
import { readPage } from './list-page.ts';
import type { BenchmarkRow, ImageRow, RuntimeRow } from './records.ts';
import type { StoredFile } from './upload-folder.ts';

/** The name from the manifest, or the label if none was recorded. */
const nameOf = "coalesce(json_extract(details, '$.name'), label)";

const benchmarkList = {
  table: 'benchmarks',
  id: 'bench_id',
  sorts: { created_at: 'created_at', updated_at: 'updated_at', label: 'label', name: nameOf, family: 'family' },
  searches: ['label', 'family', 'description', 'bench_id'],
} as const;

const runtimeList = {
  table: 'runtimes',
  id: 'runtime_id',
  sorts: { created_at: 'created_at', provider: 'provider', build_status: 'build_status' },
  searches: ['runtime_id', 'provider', 'content_hash'],
} as const;

/** The outcome of a build: the content hash and the base image, or the failure. */
type ImageBuild = { readonly content: string; readonly image_ref: string | undefined } | { readonly failure: string };

const provider = 'local';

export class BenchmarkStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  list(organizationId: string, query: ListQuery) {
    const page = readPage<BenchmarkRow>(this.#database, benchmarkList, { organization_id: organizationId }, query);
    return { ...page, items: page.items.map(row => this.#recordOf(row)) };
  }

  get(organizationId: string, benchId: string) {
    const row = this.#database.get<BenchmarkRow>(
      'select * from benchmarks where bench_id = ? and organization_id = ?',
      benchId,
      organizationId,
    );
    return row && this.#recordOf(row);
  }

  /** The benchmarks with this label or name, oldest first. */
  called(organizationId: string, name: string) {
    return this.#database
      .all<BenchmarkRow>(
        `select * from benchmarks where organization_id = ? and ? in (label, ${nameOf}) order by created_at, bench_id`,
        organizationId,
        name,
      )
      .map(row => this.#recordOf(row));
  }

  /** Whether the benchmark exists, in any organization. */
  exists(benchId: string): boolean {
    return this.#database.get('select 1 from benchmarks where bench_id = ?', benchId) !== undefined;
  }

  /** A benchmark in the contract's form, with the name from its manifest. */
  #recordOf({ details, ...row }: BenchmarkRow) {
    const eval_run_count = this.#database.count(
      'select count(*) as count from eval_runs where organization_id = ? and bench_id = ?',
      row.organization_id,
      row.bench_id,
    );
    const { tags = [], name = row.label } = parseExactly(details) as { tags?: unknown; name?: string };
    return { ...row, name, agent_id: null, tags, eval_run_count };
  }

  listRuntimes(organizationId: string, query: ListQuery) {
    return readPage<RuntimeRow>(this.#database, runtimeList, { organization_id: organizationId }, query);
  }

  /** Creates a benchmark from a manifest, in one transaction. */
  ingest(
    organizationId: string,
    { tasks, name, label, family, description, visibility, ...details }: Manifest,
    {
      benchId = newId('benchmark'),
      created_at = now(),
      files = [],
    }: { benchId?: string; created_at?: string; files?: readonly StoredFile[] } = {},
  ): string {
    this.#database.transaction(() => {
      this.#database.insert('benchmarks', {
        bench_id: benchId,
        organization_id: organizationId,
        label: label ?? name,
        description: description ?? '',
        family: family ?? '',
        visibility: visibility ?? 'private',
        details: JSON.stringify({ ...details, name }),
        created_at,
        updated_at: created_at,
      });
      for (const { path, content_type, size_bytes, sha256: hash } of files) {
        this.#database.put('benchmark_files', { bench_id: benchId, path, content_type, size_bytes, sha256: hash });
      }
      for (const task of tasks) {
        const { dockerfile_path = `${encodeURIComponent(task.name)}/Dockerfile` } = runtimeOf(task);
        this.#database.put('tasks', {
          bench_id: benchId,
          task_id: task.name,
          split: readTask(task).split,
          spec: JSON.stringify(task),
        });
        this.#database.put('images', {
          bench_id: benchId,
          task_id: task.name,
          provider,
          provider_ref: '',
          dockerfile_uri: `local://${benchId}/${dockerfile_path}`,
          build_status: 'pending',
        });
      }
    });
    return benchId;
  }

  /** The tasks in a benchmark, or in one of its splits, ordered by name. */
  tasks(benchId: string, split?: string): Task[] {
    const tasks = this.#database
      .all<{ spec: string }>('select spec from tasks where bench_id = ? order by task_id', benchId)
      .map(row => readTask(parseExactly(row.spec) as ManifestTask));
    return split === undefined ? tasks : tasks.filter(task => task.split === split);
  }

  files(benchId: string): StoredFile[] {
    return this.#database.all<StoredFile>(
      'select path, content_type, size_bytes, sha256 from benchmark_files where bench_id = ? order by path',
      benchId,
    );
  }

  /** Ids of all benchmarks, for finding orphaned uploads. */
  allIds(): string[] {
    return this.#database.all<{ bench_id: string }>('select bench_id from benchmarks').map(row => row.bench_id);
  }

  /** Images with their state and any failure. */
  images(benchId: string): ImageRow[] {
    return this.#database.all<ImageRow>(
      `select task_id, provider, provider_ref, dockerfile_uri, build_status, failure as failure_message from images
       where bench_id = ? order by task_id`,
      benchId,
    );
  }

  /** Sets pending and failed images to `building`. */
  beginBuild(benchId: string): void {
    this.#database.run(
      "update images set build_status = 'building', failure = null where bench_id = ? and build_status in ('pending', 'failed')",
      benchId,
    );
  }

  /** Ids of the benchmarks with images still to be built, in any organization. */
  withBuilds(): string[] {
    return this.#database
      .all<{ bench_id: string }>(
        "select distinct bench_id from images where build_status = 'building' order by bench_id",
      )
      .map(row => row.bench_id);
  }

  /** A benchmark's tasks whose images are still to be built. */
  building(benchId: string, limit: number): { organization_id: string; task_id: string; spec: string }[] {
    return this.#database.all(
      `select b.organization_id, i.task_id, t.spec from images i
       join tasks t on t.bench_id = i.bench_id and t.task_id = i.task_id join benchmarks b on b.bench_id = i.bench_id
       where i.bench_id = ? and i.build_status = 'building' order by i.task_id limit ?`,
      benchId,
      limit,
    );
  }

  /** How many of a benchmark's images have been built, or have failed. */
  endedBuilds(benchId: string): number {
    return this.#database.count(
      "select count(*) as count from images where bench_id = ? and build_status in ('ready', 'failed')",
      benchId,
    );
  }

  /** Ends a benchmark's builds. Returns whether there were any. */
  failBuilds(benchId: string, message: string): boolean {
    const sql =
      "update images set build_status = 'failed', failure = ? where bench_id = ? and build_status = 'building'";
    return this.#database.run(sql, message, benchId) > 0;
  }

  /** Records a build. The content hash identifies the image, and the runtime that tasks share. */
  finishBuild(organizationId: string, benchId: string, taskId: string, build: ImageBuild): void {
    const set = 'update images set build_status = ?, provider_ref = ?, failure = ? where bench_id = ? and task_id = ?';
    if ('failure' in build) {
      this.#database.run(set, 'failed', '', build.failure, benchId, taskId);
      return;
    }
    const hash = sha256(build.content);
    this.#database.transaction(() => {
      this.#database.run(set, 'ready', `sha256:${hash}`, null, benchId, taskId);
      const known = this.#database.get(
        'select runtime_id from runtimes where organization_id = ? and content_hash = ?',
        organizationId,
        hash,
      );
      if (known) return;
      this.#database.put('runtimes', {
        runtime_id: newId('runtime'),
        organization_id: organizationId,
        image_ref: build.image_ref ?? `local/${hash.slice(0, 12)}`,
        dockerfile_uri: null,
        content_hash: hash,
        provider,
        blueprint_id: `sha256:${hash}`,
        build_status: 'ready',
        created_at: now(),
      });
    });
  }

  /** A benchmark's blockers. */
  readiness(organizationId: string, benchId: string) {
    const present = new Set(
      this.#database
        .all<{ name: string }>('select name from secrets where organization_id = ?', organizationId)
        .map(({ name }) => name),
    );
    const tasks = this.tasks(benchId);
    const missing_secret_names = secretNames(tasks).filter(name => !present.has(name));
    const ungradable_task_names = tasks.flatMap(({ name, grader }) => (grader.kind === 'none' ? [name] : []));
    const unready_task_image_counts = Object.fromEntries(
      this.#database
        .all<{ build_status: string; count: number }>(
          "select build_status, count(*) as count from images where bench_id = ? and build_status <> 'ready' group by build_status",
          benchId,
        )
        .map(row => [row.build_status, row.count]),
    );
    const ready = missing_secret_names.length === 0 && Object.keys(unready_task_image_counts).length === 0;
    return {
      ready,
      missing_secret_names,
      unready_task_image_counts,
      ungradable_task_names,
      warnings: warningsOf(tasks),
    };
  }
}
