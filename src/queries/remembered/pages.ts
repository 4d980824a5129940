/**
 * The first page of each list as it was last read. The first frame of the next start shows it, with its age, before any
 * request. A page is one JSON text, so reading it takes a lookup and a parse.
 */
import * as z from 'zod/mini';
import type { Tables } from './tables.ts';

/** A saved page. The rows are unvalidated. */
export interface RememberedPage {
  readonly items: readonly unknown[];
  /** Cursor of the next page; null at the end of the list. */
  readonly next_cursor: string | null;
  /** Unreadable rows. */
  readonly dropped: number;
  readonly note?: string | undefined;
  readonly rest?: string | undefined;
  /** When the newest remembered row was seen, if rows were remembered instead of listed; epoch milliseconds. */
  readonly remembered_at?: number | undefined;
}

const pageSchema = z.object({
  items: z.array(z.unknown()),
  next_cursor: z.nullable(z.string()),
  dropped: z.int().check(z.gte(0)),
  note: z.optional(z.string()),
  rest: z.optional(z.string()),
  remembered_at: z.optional(z.number()),
});

/** How many rows a page had, and whether they were the whole list. */
export interface RememberedCount {
  readonly rows: number;
  readonly complete: boolean;
  /** Epoch milliseconds. */
  readonly readAt: number;
}

interface Waiting {
  readonly page: RememberedPage;
  readonly readAt: number;
}

/** An unchanged page is written again only after this long: by then its age is shown in minutes. */
const touchMs = 60_000;
/** A longer page would delay the first frame. In characters. */
const longest = 1_000_000;
const keptPages = 100;

export class RememberedPages {
  readonly #tables: Tables;
  readonly #waiting = new Map<string, Waiting>();
  /** The last write of each list by this program. */
  readonly #written = new Map<string, { readonly text: string; readonly readAt: number }>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Saves the first page of a list, replacing the previous one. Written with the next `flush`. */
  keep(list: string, page: RememberedPage, readAt: number): void {
    this.#waiting.set(list, { page, readAt });
  }

  /** The last page read; undefined if there is none, or it is unusable. */
  find(list: string, now: number): { readonly page: RememberedPage; readonly readAt: number } | undefined {
    const sql = 'select page, read_at from pages where profile = ? and list = ?';
    const [row] = this.#tables.all(sql, this.#tables.scope, list);
    const readAt = Number(row?.['read_at']);
    // The clock was set back, so the age is unknown.
    if (!row || !(readAt <= now)) return undefined;
    const page = pageSchema.safeParse(parsed(String(row['page'])));
    return page.success ? { page: page.data, readAt } : undefined;
  }

  /** Row counts of the lists that have a page. */
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
    for (const [list, { page, readAt }] of this.#waiting) {
      const text = JSON.stringify(page);
      const written = this.#written.get(list);
      if (written?.text === text && readAt - written.readAt < touchMs) continue;
      this.#written.set(list, { text, readAt });
      const { scope } = this.#tables;
      if (text.length > longest) {
        this.#tables.run('delete from pages where profile = ? and list = ?', scope, list);
        continue;
      }
      this.#tables.run(
        'insert or replace into pages (profile, list, rows, complete, read_at, page) values (?, ?, ?, ?, ?, ?)',
        scope,
        list,
        page.items.length,
        page.next_cursor === null ? 1 : 0,
        readAt,
        text,
      );
    }
    this.#waiting.clear();
  }

  /** Deletes older pages, and all but the newest 100. */
  prune(before: number): void {
    this.#tables.run('delete from pages where read_at < ?', before);
    this.#tables.keepNewest('pages', 'list', 'read_at', keptPages);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
