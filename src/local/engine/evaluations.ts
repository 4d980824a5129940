/**
 * Runs evaluations in turn, a batch of rollouts at a time. All state is in the database, so a killed process resumes
 * where it stopped.
 */
import type { Task } from '../samples/manifest.ts';
import type { BenchmarkStore } from '../store/benchmarks.ts';
import type { EvaluationStore } from '../store/evaluations.ts';
import type { EvalRunRow } from '../store/records.ts';
import type { SecretStore } from '../store/secrets.ts';
import type { TrainingStore } from '../store/training.ts';
import { WeightFileError } from '../store/weight-files.ts';
import type { Catalog, ModelSource } from './catalog.ts';
import { failureOf } from './failures.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';
import type { EvaluationOptions } from './options.ts';
import { environmentOf, failedRollout, orderOf, recordOf, ungraded } from './rollouts.ts';
import { answerUpstream } from './upstream.ts';
import { gradeAnswer } from './worker-rollouts.ts';
import type { WorkerThread } from './worker-thread.ts';

/** Rollouts recorded together, which is the most that a kill can lose. */
const batchSize = 8;
/** Runs that advance in parallel; the others wait. */
const concurrentRuns = 4;

export interface EvaluationParts {
  readonly benchmarks: BenchmarkStore;
  readonly evaluations: EvaluationStore;
  readonly training: TrainingStore;
  readonly secrets: SecretStore;
  readonly catalog: Catalog;
  readonly worker: WorkerThread;
}

function optionsOf({ options }: EvalRunRow): EvaluationOptions {
  return JSON.parse(options) as EvaluationOptions;
}

export class EvaluationRunner {
  readonly #parts: EvaluationParts;
  readonly #stop: AbortSignal;

  /** Once `stop` aborts, rollouts in flight are dropped; the next start samples them again. */
  constructor(parts: EvaluationParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
  }

  /** Advances every run whose turn it is. Returns whether there may be more to do. */
  readonly advance = async (): Promise<boolean> => {
    const runs = this.#parts.evaluations.unfinished().slice(0, concurrentRuns);
    for (const run of runs) {
      if (this.#stop.aborted) return false;
      await this.#advance(run);
    }
    return runs.length > 0;
  };

  /** Runs the next batch of a run, or completes it. */
  async #advance(run: EvalRunRow): Promise<void> {
    const { benchmarks, evaluations } = this.#parts;
    if (run.status === 'pending') evaluations.setStatus(run.eval_run_id, 'running');
    const done = evaluations.finishedTasks(run.eval_run_id);
    const { evaluation_max_samples: most } = optionsOf(run);
    const asked = benchmarks.tasks(run.bench_id, run.split).slice(0, most);
    const left = asked.filter(task => !done.has(task.name));
    if (left.length === 0) {
      this.#end(run);
      return;
    }
    const batch = left.slice(0, batchSize);
    try {
      const results = await this.#rollouts(run, batch);
      if (this.#stop.aborted) return;
      const tasks = new Map(batch.map(task => [task.name, task]));
      const records = results.map(result => ({
        ...recordOf(tasks.get(result.task_id)?.turns ?? [], result),
        latency_ms: result.latency_ms,
        completion_tokens: result.answer?.completion_tokens ?? 0,
      }));
      evaluations.record(run.eval_run_id, records);
    } catch (error) {
      if (this.#stop.aborted) return;
      evaluations.setStatus(
        run.eval_run_id,
        'failed',
        failureOf(error, { model: run.base_model_slug, recorded_rollouts: done.size }),
      );
    }
  }

  async #rollouts(run: EvalRunRow, batch: readonly Task[]): Promise<RolloutResult[]> {
    const { secrets, training, catalog, worker } = this.#parts;
    const checkpoint = run.parent_checkpoint_id
      ? training.checkpoint(run.organization_id, run.parent_checkpoint_id)
      : undefined;
    if (run.parent_checkpoint_id && !checkpoint) {
      throw new WeightFileError('weights_missing', `The checkpoint ${run.parent_checkpoint_id} is gone.`);
    }
    const source = catalog.forEvaluation(run.base_model_slug, checkpoint);
    const { max_output_tokens_per_step: longest } = optionsOf(run);
    /** Rollouts of tasks that no model is asked for. */
    const others: RolloutResult[] = [];
    const orders = batch.flatMap(task => {
      const { name, turns, grader } = task;
      try {
        environmentOf(task, run.organization_id, secrets);
        if (turns.length > 0 || grader.kind !== 'none') return [orderOf(run.eval_run_id, task, longest)];
        others.push(ungraded(name, grader.reason, null, 0));
      } catch (error) {
        others.push(failedRollout(name, error));
      }
      return [];
    });
    const results =
      source.kind === 'local'
        ? await worker.rollouts(source.model, orders)
        : await upstreamRollouts(source, orders, this.#stop);
    return [...results, ...others];
  }

  /** A run fails if none of its rollouts could be scored. */
  #end(run: EvalRunRow): void {
    const { evaluations } = this.#parts;
    const { scored, failed } = evaluations.counts(run.eval_run_id);
    if (scored > 0 || failed === 0) {
      evaluations.complete(run.eval_run_id);
      return;
    }
    const reason = evaluations.firstError(run.eval_run_id);
    evaluations.setStatus(run.eval_run_id, 'failed', {
      type: 'api_error',
      code: 'no_rollout_scored',
      message: `None of the ${failed} rollouts could be scored. The first failed with: ${reason}`,
      context: { failed_rollouts: failed, first_error: reason },
    });
  }
}

/** Rollouts sampled by another server and graded here. A failure is part of the result. */
function upstreamRollouts(
  { upstream, name }: Extract<ModelSource, { kind: 'upstream' }>,
  orders: readonly RolloutOrder[],
  signal: AbortSignal,
): Promise<RolloutResult[]> {
  return Promise.all(
    orders.map(async order => {
      const begun = performance.now();
      try {
        const { seed: _, ...sampling } = order.sampling;
        const answer = await answerUpstream(upstream, name, order.turns, sampling, signal);
        return gradeAnswer(order, answer, performance.now() - begun);
      } catch (error) {
        return failedRollout(order.task_id, error);
      }
    }),
  );
}
