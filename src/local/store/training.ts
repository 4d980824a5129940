/** Training runs with their curves, rollouts and checkpoints. */
import { type TrainingStatus, trainingStatuses } from '../../contract/status.ts';
import type { StepDiagnostics, StepOutcome } from '../model/trainer.ts';
import type { Database } from './database.ts';
import type { DatasetStore } from './datasets.ts';
import { newId, now } from './ids.ts';
import type { CheckpointRow, TrainingRunRow } from './records.ts';
import { newRun, type Rollout, type RunStart, RunStore, unendedCondition } from './runs.ts';
import type { TrajectoryStore } from './trajectories.ts';
import { WeightFileError } from './weight-files.ts';

type NewTrainingRun = RunStart &
  Pick<
    TrainingRunRow,
    'bench_id' | 'display_name' | 'base_model_slug' | 'parent_checkpoint_id' | 'total_steps' | 'created_by'
  >;

export interface HeldOut {
  /** The tasks evaluated: a held-out part of the train split, or the test split. */
  readonly split: 'validation' | 'test';
  readonly held_out_reward: number | null;
  readonly expected_samples: number;
  readonly completed_samples: number;
  readonly failed_samples: number;
}

const readDiagnostics = (stored: string | null): Partial<StepDiagnostics> =>
  stored === null ? {} : (JSON.parse(stored) as StepDiagnostics);

/** The sum of one kind of tokens over a trajectory's messages. */
const tokensIn = (kind: 'prompt_tokens' | 'completion_tokens'): string =>
  `(select sum(json_extract(message.value, '$.${kind}'))
    from trajectory_steps as each, json_each(each.content, '$.messages') as message
    where each.trajectory_id = trajectories.trajectory_id)`;

const table = { name: 'training_runs', id: 'training_run_id', source: 'training', statuses: trainingStatuses } as const;

export class TrainingStore extends RunStore<TrainingRunRow> {
  constructor(database: Database, datasets: DatasetStore, trajectories: TrajectoryStore) {
    super(table, database, datasets, trajectories);
  }

  create(organizationId: string, run: NewTrainingRun): TrainingRunRow {
    const row = { ...newRun(organizationId, run), training_run_id: newId('trainingRun') };
    this.database.insert(table.name, row);
    return row;
  }

  status(runId: string): TrainingStatus | undefined {
    return this.database.get<{ status: TrainingStatus }>(
      'select status from training_runs where training_run_id = ?',
      runId,
    )?.status;
  }

  completedSteps(runId: string): number {
    return this.database.count('select count(*) as count from training_steps where training_run_id = ?', runId);
  }

  /** The step that was recorded last; 0 before the first. After a restart, it may be one that is repeated. */
  latestStep(runId: string): number {
    const row = this.database.get<{ step: number }>(
      'select step from training_steps where training_run_id = ? order by created_at desc, step desc limit 1',
      runId,
    );
    return row?.step ?? 0;
  }

  /**
   * Records a step with its rollouts and metrics, in one transaction. After a restart, the run repeats the steps since
   * the last checkpoint; each replaces its earlier record.
   */
  recordStep(
    run: TrainingRunRow,
    step: number,
    { reward, diagnostics }: StepOutcome,
    rollouts: readonly Rollout[],
  ): void {
    this.database.transaction(() => {
      if (this.status(run.training_run_id) === undefined) return;
      const created_at = now();
      this.database.put('training_steps', {
        training_run_id: run.training_run_id,
        step,
        trainer_reward: reward,
        diagnostics: diagnostics && JSON.stringify(diagnostics),
        created_at,
      });
      this.database.run('delete from trajectories where training_run_id = ? and step = ?', run.training_run_id, step);
      this.addRollouts(run, rollouts, {
        training_run_id: run.training_run_id,
        step,
        model_id: run.base_model_slug,
        created_at,
      });
    });
  }

  recordHeldOut(runId: string, step: number, result: HeldOut): void {
    if (this.status(runId) === undefined) return;
    this.database.put('held_out_rewards', { training_run_id: runId, step, created_at: now(), ...result });
  }

