/** How an operation is answered: a function from the checked request to the body of the answer. */
import type { Operation } from '../../contract/endpoints.ts';
import type { Call } from './context.ts';

export type Handler = (call: Call) => unknown;

/** Handlers by operation, of an area of the contract. */
export type Handlers = Partial<Record<Operation, Handler>>;
