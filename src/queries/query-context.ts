/** The context in which queries read their data. */
import type { CompareSettings } from '../config/preferences.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';

/** A query that others may have sent. */
export interface SharedQuery<Data> {
  readonly key: readonly unknown[];
  readonly read: (context: QueryContext) => Promise<Data>;
}

export interface QueryContext {
  readonly service: Service;
  readonly signal: AbortSignal;
  /** Resources seen on this service before. */
  readonly memory: RememberedStore;
  /** The last answer to the query that is read. */
  readonly previous?: unknown;
  /** Sends a query, or joins the request in flight, or takes an answer that has just arrived. */
  readonly shared?: (<Data>(query: SharedQuery<Data>) => Promise<Data>) | undefined;
  /** How runs are compared; the defaults if missing. */
  readonly compare?: CompareSettings | undefined;
  /** Running resources are followed elsewhere, so a list need not ask for the progress of each row. */
  readonly isFollowed?: boolean;
  /**
   * Called for each part of an answer that takes several requests, so that a refresh does not abort a query that
   * makes progress.
   */
  readonly progressed?: (() => void) | undefined;
}
