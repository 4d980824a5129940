/** How often a service or an upstream server is retried, and how long to wait each time. Times are in milliseconds. */

/** Maximum number of retries after a wait. */
export const maxRetries = 2;
/** The longest wait that a host may request: above it, a call fails, and a poll waits only this long. */
export const maxRetryAfterMs = 60_000;
const firstBackoffMs = 500;
const maxBackoffMs = 8_000;
const jitterShare = 0.25;

/** Whether the same request may succeed later, after a response with this HTTP status. */
export const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501);

/**
 * The wait that a response requests: `Retry-After-Ms`, or `Retry-After` in seconds or as an HTTP date. A date is
 * relative to the response's `Date`, by the host's clock.
 */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = parseAmount(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const text = headers['retry-after'];
  const seconds = parseAmount(text);
  if (seconds !== undefined) return seconds * 1_000;
  const date = parseDate(text);
  return date === undefined ? undefined : Math.max(0, date - (parseDate(headers['date']) ?? now));
}

function parseDate(text: string | undefined): number | undefined {
  // Date.parse also accepts "-5" and other stray numbers as years; an HTTP date names its weekday or month.
  const date = text && /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}

function parseAmount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*(\d+(\.\d*)?|\.\d+)\s*$/.test(text) ? Number(text) : undefined;
}

/** Up to `maxMs`, less a random share, so that clients do not all send at once. @param random in [0, 1) */
const spread = (maxMs: number, random: number): number => Math.round(maxMs * (1 - jitterShare + jitterShare * random));

/** How long to wait after this many failures in a row, from 1. @param random in [0, 1) */
export const backoff = (attempt: number, random: number): number =>
  spread(Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempt - 1)), random);

/** How long to wait for a host that asks for `requestedMs`. @param random in [0, 1) */
export const honouredWait = (requestedMs: number, random: number): number =>
  requestedMs <= maxRetryAfterMs ? requestedMs : spread(maxRetryAfterMs, random);
