/** Turns an endpoint and its input into a request, or refuses before anything is sent. */

import type * as z from 'zod/mini';
import { parseJson } from '../base/json-depth.ts';
import { isRecord, own } from '../base/own-property.ts';
import { trimEnd } from '../base/trim.ts';
import { addressProblem, isLoopback } from '../config/address.ts';
import { hiddenValue } from '../config/redaction.ts';
import { assumedPaths } from '../contract/assumptions.ts';
import { type Endpoint, isWrite, listQuery, type Method } from '../contract/common.ts';
import { agentFields } from '../contract/generation.ts';
import { describeIssues, firstPath } from '../contract/issues.ts';
import { parseWhole } from '../contract/proto-field.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import type { Assumptions } from './assumptions.ts';
import { ApiError, CapabilityMissingError, RequestError, type ServiceError } from './errors.ts';

export interface CallInput<Query, Body> {
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  readonly query?: Query | undefined;
  readonly body?: Body | undefined;
}

export interface PreparedRequest {
  /** The full URL below the service's base address. */
  readonly urlAt: (base: URL) => URL;
  /** The endpoint's path on this service, with its placeholders. */
  readonly pattern: string;
  readonly body: Uint8Array | undefined;
  /** The body for display: without sensitive values. */
  readonly redactedBody: () => string | undefined;
  /** Whether the path, the query or the body names a resource that may not exist. */
  readonly namesResource: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Adds the profile's agent to the input, if the operation takes one and the input names none. `agent` is an id, or
 * `name:` and a name.
 */
export function withAgent(
  { agent: place }: Endpoint,
  input: CallInput<unknown, unknown>,
  agent: string | undefined,
): CallInput<unknown, unknown> {
  if (!place || agent === undefined) return input;
  const fields = (input[place] ?? {}) as Fields;
  if (own(fields, 'agent_id') !== undefined || own(fields, 'agent_name') !== undefined) return input;
  return { ...input, [place]: { ...fields, ...agentFields(agent) } };
}

/** @throws RequestError if the input violates the contract */
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
    redactedBody: () =>
      body && JSON.stringify(assumptions.body(endpoint, withoutSensitive(endpoint, body), input.params)),
    namesResource:
      pattern.includes('{') ||
      body !== undefined ||
      Object.keys(query).some(name => !Object.hasOwn(listQuery.shape, name)),
  };
}

/** A request for display, without credentials and secret values. */
export interface RequestPreview {
  /** The operation's name in the contract. */
  readonly operation: string;
  readonly method: Method;
  /** Path with the query; unknown parts stay as `{name}`. */
  readonly path: string;
  /** The JSON body; undefined if there is none. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Describes the request that a call would send, with this service's names. The input may be incomplete.
 *
 * @param base the service's base address, whose path precedes the endpoint's
 */
export function describeRequest(
  endpoint: Endpoint,
  input: CallInput<unknown, unknown>,
  assumptions: Assumptions,
  base?: URL,
): RequestPreview {
  const { method, operation } = endpoint;
  const query = new URLSearchParams();
  setQuery(query, assumptions.query(operation, read(endpoint.query, input.query) ?? {}));
  const params = new Map(Object.entries(input.params ?? {}));
  const path = assumptions
    .path(endpoint)
    .replace(/\{(\w+)\}/g, (placeholder, name: string) => encodeURIComponent(params.get(name) ?? '') || placeholder);
  const isOptional = endpoint.body?.safeParse(undefined).success === true;
  const body = endpoint.body && (read(endpoint.body, input.body) ?? (isOptional ? undefined : {}));
  return {
    operation,
    method,
    path: `${base?.pathname.replace(/\/$/, '') ?? ''}${path}${query.size > 0 ? `?${query}` : ''}`,
    body: body && assumptions.body(endpoint, withoutSensitive(endpoint, body), input.params),
  };
}

function withoutSensitive({ sensitive = [] }: Endpoint, fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, sensitive.includes(name) ? hiddenValue : value]),
  );
}

/** The value parsed by its schema, or unchanged if it is not valid yet. */
function read(schema: z.ZodMiniType | undefined, value: unknown): Fields | undefined {
  const result = schema && parseWhole(schema, value);
  return (result?.success ? result.data : value) as Fields | undefined;
}

function check(schema: z.ZodMiniType | undefined, value: unknown, operation: string): Fields | undefined {
  if (!schema) return undefined;
  const read = parseWhole(schema, value);
  if (read.success) return read.data as Fields;
  const { issues } = read.error;
  throw new RequestError(`Nothing was sent: ${describeIssues(issues, value)}.`, {
    code: 'invalid_request',
    param: firstPath(issues),
    operation,
  });
}

/**
 * Validates a service's base address and removes its final slash.
 *
 * @param setting the setting's name, for the message
 * @throws RequestError if it is not a URL, carries a user name, or would send credentials unencrypted
 */
