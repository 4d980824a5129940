/** What the engine works with: the stores, and a thread for each kind of work, so that none waits for another. */
import type { Stores } from '../store/stores.ts';
import type { Catalog } from './catalog.ts';
import type { WorkerThread } from './worker-thread.ts';

export interface EngineParts extends Stores {
  readonly dataFolder: string;
  readonly catalog: Catalog;
  /** The model that was loaded to probe a deployment stays ready here. */
  readonly chatWorker: WorkerThread;
  readonly sampler: WorkerThread;
  readonly trainer: WorkerThread;
  /** For graders alone: an expression may hang it. */
  readonly graders: WorkerThread;
}
