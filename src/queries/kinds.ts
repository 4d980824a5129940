/** The kinds of resources whose statuses are kept. Each resource declares its own. */

export interface Kind {
  /** Runs by itself: it is counted and watched whether or not it is pinned, and its end is announced. */
  readonly runs?: boolean;
  /** Stays as it ended. Others may run again: a deployment is stopped, a benchmark loses a secret. */
  readonly endsForGood?: boolean;
  /** How far it is, is recorded over time: for its pace, and for a curve if the service has none. */
  readonly recordsProgress?: boolean;
}

/** By name, e.g. `run`. */
export type Kinds = ReadonlyMap<string, Kind>;
