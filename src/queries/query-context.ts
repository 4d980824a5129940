/** The context in which a query reads its data. */
import type { CompareSettings } from '../config/preferences.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';

/** A query that other parts of the program may also have sent. */
export interface SharedQuery<Data> {
  readonly key: readonly unknown[];
  readonly read: (context: QueryContext) => Promise<Data>;
}

export interface QueryContext {
  readonly service: Service;
  readonly signal: AbortSignal;
  /** The resources remembered for this service. */
  readonly memory: RememberedStore;
  /** The query's previous result. */
  readonly previous?: unknown;
  /** Sends a query, joins the request in flight, or returns a result that has just arrived. */
  readonly shared?: (<Data>(query: SharedQuery<Data>) => Promise<Data>) | undefined;
  /** How runs are compared; the defaults if missing. */
  readonly compare?: CompareSettings | undefined;
  /** Other queries are polling running resources, so a list need not read each row's progress. */
  readonly isFollowed?: boolean;
  /**
   * Called for each part of a result that takes several requests, so that a refresh does not abort a query that is
   * making progress.
   */
  readonly progressed?: (() => void) | undefined;
}
