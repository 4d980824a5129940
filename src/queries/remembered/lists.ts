/**
 * The first rows of each list as they were last read. The first frame of the next start shows them, with their age, before
 * any request. They are one JSON text, so reading them takes a lookup and a parse.
 */
import * as z from 'zod/mini';
import { isRecord } from '../../text/own.ts';
import type { ListData } from '../lists/data.ts';
import type { Tables } from './tables.ts';

/** Rows are read as they were written: another number here for any change of what they hold. */
const format = 1;

const listSchema = z.object({
  format: z.literal(format),
  rows: z.array(z.custom<object>(isRecord)),
  complete: z.boolean(),
  dropped: z.int().check(z.gte(0)),
  repeated: z.int().check(z.gte(0)),
  notes: z.readonly(z.array(z.string())),
  remembered_at: z.optional(z.number()),
});

/** A list as an earlier start read it. */
export type RememberedList = z.output<typeof listSchema>;

/** How many rows were remembered, and whether they were the whole list. */
export interface RememberedCount {
  readonly rows: number;
  readonly complete: boolean;
  /** Epoch milliseconds. */
  readonly readAt: number;
}

interface Waiting {
  readonly data: ListData<unknown>;
  readonly readAt: number;
}

/** An unchanged list is written again only after this long; the screen then shows its age in minutes. */
const touchMs = 60_000;
/** A longer text would delay the first frame. In characters. */
const longest = 1_000_000;
const keptLists = 100;
const keptRows = 200;

export class RememberedLists {
  readonly #tables: Tables;
  readonly #waiting = new Map<string, Waiting>();
  /** The last write of each list by this program. */
  readonly #written = new Map<string, Waiting>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Saves the first rows of a list in place of the previous ones. Written with the next `flush`. */
  keep(list: string, data: ListData<unknown>, readAt: number): void {
    this.#waiting.set(list, { data, readAt });
  }

  /** What was last read; undefined if there is nothing, or it is unusable. */
  find(list: string, now: number): { readonly list: RememberedList; readonly readAt: number } | undefined {
    const sql = 'select page, read_at from pages where profile = ? and list = ?';
    const [row] = this.#tables.all(sql, this.#tables.scope, list);
    const readAt = Number(row?.['read_at']);
    // The clock was set back, so the age is unknown.
    if (!row || !(readAt <= now)) return undefined;
    const read = listSchema.safeParse(parsed(String(row['page'])));
    return read.success ? { list: read.data, readAt } : undefined;
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
      const { version: _, ...facts } = data;
      const rows = data.rows.slice(0, keptRows);
      const complete = data.complete && rows.length === data.rows.length;
      const text = JSON.stringify({ format, ...facts, rows, complete });
      if (text.length > longest) {
        this.#tables.run('delete from pages where profile = ? and list = ?', scope, list);
        continue;
      }
      this.#tables.run(
        'insert or replace into pages (profile, list, rows, complete, read_at, page) values (?, ?, ?, ?, ?, ?)',
        scope,
        list,
        rows.length,
        complete ? 1 : 0,
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
