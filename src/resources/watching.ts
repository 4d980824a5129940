/** How a kind of resource is watched: through the queries of its views, so that answers are shared. */

import { isRunning } from '../contract/status.ts';
import type { Kind } from '../queries/kinds.ts';
import type { ListSource } from '../queries/lists/list.ts';
import type { Attention } from '../queries/polling.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { rememberedAt } from '../queries/remembered/seen.ts';
import type { Observation } from '../queries/statuses/store.ts';
import { dueAt, type LiveQuery, queryOptions } from '../queries/use-live.ts';
import type { Workbench } from '../queries/workbench.tsx';
import { isGone, isNotOffered } from '../service/errors.ts';

/** A query with any type of data. */
export interface Read {
  readonly key: readonly unknown[];
  /** Sends the query, or joins a request in flight. The answer is reported like any other. */
  readonly fetch: (workbench: Workbench) => Promise<unknown>;
  /** When it is due; epoch milliseconds, undefined for never. */
  readonly dueAt: (workbench: Workbench, attention: Attention) => number | undefined;
  /** Whether the last answer says that it still runs. */
  readonly saysRunning: (workbench: Workbench) => boolean;
  /** Reads it once without a cache, and remembers what it says. */
  readonly look: (context: QueryContext) => Promise<Observation | undefined>;
}

/** How a resource is watched. */
export interface Watching<Row = object> extends Omit<Kind, 'runs'> {
  /** Reads of the status, each a fallback for the one before. */
  readonly status: (id: string) => readonly Read[];
  /** Its answers say how much of it is done: one that does not, such as that of a list, is no read of its progress. */
  readonly countsDone?: true;
  /** Other data in a line of Watch, read once and after the end. */
  readonly details?: (id: string) => readonly Read[];
  /** The same, read again whenever more of it is done. */
  readonly measures?: (id: string) => readonly Read[];
  /** The contract's names of its progress, for programs. */
  readonly progressNames?: { readonly done: string; readonly total: string; readonly mean: string };
  /** The status in which it waits for a user: it does not change by itself. */
  readonly stuckAs?: string;
  /** The parts that failed or are missing, where its status does not say which: each in words. */
  readonly failedParts?: {
    /** In the plural, e.g. `images`. */
    readonly words: string;
    /** @throws ServiceError */
    readonly read: (id: string, context: QueryContext) => Promise<readonly string[]>;
  };
  /** The list of running resources, which are watched without a pin. */
  readonly running?: ListSource<Row>;
  /** Keys of queries whose data changes with its end. */
  readonly shownIn?: (id: string) => readonly (readonly unknown[])[];
}

/** A poll slightly early counts as on time; otherwise it would be late by a whole interval. */
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
    look: async context => {
      const data = await query.read(context);
      const said = query.observes?.(data);
      // The last known state is not the current one.
      const isPast = typeof data === 'object' && data !== null && rememberedAt(data) !== undefined;
      if (said && !isPast) context.memory.see([said]);
      return said && isPast && isRunning(said.status) ? { ...said, status: undefined } : said;
    },
  };
}

/** When the last attempt ended, successfully or not; 0 if there was none. */
export function lastAttempt({ cache }: Workbench, { key }: Pick<Read, 'key'>): number {
  const state = cache.getQueryState(key);
  return Math.max(state?.dataUpdatedAt ?? 0, state?.errorUpdatedAt ?? 0);
}

/** Why the last attempt failed, if it did. */
export function lastError({ cache }: Workbench, { key }: Read): Error | undefined {
  return cache.getQueryState(key)?.error ?? undefined;
}

/** Whether it is due. While polling is paused, only a user's refresh reads, so everything is due. */
export function isDue(workbench: Workbench, read: Read, attention: Attention, now = Date.now()): boolean {
  const { paused, poll } = workbench;
  if (paused) return true;
  const due = read.dueAt(workbench, attention);
  return due !== undefined && due - earlyShare * (attention === 'focused' ? poll.focusedMs : poll.visibleMs) <= now;
}

/** What was asked for, and what of it failed. */
export class Outcome {
  asked = 0;
  readonly failures: unknown[] = [];
  readonly #progressed: QueryContext['progressed'];

  constructor({ progressed }: Pick<QueryContext, 'progressed'>) {
    this.#progressed = progressed;
  }

  /** Returns whether the service offers it. */
  async of(reading: Promise<unknown>): Promise<boolean> {
    try {
      await reading;
      this.#progressed?.();
    } catch (error) {
      if (isNotOffered(error)) return false;
      if (!isGone(error)) this.failures.push(error);
    }
    this.asked += 1;
    return true;
  }

  /** @throws the first failure, if everything failed: then it is the service, and not one resource */
  check(): void {
    if (this.asked > 0 && this.failures.length === this.asked) throw this.failures[0];
  }
}
