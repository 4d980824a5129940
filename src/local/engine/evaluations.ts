/**
 * Runs evaluations, each one batch of rollouts at a time. All state is in the database, so a killed process resumes.
 */
import { isStorageError } from '../../base/errors.ts';
import { hashOf } from '../../base/hash.ts';
import { shuffled } from '../../base/prng.ts';
import { episode } from '../model/episode.ts';
import type { Generated } from '../model/policy.ts';
import type { Task } from '../samples/manifest.ts';
import { rolloutKey } from '../store/evaluations.ts';
import type { EvalRunRow, Failure } from '../store/records.ts';
import type { ModelSource } from './catalog.ts';
import { failureOf } from './failures.ts';
import type { Job, JobSource } from './job-queue.ts';
import type { Answered, RolloutOrder, RolloutResult } from './messages.ts';
import { type EvaluationOptions, evaluationOptions } from './options.ts';
import type { EngineParts } from './parts.ts';
import {
  failedRollout,
  orderOf,
  type PlannedRollout,
  requireSecrets,
  rolloutRecord,
  ungradedResult,
} from './rollouts.ts';
import { answerUpstream, withRetries } from './upstream.ts';

/**
 * How many rollouts are recorded per transaction. At most this many are lost if the process is killed. After that, as
 * many are recorded one by one, to find out whether the same one ends the process again.
 */
const batchSize = 8;

type Parts = Pick<
  EngineParts,
  'attempts' | 'benchmarks' | 'evaluations' | 'training' | 'secrets' | 'catalog' | 'sampler' | 'graders'
>;

function storedOptions({ options }: EvalRunRow): EvaluationOptions {
  return evaluationOptions(JSON.parse(options) as Partial<EvaluationOptions>);
}

/**
 * A run's rollouts in sampling order: random, so that an early mean is unbiased even if a manifest groups similar
 * tasks, but the same at each start. All tasks' first samples come before their second samples.
 */
function planOf(tasks: readonly Task[], options: EvaluationOptions): PlannedRollout[] {
  const { evaluation_samples_per_task: samples, seed } = options;
  const order = shuffled(tasks, hashOf(`${seed} order of tasks`));
  return Array.from({ length: samples }, (_, sample) => order.map(task => ({ task, sample }))).flat();
}

