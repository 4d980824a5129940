/** How an operation is answered: a function from the checked request to the body of the answer. */
import * as z from 'zod/mini';
import type { Endpoint } from '../../contract/common.ts';
import type { Operation } from '../../contract/endpoints.ts';
import type { Call, ServiceContext } from './context.ts';

export type Handler = (call: Call) => unknown;

/** Where an operation is called, and by whom. */
export type Route = Pick<Endpoint, 'operation' | 'method' | 'path' | 'auth' | 'query'>;

const optionsQuery = z.strictObject({ bench_id: z.optional(z.string()), base_model_slug: z.optional(z.string()) });
export type OptionsQuery = z.output<typeof optionsQuery>;

/** Operations that only clients of later generations call. */
export const otherEndpoints = [
  { operation: 'createTrajectory', method: 'POST', path: '/api/v1/trajectories', auth: 'apiKey' },
  { operation: 'getEvalOptions', method: 'GET', path: '/api/v1/eval/options', auth: 'apiKey', query: optionsQuery },
  {
    operation: 'getBenchmarkSpec',
    method: 'GET',
    path: '/api/v1/benchmarks/{bench_id}/spec',
    auth: 'apiKey',
    query: z.strictObject({ include_tasks: z.optional(z.boolean()) }),
  },
  { operation: 'countTasks', method: 'GET', path: '/api/v1/benchmarks/{bench_id}/task-count', auth: 'apiKey' },
] as const satisfies readonly Route[];

/** Handlers by operation, of an area of the contract. */
export type Handlers = Partial<Readonly<Record<Operation | (typeof otherEndpoints)[number]['operation'], Handler>>>;

/** An area of the contract: what answers its operations, and the tables that are its own. */
export interface Area {
  /** Stable: the forms of its tables are counted under it. */
  readonly name: string;
  readonly routes: (service: ServiceContext) => Handlers;
  /** The forms of its tables, each a step from the one before. A step that has been released is never changed. */
  readonly migrations?: readonly string[];
}
