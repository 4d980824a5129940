/** How a kind of resource is watched: through the queries of its views, so that answers are shared. */

import type { Kind } from '../queries/kinds.ts';
import type { AnyQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { Workbench } from '../queries/workbench.ts';
import { isNotOffered } from '../service/errors.ts';

/** How a resource is watched. */
export interface Watching extends Kind {
  /** Queries that say the status, each a fallback for the one before. */
  readonly status: (id: string) => readonly AnyQuery[];
  /** Their answers say how much of it is done: one that does not, such as that of a list, is no read of its progress. */
  readonly countsDone?: true;
  /** Other data in a line of Watch, read once and after the end. */
  readonly details?: (id: string) => readonly AnyQuery[];
  /** The same, read again whenever more of it is done. */
  readonly measures?: (id: string) => readonly AnyQuery[];
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
  /** Keys of queries whose data changes with its end. */
  readonly shownIn?: (id: string) => readonly (readonly unknown[])[];
}

/** Those of the queries that the service offers, as far as is known. */
export const offered = ({ cache }: Workbench, queries: readonly AnyQuery[] = []): readonly AnyQuery[] =>
  queries.filter(({ key }) => !isNotOffered(cache.getQueryState(key)?.error));
