/**
 * What is watched: everything pinned, and everything that runs. Each is one line with its status, how far it is and how it
 * does, kept live while Watch is on screen; what runs is looked at in the background too, so that its end can be told.
 */
import type { Operation } from '../contract/endpoints.ts';
import { hasEnded } from '../contract/status.ts';
import type { Service } from '../service/index.ts';
import { deploymentList } from './deployments.ts';
import { everyRun } from './evaluations.ts';
import type { ListSource } from './list.ts';
import { paceOf, paceWords } from './pace.ts';
import type { PinnedThing, RememberedStore, ThingKind } from './remembered/store.ts';
import type { Observation } from './statuses/store.ts';
import { everyTrainingRun } from './training.ts';
import type { LiveQuery } from './use-live.ts';

export interface WatchedThing {
  readonly kind: ThingKind;
  readonly id: string;
  readonly label: string;
  readonly pinned: boolean;
  readonly status: string | undefined;
  /** What has been done of what is to be done; undefined where that is not known. */
  readonly done: number | undefined;
  readonly total: number | undefined;
  /** The mean reward so far, or at the end. */
  readonly mean: number | undefined;
  /** The values of its curve, for a spark line. */
  readonly curve: readonly number[];
  /** How fast it gets on and what is left, in words; empty where that cannot be told. */
  readonly pace: string;
  /** When it began, as the service wrote it. */
  readonly startedAt: string | undefined;
  /** Why it could not be asked for. */
  readonly fault: string | undefined;
}

export const watchKeys = { list: ['watch'], background: ['watching'] } as const;

/** Whether what has this status will not change any more by itself. */
export function isOver({ status }: { readonly status: string | undefined }): boolean {
  return hasEnded(status);
}

type Seen = Omit<WatchedThing, 'kind' | 'id' | 'label' | 'pinned' | 'fault'> & { readonly label?: string };

const nothing: Seen = {
  status: undefined,
  done: undefined,
  total: undefined,
  mean: undefined,
  curve: [],
  pace: '',
  startedAt: undefined,
};

const number = (value: number | null | undefined): number | undefined => value ?? undefined;
const text = (value: string | null | undefined): string | undefined => value ?? undefined;

/** What a service lacks is left out; what fails is told. */
async function orNothing<Data>(
  service: Service,
  operation: Operation,
  ask: () => Promise<Data>,
): Promise<Data | undefined> {
  const has = (): boolean => service.capabilities.has(operation);
  if (!has()) return undefined;
  try {
    return await ask();
  } catch (error) {
    if (has()) throw error;
    return undefined;
  }
}

type Look = (service: Service, id: string, signal: AbortSignal, memory: RememberedStore) => Promise<Seen>;

const looks: Readonly<Record<ThingKind, Look>> = {
  run: async (service, id, signal) => {
    const [run, progress] = await Promise.all([
      orNothing(service, 'getEvalRun', () => service.evaluations.get(id, { signal })),
      orNothing(service, 'getEvalProgress', () => service.evaluations.progress(id, { signal })),
    ]);
    return {
      ...nothing,
      ...(run?.display_name ? { label: run.display_name } : {}),
      status: text(progress?.status ?? run?.status),
      done: number(progress?.terminal_rollouts),
      total: number(progress?.total_rollouts),
      mean: number(run?.reward_mean ?? progress?.live?.final_reward_mean ?? progress?.live?.provisional_reward_mean),
      startedAt: text(run?.created_at),
    };
  },
  training: async (service, id, signal, memory) => {
    const [run, progress, curve] = await Promise.all([
      orNothing(service, 'getTrainingRun', () => service.training.get(id, { signal })),
      service.training.progress(id, { signal }),
      orNothing(service, 'getTrainerRewards', () => service.training.trainerRewards(id, { signal })),
    ]);
    const rewards = (curve?.trainer_rewards ?? []).flatMap(({ trainer_reward }) => trainer_reward ?? []);
    const over = isOver({ status: text(progress.status) });
    const pace = over
      ? ''
      : paceWords(paceOf(memory.progressOf(id)), {
          status: progress.status,
          completed: progress.completed_steps,
          total: progress.total_steps,
          now: Date.now(),
        });
    return {
      ...(run?.display_name ? { label: run.display_name } : {}),
      pace,
      status: text(progress.status),
      done: number(progress.completed_steps),
      total: number(progress.total_steps),
      mean: rewards.at(-1),
      curve: rewards,
      startedAt: text(run?.created_at),
    };
  },
  deployment: async (service, id, signal) => {
    const deployment = await service.deployments.get(id, { signal });
    return {
      ...nothing,
      ...(deployment.model_slug ? { label: deployment.model_slug } : {}),
      status: text(deployment.status),
      startedAt: text(deployment.created_at),
    };
  },
  benchmark: async (service, id, signal) => {
    const readiness = await service.benchmarks.readiness(id, { signal });
    return { ...nothing, status: readiness.ready ? 'ready' : 'not ready' };
  },
  trajectory: async (service, id, signal) => {
    const trajectory = await service.trajectories.get(id, { include_steps: false }, { signal });
    return {
      ...nothing,
      status: text(trajectory.status),
      mean: number(trajectory.reward),
      startedAt: text(trajectory.created_at),
    };
  },
  dataset: async () => nothing,
};

