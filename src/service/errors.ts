/**
 * The service layer's errors. An error holds only facts for the user or support: never the request, its headers or a
 * library's error object, which carry credentials.
 */
import { describeCapability } from '../contract/capabilities.ts';
import type { Failure } from '../contract/errors.ts';
import { clean } from '../text/sanitise.ts';

export type ErrorKind =
  | 'api'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'conflict'
  | 'validation'
  | 'rate_limit'
  | 'server'
  | 'network'
  | 'timeout'
  | 'response'
  | 'request'
  | 'upload_url'
  | 'cancelled'
  | 'read_only'
  | 'capability_missing';

/** Explicit, because a bundler may shorten class names. */
const errorNames: Record<ErrorKind, string> = {
  api: 'ApiError',
  authentication: 'AuthenticationError',
  permission: 'PermissionError',
  not_found: 'NotFoundError',
  conflict: 'ConflictError',
  validation: 'ValidationError',
  rate_limit: 'RateLimitError',
  server: 'ServerError',
  network: 'NetworkError',
  timeout: 'TimeoutError',
  response: 'ResponseError',
  request: 'RequestError',
  upload_url: 'UploadUrlError',
  cancelled: 'CancelledError',
  read_only: 'ReadOnlyError',
  capability_missing: 'CapabilityMissingError',
};

/** The part of a chat answer that arrived before it broke off. */
interface PartialAnswer {
  readonly content: string;
  readonly reasoning: string;
  readonly refusal?: string;
}

export interface ErrorDetails {
  /** `type` and `code` from the service, or one of our own codes (`ECONNREFUSED`, `redirected`…). */
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The refused field or setting. */
  readonly param?: string | undefined;
  /** The service's page about the code. */
  readonly docUrl?: string | undefined;
  /** Free-form details from the service. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** The service's message, as a sentence without advice. */
  readonly words?: string | undefined;
  /** Errors of a batch's items. */
  readonly failures?: readonly Failure[] | undefined;
  /** HTTP status of the last response. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** How many requests this call made; 0 if nothing was sent. */
  readonly attempts?: number | undefined;
  /** The wait requested by the service, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Name of the endpoint, e.g. `startEval`. */
  readonly operation?: string | undefined;
  /** True for a write that may have happened: its response was lost, or reports only that the service failed. */
  readonly outcomeUnknown?: boolean | undefined;
  /** True if the service answered that it lacks the path, so nothing was done. */
  readonly noSuchPath?: boolean | undefined;
  /** True for the refusal of an optional operation that may concern its path rather than the resource. */
  readonly mayLackPath?: boolean | undefined;
  /** The request's key: a repeat with the same key cannot start the work twice. */
  readonly idempotencyKey?: string | undefined;
  readonly partial?: PartialAnswer | undefined;
  /**
   * The request's address, if the service named it, as for a deployment; if so, no profile setting is wrong.
   */
  readonly namedOrigin?: string | undefined;
}

/** Base class of the service layer's errors. `message` includes advice. */
export class ServiceError extends Error {
  readonly kind: ErrorKind;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly docUrl: string | undefined;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly words: string | undefined;
  readonly failures: readonly Failure[];
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly attempts: number;
  readonly retryAfterMs: number | undefined;
  readonly operation: string | undefined;
  readonly outcomeUnknown: boolean;
  readonly noSuchPath: boolean;
  readonly mayLackPath: boolean;
  readonly idempotencyKey: string | undefined;
  readonly partial: PartialAnswer | undefined;
  readonly namedOrigin: string | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = errorNames[kind];
    this.kind = kind;
    this.type = details.type;
    this.code = details.code;
    this.param = details.param;
    this.docUrl = details.docUrl;
    this.context = details.context;
    this.words = details.words;
    this.failures = details.failures ?? [];
    this.status = details.status;
    this.requestId = details.requestId;
    this.attempts = details.attempts ?? 0;
    this.retryAfterMs = details.retryAfterMs;
    this.operation = details.operation;
    this.outcomeUnknown = details.outcomeUnknown ?? false;
    this.noSuchPath = details.noSuchPath ?? false;
    this.mayLackPath = details.mayLackPath ?? false;
    this.idempotencyKey = details.idempotencyKey;
    this.partial = details.partial;
    this.namedOrigin = details.namedOrigin;
  }

  /** This error with advice after its message. */
  withAdvice(advice: string): ServiceError {
    return new ServiceError(this.kind, `${this.message} ${advice}`, this);
  }

  /** The error as data; `JSON.stringify` drops missing fields. */
  toJSON(): ErrorDetails & { readonly name: string; readonly kind: ErrorKind; readonly message: string } {
    const {
      name,
      kind,
      message,
      failures,
      outcomeUnknown,
      noSuchPath: _,
      mayLackPath: __,
      words: ___,
      ...details
    } = this;
    const known = { failures: failures.length > 0 ? failures : undefined, outcomeUnknown: outcomeUnknown || undefined };
    return { name, kind, message, ...details, ...known };
  }
}

/** The service answered with an error. The subclasses cover the common kinds. */
export class ApiError extends ServiceError {
  constructor(message: string, details: ErrorDetails = {}, kind: ErrorKind = 'api') {
    super(kind, message, details);
  }
}

/** Declares the error class for a kind. */
const answered = (kind: ErrorKind) =>
  class extends ApiError {
    constructor(message: string, details: ErrorDetails = {}) {
      super(message, details, kind);
    }
  };
