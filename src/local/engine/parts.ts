/** The stores, and one worker thread per kind of work, so that no kind waits for another. */
import type { Stores } from '../store/stores.ts';
import type { Catalog } from './catalog.ts';
import type { WorkerThread } from './worker-thread.ts';

export interface EngineParts extends Stores {
  readonly dataFolder: string;
  readonly catalog: Catalog;
  /** Keeps the model that was loaded to probe a deployment in memory. */
  readonly chatWorker: WorkerThread;
  readonly sampler: WorkerThread;
  readonly trainer: WorkerThread;
  /** Has its own thread because a regular expression may make it hang. */
  readonly graders: WorkerThread;
}
