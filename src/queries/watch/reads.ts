/** How each kind of resource is read to know how it is doing: the queries of its own views, so that answers are shared. */

import { isRunning } from '../../contract/status.ts';
import { isNotOffered } from '../../service/errors.ts';
import type { Asking } from '../asking.ts';
import { readinessQuery } from '../benchmarks.ts';
import { deploymentQuery } from '../deployments.ts';
import { evalProgressQuery, evalRunQuery } from '../evaluations.ts';
import type { Attention } from '../polling.ts';
import type { PinnedThing, ThingKind } from '../remembered/store.ts';
import { type Known, knownFrom, type Observation } from '../statuses/store.ts';
import { trainerRewardsQuery, trainingProgressQuery, trainingRunQuery } from '../training.ts';
import { trajectoryStatusQuery } from '../trajectories.ts';
import { dueAt, type LiveQuery, queryOptions } from '../use-live.ts';
import type { Workbench } from '../workbench.tsx';

/** A query whatever its data are. */
export interface Read {
  readonly key: readonly unknown[];
  /** Asks the service, or joins a request that is on its way. The answer is reported like any other. */
  readonly fetch: (workbench: Workbench) => Promise<unknown>;
  /** When it is to be read again; epoch milliseconds, undefined where it is not. */
  readonly dueAt: (workbench: Workbench, attention: Attention) => number | undefined;
  /** Whether the last answer says that it still runs. */
  readonly saysRunning: (workbench: Workbench) => boolean;
  /** Reads it once without a cache. */
  readonly look: (asking: Asking) => Promise<Observation | undefined>;
}

export interface Reads {
  /** What tells the status: each stands in for the one before, where a service lacks that. */
  readonly status: readonly Read[];
  /** What else a line of Watch shows. */
  readonly details: readonly Read[];
}

/** A poll that comes a little early counts as being in time: it would be late by a whole interval otherwise. */
const earlyShare = 0.3;

export function readOf<Data>(query: LiveQuery<Data>): Read {
  return {
    key: query.key,
    fetch: workbench => workbench.cache.fetchQuery({ ...queryOptions(workbench, query), staleTime: 0 }),
    dueAt: (workbench, attention) => dueAt(workbench, query, attention),
    saysRunning: ({ cache }) => {
      const data = cache.getQueryData<Data>(query.key);
      return data !== undefined && isRunning(query.observes?.(data).status);
    },
    look: async asking => query.observes?.(await query.read(asking)),
  };
}

/** When the last attempt at it ended, well or not; 0 where there was none. */
export function lastAttempt({ cache }: Workbench, { key }: Read): number {
  const state = cache.getQueryState(key);
  return Math.max(state?.dataUpdatedAt ?? 0, state?.errorUpdatedAt ?? 0);
}

/** Why the last attempt failed, if it did. */
export function lastError({ cache }: Workbench, { key }: Read): Error | undefined {
  return cache.getQueryState(key)?.error ?? undefined;
}

/** Whether it is time to read it again. While polling is stopped, it is the user who asks: all is due then. */
export function isDue(workbench: Workbench, read: Read, attention: Attention, now = Date.now()): boolean {
  const { paused, poll } = workbench;
  if (paused) return true;
  const due = read.dueAt(workbench, attention);
  return due !== undefined && due - earlyShare * (attention === 'focused' ? poll.focusedMs : poll.visibleMs) <= now;
}

const readsByKind: Readonly<Record<ThingKind, (id: string) => Reads>> = {
  run: id => {
    const record = readOf(evalRunQuery(id));
    return { status: [readOf(evalProgressQuery(id)), record], details: [record] };
  },
  training: id => {
    const record = readOf(trainingRunQuery(id));
    return {
      status: [readOf(trainingProgressQuery(id)), record],
      details: [record, readOf(trainerRewardsQuery(id, false))],
    };
  },
  deployment: id => ({ status: [readOf(deploymentQuery(id))], details: [] }),
  benchmark: id => ({ status: [readOf(readinessQuery(id))], details: [] }),
  trajectory: id => ({ status: [readOf(trajectoryStatusQuery(id))], details: [] }),
  dataset: () => ({ status: [], details: [] }),
};

export function readsOf({ kind, id }: Pick<PinnedThing, 'kind' | 'id'>): Reads {
  return readsByKind[kind](id);
}

/**
 * How a resource is now, asked without a screen. What the service does not offer is left out.
 *
 * @throws ServiceError where one of the reads fails
 */
export async function lookAt(thing: PinnedThing, asking: Asking): Promise<Known> {
  const { status, details } = readsOf(thing);
  // The record of a run may be older than its progress: the status is that of the first read that tells it.
  const reads = new Map([...details, ...status.toReversed()].map(read => [JSON.stringify(read.key), read]));
  const answers = await Promise.all(
    [...reads.values()].map(async read => {
      try {
        return await read.look(asking);
      } catch (error) {
        if (isNotOffered(error)) return undefined;
        throw error;
      }
    }),
  );
  return knownFrom(
    thing,
    answers.filter(answer => answer !== undefined),
  );
}
