/**
 * The optional endpoints that this service lacks, learned from its responses. Remembered for the session, or for a
 * minute if a gateway may have answered.
 */

import { isRecord } from '../base/own-property.ts';
import type { Endpoint } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import type { Envelope } from './answer-error.ts';
import { type Clock, systemClock } from './clock.ts';
import { CapabilityMissingError, type ErrorDetails, isUnsupported, ServiceError } from './errors.ts';
import { inSeconds, sentence } from './wire-error.ts';

export interface RefusedAnswer {
  /** The endpoint's path, with its placeholders. */
  readonly path: string;
  /** Whether the path, the query or the body names a resource that may not exist. */
  readonly namesResource: boolean;
  readonly status: number;
  readonly envelope: Envelope | undefined;
  readonly text: string;
  /** The response's message. */
  readonly words?: string | undefined;
  /** The ids in the path and in the body. */
  readonly ids?: readonly string[] | undefined;
  /** Whether a field in the query or the body may have been refused. */
  readonly concernsInput?: boolean | undefined;
}

const routeCode =
  /^((unknown|no_such|invalid)_(route|url|path|endpoint)|(route|url|path|endpoint|page)_not_found|not_implemented|method_not_allowed)$/;
/** The text that common servers and gateways send for an unknown route. */
const routeText =
  /^\s*(<|(404 )?(page )?not found\.?\s*$|cannot (get|post|put|patch|delete) \/|(there is )?no (such )?route|(unknown|unhandled) route|route not found|invalid url)/i;

/**
 * Whether a response means that the endpoint, rather than the resource, does not exist: 404, 405, 422 or 501 if the
 * path names no resource, or with a body for an unknown route. A 405 or 501 never concerns a resource.
 */
function isMissingRoute({ path, namesResource, status, envelope, text, ...answer }: RefusedAnswer): boolean {
  if (isUnsupported(status)) return true;
  // Another endpoint matched, taking part of the path as an id.
  if (status === 422) return !path.includes('{') && answer.concernsInput === false;
  if (status !== 404) return false;
  if (envelope?.code === 'resource_not_found') return !namesResource;
  if (!path.includes('{')) return true;
  if (envelope) return routeCode.test(envelope.code ?? '') || routeText.test(envelope.message ?? '');
  // FastAPI and others: `{"detail": "Not Found"}`.
  const detail = /^\s*\{\s*"(?:detail|message|error)"\s*:\s*"([^"]*)"/.exec(text)?.[1];
  return routeText.test(detail ?? text);
}

/**
 * Whether a 422 may have refused a field in the query or the body, rather than an id in the path.
 *
 * @param place where the field was, as FastAPI names it: `path`, `query` or `body`
 */
export function isOfInput(
  { param = '', place }: { readonly param?: string | undefined; readonly place?: unknown },
  { path, sent, isWrite }: { readonly path: string; readonly sent: URLSearchParams; readonly isWrite: boolean },
): boolean {
  if (place !== undefined) return place !== 'path';
  return sent.has(param) || (isWrite && !path.includes(`{${param}}`));
}

const specificCode = /^(?!resource_|route_|path_|url_|endpoint_|page_)\w+_not_found$/;

/** Whether an error code names a kind of resource. A router does not know these kinds. */
export const namesKind = (code: string | undefined): boolean => specificCode.test(code ?? '');

/**
 * Whether the service refused the key because it lacks a permission. A gateway that does not know the path sends no
 * such envelope.
 */
const namesPermission = ({ type, code }: { readonly type?: string | undefined; readonly code?: string | undefined }) =>
  type === 'permission_error' || code === 'permission_denied';

/**
 * Whether a read was refused with a status that gateways and routers also use for unknown paths: AWS API Gateway 403
 * (`Missing Authentication Token`), others 400 or 410.
 */
function isOddRefusal({ status, envelope, concernsInput = false }: RefusedAnswer, { method }: Endpoint): boolean {
  if (method !== 'GET' || concernsInput) return false;
  return status === 403 ? !namesPermission(envelope ?? {}) : status === 400 || status === 410;
}

