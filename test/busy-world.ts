/**
 * A busy service: 300 training runs of 12 benchmarks with names of about 90 characters. 40 are active, 5 of them
 * stalled and 3 being cancelled, 4 are queued, the others have ended. Held-out curves have gaps. Everything is a pure
 * function of the time, so that a screen of it can be compared.
 */
import type { Answers } from './queries/scripted-service.ts';
import { notFound, pageOf } from './queries/scripted-service.ts';

const families = ['swe-terminal-repair-v3', 'kernel-cuda-optimise', 'security-ctf-web', 'long-opposites'];

const benchmarks = Array.from({ length: 12 }, (_, index) => ({
  bench_id: `bench_${index}`,
  label: `${families[index % 4]}-${index}`,
  family: ['code', 'math', 'style'][index % 3],
  eval_run_count: 4,
  updated_at: '2026-11-01T00:00:00Z',
}));

const minuteMs = 60_000;
export const everySteps = 100;
const models = ['qwen3-next-80b-a3b-thinking-instruct', 'tutor-base-large-context-window-32k'];
const rates = ['0.00001', '0.00003', '0.0001'];

/** The state of a run of the busy service. */
export type Doing = 'moving' | 'stalled' | 'stopping' | 'queued' | 'succeeded' | 'failed' | 'cancelled';

export interface BusyRun {
  readonly id: string;
  readonly name: string;
  readonly bench: string;
  readonly total: number;
  /** Milliseconds a step. */
  readonly stepMs: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  doing: Doing;
  /** When it stalled or ended; epoch milliseconds. */
  since: number;
}

/** The evaluations that are running all along; six others have ended. */
export const runningEvaluations = Array.from({ length: 6 }, (_, index) => `evr_${index}`);

export const formatFailure = 'NCCL watchdog timeout: collective operation 4711 took longer than 1800 seconds';