export class EvaluationRunner implements JobSource {
  readonly kind = 'evaluation';
  readonly concurrency = 4;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly jobs = (): Job[] =>
    this.#parts.evaluations
      .unfinished()
      .map(run => ({ id: run.eval_run_id, run: signal => this.#evaluate(run, signal) }));

  readonly progress = (runId: string): number => this.#parts.evaluations.finishedRollouts(runId).size;

  readonly fail = (runId: string, failure: Failure): boolean =>
    this.#parts.evaluations.setStatus(runId, 'failed', failure);

  /**
   * Runs the remaining rollouts. Once the signal aborts, drops the rollouts in flight; the next start samples them
   * again.
   */
  async #evaluate(run: EvalRunRow, signal: AbortSignal): Promise<void> {
    const { attempts, benchmarks, evaluations } = this.#parts;
    if (run.status === 'pending') evaluations.setStatus(run.eval_run_id, 'running');
    const done = evaluations.finishedRollouts(run.eval_run_id);
    const options = storedOptions(run);
    const tasks = benchmarks.tasks(run.bench_id, run.split).slice(0, options.evaluation_max_samples);
    const left = planOf(tasks, options).filter(
      ({ task, sample }) => !done.has(rolloutKey({ task_id: task.name, sample })),
    );
    const singles = attempts.hasEndedAbnormally(run.eval_run_id) ? batchSize : 0;
    for (let start = 0, size = 1; start < left.length; start += size) {
      size = start < singles ? 1 : batchSize;
      const batch = left.slice(start, start + size);
      let results: readonly RolloutResult[];
      try {
        results = await this.#rollouts(run, batch, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isStorageError(error)) throw error;
        const context = { model: run.base_model_slug, recorded_rollouts: done.size + start };
        evaluations.setStatus(run.eval_run_id, 'failed', failureOf(error, context));
        return;
      }
      if (signal.aborted) return;
      const taskByName = new Map(batch.map(({ task }) => [task.name, task]));
      const records = results.map(result => ({
        ...rolloutRecord(taskByName.get(result.task_id)?.turns ?? [], result),
        latency_ms: result.latency_ms,
        completion_tokens: tokensOf(result),
      }));
      evaluations.record(run.eval_run_id, records);
    }
    this.#end(run, tasks);
  }

  async #rollouts(run: EvalRunRow, batch: readonly PlannedRollout[], signal: AbortSignal): Promise<RolloutResult[]> {
    const { secrets, training, catalog, sampler, graders } = this.#parts;
    const { parent_checkpoint_id: id } = run;
    const checkpoint = id === null ? undefined : training.requireCheckpoint(run.organization_id, id);
    const source = catalog.forEvaluation(run.base_model_slug, checkpoint);
    const { max_output_tokens_per_step: longest, seed } = storedOptions(run);
    /** Records rollouts of tasks that cannot be sampled. */
    const others: RolloutResult[] = [];
    const orders = batch.flatMap(planned => {
      const { task, sample } = planned;
      const { name, turns, grader } = task;
      try {
        requireSecrets(task, run.organization_id, secrets);
        if (turns.length > 0 || grader.kind !== 'none') return [orderOf(planned, { seed, longest })];
        others.push({ ...failedRollout(name, sample, ''), ...ungradedResult(grader.reason) });
      } catch (error) {
        if (isStorageError(error)) throw error;
        others.push(failedRollout(name, sample, error));
      }
      return [];
    });
    const graded = async (order: RolloutOrder | Answered['order'], answering: Promise<Answered>) => {
      try {
        return await graders.grade(await answering, signal);
      } catch (error) {
        return failedRollout(order.task_id, order.sample, error);
      }
    };
    const results =
      source.kind === 'local'
        ? (await sampler.answers(source.model, orders, signal)).map(each => graded(each.order, Promise.resolve(each)))
        : orders.map(order => graded(order, answerOf(source, order, signal)));
    return [...(await Promise.all(results)), ...others];
  }

  /** A run fails if none of its rollouts could be scored, unless no task has a grader that runs here. */
  #end(run: EvalRunRow, tasks: readonly Task[]): void {
    const { evaluations } = this.#parts;
    const { scored, failed, ungraded } = evaluations.counts(run.eval_run_id);
    if (scored > 0 || failed === 0 || tasks.every(({ grader }) => grader.kind === 'none')) {
      evaluations.complete(run.eval_run_id);
      return;
    }
    const reason = evaluations.firstError(run.eval_run_id);
    evaluations.setStatus(run.eval_run_id, 'failed', {
      type: 'api_error',
      code: 'no_rollout_scored',
      message: `None of the ${failed + ungraded} rollouts could be scored. ${failed} failed, the first with: ${reason}`,
      context: { ended_rollouts: failed + ungraded, failed_rollouts: failed, first_error: reason },
    });
  }
}

/** The number of tokens that the model generated in a rollout; null if the upstream server did not report all. */
function tokensOf({ calls, answer }: RolloutResult): number | null {
  const counts = [...calls.map(({ generated }) => generated), ...(answer ? [answer] : [])].map(
    ({ completion_tokens }) => completion_tokens,
  );
  return counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/**
 * Samples a rollout from an upstream server. Tool calls are text, as for local models, so tool results go back as user
 * messages. The latency excludes waits for the server's rate limit.
 */
async function answerOf(
  { upstream, name }: Extract<ModelSource, { kind: 'upstream' }>,
  order: RolloutOrder,
  signal: AbortSignal,
): Promise<Answered> {
  let latency_ms = 0;
  const rounds = episode(order.turns, order.tools);
  let round = rounds.next();
  while (!round.done) {
    const turns = round.value.map(turn => (turn.role === 'tool' ? { ...turn, role: 'user' } : turn));
    const attempt = async (): Promise<Generated> => {
      const begun = performance.now();
      const answer = await answerUpstream(upstream, name, turns, order.sampling, signal);
      latency_ms += performance.now() - begun;
      return answer;
    };
    round = rounds.next(await withRetries(upstream, attempt, signal));
  }
  return { order, ...round.value, latency_ms };
}
