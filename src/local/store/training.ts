/** Training runs with their curves, rollouts and checkpoints. */
import { hasEnded } from '../../contract/status.ts';
import { type TrainingStatus, trainingStatuses } from '../../contract/training.ts';
import type { Database } from './database.ts';
import { type DatasetStore, rolloutDataset } from './datasets.ts';
import { newId, now } from './ids.ts';
import type { CheckpointRow, Failure, TrainingRunRow } from './records.ts';
import type { NewTrajectory, TrajectoryStore } from './trajectories.ts';

export interface NewTrainingRun {
  readonly bench_id: string;
  readonly display_name: string;
  readonly base_model_slug: string;
  readonly parent_checkpoint_id: string | null;
  readonly options: Readonly<Record<string, number>>;
  readonly ignored_options: readonly string[];
  readonly warnings: readonly string[];
  readonly total_steps: number;
  readonly created_by: string;
}

/** A rollout of the trainer. A failed rollout has no reward, which is not the reward 0. */
export interface TrainedRollout {
  readonly task_id: string;
  readonly reward: number | null;
  readonly error: string | null;
  readonly steps: readonly unknown[];
}

export interface HeldOut {
  readonly held_out_reward: number | null;
  readonly expected_samples: number;
  readonly completed_samples: number;
  readonly failed_samples: number;
}

const unended = `status in (${trainingStatuses
  .filter(status => !hasEnded(status))
  .map(status => `'${status}'`)
  .join(', ')})`;

export class TrainingStore {
  readonly #database: Database;
  readonly #datasets: DatasetStore;
  readonly #trajectories: TrajectoryStore;

  constructor(database: Database, datasets: DatasetStore, trajectories: TrajectoryStore) {
    this.#database = database;
    this.#datasets = datasets;
    this.#trajectories = trajectories;
  }

  create(organizationId: string, run: NewTrainingRun): TrainingRunRow {
    const created_at = now();
    const row = {
      training_run_id: newId('trainingRun'),
      organization_id: organizationId,
      pipeline_run_id: newId('pipelineRun'),
      status: 'pending' as const,
      failure: null,
      created_at,
      updated_at: created_at,
      completed_at: null,
      ...run,
      options: JSON.stringify(run.options),
      ignored_options: JSON.stringify(run.ignored_options),
      warnings: JSON.stringify(run.warnings),
    };
    this.#database.insert('training_runs', row);
    return row;
  }

