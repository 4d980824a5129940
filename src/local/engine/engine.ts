/**
 * The work of the local service: builds images and runs evaluations, in the order in which they were asked for. All it
 * needs to know is in the database, so that it goes on where a killed process stopped.
 */
import { GradingError, grade } from '../grading/graders.ts';
import { defaultSampling } from '../model/policy.ts';
import { seedOf } from '../model/prng.ts';
import type { ManifestTask } from '../samples/manifest.ts';
import type { BenchmarkStore } from '../store/benchmarks.ts';
import type { EvaluationStore, FinishedRollout } from '../store/evaluations.ts';
import type { EvalRunRow } from '../store/records.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';
import type { WorkerThread } from './worker-thread.ts';

/** Rollouts recorded together: what a kill can cost at most. */
const batchSize = 8;
/** Runs that get on side by side; the others wait their turn. */
const concurrentRuns = 4;
const imagesAtOnce = 16;

export interface EngineParts {
  readonly benchmarks: BenchmarkStore;
  readonly evaluations: EvaluationStore;
  readonly worker: WorkerThread;
}

export class Engine {
  readonly #parts: EngineParts;
  #working = false;
  #asked = false;
  #stopped = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  get busy(): boolean {
    return this.#working;
  }

  /** Looks for work unless it is working. */
  wake = (): void => {
    this.#asked = true;
    if (!this.#working && !this.#stopped) void this.#work();
  };

  /** Ends after the batch under way; what is left is done at the next start. */
  stop(): void {
    this.#stopped = true;
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.#asked && !this.#stopped) {
        this.#asked = false;
        await this.#buildImages();
        for (const run of this.#parts.evaluations.unfinished().slice(0, concurrentRuns)) {
          if (this.#stopped) break;
          await this.#advance(run);
          this.#asked = true;
        }
      }
    } finally {
      this.#working = false;
    }
  }

  /** The build of the local provider: checks that a task can be asked and graded, and hashes what it needs. */
  async #buildImages(): Promise<void> {
    const { benchmarks } = this.#parts;
    for (let waiting = benchmarks.building(); waiting.length > 0 && !this.#stopped; waiting = benchmarks.building()) {
      for (const image of waiting.slice(0, imagesAtOnce)) {
        const task = JSON.parse(image.spec) as ManifestTask;
        const content = JSON.stringify([task.run_command, task.environment ?? [], task.grader.kind]);
        benchmarks.finishBuild(
          image.organization_id,
          image.bench_id,
          image.task_id,
          content,
          canGrade(task) ? 'ready' : 'failed',
        );
      }
      // The server answers between two handfuls.
      await new Promise(resolve => setImmediate(resolve));
    }
  }

  /** The next batch of a run, or its end. */
  async #advance(run: EvalRunRow): Promise<void> {
    const { benchmarks, evaluations, worker } = this.#parts;
    if (run.status === 'pending') evaluations.setStatus(run.eval_run_id, 'running');
    const done = evaluations.finishedTasks(run.eval_run_id);
    const left = benchmarks.tasks(run.bench_id, run.split).filter(task => !done.has(task.name));
    if (left.length === 0) {
      evaluations.complete(run.eval_run_id);
      return;
    }
    const batch = left.slice(0, batchSize);
    try {
      const results = await worker.rollouts(
        run.base_model_slug,
        batch.map(task => orderOf(run, task)),
      );
      const tasks = new Map(batch.map(task => [task.name, task]));
      evaluations.record(
        run.eval_run_id,
        results.flatMap(result => recordOf(tasks.get(result.task_id), result)),
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      evaluations.setStatus(run.eval_run_id, 'failed', {
        type: 'api_error',
        code: 'worker_failed',
        message,
        context: { model: run.base_model_slug, recorded_rollouts: done.size },
      });
    }
  }
}

function canGrade(task: ManifestTask): boolean {
  try {
    grade(task.grader, '');
    return true;
  } catch (error) {
    if (error instanceof GradingError) return false;
    throw error;
  }
}

/** Every rollout has its own chance, the same whenever it is repeated. */
function orderOf(run: EvalRunRow, task: ManifestTask): RolloutOrder {
  const sampling = {
    ...defaultSampling,
    max_tokens: task.max_tokens ?? defaultSampling.max_tokens,
    seed: seedOf(`${run.eval_run_id} ${task.name}`),
  };
  return { task_id: task.name, turns: task.input_messages, grader: task.grader, sampling };
}

function recordOf(task: ManifestTask | undefined, result: RolloutResult): FinishedRollout[] {
  if (!task) return [];
  const asked = task.input_messages.map(({ role, content }, index) => ({ message_id: index, role, content }));
  const { answer } = result;
  const said = answer
    ? [
        {
          message_id: asked.length,
          role: 'assistant',
          content: answer.text,
          finish_reason: answer.finish_reason,
          prompt_tokens: answer.prompt_tokens,
          completion_tokens: answer.completion_tokens,
        },
      ]
    : [];
  const graded = { message_id: asked.length + 1, role: 'grader', content: result.explanation };
  const messages = [...asked, ...said, ...(result.explanation === '' ? [] : [graded])];
  return [
    {
      task_id: result.task_id,
      reward: result.reward,
      error: result.error,
      latency_ms: result.latency_ms,
      completion_tokens: answer?.completion_tokens ?? 0,
      steps: [{ step_index: 0, reward: result.reward, has_error: result.error !== null, messages }],
    },
  ];
}
