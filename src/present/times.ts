/** Times as lists show them, and time columns. */
import { age, duration, endInstant, maxAheadMs, parseTime } from '../text/time.ts';
import { type Column, plainColumn } from './column.ts';
import type { Fact } from './fact.ts';

/** A time from the service, in epoch milliseconds. */
export function instant(time: string | null | undefined): number | undefined {
  return parseTime(time ?? undefined);
}

/** An instant's age: `2m ago`; `in 3d` if it is in the future; empty if it is undefined. */
export function agoOf(at: number | undefined, now = Date.now()): string {
  if (at === undefined) return '';
  return at - now > maxAheadMs ? `in ${age(at - now)}` : `${age(now - at)} ago`;
}

/** The age of a time from the service, like `agoOf`; `?` if it cannot be parsed, empty if it is missing. */
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
  return plainColumn(id, title, width, row => instant(time(row)), {
    align: 'right',
    wide,
    field,
    text: row => ageOf(time(row)),
    filtered: false,
    time: 'instant',
    exported: time,
  });
}

export interface RunTimes {
  /** When it was requested. */
  readonly created_at?: string | null | undefined;
  readonly completed_at?: string | null | undefined;
  /**
   * When it was seen leaving the queue, in epoch milliseconds; null if it was seen in the queue but not leaving it;
   * undefined if it was never seen in the queue.
   */
  readonly began_at?: number | null | undefined;
}

/**
 * How long an ended run took, in milliseconds. Includes the time in the queue, which services do not report, unless the
 * run was seen leaving the queue.
 */
export function runMs({ created_at, completed_at, began_at }: RunTimes): number | undefined {
  const [from, to] = [began_at ?? instant(created_at), endInstant({ startedAt: created_at, endTime: completed_at })];
  return from === undefined || to === undefined || to < from ? undefined : to - from;
}

/** Milliseconds in the queue; undefined if it was not seen leaving the queue. */
function queuedMs({ created_at, began_at }: RunTimes): number | undefined {
  const from = instant(created_at);
  return from === undefined || began_at == null ? undefined : Math.max(0, began_at - from);
}

/** `queued 3m, ran 38m`, or the total with a note if the time in the queue is unknown. Empty while both are unknown. */
export function describeRunTime(row: RunTimes): string {
  const [waited, ran] = [queuedMs(row), runMs(row)];
  if (waited === undefined) return ran === undefined ? '' : `${duration(ran)}, including any time in the queue`;
  return [`queued ${duration(waited)}`, ran === undefined ? '' : `ran ${duration(ran)}`].filter(Boolean).join(', ');
}

/** A column that shows milliseconds as a duration, or as seconds for programs. */
function lengthColumn<Row extends RunTimes>(
  id: string,
  length: (row: Row) => number | undefined,
  otherwise: (row: Row) => string,
): Column<Row> {
  return {
    ...{ id, title: id.toUpperCase(), width: 7, align: 'right', wide: true, forPrograms: true },
    value: length,
    time: 'length',
    text: row => {
      const ms = length(row);
      return ms === undefined ? otherwise(row) : duration(ms);
    },
    exported: row => {
      const ms = length(row);
      return ms === undefined ? undefined : ms / 1_000;
    },
  };
}

/** How long an ended run took. */
export const durationColumn = <Row extends RunTimes>(): Column<Row> => lengthColumn('took', runMs, () => '');

/** How long a run was queued, or a note that TOOK may include it. */
export const queueColumn = <Row extends RunTimes>(): Column<Row> =>
  lengthColumn('queued', queuedMs, row => (runMs(row) === undefined ? '' : 'in TOOK'));

/** When a row that the service does not list was last seen. */
export function seenColumn<Row>(seenAt: (row: Row) => number | undefined): Column<Row> {
  return {
    id: 'seen',
    title: 'SEEN',
    width: 8,
    align: 'right',
    ifAny: true,
    time: 'seen',
    value: seenAt,
    text: row => agoOf(seenAt(row)),
    filtered: false,
    exported: row => {
      const at = seenAt(row);
      return at === undefined ? undefined : new Date(at).toISOString();
    },
  };
}
