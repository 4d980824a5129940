/** Times as lists show them. */
import { age, parseTime } from '../../../text/time.ts';

/** Epoch milliseconds of a time as the service writes it, for sorting. */
export function instant(time: string | null | undefined): number | undefined {
  return parseTime(time ?? undefined);
}

/** How long ago an instant was: `2m ago`; nothing where there is none. */
export function agoOf(at: number | undefined, now = Date.now()): string {
  return at === undefined ? '' : `${age(now - at)} ago`;
}

/** How long ago a time was: `2m ago`; what cannot be read is shown as `?`, what is missing as nothing. */
export function ageOf(time: string | null | undefined, now = Date.now()): string {
  if (time == null || time === '') return '';
  const at = parseTime(time);
  return at === undefined ? '?' : agoOf(at, now);
}
