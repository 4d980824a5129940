/** Every endpoint of the service, by operation, and the types of its calls. */
import type * as z from 'zod/mini';
import { benchmarkEndpoints } from './benchmarks.ts';
import { datasetEndpoints } from './datasets.ts';
import { deploymentEndpoints } from './deployments.ts';
import { evaluationEndpoints } from './evaluations.ts';
import { inferenceEndpoints } from './inference.ts';
import { modelEndpoints } from './models.ts';
import { secretEndpoints } from './secrets.ts';
import { trainingEndpoints } from './training.ts';
import { trajectoryEndpoints } from './trajectories.ts';

export const endpoints = {
  ...benchmarkEndpoints,
  ...evaluationEndpoints,
  ...trajectoryEndpoints,
  ...datasetEndpoints,
  ...trainingEndpoints,
  ...modelEndpoints,
  ...deploymentEndpoints,
  ...secretEndpoints,
  ...inferenceEndpoints,
} as const;
export type Operation = keyof typeof endpoints;

/** The names of a path's placeholders. */
type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;
type EndpointOf<Name extends Operation> = (typeof endpoints)[Name];
type SchemaOf<Name extends Operation, Part extends 'query' | 'body'> = NonNullable<EndpointOf<Name>[Part]>;
/** An endpoint without a query or a body declares a schema of undefined. */
type IsDeclared<Schema extends z.ZodMiniType> = [z.output<Schema>] extends [undefined] ? false : true;

type ParamsOf<Name extends Operation> = [PathNames<EndpointOf<Name>['path']>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<PathNames<EndpointOf<Name>['path']>, string | number>> };
type QueryOf<Name extends Operation> =
  IsDeclared<SchemaOf<Name, 'query'>> extends true
    ? { readonly query?: z.input<SchemaOf<Name, 'query'>> | undefined }
    : { readonly query?: undefined };
type BodyOf<Name extends Operation> =
  IsDeclared<SchemaOf<Name, 'body'>> extends true
    ? { readonly body: z.input<SchemaOf<Name, 'body'>> }
    : { readonly body?: undefined };

/** What a call of the operation takes: the ids of its path, its query and its body. */
export type InputOf<Name extends Operation> = ParamsOf<Name> & QueryOf<Name> & BodyOf<Name>;
/** What the operation answers. */
export type AnswerOf<Name extends Operation> = z.output<EndpointOf<Name>['response']>;
