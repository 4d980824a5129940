/**
 * The first rows of each list, saved for the next session's first frame, which shows them with their age before any
 * request. A list is one JSON string, so that reading it takes one lookup and one parse.
 */
import { parseDeepJson } from '../base/json-depth.ts';
import { isRecord } from '../base/own-property.ts';
import type { Tables } from './tables.ts';

/** Saved rows are not validated, so increase this number whenever their shape changes. */
const format = 1;

export interface SavedList {
  readonly rows: readonly unknown[];
  /** Whether the list is complete. */
  readonly complete: boolean;
  /** How many rows could not be read. */
  readonly dropped: number;
  /** How many rows were left out because another row on their page has the same id. */
  readonly repeated: number;
  /** Why the list may be incomplete. */
  readonly notes: readonly string[];
  /**
   * Set only for rows from the remembered store: when the oldest was seen, in epoch milliseconds; 0 if there are none.
   */
  readonly remembered_at?: number | undefined;
}

/** Whether a list contains all of the service's rows. Remembered rows may be some of them, or none. */
export const isWhole = (list: Pick<SavedList, 'complete' | 'dropped' | 'remembered_at'> | undefined): boolean =>
  list?.complete === true && list.dropped === 0 && list.remembered_at === undefined;

/** A list from an earlier session. */
interface RememberedList extends SavedList {
  readonly rows: object[];
}

/** The number of saved rows, and whether they are all of the service's. */
interface RememberedCount {
  readonly rows: number;
  readonly complete: boolean;
  /** Epoch milliseconds. */
  readonly readAt: number;
}

interface Waiting {
  readonly data: SavedList;
  readonly readAt: number;
}

/** Rewrite an unchanged list only after this long: the age of restored rows is shown in minutes. */
const touchMs = 60_000;
/** In characters; longer JSON would delay the first frame. */
const maxJsonLength = 1_000_000;
const keptLists = 100;
const keptRows = 200;

export class RememberedLists {
  readonly #tables: Tables;
  readonly #waiting = new Map<string, Waiting>();
  /** The data that this program last wrote for each list. */
  readonly #written = new Map<string, Waiting>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Replaces the saved first rows of a list. The next `flush` writes them. */
  keep(list: string, data: SavedList, readAt: number): void {
    this.#waiting.set(list, { data, readAt });
  }

  /** The saved first rows of a list; undefined if it is missing or unusable. */
  find(list: string, now = Date.now()): { readonly list: RememberedList; readonly readAt: number } | undefined {
    const sql = 'select page, read_at from pages where profile = ? and list = ?';
    const [row] = this.#tables.all(sql, this.#tables.scope, list);
    const readAt = Number(row?.['read_at']);
    // If the clock was set back, the age is unknown.
    if (!row || !(readAt <= now)) return undefined;
    const read = listIn(String(row['page']));
    return read && { list: read, readAt };
  }

  /** How many rows of each list are saved. */
  counts(): Map<string, RememberedCount> {
    const sql = 'select list, rows, complete, read_at from pages where profile = ?';
    return new Map(
      this.#tables
        .all(sql, this.#tables.scope)
        .map(({ list, rows, complete, read_at: readAt }) => [
          String(list),
          { rows: Number(rows), complete: Number(complete) === 1, readAt: Number(readAt) },
        ]),
    );
  }

  flush(): void {
    const { scope } = this.#tables;
    for (const [list, waiting] of this.#waiting) {
      const { data, readAt } = waiting;
      const written = this.#written.get(list);
      if (written?.data === data && readAt - written.readAt < touchMs) continue;
      this.#written.set(list, waiting);
      const rows = data.rows.slice(0, keptRows);
      const complete = data.complete && rows.length === data.rows.length;
      const { dropped, repeated, notes, remembered_at } = data;
      const text = JSON.stringify({ format, rows, complete, dropped, repeated, notes, remembered_at });
      if (text.length > maxJsonLength) {
        this.#tables.run('delete from pages where profile = ? and list = ?', scope, list);
        continue;
      }
      this.#tables.run(
        'insert or replace into pages (profile, list, rows, complete, read_at, page) values (?, ?, ?, ?, ?, ?)',
        scope,
        list,
        rows.length,
        isWhole({ complete, dropped, remembered_at }) ? 1 : 0,
        readAt,
        text,
      );
    }
    this.#waiting.clear();
  }

  /** Deletes older lists, and all but the newest 100. */
  prune(before: number): void {
    this.#tables.run('delete from pages where read_at < ?', before);
    this.#tables.keepNewest('pages', 'list', 'read_at', keptLists);
  }
}

/** Parses a saved list; undefined if another version of benchtop wrote it. */
function listIn(text: string): RememberedList | undefined {
  const read = parseDeepJson(text);
  return isRecord(read) && read['format'] === format && isList(read) ? read : undefined;
}

/** Avoids zod, because the first frame waits for this and needs no other schema. */
function isList(read: Readonly<Record<string, unknown>>): read is Readonly<Record<string, unknown>> & RememberedList {
  const { rows, complete, dropped, repeated, notes, remembered_at } = read;
  return (
    Array.isArray(rows) &&
    rows.every(isRecord) &&
    typeof complete === 'boolean' &&
    isCount(dropped) &&
    isCount(repeated) &&
    Array.isArray(notes) &&
    notes.every(note => typeof note === 'string') &&
    (remembered_at === undefined || Number.isFinite(remembered_at))
  );
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
