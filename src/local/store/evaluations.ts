/** Evaluation runs with their rollouts. A rollout is recorded once it has ended, and only once. */
import { evalRunStatuses } from '../../contract/status.ts';
import type { Database } from './database.ts';
import type { DatasetStore } from './datasets.ts';
import { newId, now } from './ids.ts';
import type { EvalRunRow, Failure } from './records.ts';
import { newRun, type Rollout, type RunStart, RunStore } from './runs.ts';
import type { TrajectoryStore } from './trajectories.ts';

type NewEvalRun = RunStart &
  Pick<
    EvalRunRow,
    | 'bench_id'
    | 'display_name'
    | 'base_model_slug'
    | 'parent_checkpoint_id'
    | 'training_run_id'
    | 'step'
    | 'split'
    | 'total_rollouts'
  >;

interface FinishedRollout extends Rollout {
  readonly latency_ms: number;
  /** Null if the upstream server does not report them. */
  readonly completion_tokens: number | null;
}

export interface RolloutCounts {
  readonly scored: number;
  readonly failed: number;
  /** Rollouts that did not fail but have no grader. */
  readonly ungraded: number;
  readonly mean: number | null;
}

const table = { name: 'eval_runs', id: 'eval_run_id', source: 'evaluation', statuses: evalRunStatuses } as const;

/** Identifies a rollout within a run. */
export const rolloutKey = ({ task_id, sample }: Pick<Rollout, 'task_id' | 'sample'>): string => `${sample} ${task_id}`;

export class EvaluationStore extends RunStore<EvalRunRow> {
  constructor(database: Database, datasets: DatasetStore, trajectories: TrajectoryStore) {
    super(table, database, datasets, trajectories);
  }

  create(organizationId: string, run: NewEvalRun): EvalRunRow {
    const row = {
      ...newRun(organizationId, run),
      eval_run_id: newId('evalRun'),
      execution_id: newId('execution'),
      reward_mean: null,
    };
    this.database.insert(table.name, row);
    return row;
  }

  /** Changes the status unless the run has ended. Returns whether it changed. */
  setStatus(runId: string, status: 'running' | 'failed' | 'cancelled', failure?: Failure): boolean {
    return this.move(runId, ['pending', 'running'], status, failure);
  }

  /** The recorded rollouts' keys (`rolloutKey`). */
  finishedRollouts(runId: string): Set<string> {
    const rows = this.database.all<{ task_id: string; sample: number }>(
      'select task_id, coalesce(sample, 0) as sample from trajectories where eval_run_id = ?',
      runId,
    );
    return new Set(rows.map(rolloutKey));
  }

  /** Records rollouts with a snapshot of their distributions, unless the run has been deleted. */
  record(runId: string, rollouts: readonly FinishedRollout[]): void {
    this.database.transaction(() => {
      const run = this.database.get<EvalRunRow>('select * from eval_runs where eval_run_id = ?', runId);
      if (run?.status !== 'running') return;
      const done = this.finishedRollouts(runId);
      const fresh = rollouts.filter(rollout => !done.has(rolloutKey(rollout)));
      const created_at = now();
      this.addRollouts(run, fresh, {
        eval_run_id: runId,
        model_id: run.parent_checkpoint_id ?? run.base_model_slug,
        created_at,
      });
      const snapshot = (stage: string, knob_name: string, unit: string, values: readonly (number | null)[]): void => {
        const samples = values.filter(each => each !== null);
        if (samples.length === 0) return;
        const row = { eval_run_id: runId, xid: newId('snapshot'), stage, knob_name, unit, created_at };
        this.database.insert('snapshots', { ...row, samples: JSON.stringify(samples) });
      };
      const valuesOf = (name: 'latency_ms' | 'completion_tokens' | 'reward') => fresh.map(rollout => rollout[name]);
      snapshot('rollout', 'latency', 'ms', valuesOf('latency_ms'));
      snapshot('rollout', 'completion_tokens', 'tokens', valuesOf('completion_tokens'));
      snapshot('grading', 'reward', '', valuesOf('reward'));
    });
  }

  /** Completes a run once all its rollouts are recorded; its mean is the mean of their rewards. */
  complete(runId: string): void {
    this.database.run(
      `update eval_runs set status = 'completed', updated_at = ?1, completed_at = ?1,
       reward_mean = (select avg(reward) from trajectories where eval_run_id = eval_runs.eval_run_id)
       where eval_run_id = ?2 and status = 'running'`,
      now(),
      runId,
    );
  }

  /** Rollout counts by outcome, and the mean reward; null if there is none. */
  counts(runId: string): RolloutCounts {
    const row = this.database.get<RolloutCounts>(
      `select count(reward) as scored, count(*) filter (where status = 'failed') as failed,
       count(*) filter (where status <> 'failed' and reward is null) as ungraded, avg(reward) as mean
       from trajectories where eval_run_id = ?`,
      runId,
    );
    return row ?? { scored: 0, failed: 0, ungraded: 0, mean: null };
  }

  /** The number and mean of the rewards in each of a benchmark's runs that has any. */
  rewardSums(organizationId: string, benchId: string): ReadonlyMap<string, Pick<RolloutCounts, 'scored' | 'mean'>> {
    const rows = this.database.all<{ eval_run_id: string; scored: number; mean: number }>(
      `select eval_run_id, count(reward) as scored, avg(reward) as mean from trajectories where eval_run_id in
       (select eval_run_id from eval_runs where organization_id = ? and bench_id = ?) group by eval_run_id`,
      organizationId,
      benchId,
    );
    return new Map(rows.map(({ eval_run_id, ...sums }) => [eval_run_id, sums]));
  }

  /** The first failed rollout's error. */
  firstError(runId: string): string {
    const row = this.database.get<{ error: string }>(
      'select error from trajectories where eval_run_id = ? and error is not null order by created_at, task_id limit 1',
      runId,
    );
    return row?.error ?? '';
  }

  rewards(runId: string): { reward: number; trajectory_id: string; task_id: string }[] {
    return this.database.all(
      'select reward, trajectory_id, task_id from trajectories where eval_run_id = ? and reward is not null order by task_id, sample',
      runId,
    );
  }

  snapshots(runId: string) {
    const rows = this.database.all<{ samples: string } & Record<string, unknown>>(
      'select * from snapshots where eval_run_id = ? order by created_at, xid',
      runId,
    );
    return rows.map(row => {
      const samples = JSON.parse(row.samples) as number[];
      return { ...row, sample_count: samples.length, samples };
    });
  }

  delete(organizationId: string, runId: string): boolean {
    return this.database.transaction(() => {
      const gone = this.database.run(
        'delete from eval_runs where eval_run_id = ? and organization_id = ?',
        runId,
        organizationId,
      );
      if (gone === 0) return false;
      this.database.run('delete from trajectories where eval_run_id = ?', runId);
      this.database.run('delete from snapshots where eval_run_id = ?', runId);
      return true;
    });
  }
}
