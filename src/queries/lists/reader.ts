/**
 * Reads one list: polls its first page and the pages in view, reads on as the cursor nears the end, and reads the rest
 * on request. These may run at the same time, because `ListPages` drops answers that newer ones have overtaken.
 */

import { isNotOffered, ServiceError } from '../../service/errors.ts';
import { asError } from '../../text/errors.ts';
import { Listeners } from '../../text/listeners.ts';
import type { Activity } from '../polling.ts';
import type { QueryContext } from '../query-context.ts';
import { type AnnotatedPage, type ListData, type ListSource, maxPagesWithoutNewRows, pageSize } from './list.ts';
import { cursorOf, type ListPage, type Place } from './page.ts';
import { ListPages } from './pages.ts';
import { type Background, type RestOutcome, RestReader } from './rest.ts';

/** The reader's interface to the workbench. */
export interface ReaderPorts<Row> {
  readonly context: (signal: AbortSignal) => Promise<QueryContext>;
  /** Publishes the current state of the list. */
  readonly publish: (data: ListData<Row>) => void;
}

/** What a reader does in addition to polling. */
export interface ReaderState {
  /** Rows read so far, while the rest is being read for the view or for a file. */
  readonly reading: number | undefined;
  /** The view waits for the rest, and may give it up. */
  readonly stoppable: boolean;
  /** Why the last requested page could not be read. */
  readonly error: Error | undefined;
}

/** How old some rows are. */
export interface RowsAge {
  /** Epoch milliseconds. */
  readonly readAt: number;
  /** Numbers of the first and last row of their page, from 1. */
  readonly from: number;
  readonly to: number;
}

/** Maximum number of pages in a poll: the first, those in view, and those that close a gap. */
export const pagesPerPoll = 12;
/** The same of a list that nothing shows, which is read for its count and for what runs in it. */
export const pagesPerHiddenPoll = 3;
/** Statuses with which services reject an expired cursor. */
const refusals: readonly (number | undefined)[] = [400, 410, 422];

function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && refusals.includes(error.status);
}

/** Time limit for a page in milliseconds. */
const pageTimeoutMs = 60_000;
/** Answers for one page that may come too late to be taken. */
const attempts = 5;

export class ListReader<Row> {
  /** Of several sources with the same key, the one that was shown or read last. */
  source: ListSource<Row>;
  readonly #pages: ListPages<Row>;
  readonly #ports: ReaderPorts<Row>;
  readonly #windows = new Map<object, readonly Row[]>();
  /** Viewers whose cursor is near the last known row. */
  readonly #nearEnd = new Set<object>();
  readonly #listeners = new Listeners();
  #round = 0;
  #asked = 0;
  #polledAt = 0;
  #state: ReaderState = { reading: undefined, stoppable: false, error: undefined };
  #readingOn = false;
  readonly #rest: RestReader<Row>;
  #viewStop = new AbortController();

