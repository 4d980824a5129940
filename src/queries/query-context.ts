/** What a query needs to read its data. */
import type { CompareSettings } from '../config/preferences.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from './remembered/store.ts';

export interface QueryContext {
  readonly service: Service;
  readonly signal: AbortSignal;
  /** Resources seen on this service before. */
  readonly memory: RememberedStore;
  /** How runs are compared; by default if missing. */
  readonly compare?: CompareSettings | undefined;
  /** What runs is followed beside this query: how far it is need not be asked for with each row of a list. */
  readonly isFollowed?: boolean;
  /** Called with each part of an answer that takes several requests: a refresh does not give up what makes progress. */
  readonly progressed?: (() => void) | undefined;
}
