/** The options of a service and of a single call. All times are in milliseconds. */
import type { RowReader } from '../base/json-rows.ts';
import type { Endpoint } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import type { Generation } from '../contract/generation.ts';
import type { Clock } from './clock.ts';
import type { Gates } from './gate.ts';
import type { ServiceMemory } from './generation.ts';
import type { CallInput } from './request.ts';
import type { Tracer } from './trace.ts';

export interface Timeouts {
  /** DNS, connection and TLS together. */
  readonly connectMs: number;
  /** Time without any data. */
  readonly silenceMs: number;
  /** The whole call with its retries; undefined for no limit. */
  readonly deadlineMs: number | undefined;
}

/** The address of a service, and the credential to use there. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Locates a service that may exit or move to another port while in use. Shared by all callers. */
export interface Supervisor {
  /**
   * Locates the service, starting it if it is not running; called before every attempt.
   *
   * @throws Error for the user if it is unavailable
   */
  readonly locate: (signal: AbortSignal) => Promise<Target>;
  /**
   * Reports that a connection to `lost` failed or broke off. Returns whether the service was found or restarted, so
   * that a retry makes sense.
   */
  readonly recover: (lost: Target, signal: AbortSignal) => Promise<boolean>;
  /** Reports a response, as a sign of life. */
  readonly answered?: (target: Target) => void;
}

export interface ServiceOptions {
  /** Refuses every write, before a credential is read or anything is sent. */
  readonly readOnly?: boolean | undefined;
  /** Locates a service that may move. `baseUrl` is then only its name. */
  readonly supervisor?: Supervisor | undefined;
  readonly baseUrl: string;
  /** Address for chat completions, if not `baseUrl`. */
  readonly inferenceUrl?: string | undefined;
  /** Reads the organization API key on first use, and again after a refusal. Returns an empty string if none is set. */
  readonly apiKey: (signal: AbortSignal) => Promise<string>;
  /** The identity behind a key that is not stable: a command may print a different key each time. */
  readonly apiKeyOwner?: (() => string | undefined) | undefined;
  /** Reads the inference token the same way. The same function as `apiKey` if both have the same source. */
  readonly inferenceToken: (signal: AbortSignal) => Promise<string>;
  /** A PEM file of additional certificates to trust. */
  readonly caFile?: string | undefined;
  /** Allows http over a network. By default, http is for this machine only. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Overrides for `defaultAssumptions`, and paths. */
  readonly assumptions?: Readonly<Record<string, string>> | undefined;
  /** The service's generation; detected if missing. */
  readonly generation?: Generation | undefined;
  /** Keeps the generation, and whether the service skips stored trajectories, for later sessions. */
  readonly memory?: (() => ServiceMemory) | undefined;
  /** The agent that uploads belong to: its id, or `name:` and its name. */
  readonly agent?: string | undefined;
  readonly userAgent: string;
  /** Called after each successful call, from any caller, with the request and the response. */
  readonly onSuccess?:
    | ((operation: Operation, input: CallInput<unknown, unknown>, answer: unknown) => void)
    | undefined;
  /**
   * Called every few seconds with the bytes received so far, while a response takes long to arrive. Called once with 0 if
   * a GET is still without a response after that time.
   */
  readonly onSlow?: ((operation: string, received: number) => void) | undefined;
  /** Called while a response of several megabytes arrives. */
  readonly onLarge?: (() => void) | undefined;
  readonly logger?: Logger | undefined;
  readonly tracer?: Tracer | undefined;
  /** Gates shared by all services in the process, one per host; by default a service has its own. */
  readonly gates?: Gates | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly clock?: Clock | undefined;
}

export interface CallOptions extends Partial<Timeouts> {
  readonly signal?: AbortSignal | undefined;
  /**
   * Reads the rows of this list as they arrive, unchecked, because it may be too long for memory. A list under another
   * name stays in the response.
   */
  readonly longList?: LongList | undefined;
  /** Largest accepted response, in bytes. */
  readonly maxBytes?: number | undefined;
  /**
   * A poll: not retried, because the next poll is the retry, and queued behind the user's requests if the host limits
   * the rate.
   */
  readonly background?: boolean | undefined;
  /**
   * The `Idempotency-Key`; by default generated if the endpoint takes one. The same key makes a repeat safe.
   */
  readonly idempotencyKey?: string | undefined;
  /** The operation's headers, with lower-case names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * A deployment's own address from the service, used instead of the endpoint's path: a path or a full URL. Credentials
   * are never sent to a foreign origin.
   */
  readonly at?: string | undefined;
  /** Uses the path of the other generation. If the operation has none, nothing is sent. */
  readonly otherPath?: boolean | undefined;
  /** A body to send unchanged, instead of one built from the input. */
  readonly payload?: Uint8Array | undefined;
  /** Called with each response's status and headers, without secrets. */
  readonly onAnswer?: ((head: AnswerHead) => void) | undefined;
  /** Access token for the trajectory; by default the organization's key is sent. */
  readonly token?: string | undefined;
}

interface LongList {
  readonly name: string;
  /** Called for each response; returns a reader for its rows. */
  readonly begin: () => RowReader;
}

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** When it arrived, on the monotonic clock. */
  readonly receivedMs: number;
}

const defaultTimeouts: Timeouts = { connectMs: 5_000, silenceMs: 30_000, deadlineMs: 120_000 };
const timeoutsOfPace: Readonly<Record<NonNullable<Endpoint['pace']>, Partial<Timeouts>>> = {
  slow: { silenceMs: 120_000, deadlineMs: 300_000 },
  bulk: { deadlineMs: 900_000 },
};

/** A call's timeouts: its own come first, then those for its endpoint's pace, the service's, and the defaults. */
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

/** A log line about an attempt. */
export interface LogLine {
  readonly operation: string;
  readonly method: string;
  /** Without the query, which may hold a signature. */
  readonly path: string;
  readonly attempt: number;
  /** From sending to the end of the response, or to a stream's headers. */
  readonly ms: number;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Kind of error, if the attempt failed. */
  readonly error?: string | undefined;
  /** Milliseconds until the next attempt, if there is one. */
  readonly retryInMs?: number | undefined;
  /** Number of the retry, from 1; missing if the attempt is repeated for another reason. */
  readonly retry?: number | undefined;
}

type Logger = (line: LogLine) => void;