  constructor(source: ListSource<Row>, ports: ReaderPorts<Row>) {
    this.source = source;
    this.#ports = ports;
    this.#pages = new ListPages(row => this.source.id(row));
    this.#rest = new RestReader({
      context: ports.context,
      size: () => this.#pages.size,
      following: notBefore => this.#following(notBefore),
      read: (place, context) => this.#read(place, context, this.#round),
      mostFruitless: () => maxPagesWithoutNewRows(this.source),
      publish: () => this.#publish(),
      onProgress: reading => this.#say({ ...this.#state, reading }),
      onError: error => this.#say({ ...this.#state, error }),
    });
  }

  get data(): ListData<Row> {
    return this.#pages.data;
  }

  /** The first page as it was last read; undefined before. */
  get firstPage(): ListPage<Row> | undefined {
    return this.#pages.isRestored ? undefined : this.#pages.pages[0];
  }

  /** When an earlier start read the rows, until they are read again; epoch milliseconds. */
  get restoredAt(): number | undefined {
    return this.#pages.isRestored ? this.#pages.pages[0]?.readAt : undefined;
  }

  /** Shows the first page of an earlier start, read at `at` in epoch milliseconds, until it is read again. */
  restore(page: AnnotatedPage<Row>, readAt: number): void {
    this.#pages.restore(page, readAt);
  }

  readonly state = (): ReaderState => this.#state;

  readonly subscribe = this.#listeners.subscribe;

  /** Rows read in the last poll; the others may be outdated. */
  live(): Row[] {
    return this.#pages.pages.filter(page => page.round === this.#round).flatMap(page => page.rows);
  }

  /** What the live rows are doing. */
  activity(source: Pick<ListSource<Row>, 'activity'> = this.source): Activity {
    return source.activity?.(this.live()) ?? 'open';
  }

  /** When the last successful poll began, in epoch milliseconds. */
  get polledAt(): number {
    return this.#polledAt;
  }

  /** Whether the row was read with this list. */
  has(row: Row): boolean {
    return this.#pages.pageOf(this.source.id(row)) !== undefined;
  }

  /** Whether a row of this id was read with this list. */
  hasId(id: string): boolean {
    return this.#pages.pageOf(id) !== undefined;
  }

  /** The age of the oldest of these rows, and the position of its page; undefined for none. */
  oldest(rows: readonly Row[]): RowsAge | undefined {
    const pages = new Set(rows.flatMap(row => this.#pages.pageOf(this.source.id(row)) ?? []));
    let oldest: ListPage<Row> | undefined;
    for (const page of pages) if (!oldest || page.readAt < oldest.readAt) oldest = page;
    if (!oldest) return undefined;
    let before = 0;
    for (const page of this.#pages.pages) {
      if (page === oldest) break;
      before += page.rows.length;
    }
    return { readAt: oldest.readAt, from: before + 1, to: before + oldest.rows.length };
  }

  /**
   * Sets the rows in a viewer's sight: their pages are polled. Near the end the next page is read, and read again with
   * the next successful poll if that failed.
   */
  see(viewer: object, rows: readonly Row[] | undefined, nearEnd = false): void {
    if (rows === undefined) this.#windows.delete(viewer);
    else this.#windows.set(viewer, rows);
    if (rows !== undefined && nearEnd) this.#nearEnd.add(viewer);
    else this.#nearEnd.delete(viewer);
    if (this.#nearEnd.has(viewer) && this.#state.error === undefined) void this.readOn();
  }

  /** Reads the first page, pages that close gaps, and the pages in view. @throws ServiceError */
  async poll(context: QueryContext, mostPages = pagesPerPoll): Promise<ListData<Row>> {
    this.#round += 1;
    const round = this.#round;
    const began = Date.now();
    try {
      await this.#read({ kind: 'first' }, context, round);
      await this.#readDue(context, round, mostPages - 1);
    } catch (error) {
      // Shows the pages that did arrive, with their age.
      if (!context.signal.aborted && this.#pages.size > 0) this.#publish();
      throw error;
    }
    this.#polledAt = began;
    this.#retry();
    return this.data;
  }

  /** The service answers again: what failed is read again if it is still wanted, and forgotten otherwise. */
  #retry(): void {
    if (this.#state.error === undefined) return;
    if (this.#nearEnd.size > 0 && !this.data.complete) void this.readOn();
    else this.#say({ ...this.#state, error: undefined });
  }

  /** Reads the pages in view that were last read before `since`, in epoch milliseconds. Failures are left to the poll. */
  async refreshView(since: number): Promise<void> {
    // Pages of an earlier start are replaced by the poll in progress.
    const due = this.#inView().filter(page => page.readAt < since && page.asked > 0);
    if (due.length === 0) return;
    try {
      const context = await this.#ports.context(AbortSignal.timeout(pageTimeoutMs));
      for (const page of due.slice(0, pagesPerPoll)) {
        if (page.cursor !== undefined) await this.#read({ kind: 'again', page }, context, this.#round);
      }
      this.#publish();
    } catch {
      // The pages keep their age, which is shown.
    }
  }

  /** Reads the next page, unless one is being read. */
  readonly readOn = async (): Promise<void> => {
    if (this.#readingOn || this.#rest.isReading || this.#pages.size === 0 || this.data.complete) return;
    this.#readingOn = true;
    try {
      const context = await this.#ports.context(AbortSignal.timeout(pageTimeoutMs));
      // A poll may have moved the end: ask again with the new cursor.
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const place = this.#following();
        if (!place || (await this.#read(place, context, this.#round))) break;
      }
      this.#say({ ...this.#state, error: undefined });
    } catch (error) {
      this.#say({ ...this.#state, error: asError(error) });
    } finally {
      this.#readingOn = false;
      this.#publish();
    }
  };

  /** Reads everything not yet read, or read before `notBefore`, in epoch milliseconds: for the view, or for `background`. */
  readonly readRest = async (notBefore = 0, background?: Background): Promise<RestOutcome> => {
    if (background) return this.#rest.read(notBefore, background);
    const { signal } = this.#viewStop;
    this.#say({ ...this.#state, stoppable: true });
    try {
      return await this.#rest.read(notBefore, { signal, onProgress: () => {} });
    } finally {
      // A newer wait of the view may have begun after this one was given up.
      if (signal === this.#viewStop.signal) this.#say({ ...this.#state, stoppable: false });
    }
  };

  /** Gives up reading the rest for the view. */
  readonly stop = (): void => {
    this.#viewStop.abort();
    this.#viewStop = new AbortController();
    this.#say({ ...this.#state, stoppable: false });
  };

  /** Removes rows that are known to be gone. */
  remove(ids: readonly string[]): void {
    if (this.#pages.remove(ids)) this.#publish();
  }

  /** What to read next on the way to the end; undefined if everything has been read. */
  #following(notBefore = 0): Place<Row> | undefined {
    if (this.#pages.isRestored) return { kind: 'first' };
    const gap = this.#pages.gap;
    if (gap) return this.#closing(gap);
    const last = this.#pages.pages.at(-1);
    if (!last) return { kind: 'first' };
    if (last.next !== null) return { kind: 'after', page: last };
    const page = this.#pages.pages.find(({ readAt, cursor }) => readAt < notBefore && cursor !== undefined);
    return page && { kind: 'again', page };
  }

  /** A gap follows the known part of a page, which may itself be old. */
  #closing(page: ListPage<Row>): Place<Row> {
    const again = page.round !== this.#round && page.cursor !== undefined;
    return again ? { kind: 'again', page } : { kind: 'after', page };
  }

  async #readDue(context: QueryContext, round: number, most: number): Promise<void> {
    let gap: ListPage<Row> | undefined;
    for (let left = most; left > 0 && round === this.#round; left -= 1) {
      gap = this.#pages.gap;
      const stale = this.#inView().find(page => page.round !== round && page.cursor !== undefined);
      const place: Place<Row> | undefined = gap ? this.#closing(gap) : stale && { kind: 'again', page: stale };
      if (!place) return;
      await this.#read(place, context, round);
    }
    // More rows arrived than one poll can read: what follows is read on demand.
    if (gap && this.#pages.gap) this.#pages.cutAfter(this.#pages.gap);
  }

  /** The pages in view and their neighbours, oldest first. */
  #inView(): ListPage<Row>[] {
    const { pages } = this.#pages;
    const shown = new Set<ListPage<Row>>();
    for (const rows of this.#windows.values()) {
      for (const row of rows) {
        const page = this.#pages.pageOf(this.source.id(row));
        if (page) shown.add(page);
      }
    }
    // Sorted or filtered rows come from many pages, whose neighbours are not in view.
    const wanted =
      shown.size > 2 || this.source.costly
        ? shown
        : new Set(
            pages.filter((page, index) => {
              const around = [pages[index - 1], page, pages[index + 1]];
              return around.some(each => each !== undefined && shown.has(each));
            }),
          );
    return [...wanted].sort((left, right) => left.readAt - right.readAt);
  }

  /**
   * Reads a place and takes the answer. Returns whether it was taken. If an old cursor is rejected, what it led to is
   * dropped and read again from the first page.
   */
  async #read(place: Place<Row>, context: QueryContext, round: number): Promise<boolean> {
    const cursor = cursorOf(place);
    if (cursor === undefined) return false;
    this.#asked += 1;
    const asked = this.#asked;
    const query = { limit: pageSize, ...(cursor === null ? {} : { cursor }) };
    const { readPage, instead } = this.source;
    let page: AnnotatedPage<Row>;
    try {
      page = await readPage({ ...context, query });
    } catch (error) {
      if (!instead || !isNotOffered(error)) return this.#refused(place, error);
      page = await instead(context);
    }
    context.progressed?.();
    // Rows that have all vanished went with what they belong to: if that is not there either, they stay as they are.
    const vanished = place.kind === 'first' && page.items.length === 0 && page.dropped === 0 && this.#pages.size > 0;
    if (vanished) await this.source.partOf?.read(context);
    return this.#pages.take(place, { page, cursor, asked, round, at: Date.now() }) !== undefined;
  }

  /** Forgets what a refused cursor led to. @throws what reading has thrown if that is not why */
  #refused(place: Place<Row>, error: unknown): false {
    const [first] = this.#pages.pages;
    if (!first || place.kind === 'first' || place.page === first || !isRefused(error)) throw error;
    this.#pages.cutAfter(first);
    return false;
  }

  #publish(): void {
    if (this.#pages.pages.length === 0) return;
    this.#ports.publish(this.data);
  }

  #say(state: ReaderState): void {
    const { reading, stoppable, error } = this.#state;
    if (state.reading === reading && state.stoppable === stoppable && state.error === error) return;
    this.#state = state;
    this.#listeners.notify();
  }
}
