/** The context in which a query reads its data. */
import type { CompareSettings } from '../config/preferences.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';

/** A query that other parts of the program may also have sent. The screen keeps the data of live queries only. */
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
  /** Sends a query in a context, joins the same request in flight, or returns a result that has just arrived. */
  readonly shared?: (<Data>(query: SharedQuery<Data>, context: QueryContext) => Promise<Data>) | undefined;
  /** How runs are compared; the defaults if missing. */
  readonly compare?: CompareSettings | undefined;
  /** Whether a list reads each row's progress, which the screen polls by other queries, and only a printed list shows. */
  readonly readsProgress?: boolean | undefined;
  /**
   * Called for each part of a result that takes several requests, so that a refresh does not abort a query that is
   * making progress.
   */
  readonly progressed?: (() => void) | undefined;
}

/** Reads a query, through {@link QueryContext.shared} if the context has it. */
export const readShared = <Data>(query: SharedQuery<Data>, context: QueryContext): Promise<Data> =>
  context.shared ? context.shared(query, context) : query.read(context);

/** A context that sends each query at most once, for a command or a poll that shows the state at one time. */
export function readingOnce<Context extends QueryContext>(context: Context): Context {
  const sent = new Map<string, Promise<unknown>>();
  const shared = <Data>(query: SharedQuery<Data>, reading: QueryContext): Promise<Data> => {
    const key = JSON.stringify(query.key);
    const answer = sent.get(key) ?? query.read(reading);
    sent.set(key, answer);
    // A later reader may have more time.
    answer.catch(() => reading.signal.aborted && sent.delete(key));
    return answer as Promise<Data>;
  };
  return { ...context, shared };
}