/** Things that run, as the service lists them. */
async function listedRunning(service: Service, signal: AbortSignal, memory: RememberedStore): Promise<PinnedThing[]> {
  const [runs, trainings, deployments] = await Promise.all([
    everyRun.readPage({ service, query: {}, signal, memory }),
    everyTrainingRun.readPage({ service, query: {}, signal, memory }),
    deploymentList.readPage({ service, query: { limit: 50 }, signal, memory }),
  ]);
  return [
    ...runs.items
      .filter(run => !hasEnded(run.status))
      .map(run => ({ kind: 'run' as const, id: run.eval_run_id, label: run.display_name ?? run.eval_run_id })),
    ...trainings.items
      .filter(run => !hasEnded(run.status))
      .map(run => ({
        kind: 'training' as const,
        id: run.training_run_id,
        label: run.display_name ?? run.training_run_id,
      })),
    ...deployments.items
      .filter(each => !hasEnded(each.status))
      .map(each => ({
        kind: 'deployment' as const,
        id: each.deployment_id,
        label: each.model_slug ?? each.deployment_id,
      })),
  ];
}

/** How a thing is now. @throws ServiceError */
export async function lookAt(
  service: Service,
  { kind, id, label }: PinnedThing,
  signal: AbortSignal,
  memory: RememberedStore,
): Promise<Pick<WatchedThing, 'label' | 'status' | 'done' | 'total' | 'mean'>> {
  return { label, ...(await looks[kind](service, id, signal, memory)) };
}

/** Things asked for at once. */
const atOnce = 4;

async function readWatched(
  service: Service,
  signal: AbortSignal,
  memory: RememberedStore,
  running: readonly PinnedThing[],
  pins: readonly PinnedThing[],
): Promise<WatchedThing[]> {
  const isPinned = (thing: PinnedThing): boolean => pins.some(({ kind, id }) => kind === thing.kind && id === thing.id);
  const others = running.filter(thing => !isPinned(thing));
  const waiting = [...pins, ...others].map((thing, index) => ({ thing, index }));
  const rows: WatchedThing[] = [];
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item; item = waiting.shift()) {
      const { thing, index } = item;
      const pinned = isPinned(thing);
      try {
        rows[index] = {
          ...thing,
          pinned,
          fault: undefined,
          ...(await looks[thing.kind](service, thing.id, signal, memory)),
        };
      } catch (error) {
        if (signal.aborted) throw error;
        rows[index] = { ...thing, pinned, ...nothing, fault: error instanceof Error ? error.message : String(error) };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return rows;
}

const observeWatched = ({ pinned: _, fault: __, ...said }: WatchedThing): Observation => said;

export const watchList: ListSource<WatchedThing> = {
  key: watchKeys.list,
  id: row => `${row.kind} ${row.id}`,
  readPage: async ({ service, signal, memory }) => ({
    items: await readWatched(service, signal, memory, await listedRunning(service, signal, memory), memory.pinned()),
    has_more: false,
    next_cursor: null,
    dropped: 0,
  }),
  observes: observeWatched,
  activity: rows => (rows.some(row => !isOver(row)) ? 'running' : 'open'),
};

/** What was seen running longer ago than this is not looked after in the background any more. */
const recentMs = 12 * 60 * 60_000;
const runnable = ['run', 'training', 'deployment'] as const;

/** What ran when it was last seen here: known without asking the service for its lists. */
function seenRunning(memory: RememberedStore, now: number): PinnedThing[] {
  return runnable.flatMap(kind =>
    memory
      .list(kind)
      .filter(thing => now - thing.seenAt < recentMs && !isOver(thing))
      .map(({ id, label }) => ({ kind, id, label })),
  );
}

/**
 * Looks after what is pinned and what was seen running, whatever is on screen. Once something is over, it is remembered
 * so, and not asked for again.
 */
export const backgroundWatch: LiveQuery<readonly WatchedThing[]> = {
  key: watchKeys.background,
  activity: () => 'open',
  reports: { observes: observeWatched, rows: (rows: readonly WatchedThing[]) => rows },
  read: async ({ service, signal, memory }) => {
    const running = seenRunning(memory, Date.now());
    const pins = memory.pinned().filter(({ kind, id }) => {
      const seen = memory.find(kind, id);
      return (runnable as readonly ThingKind[]).includes(kind) && (!seen || !isOver(seen));
    });
    if (running.length === 0 && pins.length === 0) return [];
    const rows = await readWatched(service, signal, memory, running, pins);
    return rows.filter(row => (runnable as readonly ThingKind[]).includes(row.kind));
  },
};
