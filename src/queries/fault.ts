/** What a screen says of an error: in words, with what the user can do and what support will ask for. */
import type { Failure } from '../contract/errors.ts';
import { type ErrorKind, ServiceError } from '../service/errors.ts';

export interface Fault {
  /** What happened and what to do about it. */
  readonly message: string;
  /** Kind of error, by the answer as a whole; undefined where it is none of the service. */
  readonly kind?: ErrorKind | undefined;
  /** Name of its kind as the service gave it, e.g. `rate_limit_error`. */
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The request field that was refused. */
  readonly param?: string | undefined;
  readonly requestId?: string | undefined;
  /** Free-form detail that the service sent along; often the only thing that helps. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** What was wrong with the items of a batch. */
  readonly failures?: readonly Failure[] | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The service does not offer this at all: a quiet note, not an error. */
  readonly unlisted: boolean;
  /** The service itself says that it has no such resource: asking again will not help. */
  readonly gone: boolean;
  /** There was no answer from the address. */
  readonly unreachable: boolean;
  /** The answer to a write was lost: it may have happened. */
  readonly outcomeUnknown: boolean;
}

/** Describes anything that was thrown. */
export function faultOf(error: unknown): Fault {
  if (error instanceof ServiceError) {
    return {
      message: error.message,
      kind: error.kind,
      type: error.type,
      code: error.code,
      param: error.param,
      requestId: error.requestId,
      context: error.context,
      failures: error.failures,
      retryAfterMs: error.retryAfterMs,
      unlisted: error.kind === 'capability_missing',
      // A 404 without an envelope is a gateway's or a wrong address: it says nothing of the resource.
      gone: error.kind === 'not_found' && (error.type ?? error.code) !== undefined,
      unreachable: error.kind === 'network' || error.kind === 'timeout',
      outcomeUnknown: error.outcomeUnknown,
    };
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    unlisted: false,
    gone: false,
    unreachable: false,
    outcomeUnknown: false,
  };
}

/** What happened, and the request by which support finds it. Need not be safe for a terminal. */
export function faultWords({ message, requestId }: Pick<Fault, 'message' | 'requestId'>): string {
  return `${message}${requestId ? ` (request ${requestId})` : ''}`;
}

/** Whether other requests would fail in the same way, so that sending them helps nobody. */
export function failsAll(error: unknown): boolean {
  const { kind, unreachable } = faultOf(error);
  return unreachable || kind === 'authentication' || kind === 'read_only';
}
