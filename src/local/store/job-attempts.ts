/**
 * Records which jobs are running, to find a job that keeps crashing the service. A job is set aside if the service ended
 * abnormally twice at the same point in it.
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import type { Database } from './database.ts';
import { now } from './ids.ts';
import type { Failure } from './records.ts';

export type JobKind = 'image build' | 'evaluation' | 'training' | 'deployment';

export interface SetAside {
  readonly id: string;
  readonly kind: JobKind;
  readonly at: string;
}

interface Attempt {
  readonly job_id: string;
  readonly kind: JobKind;
  /** How far it had come when the service last ended abnormally. */
  readonly progress: number;
  readonly under_way: number;
  /** How often the service has ended abnormally at that point. */
  readonly abnormal_ends: number;
}

/** How to query and fail jobs of one kind. */
export interface JobRecords {
  /** The unfinished jobs. */
  readonly jobs: () => readonly { readonly id: string }[];
  /** How far a job has come, e.g. how many rollouts it has recorded. Any work changes it, even repeated work. */
  readonly progress: (id: string) => number;
  /** Returns false if it has already ended. */
  readonly fail: (id: string, failure: Failure) => boolean;
}

/** A job is set aside if the service has ended abnormally more often than this. */
const toleratedEnds = 1;

const migrations = [
  `create table job_attempts (
    job_id text primary key, kind text not null, progress integer not null, abnormal_ends integer not null,
    under_way integer not null, set_aside_at text
  ) strict, without rowid`,
];

export class JobAttempts {
  readonly #database: Database;
  readonly #countFile: string;

  /**
   * @param countFile an empty file; an abnormal end counts only while it exists. On a full disk, the database accepts
   * no writes, but a file can still be removed
   */
  constructor(database: Database, countFile: string) {
    this.#database = database;
    this.#countFile = countFile;
    database.migrateArea('job attempts', migrations);
  }

  /** Called when the disk is full: until the next attempt begins, an abnormal end does not count against any job. */
  pardon(): void {
    try {
      rmSync(this.#countFile);
    } catch {
      // The abnormal end counts after all.
    }
  }

  /** @throws Error if it cannot be recorded, e.g. on a full disk */
  begin(id: string, kind: JobKind): void {
    closeSync(openSync(this.#countFile, 'a', 0o600));
    this.#database.run(
      `insert into job_attempts values (?, ?, 0, 0, 1, null) on conflict (job_id) do update set under_way = 1,
       abnormal_ends = iif(set_aside_at is null, abnormal_ends, 0), set_aside_at = null`,
      id,
      kind,
    );
  }

  /** Whether the service ended abnormally during the last attempt. */
  hasEndedAbnormally(id: string): boolean {
    const sql = 'select 1 from job_attempts where job_id = ? and abnormal_ends > 0';
    return this.#database.get(sql, id) !== undefined;
  }

  /** Called when an attempt has ended, because the job is done or will be retried. */
  end(id: string, isDone: boolean): void {
    const sql = isDone ? 'delete from job_attempts' : 'update job_attempts set under_way = 0';
    this.#database.run(`${sql} where job_id = ?`, id);
  }

  /**
   * At startup: counts the previous process's abnormal end, if any, and sets aside jobs during which the service has
   * ended abnormally too often. Returns the other interrupted jobs; any of them may be the cause.
   */
  recover(records: Readonly<Record<JobKind, JobRecords>>): { id: string; kind: JobKind }[] {
    const counted = existsSync(this.#countFile) ? 1 : 0;
    return this.#database.transaction(() => {
      const unfinished = new Map(
        Object.entries(records).map(([kind, { jobs }]) => [kind, new Set(jobs().map(({ id }) => id))]),
      );
      const attempts = this.#database.all<Attempt>(
        'select job_id, kind, progress, abnormal_ends, under_way from job_attempts where set_aside_at is null',
      );
      return attempts.flatMap(({ job_id: id, kind, under_way, ...before }) => {
        if (!unfinished.get(kind)?.has(id)) {
          // It was deleted or has ended meanwhile.
          this.end(id, true);
          return [];
        }
        if (under_way === 0) return [];
        const progress = records[kind].progress(id);
        const ends = (progress === before.progress ? before.abnormal_ends : 0) + counted;
        const isSetAside = ends > toleratedEnds && records[kind].fail(id, setAsideFailure(kind, ends));
        this.#database.run(
          'update job_attempts set under_way = 0, progress = ?, abnormal_ends = ?, set_aside_at = ? where job_id = ?',
          progress,
          ends,
          isSetAside ? now() : null,
          id,
        );
        return isSetAside ? [] : [{ id, kind }];
      });
    });
  }

  /** The jobs that were set aside, newest first, unless they have been deleted or started again since. */
  setAside(): SetAside[] {
    return this.#database.all<SetAside & Record<string, unknown>>(
      `select job_id as id, kind, set_aside_at as at from job_attempts where set_aside_at is not null and (
         exists (select 1 from eval_runs where eval_run_id = job_id)
         or exists (select 1 from training_runs where training_run_id = job_id)
         or exists (select 1 from deployments where deployment_id = job_id)
         or exists (select 1 from images where bench_id = job_id and build_status = 'failed')
       ) order by set_aside_at desc, job_id`,
    );
  }
}

function setAsideFailure(kind: JobKind, abnormal_ends: number): Failure {
  const again = kind === 'image build' ? 'build the images again' : 'start it again';
  return {
    type: 'api_error',
    code: 'set_aside',
    message: `The local service ended abnormally ${abnormal_ends} times during this ${kind}, which was therefore set aside. Its recorded results are kept; ${again} to retry.`,
    context: { abnormal_ends },
  };
}
