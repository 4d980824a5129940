/** How Watch reads each kind of resource: with the same queries as its views, so that they share responses. */

import { type AnyQuery, cachedQuery } from '../queries/live-query.ts';
import type { PaceHints } from '../queries/pace.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import type { Kind } from '../queries/statuses/store.ts';
import { isNotOffered } from '../service/errors.ts';
import type { RememberedStore } from '../store/store.ts';
import { parseTime } from '../text/time.ts';
import type { Workbench } from '../workbench/workbench.ts';

/** A read of an ended resource's rewards. */
export interface RewardRead {
  readonly known: KnownResource;
  readonly query: AnyQuery;
  /** Epoch milliseconds; undefined or 0 before the first request. */
  readonly dueAt?: number;
}

export interface Watching extends Kind {
  /** Queries for the status, each a fallback for the previous one; by default the record's query. */
  readonly status?: (id: string) => readonly AnyQuery[];
  /** Responses to `status` queries report the progress. Responses without it, e.g. lists, do not count as reads. */
  readonly countsDone?: true;
  /** Other data for a line of Watch, read once, and again after the end. */
  readonly details?: (id: string) => readonly AnyQuery[];
  /** Curves, read again as they grow; the second one only for a run that lacks the first. */
  readonly measures?: (id: string) => readonly AnyQuery[];
  /** The times of its steps, read once if benchtop did not see a running resource's last step arrive. */
  readonly times?: (id: string) => AnyQuery;
  /**
   * Distinguishes its line from others with the same label: in a long and a short form.
   *
   * @param record the last known record
   * @param isOld whether the record is too old to trust fields that may change
   */
  readonly apart?: (record: object, isOld: boolean, memory: RememberedStore) => readonly [long: string, short: string];
  /** Its mean so far, if no status response has it: read with the progress while its line is on screen. */
  readonly soFar?: (known: KnownResource) => AnyQuery;
  /** The certainty of its mean: read once after its end, if its line is on screen. */
  readonly certainty?: (known: KnownResource) => AnyQuery;
  /**
   * Its difference from the baseline, unless it is known: read once after its end, while it is in a list on screen. The
   * responses also give the certainty of the means.
   */
  readonly difference?: (known: KnownResource, workbench: Workbench) => readonly RewardRead[];
  /** The contract's names for its progress fields, for JSON. */
  readonly progressNames?: { readonly done: string; readonly total: string; readonly mean: string };
  /** The status in which it waits for a user. */
  readonly stuckAs?: string;
  /** Describes the failed or missing parts, if the status does not name them. */
  readonly failedParts?: {
    /** In the plural, e.g. `images`. */
    readonly words: string;
    /** @throws ServiceError */
    readonly read: (id: string, context: QueryContext) => Promise<readonly string[]>;
    /** Extracts the parts from the response to its start request, which may have fields that cannot be read later. */
    readonly inStart?: (answer: object) => readonly string[];
  };
  /** Keys of the queries whose data changes when it ends. */
  readonly shownIn?: (id: string) => readonly (readonly unknown[])[];
}

/** The queries that the service offers. */
export const offeredQueries = (workbench: Workbench, queries: readonly AnyQuery[] = []): readonly AnyQuery[] =>
  queries.filter(({ key }) => !isNotOffered(cachedQuery(workbench, key)?.state.error));

/** Data from the service that determines a training run's pace. */
export const paceHints = (
  known: Partial<Pick<KnownResource, 'beganAt' | 'startedAt' | 'checkpoints'>> | undefined,
): PaceHints => ({ startedAt: known && beginOf(known), checkpoints: known?.checkpoints });

/** When a resource began to run, in epoch milliseconds; undefined if benchtop did not see it leave the queue. */
const beginOf = ({ beganAt, startedAt }: Partial<Pick<KnownResource, 'beganAt' | 'startedAt'>>): number | undefined =>
  beganAt === null ? undefined : (beganAt ?? parseTime(startedAt));
