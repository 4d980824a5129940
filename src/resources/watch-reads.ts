/** How a kind of resource is watched: with the queries of its views, so they share answers. */

import { type AnyQuery, cachedQuery } from '../queries/live-query.ts';
import type { PaceHints } from '../queries/pace.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import type { Kind } from '../queries/statuses/store.ts';
import { isNotOffered } from '../service/errors.ts';
import { parseTime } from '../text/time.ts';
import type { Workbench } from '../workbench/workbench.ts';

/** A read of the rewards of an ended resource. */
export interface RewardRead {
  readonly known: KnownResource;
  readonly query: AnyQuery;
  /** Epoch milliseconds; undefined or 0 if it was never sent. */
  readonly dueAt?: number;
}

export interface Watching extends Kind {
  /** Queries for the status, each a fallback for the previous one; by default the record. */
  readonly status?: (id: string) => readonly AnyQuery[];
  /** Their answers report the progress. Answers without it, such as lists, do not count as reads. */
  readonly countsDone?: true;
  /** Other data in a line of Watch, read once and after the end. */
  readonly details?: (id: string) => readonly AnyQuery[];
  /** Curves, read again as they grow; the second one only if Watch shows a run without the first. */
  readonly measures?: (id: string) => readonly AnyQuery[];
  /** The times of its steps, read once for a running resource whose last step was not seen to arrive. */
  readonly times?: (id: string) => AnyQuery;
  /**
   * Tells its line from others with the same label.
   *
   * @param record as last read
   * @param isOld whether that was too long ago to trust fields that may change
   */
  readonly apart?: (record: object, isOld: boolean) => string;
  /** Its mean so far: read as it moves on while its line is on screen, if no answer about its status has it. */
  readonly soFar?: (known: KnownResource) => AnyQuery;
  /** The certainty of its mean: read once after its end, while its line is on screen. */
  readonly certainty?: (known: KnownResource) => AnyQuery;
  /**
   * How it differs from the baseline, unless that is known: read once after its end, while it is in a list on screen.
   * The answers also say how certain the means are.
   */
  readonly difference?: (known: KnownResource, workbench: Workbench) => readonly RewardRead[];
  /** The contract's names of its progress fields, for programs. */
  readonly progressNames?: { readonly done: string; readonly total: string; readonly mean: string };
  /** The status in which it waits for a user and does not change on its own. */
  readonly stuckAs?: string;
  /** Describes the failed or missing parts, if the status does not name them. */
  readonly failedParts?: {
    /** In the plural, e.g. `images`. */
    readonly words: string;
    /** @throws ServiceError */
    readonly read: (id: string, context: QueryContext) => Promise<readonly string[]>;
    /** The same from the answer to its start, which may have fields that cannot be read later. */
    readonly inStart?: (answer: object) => readonly string[];
  };
  /** Keys of queries whose data changes when it ends. */
  readonly shownIn?: (id: string) => readonly (readonly unknown[])[];
}

/** Leaves out queries that the service does not offer. */
export const offered = (workbench: Workbench, queries: readonly AnyQuery[] = []): readonly AnyQuery[] =>
  queries.filter(({ key }) => !isNotOffered(cachedQuery(workbench, key)?.state.error));

/** The service's data on the pace of a training run. */
export const paceHints = (
  known: Partial<Pick<KnownResource, 'beganAt' | 'startedAt' | 'checkpoints'>> | undefined,
): PaceHints => ({ startedAt: known && beginOf(known), checkpoints: known?.checkpoints });

/** When it began to run, in epoch milliseconds; undefined if unknown, e.g. if nobody saw it leave the queue. */
export const beginOf = ({
  beganAt,
  startedAt,
}: Partial<Pick<KnownResource, 'beganAt' | 'startedAt'>>): number | undefined =>
  beganAt === null ? undefined : (beganAt ?? parseTime(startedAt));
