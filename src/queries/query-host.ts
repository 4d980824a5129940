/** The interface of the program that runs queries. The workbench implements it. */
import type { QueryClient } from '@tanstack/react-query';
import type { CompareSettings } from '../config/preferences.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';
import type { FailedQueries } from './failed-queries.ts';
import type { Lists } from './lists/lists.ts';
import type { PollIntervals } from './polling.ts';
import type { StatusStore } from './statuses/store.ts';

export interface QueryHost {
  /** Returns the service, loading it and connecting on first use. */
  readonly service: () => Promise<Service>;
  readonly remembered: RememberedStore;
  readonly cache: QueryClient;
  readonly lists: Lists;
  readonly statuses: StatusStore;
  readonly failed: FailedQueries;
  /** When each query in flight last made progress, by hash; in monotonic milliseconds. */
  readonly waitingSince: Map<string, number>;
  readonly poll: PollIntervals;
  readonly compare: CompareSettings;
  readonly paused: boolean;
}
