const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** Each unit of age, and the age at which the next unit takes over. */
const ageUnits = [
  { unit: second, below: minute, letter: 's' },
  { unit: minute, below: hour, letter: 'm' },
  { unit: hour, below: day, letter: 'h' },
  { unit: day, below: 2 * year, letter: 'd' },
  { unit: year, below: Number.POSITIVE_INFINITY, letter: 'y' },
] as const;

function ageUnit(ms: number): (typeof ageUnits)[number] {
  return ageUnits.find(({ below }) => ms < below) ?? ageUnits[4];
}

/**
 * An age in one whole unit, rounded down: `2s`, `3m`, `4h`, `5d`, and from two years on `2y`. A negative age (the
 * service's clock is ahead) is `0s`; NaN is `?`.
 */
export function age(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  const elapsed = Math.max(0, ms);
  const { unit, letter } = ageUnit(elapsed);
  return `${Math.floor(elapsed / unit)}${letter}`;
}

/** An estimated time in one unit, rounded: `3m` for two minutes and 51 seconds. */
export function roughly(ms: number): string {
  const { unit } = ageUnit(ms);
  return age(Math.round(ms / unit) * unit);
}

/**
 * A duration in its two leading units: `350ms`, `1.2s`, `42s`, `1m 20s`, `2h 5m`, `3d 4h`. Negative durations have a
 * minus; NaN is `?`.
 */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  if (ms < 0) return `-${duration(-ms)}`;
  const whole = Math.round(ms);
  if (whole < second) return `${whole}ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 100) return tenths % 10 === 0 ? `${tenths / 10}s` : `${(tenths / 10).toFixed(1)}s`;
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return pair(seconds, 60, 'm', 's');
  const minutes = Math.round(ms / minute);
  if (minutes < 1_440) return pair(minutes, 60, 'h', 'm');
  return pair(Math.round(ms / hour), 24, 'd', 'h');
}

function pair(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size;
  return rest === 0 ? `${Math.floor(amount / size)}${large}` : `${Math.floor(amount / size)}${large} ${rest}${small}`;
}

const moment = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Formats that `Date.parse` accepts directly. Services use them, and skipping `moment` saves time in a list of 100,000
 * rows.
 */
const plainMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** How far the service's clock is behind this machine's, in milliseconds; negative if it is ahead. */
let behindMs = 0;
/** Smaller differences may be latency, and do no harm. */
const minBehindMs = 60_000;

export const clockBehind = (): number => behindMs;

/** @param ms the value from an earlier session; 0 for a new service */
export function setClockBehind(ms: number): void {
  behindMs = ms;
}

/** Learns how far the service's clock is behind. @param date the `Date` header of a response that is just arriving */
export function noteClock(date: string | undefined): void {
  const ms = Date.now() - Date.parse(date ?? '');
  if (Math.abs(ms - behindMs) > minBehindMs) behindMs = ms;
}

/**
 * A time that the service wrote, in epoch milliseconds by this machine's clock; undefined if it is not a time. Accepts
 * ISO 8601 and its common variants: a space for the `T`, microseconds, `+00`, a bare date. A time without a zone is
 * UTC, as services write it.
 */
export function parseTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const plain = plainMoment.test(text) ? text : plainMomentOf(text);
  const ms = plain === undefined ? Number.NaN : Date.parse(plain);
  return Number.isNaN(ms) ? undefined : ms + behindMs;
}

function plainMomentOf(text: string): string | undefined {
  const match = moment.exec(text.trim());
  if (!match) return undefined;
  const [, date, minutes = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const offset = /^[+-]/.test(zone)
    ? zone
        .replace(':', '')
        .replace(/^(...)$/, '$100')
        .replace(/(..)$/, ':$1')
    : 'Z';
  return `${date}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`;
}

/** How far a service's clock may be ahead of this machine's, in milliseconds. */
export const maxAheadMs = 5 * 60_000;

/**
 * When something ended, in epoch milliseconds. Undefined if that is unknown, or if the time cannot be its end: services
 * send 1970 or the year 1 for a time that is not set, and clocks may be wrong, so an end may lie before the start or in
 * the future.
 */
export function endInstant(
  {
    startedAt,
    endTime,
  }: { readonly startedAt?: string | null | undefined; readonly endTime?: string | null | undefined },
  now = Date.now(),
): number | undefined {
  const end = parseTime(endTime);
  if (end === undefined || end <= 0 || end > now + maxAheadMs) return undefined;
  return end < (parseTime(startedAt) ?? end) - maxAheadMs ? undefined : end;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Local time of day, `HH:MM:SS`. */
export function clock(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return '?';
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Today's local time; for any other day the date and minute, `2026-03-04 HH:MM`. */
export function clockOrDay(ms: number, now = Date.now()): string {
  const [date, today] = [new Date(ms), new Date(now)];
  if (date.toDateString() === today.toDateString()) return clock(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms).slice(0, 5)}`;
}