export function parseBase(text: string, setting: string, allowInsecureHttp: boolean): URL {
  const problem = addressProblem(text, allowInsecureHttp);
  if (problem) {
    throw new RequestError(`${setting} cannot be used: ${problem.reason}`, { code: problem.code, param: setting });
  }
  const url = new URL(text);
  url.pathname = trimEnd(url.pathname, '/');
  return url;
}

/** @throws RequestError if the address would send data unencrypted over a network and the profile does not allow it */
export function requireTls(url: URL, what: string, allowInsecureHttp: boolean): void {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && (isLoopback(url.hostname) || allowInsecureHttp)))
    return;
  throw new RequestError(
    `${what} (${url.host}) is not https, so anyone on the network path could read it. Nothing was sent. Use https, or allow insecure http in the profile if this network is trusted.`,
    { code: 'address_insecure', param: what },
  );
}

/**
 * Fills the `{name}` parts of a path with percent-encoded ids; ids may contain `/` and `:`.
 *
 * @throws RequestError if an id is empty, or `.` or `..`
 */
export function fillPath(path: string, params: Readonly<Record<string, string | number>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = String(own(params, name) ?? '');
    if (id === '' || id === '.' || id === '..') {
      throw new RequestError(id === '' ? `${name} is missing. Nothing was sent.` : clean`${name} cannot be “${id}”.`, {
        code: 'invalid_request',
        param: name,
      });
    }
    return encodeURIComponent(id.toWellFormed());
  });
}

/** An endpoint's URL below a base address; null and undefined query values are left out. */
export function endpointUrl(
  base: URL,
  path: string,
  query: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}${path}`;
  setQuery(url.searchParams, query);
  return url;
}

function setQuery(search: URLSearchParams, query: Fields): void {
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) search.set(name, String(value));
  }
}

/** The URL for a path with a query below a base address. */
export function pathUrl(base: URL, path: string): URL {
  const at = path.indexOf('?');
  const url = endpointUrl(base, at < 0 ? path : path.slice(0, at));
  if (at >= 0) url.search = path.slice(at);
  return url;
}

/** Replaces the body with one that is sent unchanged. Never shows its values, because any of them may be a secret. */
export function withPayload(request: PreparedRequest, payload: Uint8Array): PreparedRequest {
  const redactedBody = (): string =>
    `${bodyShape(parseJson(Buffer.from(payload).toString()))} (${counted(payload.byteLength, 'byte')})`;
  return { ...request, body: payload, redactedBody, namesResource: true };
}

const maxShownFields = 50;

/** The field names of an object, and of the objects in it, without values. */
function bodyShape(value: unknown, depth = 3): string {
  if (Array.isArray(value)) return `[${counted(value.length, 'item')}]`;
  if (!isRecord(value) || depth === 0) return '…';
  const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${bodyShape(each, depth - 1)}`);
  return `{${[...fields.slice(0, maxShownFields), ...(fields.length > maxShownFields ? ['…'] : [])].join(', ')}}`;
}

/** The error for a missing path, with advice on the setting that chose it. */
export function explainMissingPath(error: ServiceError, endpoint: Endpoint, assumptions: Assumptions): ServiceError {
  const { method, operation, path, newest } = endpoint;
  const isOptional = error instanceof CapabilityMissingError;
  // If an optional read is missing, the error is enough.
  if (isOptional ? !isWrite(endpoint) : !error.noSuchPath) return error;
  const setting = assumptions.settingOf(endpoint);
  let chosen: string;
  if (setting) chosen = `the path that ${setting} sets in the profile. Correct that setting.`;
  else if (assumedPaths.includes(operation)) {
    chosen = `the path that benchtop assumes. If the service has it elsewhere, set assumptions.path.${operation} in the profile.`;
  } else if (newest) {
    const [own, other, elsewhere] =
      assumptions.generationOf(endpoint) === 'newest'
        ? ['newest', 'document', path]
        : ['document', 'newest', newest.path];
    chosen = `the path of generation ${own}${assumptions.isStated ? ', which the profile sets' : ''}; generation ${other} has ${method} ${elsewhere}. If the service is of generation ${other}, set generation in the profile; otherwise set assumptions.path.${operation}.`;
  } else return error;
  const words = `does not have ${method} ${assumptions.path(endpoint)}, ${chosen}`;
  if (isOptional) return new CapabilityMissingError(operation, error, `${error.advice} It ${words}`.trim());
  return new ApiError(`This service ${words}`, error);
}

/** The address for chat completions below a deployment's address. */
export function chatAddress(url: URL): URL {
  const path = trimEnd(url.pathname, '/');
  if (path.endsWith('/chat/completions')) return url;
  const chat = new URL(url);
  chat.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}/chat/completions`;
  return chat;
}
