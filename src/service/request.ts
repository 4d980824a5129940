/** Makes of an endpoint and its input what goes over the wire, or refuses before anything is sent. */
import type * as z from 'zod/mini';
import { type Endpoint, listQuery } from '../contract/common.ts';
import { endpointUrl, fillPath } from './address.ts';
import type { Assumptions } from './assumptions.ts';
import { RequestError } from './errors.ts';
import { describeIssues, firstPath } from './issues.ts';

export interface CallInput<Query, Body> {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Query | undefined;
  readonly body?: Body | undefined;
}

export interface PreparedRequest {
  /** The whole address under the base at which the service is. */
  readonly urlAt: (base: URL) => URL;
  /** Path of the endpoint with its placeholders, as this service knows it. */
  readonly pattern: string;
  readonly body: Uint8Array | undefined;
  /** The path, the query or the body names something that may not exist. */
  readonly namesThing: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** @throws RequestError where the input is not what the contract allows */
export function prepareRequest(
  endpoint: Endpoint,
  input: CallInput<unknown, unknown>,
  assumptions: Assumptions,
): PreparedRequest {
  const { operation } = endpoint;
  const pattern = assumptions.path(operation, endpoint.path);
  const query = check(endpoint.query, input.query ?? {}, operation) ?? {};
  const body = check(endpoint.body, input.body, operation);
  const names = assumptions.query(operation, query as Record<string, string | number | boolean | null | undefined>);
  const path = fillPath(pattern, input.params ?? {});
  return {
    urlAt: base => endpointUrl(base, path, names),
    pattern,
    body: body && Buffer.from(JSON.stringify(assumptions.body(operation, body))),
    namesThing:
      pattern.includes('{') || body !== undefined || Object.keys(query).some(name => !(name in listQuery.shape)),
  };
}

function check(schema: z.ZodMiniType | undefined, value: unknown, operation: string): Fields | undefined {
  if (!schema) return undefined;
  const read = schema.safeParse(value);
  if (read.success) return read.data as Fields;
  const { issues } = read.error;
  throw new RequestError(`Nothing was sent: ${describeIssues(issues)}.`, {
    code: 'invalid_request',
    param: firstPath(issues),
    operation,
  });
}
