/** Resource events, such as an end or a stall, kept until the user dismisses them. */
import { isRecord } from '../base/own-property.ts';
import { jsonIn, type Row, type Tables } from './tables.ts';

/** A resource's event. Each resource has at most one for each `what`. */
export interface StoredEvent {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  /** `end`, or the kind of an alarm. */
  readonly what: string;
  /** When it happened; epoch milliseconds. */
  readonly at: number;
  /** Whether `at` comes from the service; otherwise it is when this machine noticed the event. */
  readonly isExact: boolean;
  /** A snapshot of the resource; opaque to the store. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export type EventKey = Pick<StoredEvent, 'kind' | 'id' | 'what'>;

const maxOpenEvents = 1_000;

function eventOf(row: Row): StoredEvent[] {
  const detail = jsonIn(row['detail']);
  if (!isRecord(detail)) return [];
  const { kind, id, label, what, at, exact } = row;
  const names = { kind: String(kind), id: String(id), label: String(label), what: String(what) };
  return [{ ...names, at: Number(at), isExact: Number(exact) === 1, detail }];
}

export class EventRecords {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Adds or updates an event. A dismissed event stays dismissed; to add another one, remove it first. */
  put({ kind, id, label, what, at, isExact, detail }: StoredEvent): void {
    const sql = `insert into events (profile, kind, id, what, label, at, exact, detail, dismissed)
      values (?, ?, ?, ?, ?, ?, ?, ?, 0) on conflict do update
      set label = excluded.label, at = excluded.at, exact = excluded.exact, detail = excluded.detail`;
    const values = [this.#tables.scope, kind, id, what, label, at, isExact ? 1 : 0, JSON.stringify(detail)];
    this.#tables.lazily(() => this.#tables.run(sql, ...values));
  }

  /** An event, dismissed or not. */
  find({ kind, id, what }: EventKey): StoredEvent | undefined {
    const sql = 'select * from events where profile = ? and kind = ? and id = ? and what = ?';
    return this.#tables.all(sql, this.#tables.scope, kind, id, what).flatMap(eventOf)[0];
  }

  /** The alarms, dismissed or not. */
  alarms(): StoredEvent[] {
    const sql = "select * from events where profile = ? and what <> 'end'";
    return this.#tables.all(sql, this.#tables.scope).flatMap(eventOf);
  }

  /** The undismissed events, latest first. */
  open(): StoredEvent[] {
    const sql = 'select * from events where profile = ? and dismissed = 0 order by at desc, id limit ?';
    return this.#tables.all(sql, this.#tables.scope, maxOpenEvents).flatMap(eventOf);
  }

  /** @param isDismissed false to undo a dismissal */
  dismiss(events: readonly EventKey[], isDismissed = true): boolean {
    const sql = 'update events set dismissed = ? where profile = ? and kind = ? and id = ? and what = ?';
    return this.#tables.runAll(
      sql,
      events.map(({ kind, id, what }) => [isDismissed ? 1 : 0, this.#tables.scope, kind, id, what]),
    );
  }

  /** Removes an event that no longer applies, so that it can occur again. */
  remove({ kind, id, what }: EventKey): void {
    const sql = 'delete from events where profile = ? and kind = ? and id = ? and what = ?';
    this.#tables.run(sql, this.#tables.scope, kind, id, what);
  }

  /** Deletes events before this time. */
  prune(before: number): void {
    this.#tables.run('delete from events where at < ?', before);
  }
}
