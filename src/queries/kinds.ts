/** The kinds of resources whose statuses are tracked. Each resource declares its own. */

export interface Kind {
  /** Runs on its own: it is counted and watched even without a pin, and its end is announced. */
  readonly runs?: boolean;
  /** Its end is final. Other kinds may change again: a deployment is stopped, a benchmark loses a secret. */
  readonly endsForGood?: boolean;
  /** Its progress is recorded over time, for its pace, and for a curve if the service has none. */
  readonly recordsProgress?: boolean;
}

/** By name, e.g. `run`. */
export type Kinds = ReadonlyMap<string, Kind>;