const unanswered = (kind: ErrorKind) =>
  class extends ServiceError {
    constructor(message: string, details: ErrorDetails = {}) {
      super(kind, message, details);
    }
  };

/** The credential is missing or unknown. */
export class AuthenticationError extends answered('authentication') {}

/** The credential is known but lacks the permission. */
export class PermissionError extends answered('permission') {}

/** The resource does not exist, or belongs to another organization. */
export class NotFoundError extends answered('not_found') {}

/** Adds the id to a not-found error, for a request about several resources. */
export function naming(id: string, error: unknown): unknown {
  if (!(error instanceof NotFoundError) || error.message.includes(id)) return error;
  return new NotFoundError(clean`${id}: ${error.message}`, error);
}

/** The resource's state does not allow this. */
export class ConflictError extends answered('conflict') {}

/** The service rejected the request as invalid. */
export class ValidationError extends answered('validation') {}

export class RateLimitError extends answered('rate_limit') {}

/** The service or one of its dependencies failed. */
export class ServerError extends answered('server') {}

/** The connection could not be made, or was lost. */
export class NetworkError extends unanswered('network') {}

/** No connection, no data or no complete response in time. */
export class TimeoutError extends unanswered('timeout') {}

/** The response violates the contract. */
export class ResponseError extends unanswered('response') {}

/** Nothing was sent: the request or a setting is invalid. */
export class RequestError extends unanswered('request') {}

/** A signed upload address has expired or was refused: request a new one. */
export class UploadUrlError extends unanswered('upload_url') {}

/** The caller aborted the call. */
export class CancelledError extends unanswered('cancelled') {}

/** The call would write, but the program is read-only: nothing was sent. */
export class ReadOnlyError extends ServiceError {
  constructor(operation?: string) {
    super('read_only', 'Nothing was sent: benchtop is read-only, because of --read-only or the settings.', {
      code: 'read_only',
      operation,
    });
  }
}

/** This service does not offer the endpoint. Not a failure: work without it. */
export class CapabilityMissingError extends ServiceError {
  readonly #advice: string;

  constructor(operation: string, details: ErrorDetails = {}, advice = '') {
    const message = `This service does not ${describeCapability(operation)}. ${advice}`.trim();
    super('capability_missing', message, { ...details, operation });
    this.#advice = advice;
  }

  /** Advice for the user, or empty. Not serialised, because the message includes it. */
  get advice(): string {
    return this.#advice;
  }
}

/** The service itself answered that there is no such resource: retrying does not help. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.kind !== 'not_found' || error.mayLackPath) return false;
  // A 404 without an envelope comes from a gateway or a wrong address, and proves nothing about the resource.
  return (error.type ?? error.code) !== undefined;
}

/** Whether a 404 may concern the path: for a missing resource, the document specifies `resource_not_found`. */
export function mayLackPath(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.mayLackPath || (isGone(error) && !/._not_found$/.test(String(error.code)));
}

/**
 * Whether the service lacks this operation, or may lack it. Shown as a note, not as an error: the resource itself may
 * exist.
 */
export function isNotOffered(error: unknown): error is ServiceError {
  return error instanceof CapabilityMissingError || (error instanceof ServiceError && error.mayLackPath);
}

/** Whether there is nothing to read: the resource is gone, or the service lacks the operation. */
export const isAbsent = (error: unknown): boolean => isGone(error) || isNotOffered(error);

/** Reads a value; undefined if it does not exist. @throws any other error from `read` */
export async function ifThere<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Whether a failed call may have been carried out. */
export function mayHaveHappened(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.outcomeUnknown;
}

/** Whether a write was sent, and its outcome is unknown. */
export function isUnanswered(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.outcomeUnknown;
}

/** Whether the service would refuse the same request every time. */
export function isLastingRefusal(error: unknown): boolean {
  if (isNotOffered(error)) return error.retryAfterMs === undefined;
  return isGone(error) || (error instanceof ServiceError && ['permission', 'validation'].includes(error.kind));
}

/** Whether the service did not respond. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'network' || error.kind === 'timeout');
}

/** Whether a status means that the service does not offer the operation at all, whatever the body says. */
export const isUnsupported = (status: number | undefined): boolean => status === 405 || status === 501;

/** Whether the service is out of storage (507). */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 507;
}

/** Codes of problems with a setting that prevent every request. */
const settingCodes: ReadonlySet<unknown> = new Set(['data_folder', 'credential_unavailable', 'credential_invalid']);

/** Whether other requests would fail the same way. */
export function affectsAllRequests(error: unknown): boolean {
  if (isUnreachable(error) || hasNoRoom(error)) return true;
  if (!(error instanceof ServiceError)) return false;
  return settingCodes.has(error.code) || ['authentication', 'read_only', 'rate_limit'].includes(error.kind);
}

/**
 * Whether only this request failed: its resource exists, the service offers the operation, and other requests may
 * succeed.
 */
export function failsAlone(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.kind !== 'cancelled' && !affectsAllRequests(error) && !isAbsent(error);
}

/** Whether the profile's address or key may be wrong. */
export function mayBeMisconfigured(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  if (isUnreachable(error)) return error.namedOrigin === undefined;
  return error.kind === 'authentication' || error.kind === 'permission';
}

/** The message, with the request id for support; not sanitised. */
export function describeError({
  message,
  requestId,
}: {
  readonly message: string;
  readonly requestId?: string | undefined;
}) {
  return `${message}${requestId ? ` (request ${requestId})` : ''}`;
}
