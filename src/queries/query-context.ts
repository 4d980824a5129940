/** What a query is given to ask with. */
import type { Service } from '../service/index.ts';
import type { RememberedStore } from './remembered/store.ts';

export interface QueryContext {
  readonly service: Service;
  readonly signal: AbortSignal;
  /** What was seen of this service before. */
  readonly memory: RememberedStore;
}
