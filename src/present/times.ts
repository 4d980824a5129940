/** Times as lists show them, and time columns. */
import { age, duration, parseTime } from '../text/time.ts';
import type { Column } from './column.ts';
import type { Fact } from './fact.ts';

/** The epoch milliseconds of a service's time, for sorting. */
export function instant(time: string | null | undefined): number | undefined {
  return parseTime(time ?? undefined);
}

/** How long ago an instant was: `2m ago`; empty if it is undefined. */
export function agoOf(at: number | undefined): string {
  return at === undefined ? '' : `${age(Date.now() - at)} ago`;
}

/** How long ago a time was: `2m ago`; `?` if it cannot be parsed, empty if it is missing. */
export function ageOf(time: string | null | undefined): string {
  if (time == null || time === '') return '';
  const at = parseTime(time);
  return at === undefined ? '?' : agoOf(at);
}

/** Shows the age, and exports the time as the service wrote it. */
export function timeFact(label: string, time: string | null | undefined): Fact {
  return { label, value: ageOf(time), exported: time ?? undefined };
}

/** Shows the age of an instant in epoch milliseconds, and exports it as a time in UTC. */
export function instantFact(label: string, at: number | undefined): Fact {
  return { label, value: agoOf(at), exported: at === undefined ? undefined : new Date(at).toISOString() };
}

/** Shows the age, sorts by the instant, and exports the time as the service wrote it. */
export function timeColumn<Row>(
  id: string,
  title: string,
  time: (row: Row) => string | null | undefined,
  {
    width = 8,
    wide = false,
    field,
  }: { readonly width?: number; readonly wide?: boolean; readonly field?: string } = {},
): Column<Row> {
  return {
    id,
    title,
    width,
    align: 'right',
    wide,
    field,
    value: row => instant(time(row)),
    text: row => ageOf(time(row)),
    filtered: false,
    isTime: true,
    exported: time,
  };
}

export interface Timed {
  /** When it was requested. */
  readonly created_at?: string | null | undefined;
  readonly completed_at?: string | null | undefined;
  /**
   * When it was seen leaving the queue; null if it was in the queue and nobody saw it leave; undefined if it was never
   * seen there.
   */
  readonly began_at?: string | null | undefined;
}

/** Milliseconds in which an ended run ran. A service does not report its time in the queue. */
function took({ created_at, completed_at, began_at }: Timed): number | undefined {
  const [from, to] = [instant(began_at === undefined ? created_at : began_at), instant(completed_at)];
  return from === undefined || to === undefined || to < from ? undefined : to - from;
}

/** `queued 3m, ran 38m`; says that the queue is included if its part is unknown. Empty before the first is known. */
export function tookWords(row: Timed): string {
  const [from, began, to] = [row.created_at, row.began_at, row.completed_at].map(instant);
  if (from === undefined) return '';
  if (began !== undefined) {
    const ran = took(row);
    return [`queued ${duration(Math.max(0, began - from))}`, ran === undefined ? '' : `ran ${duration(ran)}`]
      .filter(Boolean)
      .join(', ');
  }
  return to === undefined || to < from ? '' : `${duration(to - from)}, any time in the queue included`;
}

/** How long an ended run ran; in seconds for programs. */
export function durationColumn<Row extends Timed>(): Column<Row> {
  const as =
    <Value>(words: (ms: number) => Value) =>
    (row: Row): Value | undefined => {
      const ms = took(row);
      return ms === undefined ? undefined : words(ms);
    };
  return {
    ...{ id: 'took', title: 'TOOK', width: 7, align: 'right', wide: true, forPrograms: true, value: took },
    text: row => as(duration)(row) ?? '',
    exported: as(ms => ms / 1_000),
  };
}

/** When a row that the service does not list was last seen. */
export function seenColumn<Row>(seenAt: (row: Row) => number | undefined): Column<Row> {
  return {
    id: 'seen',
    title: 'SEEN',
    width: 8,
    align: 'right',
    ifAny: true,
    value: seenAt,
    text: row => agoOf(seenAt(row)),
    filtered: false,
    exported: row => {
      const at = seenAt(row);
      return at === undefined ? undefined : new Date(at).toISOString();
    },
  };
}