const statuses: Readonly<Record<Doing, string>> = {
  moving: 'running',
  stalled: 'running',
  stopping: 'cancel_signaled',
  queued: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

function doingOf(index: number): Doing {
  if (index < 32) return 'moving';
  if (index < 37) return 'stalled';
  if (index < 40) return 'stopping';
  if (index < 44) return 'queued';
  return index % 9 === 0 ? 'failed' : index % 13 === 0 ? 'cancelled' : 'succeeded';
}

function runOf(index: number, now: number): BusyRun {
  const doing = doingOf(index);
  const total = [400, 2_000, 20_000][index % 3] ?? 400;
  const stepMs = [700, 1_500, 4_800][index % 3] ?? 700;
  const bench = index % benchmarks.length;
  const begun = (index < 44 ? 20 + (index % 7) * 5 : 24 * 60 * (1 + (index % 60))) * minuteMs;
  const isOver = index >= 44;
  return {
    id: `trn_${String(index).padStart(7, '0')}`,
    name: `2026-11-01_${benchmarks[bench]?.label}_${models[index % 2]}_lr${rates[index % 3]}_g8_seed${index}`,
    bench: `bench_${bench}`,
    total,
    stepMs,
    startedAt: now - (doing === 'queued' ? 3 : 1) * (doing === 'queued' ? minuteMs : begun),
    doing,
    since: isOver ? now - begun + 38 * minuteMs : now - 12 * minuteMs,
  };
}

/** @param began when the service was created, in epoch milliseconds */
export function busyWorld(began = Date.now()) {
  const runs = Array.from({ length: 300 }, (_, index) => runOf(index, began));
  const byId = new Map(runs.map(run => [run.id, run]));
  const find = (id = ''): BusyRun => byId.get(id) ?? notFound(id);
  const stepsOf = ({ doing, startedAt, stepMs, since, total }: BusyRun): number => {
    if (doing === 'queued') return 0;
    if (doing === 'succeeded') return total;
    const until = doing === 'moving' || doing === 'stopping' ? Date.now() : since;
    return Math.min(total - 1, Math.max(1, Math.floor((until - startedAt) / stepMs)));
  };
  const record = (run: BusyRun) => ({
    training_run_id: run.id,
    bench_id: run.bench,
    display_name: run.name,
    status: statuses[run.doing],
    base_model_slug: models[run.total % 2],
    options: {
      num_steps: run.total,
      learning_rate: Number(rates[Number(run.id.slice(4)) % rates.length]),
      group_size: 8,
    },
    created_at: new Date(run.startedAt).toISOString(),
    completed_at: ['succeeded', 'failed', 'cancelled'].includes(run.doing) ? new Date(run.since).toISOString() : null,
    failure: run.doing === 'failed' ? { message: formatFailure, code: 'worker_lost' } : null,
  });
  const rewardAt = (run: BusyRun, step: number): number => {
    const seed = Number(run.id.slice(4));
    const top = 0.3 + ((seed * 37) % 60) / 100;
    return Math.round(1_000 * (0.15 + (top - 0.15) * (1 - Math.exp((-3 * step) / run.total)))) / 1_000;
  };
  /** The held-out rewards: those of the second fifth are missing in every third run. */
  const heldOut = (run: BusyRun) => {
    const every = Math.max(20, Math.round(run.total / 200));
    return Array.from({ length: Math.floor(stepsOf(run) / every) }, (_, index) => {
      const step = (index + 1) * every;
      const isGap = Number(run.id.slice(4)) % 3 === 0 && step > run.total * 0.2 && step < run.total * 0.4;
      return {
        step,
        held_out_reward: isGap ? null : rewardAt(run, step),
        expected_samples: 128,
        completed_samples: 128,
      };
    });
  };
  const isRunningAt = (index: number): boolean => index < runningEvaluations.length;
  const evals = Array.from({ length: 12 }, (_, index) => ({
    eval_run_id: `evr_${index}`,
    bench_id: `bench_${index}`,
    display_name: `${benchmarks[index]?.label} baseline ${models[index % 2]}`,
    status: isRunningAt(index) ? 'running' : 'completed',
    base_model_slug: models[index % 2],
    reward_mean: isRunningAt(index) ? null : 0.4 + index / 100,
    reward_count: isRunningAt(index) ? null : 128,
    total_rollouts: 128,
    created_at: new Date(began - (index + 1) * minuteMs).toISOString(),
    completed_at: isRunningAt(index) ? null : new Date(began - minuteMs).toISOString(),
  }));
  const answers: Answers = {
    listBenchmarks: () => pageOf(benchmarks),
    getBenchmark: ({ bench_id = '' }) => benchmarks.find(each => each.bench_id === bench_id) ?? notFound(bench_id),
    getBenchmarkReadiness: () => ({ ready: true }),
    listEvalRuns: ({ bench_id }) => evals.filter(run => run.bench_id === bench_id),
    getEvalRun: ({ eval_run_id = '' }) => evals.find(run => run.eval_run_id === eval_run_id) ?? notFound(eval_run_id),
    getEvalProgress: ({ eval_run_id = '' }) => {
      const run = evals.find(each => each.eval_run_id === eval_run_id) ?? notFound(eval_run_id);
      const isOver = run.status === 'completed';
      const live = { final_reward_mean: isOver ? run.reward_mean : 0.41, scored_rollouts: isOver ? 128 : 40 };
      return { eval_run_id, status: run.status, terminal_rollouts: isOver ? 128 : 42, total_rollouts: 128, live };
    },
    getTrajectoryRewards: () => ({ trajectory_rewards: [] }),
    getRolloutStatistics: () => ({ snapshots: [] }),
    listTrainingRuns: ({ bench_id }) => runs.filter(run => run.bench === bench_id).map(record),
    getTrainingRun: ({ training_run_id }) => record(find(training_run_id)),
    getTrainingProgress: ({ training_run_id }) => {
      const run = find(training_run_id);
      const { training_run_id: id, status, failure } = record(run);
      return { training_run_id: id, status, failure, completed_steps: stepsOf(run), total_steps: run.total };
    },
    getTrainerRewards: ({ training_run_id }) => {
      const run = find(training_run_id);
      const point = (_: unknown, index: number) => ({ step: index + 1, trainer_reward: rewardAt(run, index + 1) });
      return { trainer_rewards: Array.from({ length: stepsOf(run) }, point) };
    },
    getHeldOutRewards: ({ training_run_id }) => ({ held_out_rewards: heldOut(find(training_run_id)) }),
    listCheckpoints: () => [],
    listDeployments: () => pageOf([]),
    listTrajectories: () => pageOf([]),
    listSupportedTrainingModels: () => [{ model_slug: 'acme/small', model_name: 'Small' }],
  };
  /** Ends a run as the service would; `at` is when, in epoch milliseconds. */
  const end = (run: BusyRun | undefined, doing: Doing, at = Date.now()): void => {
    if (run) Object.assign(run, { doing, since: at });
  };
  return { answers, runs, end };
}
