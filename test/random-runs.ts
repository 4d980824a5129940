/** Evaluation runs with random rewards, for every case in which a mean may or may not have an interval. */
import type { EvalRun, TrajectoryReward } from '../src/contract/evaluations.ts';
import { Random } from '../tools/rig/random.ts';
import type { Answers } from './queries/scripted-service.ts';
import { pageOf } from './queries/scripted-service.ts';

/** The known facts about the run and its rewards. */
const shapes = [
  'whole',
  'uneven',
  'some missing',
  'outside',
  'running',
  'failed without a total',
  'neither status nor total',
  'no task named',
] as const;
type Shape = (typeof shapes)[number];

export interface RandomRun {
  readonly shape: Shape;
  readonly record: EvalRun;
  readonly total: number | null;
  readonly rewards: readonly TrajectoryReward[];
}

function statusOf(shape: Shape): string | null {
  if (shape === 'running') return 'running';
  if (shape === 'failed without a total') return 'failed';
  return shape === 'neither status nor total' ? null : 'completed';
}

function randomRun(shape: Shape, index: number): RandomRun {
  const random = new Random(`run ${index} ${shape}`);
  const [tasks, each] = [random.between(3, 30), random.between(1, 4)];
  const id = `evr_${index}`;
  const all = Array.from({ length: tasks * each }, (_, at) => ({
    task_id: shape === 'no task named' ? null : `task ${at % tasks}`,
    trajectory_id: `traj_${index}_${at}`,
    reward: shape === 'outside' && at === 0 ? 1.5 : random.chance(0.5) ? random.between(0, 1) : random.next(),
  }));
  const isPart = ['some missing', 'running', 'failed without a total', 'neither status nor total'].includes(shape);
  const rewards = isPart ? all.slice(0, Math.ceil(all.length * 0.8)) : shape === 'uneven' ? all.slice(1) : all;
  const isUnknown = shape === 'failed without a total' || shape === 'neither status nor total';
  const status = statusOf(shape);
  return {
    shape,
    rewards,
    total: isUnknown ? null : isPart ? all.length : rewards.length,
    record: {
      ...{ eval_run_id: id, bench_id: 'bench_1', display_name: `${shape} ${index}`, status },
      reward_mean: rewards.reduce((sum, { reward }) => sum + reward, 0) / rewards.length,
      reward_count: rewards.length,
      ...{ created_at: '2026-03-04T05:06:07Z', completed_at: status === 'completed' ? '2026-03-04T05:07:07Z' : null },
    },
  };
}

/** One run of each shape and round, and a service that has them. */
export function randomRuns(rounds: number): { readonly runs: readonly RandomRun[]; readonly answers: Answers } {
  const runs = Array.from({ length: rounds }, (_, round) =>
    shapes.map((shape, at) => randomRun(shape, round * shapes.length + at)),
  ).flat();
  const find = (id: string | undefined) => runs.find(({ record }) => record.eval_run_id === id) as RandomRun;
  const bench = { bench_id: 'bench_1', label: 'words', eval_run_count: runs.length };
  const answers: Answers = {
    listBenchmarks: () => pageOf([bench]),
    getBenchmark: () => bench,
    getBenchmarkReadiness: () => ({ ready: true }),
    listEvalRuns: () => runs.map(({ record }) => record),
    getEvalRun: ({ eval_run_id }) => find(eval_run_id).record,
    getEvalProgress: ({ eval_run_id }) => {
      const { record, rewards, total } = find(eval_run_id);
      const live = { scored_rollouts: rewards.length, provisional_reward_mean: record.reward_mean };
      return { eval_run_id, status: record.status, terminal_rollouts: rewards.length, total_rollouts: total, live };
    },
    getTrajectoryRewards: ({ eval_run_id }) => ({ trajectory_rewards: find(eval_run_id).rewards }),
    getRolloutStatistics: () => ({ snapshots: [] }),
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    listTrajectories: (_, query) =>
      pageOf(find(String(query?.['eval_run_id'])).rewards.map(reward => ({ ...reward, status: 'completed' }))),
  };
  return { runs, answers };
}
