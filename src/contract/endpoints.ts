/** Every service endpoint by operation, and the types of its calls. */
import type * as z from 'zod/mini';
import * as areas from './areas.ts';

type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Areas = AllOf<(typeof areas)[keyof typeof areas]>;

export const endpoints = Object.assign({}, ...Object.values(areas)) as { [Name in keyof Areas]: Areas[Name] };
export type Operation = keyof typeof endpoints;

/** The names of a path's placeholders. */
type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;
type EndpointOf<Name extends Operation> = (typeof endpoints)[Name];
type SchemaOf<Name extends Operation, Part extends 'query' | 'body'> = NonNullable<EndpointOf<Name>[Part]>;
/** The schema of a missing query or body outputs undefined. */
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
    ? undefined extends z.input<SchemaOf<Name, 'body'>>
      ? { readonly body?: z.input<SchemaOf<Name, 'body'>> }
      : { readonly body: z.input<SchemaOf<Name, 'body'>> }
    : { readonly body?: undefined };

/** The input of a call: the path's ids, the query and the body. */
export type InputOf<Name extends Operation> = ParamsOf<Name> & QueryOf<Name> & BodyOf<Name>;
/** The query and the body of an operation, as the local service reads them. */
export type QueryRead<Name extends Operation> = Name extends Operation ? z.output<SchemaOf<Name, 'query'>> : never;
export type BodyRead<Name extends Operation> = Name extends Operation ? z.output<SchemaOf<Name, 'body'>> : never;
export type AnswerOf<Name extends Operation> = z.output<EndpointOf<Name>['response']>;
