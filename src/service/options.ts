/** The options of a service and of a single call. All times are in milliseconds. */
import type { Endpoint } from '../contract/common.ts';
import type { Generation } from '../contract/generation.ts';
import type { Clock } from './clock.ts';
import type { Gates } from './gate.ts';
import type { GenerationMemory } from './generation.ts';
import type { Tracer } from './trace.ts';

export interface Timeouts {
  /** For the lookup of the name, the connection and TLS together. */
  readonly connectMs: number;
  /** Without any sign of life. */
  readonly silenceMs: number;
  /** For the whole call with its retries; undefined for no limit. */
  readonly deadlineMs: number | undefined;
}

/** An address at which a service can be asked, with the credential that counts there. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Knows where a service is that may end, or move to another port, while it is in use. All callers share one. */
export interface Supervisor {
  /**
   * Where the service is now, started if it does not run; asked before every attempt.
   *
   * @throws Error with words for the user if it cannot be had
   */
  readonly locate: (signal: AbortSignal) => Promise<Target>;
  /**
   * A request did not reach `lost`, or its answer broke off. Returns whether the service has been found or started
   * again since, so that what may be repeated is worth another attempt.
   */
  readonly recover: (lost: Target, signal: AbortSignal) => Promise<boolean>;
  /** A request was answered there: it does not hang. */
  readonly answered?: (target: Target) => void;
}

export interface ServiceOptions {
  /** Refuses every call that writes, before a credential is read or anything is sent. */
  readonly readOnly?: boolean | undefined;
  /** Where the service is, for one that may move. `baseUrl` is what it is called then, and is not asked. */
  readonly supervisor?: Supervisor | undefined;
  readonly baseUrl: string;
  /** Where chat completions go, if not to `baseUrl`. */
  readonly inferenceUrl?: string | undefined;
  /** Reads the organization API key: once, and again after the service refused it. Empty for none. */
  readonly apiKey: () => Promise<string>;
  /** Reads the bearer token of inference, in the same way. The same function as `apiKey` where one source gives both. */
  readonly inferenceToken: () => Promise<string>;
  /** A PEM file of certificates to trust in addition to the usual ones. */
  readonly caFile?: string | undefined;
  /** Allows http over a network. Without it, http is for this machine's own addresses. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** What this service calls differently, by the names of `defaultAssumptions`. */
  readonly assumptions?: Readonly<Record<string, string>> | undefined;
  /** What generation of the service the profile says this is; it is found out if this is missing. */
  readonly generation?: Generation | undefined;
  /** Where what is found out about the generation is kept. */
  readonly generationMemory?: GenerationMemory | undefined;
  /** Whose benchmarks and trajectories are uploaded: the id of an agent, or `name:` and its name. */
  readonly agent?: string | undefined;
  readonly userAgent: string;
  readonly logger?: Logger | undefined;
  readonly tracer?: Tracer | undefined;
  /** The gates of the process, so that all its services share one for each host; by default a service has its own. */
  readonly gates?: Gates | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly clock?: Clock | undefined;
}

export interface CallOptions extends Partial<Timeouts> {
  readonly signal?: AbortSignal | undefined;
  /** Largest answer that is read, in bytes. */
  readonly maxBytes?: number | undefined;
  /**
   * Asked by the program for itself, again and again: it is not retried, as the next poll is the retry, and goes behind
   * what the user has asked for if the host limits the rate of requests.
   */
  readonly background?: boolean | undefined;
  /**
   * Sent as `Idempotency-Key`; if the endpoint takes one and none is given, it is made up. Give the same one again to
   * repeat a start safely.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Where the service says that one deployment is asked, in place of the endpoint's own path: a path, or a whole address.
   * No credential goes to an address of another origin than the profile's.
   */
  readonly at?: string | undefined;
  /** A body that is sent as it is, in place of one that is made from the input. */
  readonly payload?: Uint8Array | undefined;
  /** Called with the head of each answer that comes, without secrets. */
  readonly onAnswer?: ((head: AnswerHead) => void) | undefined;
  /** Access token of the trajectory that the call is about; without one, the organization's key is sent. */
  readonly token?: string | undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const defaultTimeouts: Timeouts = { connectMs: 5_000, silenceMs: 30_000, deadlineMs: 120_000 };
const timeoutsOfPace: Readonly<Record<NonNullable<Endpoint['pace']>, Partial<Timeouts>>> = {
  slow: { silenceMs: 120_000, deadlineMs: 300_000 },
  bulk: { deadlineMs: 900_000 },
};

/** The timeouts of a call: its own where it names them, else those of its endpoint's pace, the service's, the defaults. */
export function timeoutsOf(
  service: Partial<Timeouts> | undefined,
  call: Partial<Timeouts>,
  pace?: Endpoint['pace'],
): Timeouts {
  const named = (['connectMs', 'silenceMs', 'deadlineMs'] as const).filter(name => name in call);
  return {
    ...defaultTimeouts,
    ...service,
    ...(pace && timeoutsOfPace[pace]),
    ...Object.fromEntries(named.map(name => [name, call[name]])),
  };
}

export const defaultMaxBytes = 64 * 1024 * 1024;

/** All that a line of the log holds about an attempt. */
export interface LogLine {
  readonly operation: string;
  readonly method: string;
  /** Without the query, which may be a signature. */
  readonly path: string;
  readonly attempt: number;
  /** From sending to the end of the answer, or to the head of a stream. */
  readonly ms: number;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Kind of error, where the attempt failed. */
  readonly error?: string | undefined;
  /** Milliseconds until the next attempt, if there is one. */
  readonly retryInMs?: number | undefined;
}

export type Logger = (line: LogLine) => void;
