/**
 * Trains one run at a time, because the machine may have few cores. Metrics, rollouts and checkpoints are committed as
 * they arrive; after being killed, a run resumes from its last complete checkpoint.
 */
import { rmSync } from 'node:fs';
import { isStorageError } from '../../base/errors.ts';
import type { Task } from '../samples/manifest.ts';
import type { CheckpointRow, Failure, TrainingRunRow } from '../store/records.ts';
import { readVerified, WeightFileError } from '../store/weight-files.ts';
import { failureOf } from './failures.ts';
import type { Job, JobSource } from './job-queue.ts';
import type { LocalModel, TrainingEvent, TrainingOrder, TrainingTask } from './messages.ts';
import type { EngineParts } from './parts.ts';
import { requireSecrets, rolloutRecord } from './rollouts.ts';
import type { TrainingOptions } from './training-options.ts';
import { trainingSplits } from './validation.ts';

/** How many checkpoints can be resumed from. Older ones keep only their weights. */
const resumable = 2;

type Parts = Pick<
  EngineParts,
  'dataFolder' | 'benchmarks' | 'training' | 'secrets' | 'catalog' | 'weights' | 'trainer'
>;

/** The benchmark has no task to train on. */
class NothingToTrain extends Error {
  readonly code = 'no_train_tasks';
}

/** The statuses of a run that has been cancelled but has not ended. */
const cancellingStatuses = ['cancel_signaled', 'cancelling'] as const;

export class TrainingRunner implements JobSource {
  readonly kind = 'training';
  readonly concurrency = 1;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly jobs = (): Job[] =>
    this.#parts.training.unfinished().map(run => ({
      id: run.training_run_id,
      isCancelled: cancellingStatuses.some(status => status === run.status),
      run: signal => this.#train(run, signal),
    }));

  readonly progress = (runId: string): number => this.#parts.training.latestStep(runId);

  readonly fail = (runId: string, failure: Failure): boolean =>
    this.#parts.training.move(runId, ['pending', 'running', ...cancellingStatuses], 'failed', failure);

  /**
   * Once the signal aborts, the run ends after its current step and commits a checkpoint to resume from. If the step
   * takes too long, the run ends without that checkpoint.
   */
  async #train(run: TrainingRunRow, signal: AbortSignal): Promise<void> {
    const { training, trainer, benchmarks } = this.#parts;
    const runId = run.training_run_id;
    try {
      if (!signal.aborted) {
        training.move(runId, ['pending', 'running'], 'running');
        const tasks = benchmarks.tasks(run.bench_id);
        const turns = new Map(tasks.map(task => [task.name, task.turns]));
        const order = this.#orderOf(run, tasks);
        const onEvent = (event: TrainingEvent): void => this.#record(run, turns, event);
        const finished = await trainer.train(order, signal, onEvent);
        if (finished) training.move(runId, ['running'], 'succeeded');
      }
    } catch (error) {
      if (isStorageError(error)) throw error;
      // The service is stopping and has ended the worker; the next start resumes the run.
      if (!signal.aborted) {
        const context = { base_model_slug: run.base_model_slug, completed_steps: training.completedSteps(runId) };
        training.move(runId, ['pending', 'running'], 'failed', failureOf(error, context));
      }
    }
    training.move(runId, ['cancel_signaled'], 'cancelling');
    training.move(runId, ['cancelling'], 'cancelled');
  }

  #orderOf(run: TrainingRunRow, tasks: readonly Task[]): TrainingOrder {
    const { dataFolder, secrets } = this.#parts;
    const options = JSON.parse(run.options) as TrainingOptions;
    const longest = options.max_output_tokens_per_step;
    const split = (name: Task['split']): TrainingTask[] =>
      tasks
        .filter(task => task.split === name)
        .flatMap(task => {
          const { grader, turns, tools } = task;
          if (grader.kind === 'none') return [];
          requireSecrets(task, run.organization_id, secrets);
          return [
            { task_id: task.name, turns, grader, tools, max_tokens: Math.min(longest, task.max_tokens ?? longest) },
          ];
        });
    const splits = trainingSplits(split('train'), split('test'));
    if (splits.train.length === 0) throw new NothingToTrain('No task in the train split can be graded here.');
    return {
      dataFolder,
      runId: run.training_run_id,
      model: this.#startOf(run),
      ...splits,
      options,
      from: this.#latestIntactCheckpoint(run),
    };
  }

  #startOf(run: TrainingRunRow): LocalModel {
    const { training, catalog } = this.#parts;
    if (!run.parent_checkpoint_id) return { kind: 'base', slug: run.base_model_slug };
    return catalog.ofCheckpoint(training.requireCheckpoint(run.organization_id, run.parent_checkpoint_id));
  }

  /** Skips checkpoints whose files are missing or damaged. */
  #latestIntactCheckpoint(run: TrainingRunRow): TrainingOrder['from'] {
    const { training } = this.#parts;
    for (const checkpoint of training.checkpoints(run.training_run_id).reverse()) {
      const files = this.#filesOf(checkpoint);
      try {
        for (const file of [files.weights, files.state]) readVerified(file);
        return { ...files, ungraded: training.ungradedUpTo(run.training_run_id, checkpoint.step_index) };
      } catch (error) {
        if (!(error instanceof WeightFileError)) throw error;
      }
    }
    return null;
  }

  #filesOf({ training_run_id: runId, step_index: step, weights_hash, state_hash }: CheckpointRow) {
    const { weights: folder } = this.#parts;
    const weights = { path: folder.checkpoint(runId, step), hash: weights_hash };
    const state = { path: folder.trainerState(runId, step), hash: state_hash };
    return { step, weights, state };
  }

  #record(run: TrainingRunRow, turns: ReadonlyMap<string, TrainingTask['turns']>, news: TrainingEvent): void {
    const { training } = this.#parts;
    const runId = run.training_run_id;
    if (news.kind === 'step') {
      const rollouts = news.rollouts.map(result => rolloutRecord(turns.get(result.task_id) ?? [], result));
      training.recordStep(run, news.step, news, rollouts);
    } else if (news.kind === 'stopping') {
      training.move(runId, ['cancel_signaled'], 'cancelling');
    } else if (news.kind === 'held-out') {
      const { kind: _, step, ...result } = news;
      training.recordHeldOut(runId, step, result);
    } else {
      training.commit(run, news.step, { weights_hash: news.weights_hash, state_hash: news.state_hash });
      // Ignore damaged checkpoints of later steps, which will be repeated.
      const upToHere = training.checkpoints(runId).filter(({ step_index }) => step_index <= news.step);
      for (const old of upToHere.slice(0, -resumable)) {
        rmSync(this.#filesOf(old).state.path, { force: true });
      }
    }
  }
}
