/** What the screens ask about training runs. */
import type { Checkpoint, HeldOutReward, TrainerReward, TrainingProgress, TrainingRun } from '../contract/training.ts';
import { hasEnded } from './evaluations.ts';
import type { Activity } from './polling.ts';
import type { ListSource } from './use-list.ts';
import type { LiveQuery } from './use-live.ts';

export const trainingKeys = {
  all: ['training'],
  runsOf: (benchId: string) => ['training', 'runs', benchId],
  one: (runId: string) => ['training', 'one', runId],
  progress: (runId: string) => ['training', 'progress', runId],
  checkpoints: (runId: string) => ['training', 'checkpoints', runId],
  trainerRewards: (runId: string) => ['training', 'trainer-rewards', runId],
  heldOutRewards: (runId: string) => ['training', 'held-out-rewards', runId],
} as const;

function activityOf(status: string | null | undefined): Activity {
  return hasEnded(status) ? 'settled' : 'running';
}

export function trainingRunsOfBenchmark(benchId: string): ListSource<TrainingRun> {
  return {
    key: trainingKeys.runsOf(benchId),
    id: row => row.training_run_id,
    readPage: async (service, _query, signal) => {
      const items = await service.training.listRuns(benchId, { signal });
      return { items, has_more: false, next_cursor: null, dropped: 0 };
    },
    activity: rows => (rows.some(row => !hasEnded(row.status)) ? 'running' : 'open'),
  };
}

export function trainingRunQuery(runId: string): LiveQuery<TrainingRun> {
  return {
    key: trainingKeys.one(runId),
    activity: run => activityOf(run?.status),
    read: (service, signal) => service.training.get(runId, { signal }),
  };
}

export function trainingProgressQuery(runId: string): LiveQuery<TrainingProgress> {
  return {
    key: trainingKeys.progress(runId),
    activity: progress => activityOf(progress?.status),
    read: (service, signal) => service.training.progress(runId, { signal }),
  };
}

export function checkpointsQuery(runId: string, ended: boolean): LiveQuery<readonly Checkpoint[]> {
  return {
    key: trainingKeys.checkpoints(runId),
    activity: () => (ended ? 'settled' : 'running'),
    read: (service, signal) => service.training.checkpoints(runId, { signal }),
  };
}

export function trainerRewardsQuery(runId: string, ended: boolean): LiveQuery<readonly TrainerReward[]> {
  return {
    key: trainingKeys.trainerRewards(runId),
    activity: () => (ended ? 'settled' : 'running'),
    read: async (service, signal) => (await service.training.trainerRewards(runId, { signal })).trainer_rewards,
  };
}

export function heldOutRewardsQuery(runId: string, ended: boolean): LiveQuery<readonly HeldOutReward[]> {
  return {
    key: trainingKeys.heldOutRewards(runId),
    activity: () => (ended ? 'settled' : 'running'),
    read: async (service, signal) => (await service.training.heldOutRewards(runId, { signal })).held_out_rewards,
  };
}
