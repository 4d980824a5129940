/** Makes of an endpoint and its input what goes over the wire, or refuses before anything is sent. */
import type * as z from 'zod/mini';
import { type Endpoint, listQuery, type Method } from '../contract/common.ts';
import { own } from '../text/own.ts';
import { endpointUrl, fillPath } from './address.ts';
import type { Assumptions } from './assumptions.ts';
import { RequestError } from './errors.ts';
import { describeIssues, firstPath } from './issues.ts';

export interface CallInput<Query, Body> {
  readonly params?: Readonly<Record<string, string | number>> | undefined;
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

/**
 * The input with the agent of the profile, where the operation takes one and the input names none. An agent is given by its
 * id, or as `name:` and its name.
 */
export function withAgent(
  { agent: place }: Endpoint,
  input: CallInput<unknown, unknown>,
  agent: string | undefined,
): CallInput<unknown, unknown> {
  if (!place || agent === undefined) return input;
  const given = (input[place] ?? {}) as Fields;
  if (own(given, 'agent_id') !== undefined || own(given, 'agent_name') !== undefined) return input;
  return { ...input, [place]: { ...given, ...agentFields(agent) } };
}

/** How an agent is named in a request. */
export function agentFields(agent: string): { readonly agent_id: string } | { readonly agent_name: string } {
  const name = /^name:(.*)$/s.exec(agent)?.[1];
  return name === undefined ? { agent_id: agent } : { agent_name: name };
}

/** @throws RequestError where the input is not what the contract allows */
export function prepareRequest(
  endpoint: Endpoint,
  input: CallInput<unknown, unknown>,
  assumptions: Assumptions,
): PreparedRequest {
  const { operation } = endpoint;
  const pattern = assumptions.path(endpoint);
  const query = check(endpoint.query, input.query ?? {}, operation) ?? {};
  const body = check(endpoint.body, input.body, operation);
  const names = assumptions.query(operation, query as Record<string, string | number | boolean | null | undefined>);
  const path = fillPath(pattern, input.params ?? {});
  return {
    urlAt: base => endpointUrl(base, path, names),
    pattern,
    body: body && Buffer.from(JSON.stringify(assumptions.body(endpoint, body, input.params))),
    namesThing:
      pattern.includes('{') ||
      body !== undefined ||
      Object.keys(query).some(name => !Object.hasOwn(listQuery.shape, name)),
  };
}

/** A request as it would be sent, for a person to look at: without credentials, and without the values of secrets. */
export interface RequestPreview {
  readonly method: Method;
  /** Path with the query; what is not known yet of it is left as `{name}`. */
  readonly path: string;
  /** What is sent as JSON; undefined where nothing is. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Describes the request that a call would send, with the names that this service knows. Input that is not complete yet
 * is described as far as it goes.
 *
 * @param base where the service is; its own path comes before that of the endpoint
 */
export function describeRequest(
  endpoint: Endpoint,
  input: CallInput<unknown, unknown>,
  assumptions: Assumptions,
  base?: URL,
): RequestPreview {
  const { method, operation, sensitive = [] } = endpoint;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(assumptions.query(operation, read(endpoint.query, input.query) ?? {}))) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  const params = new Map(Object.entries(input.params ?? {}));
  const path = assumptions
    .path(endpoint)
    .replace(/\{(\w+)\}/g, (placeholder, name: string) => encodeURIComponent(params.get(name) ?? '') || placeholder);
  const body = endpoint.body && (read(endpoint.body, input.body) ?? {});
  const shown = body && Object.entries(body).map(([name, value]) => [name, sensitive.includes(name) ? hidden : value]);
  return {
    method,
    path: `${base?.pathname.replace(/\/$/, '') ?? ''}${path}${query.size > 0 ? `?${query}` : ''}`,
    body: shown && assumptions.body(endpoint, Object.fromEntries(shown), input.params),
  };
}

const hidden = '••••';

/** The value as its schema reads it, or as it is where it does not fit yet. */
function read(schema: z.ZodMiniType | undefined, value: unknown): Fields | undefined {
  const result = schema?.safeParse(value);
  return (result?.success ? result.data : value) as Fields | undefined;
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
