/** The context in which queries read their data. */
import type { CompareSettings } from '../config/preferences.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';

/** A query that other parts of the program may have sent. */
export interface SharedQuery<Data> {
  readonly key: readonly unknown[];
  readonly read: (context: QueryContext) => Promise<Data>;
}

export interface QueryContext {
  readonly service: Service;
  readonly signal: AbortSignal;
  /** The remembered resources of this service. */
  readonly memory: RememberedStore;
  /** The previous answer to the query. */
  readonly previous?: unknown;
  /** Sends a query, joins the request in flight, or returns an answer that has just arrived. */
  readonly shared?: (<Data>(query: SharedQuery<Data>) => Promise<Data>) | undefined;
  /** How runs are compared; the defaults if missing. */
  readonly compare?: CompareSettings | undefined;
  /** Other queries poll running resources, so a list need not read the progress of each row. */
  readonly isFollowed?: boolean;
  /** Called for each part of an answer of several requests, so that a refresh does not abort a progressing query. */
  readonly progressed?: (() => void) | undefined;
}