/**
 * Whether a refusal comes from the service or its framework. While a service restarts, a gateway answers with its own
 * page or an empty body.
 */
function isFromService({ envelope, text }: RefusedAnswer): boolean {
  return envelope !== undefined || !/^\s*(<|$)/.test(text);
}

/** Whether the service itself, not a gateway, answered that it lacks the path, so nothing was done. */
export function isMissingPath(answer: RefusedAnswer): boolean {
  return isMissingRoute(answer) && isFromService(answer);
}

/** More ids than a user views in a session. The set is cleared when it is full. */
const maxKnownIds = 20_000;

/** How long a gateway's response is trusted, in milliseconds. */
const gatewayMissTtlMs = 60_000;

export class Capabilities {
  /** When to retry an operation, in monotonic milliseconds; infinite if the service itself answered. */
  readonly #missing = new Map<string, number>();
  /** Operations that have worked: a 404 from one of them concerns the resource. */
  readonly #proven = new Set<string>();
  /** Ids in this session's responses: their resources exist. */
  readonly #ids = new Set<string>();
  /** Ids that a search of the lists did not find. */
  readonly unlisted = new Set<string>();
  /** Ids of ended runs whose progress was not found. */
  readonly withoutProgress = new Set<string | undefined>();
  /** Filters that the service ignored: it returned rows that they exclude. */
  readonly ignoredFilters = new Set<string>();
  /** Cursors of the list pages on which benchmarks were found, by their ids. */
  readonly foundAt = new Map<string, string | undefined>();
  /** Names of models that are known not to be deployment ids. */
  readonly notDeployments = new Set<string>();
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
  }

  /** False while the service is assumed not to offer this endpoint. */
  has(operation: Operation): boolean {
    return this.#missingFor(operation) === 0;
  }

  /** Every endpoint that is assumed to be missing. */
  missing(): string[] {
    return [...this.#missing.keys()].filter(operation => this.#missingFor(operation) > 0).sort();
  }

  /** Forgets everything: after a manual refresh, or when another instance of the service may offer more. */
  forget(): void {
    this.#missing.clear();
    this.#proven.clear();
    this.#ids.clear();
    this.unlisted.clear();
    this.withoutProgress.clear();
    this.ignoredFilters.clear();
    this.foundAt.clear();
    this.notDeployments.clear();
  }

  /** Records a success: the endpoint exists, and so do the resources in its response. */
  hasWorked(
    { operation, method }: Pick<Endpoint, 'operation' | 'method'>,
    answer: unknown,
    ids: readonly string[],
  ): void {
    this.#proven.add(operation);
    this.#missing.delete(operation);
    if (method === 'DELETE') for (const id of ids) this.#ids.delete(id);
    else this.#learnIds(answer, ids);
  }

  #learnIds(answer: unknown, requested: readonly string[]): void {
    if (this.#ids.size > maxKnownIds) this.#ids.clear();
    for (const id of requested) this.#ids.add(id);
    const rows = isRecord(answer) ? [answer, ...(Array.isArray(answer['items']) ? answer['items'] : [])] : answer;
    for (const row of Array.isArray(rows) ? rows : []) {
      for (const [name, value] of isRecord(row) ? Object.entries(row) : []) {
        if (name.endsWith('_id') && typeof value === 'string') this.#ids.add(value);
      }
    }
  }

  /** Whether the path itself must be missing, because the service has sent these resources' ids before. */
  #isOfPath({ status, path, envelope, ids }: RefusedAnswer): boolean {
    const isOfResource = /._not_found$/.test(envelope?.code ?? '');
    return status === 404 && path.includes('{') && envelope !== undefined && !isOfResource && this.#areKnown(ids);
  }

  #areKnown(ids: readonly string[] = []): boolean {
    return ids.length > 0 && ids.every(id => this.#ids.has(id));
  }

  /** @throws CapabilityMissingError if the endpoint is assumed to be missing, so that nothing is sent */
  require(endpoint: Endpoint): void {
    const left = endpoint.capability ? this.#missingFor(endpoint.operation) : 0;
    if (left > 0) throw missingError(endpoint, left);
  }

  /**
   * Whether the service may lack the endpoint rather than the resource, because the endpoint is optional and has not
   * worked yet: services may send the same response for both.
   */
  mayLack(endpoint: Endpoint, answer: RefusedAnswer): boolean {
    const { capability = false, operation } = endpoint;
    const { status, envelope, concernsInput = false } = answer;
    // A 403 may also concern the key, until something has worked with it.
    if (!capability || this.#proven.has(operation) || (status === 403 && this.#proven.size === 0)) return false;
    if (status === 422) return !concernsInput;
    return (status === 404 || isOddRefusal(answer, endpoint)) && !namesKind(envelope?.code);
  }

  /** Whether a 403 may concern either the key or the path. Another read decides. */
  isInDoubt({ capability = false, method }: Endpoint, refusal: ServiceError): boolean {
    const mayBePath = capability && method === 'GET' && refusal.status === 403 && !namesPermission(refusal);
    return mayBePath && this.#proven.size === 0;
  }

  /** Records that a refusal's endpoint is missing, because the resource was found elsewhere. */
  confirmMissing(refusal: unknown): void {
    if (!(refusal instanceof ServiceError) || !refusal.mayLackPath) return;
    const { operation, type, code, status } = refusal;
    if (operation === undefined || this.#proven.has(operation)) return;
    this.#miss(operation, (type ?? code) !== undefined || status !== 404);
  }

  /** Learns from a refusal. Returns an error if it means that the endpoint is missing. */
  learn(endpoint: Endpoint, answer: RefusedAnswer, details: ErrorDetails): CapabilityMissingError | undefined {
    if (!endpoint.capability) return undefined;
    const facts = { ...details, status: answer.status };
    // If a read's resource is missing, it is looked up in the lists. For a write to ids that this session has read, the
    // response decides.
    if (details.mayLackPath && endpoint.method !== 'GET' && this.#areKnown(answer.ids)) {
      const words = answer.envelope?.message;
      return new CapabilityMissingError(endpoint.operation, facts, words && describeAnswer(words));
    }
    const isOdd = isOddRefusal(answer, endpoint) && !answer.path.includes('{') && this.mayLack(endpoint, answer);
    if (!isOdd && !isMissingRoute(answer) && !this.#isOfPath(answer)) return undefined;
    const isProven = this.#proven.has(endpoint.operation);
    if (isProven && answer.status === 404 && answer.path.includes('{')) return undefined;
    const left = this.#miss(endpoint.operation, isFromService(answer));
    return missingError(endpoint, left, facts, isOdd ? answer.words : undefined);
  }

  /** Records a missing endpoint. @returns how long benchtop does not request it again, in milliseconds */
  #miss(operation: string, isFromService: boolean): number {
    const left = isFromService ? Number.POSITIVE_INFINITY : gatewayMissTtlMs;
    this.#missing.set(operation, this.#clock.monotonic() + left);
    return left;
  }

  #missingFor(operation: string): number {
    return Math.max(0, (this.#missing.get(operation) ?? 0) - this.#clock.monotonic());
  }
}

const describeAnswer = (words: string): string => `It answered: ${sentence(words)}`;

/** @param left milliseconds until benchtop requests it again */
function missingError({ operation }: Endpoint, left: number, details: ErrorDetails = {}, words?: string) {
  const answered = words && describeAnswer(words);
  if (!Number.isFinite(left)) return new CapabilityMissingError(operation, details, answered);
  const retryAfterMs = Math.ceil(left);
  const advice = `A gateway may have answered instead: benchtop tries again in ${inSeconds(retryAfterMs)}.`;
  const both = [answered, advice].filter(Boolean).join(' ');
  return new CapabilityMissingError(operation, { ...details, retryAfterMs }, both);
}
