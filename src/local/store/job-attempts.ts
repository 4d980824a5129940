/**
 * Which jobs are under way, so that one that ends the service again and again is found: a job that was under way when
 * the service ended abnormally, twice without having recorded anything in between, is set aside.
 */
import type { Database } from './database.ts';
import { now } from './ids.ts';
import type { Failure } from './records.ts';

const jobKinds = ['image build', 'evaluation', 'training', 'deployment'] as const;
export type JobKind = (typeof jobKinds)[number];

/** A job that was set aside. */
export interface SetAside {
  readonly id: string;
  readonly kind: JobKind;
  readonly at: string;
}

interface Attempt {
  readonly job_id: string;
  readonly kind: JobKind;
  /** What it had recorded when the service last ended abnormally. */
  readonly progress: number;
  /** Abnormal ends of the service since it has recorded anything. */
  readonly abnormal_ends: number;
}

/** How the jobs of a kind are asked and ended. */
export interface JobRecords {
  /** How much a job has recorded, e.g. its rollouts; grows as it proceeds. */
  readonly progress: (id: string) => number;
  /** Returns false if it has ended already. */
  readonly fail: (id: string, failure: Failure) => boolean;
}

/** So often may the service end abnormally with a job under way. */
const toleratedEnds = 1;

const migrations = [
  `create table job_attempts (
    job_id text primary key, kind text not null, progress integer not null, abnormal_ends integer not null,
    under_way integer not null, set_aside_at text
  ) strict, without rowid`,
];

export class JobAttempts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.migrateArea('job attempts', migrations);
  }

  begin(id: string, kind: JobKind): void {
    this.#database.run(
      `insert into job_attempts values (?, ?, 0, 0, 1, null) on conflict (job_id) do update set under_way = 1,
       abnormal_ends = iif(set_aside_at is null, abnormal_ends, 0), set_aside_at = null`,
      id,
      kind,
    );
  }

  /** The attempt has ended: the job itself too, or it will be tried again. */
  end(id: string, isDone: boolean): void {
    const sql = isDone ? 'delete from job_attempts' : 'update job_attempts set under_way = 0';
    this.#database.run(`${sql} where job_id = ?`, id);
  }

  /**
   * At start: counts the abnormal end of the last service, if it was one, and sets aside jobs that were under way too
   * often. Returns the others that were under way, any of which may have ended it.
   */
  recover(records: Readonly<Record<JobKind, JobRecords>>): { id: string; kind: JobKind }[] {
    return this.#database.transaction(() => {
      const interrupted = this.#database.all<Attempt>(
        'select job_id, kind, progress, abnormal_ends from job_attempts where under_way = 1',
      );
      return interrupted.flatMap(({ job_id: id, kind, ...before }) => {
        const progress = records[kind].progress(id);
        const ends = progress > before.progress ? 1 : before.abnormal_ends + 1;
        const isSetAside = ends > toleratedEnds && records[kind].fail(id, failureOf(kind, ends));
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

  /** The jobs that were set aside, newest first, unless they were deleted or have been started again since. */
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

function failureOf(kind: JobKind, abnormal_ends: number): Failure {
  const again = kind === 'image build' ? 'build the images again' : 'start it again';
  return {
    type: 'api_error',
    code: 'set_aside',
    message: `The local service ended abnormally ${abnormal_ends} times during this ${kind}, which was therefore set aside. What it had recorded is kept; ${again} to retry.`,
    context: { abnormal_ends },
  };
}
