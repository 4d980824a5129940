/** What may leave the service layer in words: no credential, no secret value, and of a log line only what is listed. */

export type Redact = (text: string) => string;

/** Deeper nesting than this is no message to anybody. */
const deepest = 32;

/**
 * Redacts everything inside a value that came as JSON, names included. Services do repeat what they were sent: a wrong
 * key in "no such key …", a secret's value in a validation error.
 */
export function redactDeep(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return '[…]';
  if (Array.isArray(value)) return value.map(item => redactDeep(item, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(name), redactDeep(item, redact, depth + 1)]),
  );
}

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
  /** Milliseconds until the next attempt, where there is one. */
  readonly retryInMs?: number | undefined;
}

export type Logger = (line: LogLine) => void;