  get(organizationId: string, runId: string): TrainingRunRow | undefined {
    return this.#database.get<TrainingRunRow>(
      'select * from training_runs where training_run_id = ? and organization_id = ?',
      runId,
      organizationId,
    );
  }

  list(organizationId: string, benchId: string): TrainingRunRow[] {
    return this.#database.all<TrainingRunRow>(
      'select * from training_runs where organization_id = ? and bench_id = ? order by created_at desc, training_run_id',
      organizationId,
      benchId,
    );
  }

  /** Unfinished runs, oldest first, including those of a killed process. */
  unfinished(): TrainingRunRow[] {
    return this.#database.all<TrainingRunRow>(
      `select * from training_runs where ${unended} order by created_at, training_run_id`,
    );
  }

  status(runId: string): TrainingStatus | undefined {
    return this.#database.get<{ status: TrainingStatus }>(
      'select status from training_runs where training_run_id = ?',
      runId,
    )?.status;
  }

  /** Changes a run's status, if it is one of `from`. Returns whether it was. */
  move(runId: string, from: readonly TrainingStatus[], to: TrainingStatus, failure?: Failure): boolean {
    const names = from.map(() => '?').join(', ');
    const at = now();
    return (
      this.#database.run(
        `update training_runs set status = ?, failure = ?, updated_at = ?, completed_at = ?
         where training_run_id = ? and status in (${names})`,
        to,
        failure ? JSON.stringify(failure) : null,
        at,
        hasEnded(to) ? at : null,
        runId,
        ...from,
      ) > 0
    );
  }

  completedSteps(runId: string): number {
    const row = this.#database.get<{ count: number }>(
      'select count(*) as count from training_steps where training_run_id = ?',
      runId,
    );
    return row?.count ?? 0;
  }

  /** Records a step with its rollouts and its metric, in one transaction. */
  recordStep(run: TrainingRunRow, step: number, reward: number, rollouts: readonly TrainedRollout[]): void {
    this.#database.transaction(() => {
      if (this.status(run.training_run_id) === undefined) return;
      const created_at = now();
      this.#database.put('training_steps', {
        training_run_id: run.training_run_id,
        step,
        trainer_reward: reward,
        created_at,
      });
      const dataset = this.#datasetOf(run);
      for (const rollout of rollouts) {
        const failed = rollout.error !== null;
        this.#trajectories.add({
          organization_id: run.organization_id,
          training_run_id: run.training_run_id,
          step,
          dataset_id: dataset.dataset_id,
          dataset_name: dataset.dataset_name,
          source: 'training',
          model_id: run.base_model_slug,
          model_association_source: 'training',
          status: failed ? 'failed' : 'completed',
          termination_reason: failed ? 'ERROR' : 'ENV_DONE',
          created_at,
          ...rollout,
        } satisfies NewTrajectory);
      }
    });
  }

  #datasetOf({ organization_id, bench_id }: TrainingRunRow) {
    const benchmark = this.#database.get<{ label: string }>(
      'select label from benchmarks where bench_id = ?',
      bench_id,
    );
    return this.#datasets.touch(organization_id, rolloutDataset('training', bench_id, benchmark?.label ?? bench_id));
  }

  recordHeldOut(runId: string, step: number, result: HeldOut): void {
    if (this.status(runId) === undefined) return;
    this.#database.put('held_out_rewards', { training_run_id: runId, step, created_at: now(), ...result });
  }

  /** Commits a checkpoint whose files are written; until then it does not exist. */
  commit(run: TrainingRunRow, step: number, files: Pick<CheckpointRow, 'weights_hash' | 'state_hash'>): void {
    if (this.status(run.training_run_id) === undefined) return;
    this.#database.put('checkpoints', {
      checkpoint_id: newId('checkpoint'),
      organization_id: run.organization_id,
      training_run_id: run.training_run_id,
      step_index: step,
      base_model_slug: run.base_model_slug,
      created_at: now(),
      ...files,
    });
  }

  checkpoints(runId: string): CheckpointRow[] {
    return this.#database.all<CheckpointRow>(
      'select * from checkpoints where training_run_id = ? order by step_index',
      runId,
    );
  }

  checkpoint(organizationId: string, checkpointId: string): CheckpointRow | undefined {
    return this.#database.get<CheckpointRow>(
      'select * from checkpoints where checkpoint_id = ? and organization_id = ?',
      checkpointId,
      organizationId,
    );
  }

  /** Discards everything after a step, which will be repeated. */
  rewind(runId: string, step: number): void {
    this.#database.transaction(() => {
      this.#database.run('delete from training_steps where training_run_id = ? and step > ?', runId, step);
      this.#database.run('delete from held_out_rewards where training_run_id = ? and step > ?', runId, step);
      this.#database.run('delete from checkpoints where training_run_id = ? and step_index > ?', runId, step);
      this.#database.run('delete from trajectories where training_run_id = ? and step > ?', runId, step);
    });
  }

  trainerRewards(runId: string) {
    return this.#database.all<{ step: number; trainer_reward: number | null }>(
      'select step, trainer_reward from training_steps where training_run_id = ? order by step',
      runId,
    );
  }

  heldOutRewards(runId: string) {
    return this.#database.all<{ step: number } & HeldOut>(
      `select step, held_out_reward, expected_samples, completed_samples, failed_samples from held_out_rewards
       where training_run_id = ? order by step`,
      runId,
    );
  }

  /** Rewards of a step's rollouts; undefined if the step has not been done. */
  stepRewards(runId: string, step: number) {
    const done = this.#database.get('select 1 from training_steps where training_run_id = ? and step = ?', runId, step);
    if (!done) return undefined;
    return this.#database.all<{ reward: number; trajectory_id: string; task_id: string }>(
      `select reward, trajectory_id, task_id from trajectories
       where training_run_id = ? and step = ? and reward is not null order by task_id, trajectory_id`,
      runId,
      step,
    );
  }

  /** Unfinished work that needs a checkpoint of the run. */
  usersOf(runId: string): string[] {
    const evaluations = this.#database.all<{ id: string }>(
      "select eval_run_id as id from eval_runs where training_run_id = ? and status in ('pending', 'running')",
      runId,
    );
    const others = this.#database.all<{ id: string }>(
      `select deployment_id as id from deployments where status in ('PENDING', 'MERGING', 'DEPLOYING')
         and checkpoint_id in (select checkpoint_id from checkpoints where training_run_id = ?1)
       union all select training_run_id from training_runs where ${unended}
         and parent_checkpoint_id in (select checkpoint_id from checkpoints where training_run_id = ?1)`,
      runId,
    );
    return [...evaluations, ...others].map(({ id }) => id);
  }

  /** Deletes a finished run with its curves, checkpoints and rollouts. */
  delete(runId: string): void {
    this.#database.transaction(() => {
      this.#database.run('delete from trajectories where training_run_id = ?', runId);
      this.#database.run('delete from training_runs where training_run_id = ?', runId);
    });
  }

  /** Every checkpoint, to find orphaned files. */
  allCheckpoints(): Pick<CheckpointRow, 'training_run_id' | 'step_index'>[] {
    return this.#database.all('select training_run_id, step_index from checkpoints');
  }
}