  /** Commits a checkpoint whose files have been written. Replaces an earlier checkpoint of the same step. */
  commit(run: TrainingRunRow, step: number, files: Pick<CheckpointRow, 'weights_hash' | 'state_hash'>): void {
    if (this.status(run.training_run_id) === undefined) return;
    this.database.put('checkpoints', {
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
    return this.database.all<CheckpointRow>(
      'select * from checkpoints where training_run_id = ? order by step_index',
      runId,
    );
  }

  checkpoint(organizationId: string, checkpointId: string): CheckpointRow | undefined {
    return this.database.get<CheckpointRow>(
      'select * from checkpoints where checkpoint_id = ? and organization_id = ?',
      checkpointId,
      organizationId,
    );
  }

  /** A checkpoint that work depends on. @throws WeightFileError if it is gone */
  requireCheckpoint(organizationId: string, checkpointId: string): CheckpointRow {
    const checkpoint = this.checkpoint(organizationId, checkpointId);
    if (checkpoint) return checkpoint;
    throw new WeightFileError('weights_missing', `The checkpoint ${checkpointId} is gone.`);
  }

  /** The number of consecutive ungraded steps up to this one. */
  ungradedUpTo(runId: string, step: number): number {
    return this.database.count(
      `select count(*) as count from training_steps where training_run_id = ?1 and step <= ?2 and step > coalesce(
       (select max(step) from training_steps where training_run_id = ?1 and step <= ?2 and trainer_reward is not null), 0)`,
      runId,
      step,
    );
  }

  trainerRewards(runId: string) {
    const rows = this.database.all<{ step: number; trainer_reward: number | null; diagnostics: string | null }>(
      'select step, trainer_reward, diagnostics from training_steps where training_run_id = ? order by step',
      runId,
    );
    return rows.map(({ diagnostics, ...point }) => ({ ...point, ...readDiagnostics(diagnostics) }));
  }

  diagnostics(runId: string) {
    const row = this.database.get<{ step: number; diagnostics: string }>(
      `select step, diagnostics from training_steps where training_run_id = ? and diagnostics is not null
       order by step desc limit 1`,
      runId,
    );
    return row ? { step: row.step, ...readDiagnostics(row.diagnostics) } : null;
  }

  heldOutRewards(runId: string) {
    return this.database.all<{ step: number } & HeldOut>(
      `select step, split, held_out_reward, expected_samples, completed_samples, failed_samples from held_out_rewards
       where training_run_id = ? order by step`,
      runId,
    );
  }

  /** The rewards and lengths of a step's rollouts; undefined if the step is not complete. */
  stepRewards(runId: string, step: number) {
    const done = this.database.get('select 1 from training_steps where training_run_id = ? and step = ?', runId, step);
    if (!done) return undefined;
    return this.database.all<{
      reward: number;
      trajectory_id: string;
      task_id: string;
      prompt_tokens: number | null;
      completion_tokens: number | null;
    }>(
      `select reward, trajectory_id, task_id, nullif(${tokensIn('prompt_tokens')}, 0) as prompt_tokens,
         ${tokensIn('completion_tokens')} as completion_tokens
       from trajectories
       where training_run_id = ? and step = ? and reward is not null order by task_id, sample`,
      runId,
      step,
    );
  }

  /** Unfinished work that needs one of the run's checkpoints. */
  usersOf(runId: string): string[] {
    const evaluations = this.database.all<{ id: string }>(
      "select eval_run_id as id from eval_runs where training_run_id = ? and status in ('pending', 'running')",
      runId,
    );
    const others = this.database.all<{ id: string }>(
      `select deployment_id as id from deployments where status in ('PENDING', 'MERGING', 'DEPLOYING')
         and checkpoint_id in (select checkpoint_id from checkpoints where training_run_id = ?1)
       union all select training_run_id from training_runs where ${unendedCondition(trainingStatuses)}
         and parent_checkpoint_id in (select checkpoint_id from checkpoints where training_run_id = ?1)`,
      runId,
    );
    return [...evaluations, ...others].map(({ id }) => id);
  }

  /** Deletes a finished run with its curves, checkpoints and rollouts. */
  delete(runId: string): void {
    this.database.transaction(() => {
      this.database.run('delete from trajectories where training_run_id = ?', runId);
      this.database.run('delete from training_runs where training_run_id = ?', runId);
    });
  }

  /** All checkpoints, for finding orphaned files. */
  allCheckpoints(): Pick<CheckpointRow, 'training_run_id' | 'step_index'>[] {
    return this.database.all('select training_run_id, step_index from checkpoints');
  }
}
