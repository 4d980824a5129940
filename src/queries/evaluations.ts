/** What the screens ask about evaluation runs. */
import type { EvalProgress, EvalRun, RolloutStatistics, TrajectoryReward } from '../contract/evaluations.ts';
import { readAcross } from './across.ts';
import type { Activity } from './polling.ts';
import { remembering, rememberingOne } from './remembered/listing.ts';
import type { ListSource } from './use-list.ts';
import type { LiveQuery } from './use-live.ts';

export const evaluationKeys = {
  all: ['evaluations'],
  everyRun: ['evaluations', 'runs'],
  runsOf: (benchId: string) => ['evaluations', 'runs', benchId],
  one: (runId: string) => ['evaluations', 'one', runId],
  progress: (runId: string) => ['evaluations', 'progress', runId],
  statistics: (runId: string) => ['evaluations', 'statistics', runId],
  rewards: (runId: string) => ['evaluations', 'rewards', runId],
} as const;

const endedStatuses = new Set(['completed', 'succeeded', 'failed', 'cancelled']);

/** Whether a run with this status will not change any more. An unknown status is not an end. */
export function hasEnded(status: string | null | undefined): boolean {
  return status != null && endedStatuses.has(status);
}

function activityOf(status: string | null | undefined): Activity {
  return hasEnded(status) ? 'settled' : 'running';
}

function activityOfRuns(rows: readonly EvalRun[]): Activity {
  return rows.some(row => !hasEnded(row.status)) ? 'running' : 'open';
}

function page<Row>(items: Row[]) {
  return { items, has_more: false, next_cursor: null, dropped: 0 };
}

const rememberedRuns = {
  kind: 'run',
  words: 'runs',
  describe: (run: EvalRun) => ({
    id: run.eval_run_id,
    label: run.display_name ?? run.eval_run_id,
    status: run.status ?? undefined,
    parent: run.bench_id ?? undefined,
  }),
} as const;

export function runsOfBenchmark(benchId: string): ListSource<EvalRun> {
  const listed: ListSource<EvalRun> = {
    key: evaluationKeys.runsOf(benchId),
    id: row => row.eval_run_id,
    readPage: async ({ service, signal }) => page(await service.evaluations.listRuns(benchId, { signal })),
    activity: activityOfRuns,
  };
  return remembering(listed, { ...rememberedRuns, parent: benchId });
}

/** The runs of every benchmark, newest first. */
export const everyRun: ListSource<EvalRun> = remembering(
  {
    key: evaluationKeys.everyRun,
    id: row => row.eval_run_id,
    readPage: ({ service, signal }) =>
      readAcross(
        service,
        signal,
        benchId => service.evaluations.listRuns(benchId, { signal }),
        // The count may be missing, and says nothing of training evaluations: only a plain zero spares the question.
        ({ eval_run_count }) => eval_run_count !== 0,
      ),
    activity: activityOfRuns,
  },
  rememberedRuns,
);

export function evalRunQuery(runId: string): LiveQuery<EvalRun> {
  const asked: LiveQuery<EvalRun> = {
    key: evaluationKeys.one(runId),
    activity: run => activityOf(run?.status),
    read: ({ service, signal }) => service.evaluations.get(runId, { signal }),
  };
  return rememberingOne(asked, runId, rememberedRuns);
}

export function evalProgressQuery(runId: string): LiveQuery<EvalProgress> {
  return {
    key: evaluationKeys.progress(runId),
    activity: progress => activityOf(progress?.status),
    read: ({ service, signal }) => service.evaluations.progress(runId, { signal }),
  };
}

/** Statistics of a run, asked for again while `ended` is false. */
export function rolloutStatisticsQuery(runId: string, ended: boolean): LiveQuery<RolloutStatistics> {
  return {
    key: evaluationKeys.statistics(runId),
    activity: () => (ended ? 'settled' : 'running'),
    read: ({ service, signal }) => service.evaluations.statistics(runId, { signal }),
  };
}

/** Rewards of a run's trajectories, asked for again while `ended` is false. */
export function trajectoryRewardsQuery(runId: string, ended: boolean): LiveQuery<readonly TrajectoryReward[]> {
  return {
    key: evaluationKeys.rewards(runId),
    activity: () => (ended ? 'settled' : 'running'),
    read: async ({ service, signal }) => (await service.evaluations.rewards(runId, { signal })).trajectory_rewards,
  };
}
