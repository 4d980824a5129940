/**
 * Reads one list: polls its first page and the pages in view, reads on as the cursor nears the end, and reads the rest
 * on request. Requests take turns, so that the pages do not change while one is in flight.
 */

import { asError } from '../../base/errors.ts';
import { Listeners } from '../../base/listeners.ts';
import { isCutOff, isRefusedCursor, nextCursor } from '../../service/pagination.ts';
import type { Activity } from '../polling.ts';
import type { QueryContext } from '../query-context.ts';
import { type ListData, type ListSource, maxPagesWithoutNewRows, pageSize, readListed } from './list-source.ts';
import { type ListAnswer, type ListPage, ListPages } from './pages.ts';
import { type RestOutcome, RestReader, type RestStep, type Waiter } from './read-all.ts';

/** The workbench's functions for the reader. */
interface ReaderPorts<Row> {
  readonly context: (signal: AbortSignal) => Promise<QueryContext>;
  /** Publishes the list's current state. */
  readonly publish: (data: ListData<Row>) => void;
}

/** A reader's activity besides polling. */
export interface ReaderState {
  /** The number of rows read so far, while the rest is being read for the view or for a file. */
  readonly reading: number | undefined;
  /** Whether the view is waiting for the rest, and can stop reading it. */
  readonly stoppable: boolean;
  /** Why the last requested page could not be read. */
  readonly error: Error | undefined;
}

export interface RowsAge {
  /** Epoch milliseconds. */
  readonly readAt: number;
  /** Numbers of their page's first and last row, from 1. */
  readonly from: number;
  readonly to: number;
}

/** Maximum pages per poll: the first ones up to known rows, and those in view. */
export const pagesPerPoll = 12;
/** Maximum pages per poll of a list that is not on screen, and is read only for its count and its running rows. */
export const pagesPerHiddenPoll = 3;
/** Timeout for one page, in milliseconds. */
const pageTimeoutMs = 60_000;

/** A read and its remaining budget. */
interface Reading {
  readonly context: QueryContext;
  /** The poll it belongs to. */
  readonly round: number;
  /** The number of pages that it may still read. */
  left: number;
  /** The number of requests so far. */
  requests: number;
}

export class ListReader<Row> {
  readonly source: ListSource<Row>;
  readonly #pages = new ListPages<Row>();
  /** The rows that an earlier session saved, until the list is read again. */
  #seed: ListData<Row> | undefined;
  readonly #ports: ReaderPorts<Row>;
  readonly #windows = new Map<object, readonly Row[]>();
  /** Viewers whose cursor is near the last known row. */
  readonly #nearEnd = new Set<object>();
  readonly #listeners = new Listeners();
  #round = 0;
  #polledAt = 0;
  #cost = 1;
  #state: ReaderState = { reading: undefined, stoppable: false, error: undefined };
  #readingOn: Promise<void> | undefined;
  readonly #rest: RestReader;
  #viewStop = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(source: ListSource<Row>, ports: ReaderPorts<Row>, seed?: ListData<Row>) {
    this.source = source;
    this.#ports = ports;
    this.#seed = seed;
    this.#rest = new RestReader({
      context: ports.context,
      size: () => this.#pages.size,
      isRead: notBefore => this.#following(notBefore) === undefined,
      step: (notBefore, context) => this.#inTurn(() => this.#step(notBefore, context)),
      mostFruitless: () => maxPagesWithoutNewRows(this.source),
      publish: () => this.#publish(),
      onProgress: reading => this.#say({ ...this.#state, reading }),
      onError: error => this.#say({ ...this.#state, error }),
    });
  }

  get data(): ListData<Row> {
    return this.#seed ?? this.#pages.data;
  }

  /** The number of rows, and whether the list is complete. Cheaper than `data`, which is rebuilt after every page. */
  get extent(): Pick<ListData<Row>, 'complete' | 'dropped' | 'remembered_at'> & { readonly rows: number } {
    const { complete, dropped, remembered_at } = this.#seed ?? this.#pages;
    return { rows: this.#seed?.rows.length ?? this.#pages.size, complete, dropped, remembered_at };
  }

  /** The number of pages read so far. */
  get pageCount(): number {
    return this.#pages.pages.length;
  }

  readonly state = (): ReaderState => this.#state;

  readonly subscribe = this.#listeners.subscribe;

  /** The rows read in the last poll; others may be out of date. */
  live(): Row[] {
    return this.#pages.inRound(this.#round).flatMap(({ rows }) => [...rows.values()]);
  }

  /** The rows read since the last call, among the first `most` live ones. */
  news(most?: number): Row[] {
    return this.#pages.news(this.#round, most);
  }

  activity(source: Pick<ListSource<Row>, 'activity'>): Activity {
    const activity = source.activity?.(this.live()) ?? 'open';
    // Look at all pages: this poll may not have read any yet.
    const mayChange = activity === 'settled' && this.#pages.pages.some(page => page.mayChange);
    return mayChange ? 'settling' : activity;
  }

  /** When the last successful poll began, in epoch milliseconds. */
  get polledAt(): number {
    return this.#polledAt;
  }

  /** How many requests the last successful poll took. */
  get cost(): number {
    return this.#cost;
  }

  /** Whether a row with this id has been read. */
  has(id: string): boolean {
    return this.#pages.pageOf(id) !== undefined;
  }

  /** The age of the oldest of these rows, and where its page is; undefined if there are none. */
  oldest(rows: readonly Row[]): RowsAge | undefined {
    const pages = new Set(rows.flatMap(row => this.#pages.pageOf(this.source.id(row)) ?? []));
    let oldest: ListPage<Row> | undefined;
    for (const page of pages) if (!oldest || page.readAt < oldest.readAt) oldest = page;
    if (!oldest) return undefined;
    let before = 0;
    for (const page of this.#pages.pages) {
      if (page === oldest) break;
      before += page.rows.size;
    }
    return { readAt: oldest.readAt, from: before + 1, to: before + oldest.rows.size };
  }

  /**
   * Sets the rows that a viewer shows, so that their pages are polled. Near the end, the next page is read; if that
   * fails, the next successful poll retries it.
   */
  see(viewer: object, rows: readonly Row[] | undefined, nearEnd = false): void {
    if (rows === undefined) this.#windows.delete(viewer);
    else this.#windows.set(viewer, rows);
    if (rows !== undefined && nearEnd) this.#nearEnd.add(viewer);
    else this.#nearEnd.delete(viewer);
    if (this.#nearEnd.has(viewer) && this.#state.error === undefined) this.readAhead();
  }

  /** The rows that viewers are showing. */
  shown(): readonly Row[] {
    return [...this.#windows.values()].flat();
  }

  /** Reads the first page, the pages that close gaps, and the pages in view. @throws ServiceError */
  async poll(context: QueryContext, mostPages = pagesPerPoll): Promise<ListData<Row>> {
    this.#round += 1;
    const round = this.#round;
    const began = Date.now();
    const reading = { context, round, left: mostPages, requests: 0 };
    try {
      await this.#inTurn(() => this.#read(0, reading));
      while (reading.left > 0 && round === this.#round && (await this.#inTurn(() => this.#readInView(reading))));
    } catch (error) {
      // Publish the pages that did arrive, with their age.
      if (!context.signal.aborted) this.#publish();
      throw error;
    }
    this.#polledAt = began;
    this.#cost = Math.max(1, reading.requests);
    this.#retry();
    return this.data;
  }

  /** Called when the service responds again: retries failed pages that are still needed. */
  #retry(): void {
    if (this.#state.error === undefined) return;
    if (this.#nearEnd.size > 0 && !this.extent.complete) this.readAhead();
    else this.#say({ ...this.#state, error: undefined });
  }

  /** Reads pages in view that were last read before `since`, in epoch milliseconds. Leaves failures to the poll. */
  async refreshView(since: number): Promise<void> {
    const isDue = (page: ListPage<Row>): boolean => page.readAt < since;
    if (!this.#inView().some(isDue)) return;
    try {
      const context = await this.#ports.context(AbortSignal.timeout(pageTimeoutMs));
      const reading = { context, round: this.#round, left: pagesPerPoll, requests: 0 };
      while (reading.left > 0 && (await this.#inTurn(() => this.#readInView(reading, isDue))));
      this.#publish();
    } catch {
      // The pages keep their age, which is on screen.
    }
  }

  /** Reads the next page, unless the rest is being read, which publishes its pages less often. */
  readAhead(): void {
    if (!this.#rest.isReading) void this.readOn();
  }

  /** Reads the next page, or waits for it if it is already being read. */
  readonly readOn = (): Promise<void> => {
    this.#readingOn ??= this.#readNext().finally(() => {
      this.#readingOn = undefined;
    });
    return this.#readingOn;
  };

  async #readNext(): Promise<void> {
    if (this.#pages.size === 0 && !this.#seed) return;
    if (this.#seed ? this.#seed.complete : this.#following() === undefined) return;
    try {
      const context = await this.#ports.context(AbortSignal.timeout(pageTimeoutMs));
      // If a cursor is refused, start over at the first page.
      for (let isRefused = true; isRefused; ) {
        isRefused = (await this.#inTurn(() => this.#step(0, context))) === 'refused';
      }
      this.#say({ ...this.#state, error: undefined });
    } catch (error) {
      this.#say({ ...this.#state, error: asError(error) });
    } finally {
      this.#publish();
    }
  }

  /**
   * Reads all rows that are unread, or were last read before `notBefore`, in epoch milliseconds: for `waiter`, or by
   * default for the view.
   */
  readonly readRest = async (notBefore = 0, waiter?: Waiter): Promise<RestOutcome> => {
    if (waiter) return this.#rest.read(notBefore, waiter);
    const { signal } = this.#viewStop;
    this.#say({ ...this.#state, stoppable: true });
    try {
      return await this.#rest.read(notBefore, { signal, onProgress: () => {} });
    } finally {
      // The view may have started waiting again after it stopped this wait.
      if (signal === this.#viewStop.signal) this.#say({ ...this.#state, stoppable: false });
    }
  };

  /** Stops reading the rest for the view. */
  readonly stop = (): void => {
    this.#viewStop.abort();
    this.#viewStop = new AbortController();
    this.#say({ ...this.#state, stoppable: false });
  };

  remove(ids: readonly string[]): void {
    const isGone = (row: Row): boolean => ids.includes(this.source.id(row));
    if (!this.data.rows.some(isGone)) return;
    this.#pages.remove(ids);
    if (this.#seed) this.#seed = { ...this.#seed, rows: this.#seed.rows.filter(row => !isGone(row)) };
    this.#publish();
  }

  /** Lets reads take turns. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** The number of the next page to read; undefined once the list has been read to its end. */
  #following(notBefore = 0): number | undefined {
    const { pages } = this.#pages;
    if (pages.at(-1)?.next !== null) return pages.length;
    const old = pages.findIndex(({ readAt }) => readAt < notBefore);
    return old === -1 ? undefined : old;
  }

  async #step(notBefore: number, context: QueryContext): Promise<RestStep | undefined> {
    const at = this.#following(notBefore);
    if (at === undefined) return undefined;
    const isNew = at === this.#pages.pages.length;
    const isTaken = await this.#read(at, { context, round: this.#round, left: pagesPerPoll, requests: 0 });
    return isTaken ? (isNew ? 'new' : 'again') : 'refused';
  }

  /** Reads the oldest page in view that is due. Returns whether there was one. */
  async #readInView(reading: Reading, isDue = ({ round }: ListPage<Row>) => round !== reading.round): Promise<boolean> {
    const page = this.#inView().find(isDue);
    if (page) await this.#read(this.#pages.pages.indexOf(page), reading);
    return page !== undefined;
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
    // Sorted or filtered rows come from many pages, whose neighbours are not near the view.
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
   * Reads the page with this number, and the following ones until they meet known rows. If the service refuses an old
   * cursor, drops the pages after it and returns false; the caller starts over at the first page.
   */
  async #read(at: number, reading: Reading): Promise<boolean> {
    const { pages } = this.#pages;
    const [page, before] = [pages[at], pages[at - 1]];
    const answers: ListAnswer<Row>[] = [];
    let cursor = page ? page.cursor : (before?.next ?? null);
    let meet: boolean;
    do {
      try {
        answers.push(await this.#ask(cursor, [...pages.slice(0, at), ...answers], page, reading));
      } catch (error) {
        const isFresh = answers.length > 0 || at === 0 || (at === 1 && !page);
        if (isFresh || !isRefusedCursor(error)) throw error;
        this.#pages.cut();
        return false;
      }
      const [first = ''] = page?.rows.keys() ?? [];
      // With offset cursors, rows missing at the start have moved to the previous page.
      const isShifted = page && before && before.round !== reading.round && !answers[0]?.rows.has(first);
      if (isShifted && answers.length === 1 && reading.left > 0) return this.#read(at - 1, reading);
      cursor = answers.at(-1)?.next ?? null;
      meet = this.#pages.meets(at, answers);
    } while (!meet && cursor !== null && reading.left > 0);
    this.#pages.splice(at, answers, meet);
    this.#seed = undefined;
    return true;
  }

  /** Sends one request. @throws ServiceError */
  async #ask(
    cursor: string | null,
    before: readonly ListAnswer<Row>[],
    old: ListPage<Row> | undefined,
    reading: Reading,
  ): Promise<ListAnswer<Row>> {
    reading.left -= 1;
    const { context, round } = reading;
    const { partOf, id } = this.source;
    const query = { limit: pageSize, ...(cursor === null ? {} : { cursor }) };
    const page = await readListed(this.source, { ...context, query });
    reading.requests += page.requests ?? 1;
    context.progressed?.();
    // If every row has vanished, check the parent: if it is gone too, this throws, and the rows stay.
    const vanished = cursor === null && page.items.length === 0 && page.dropped === 0 && this.#pages.size > 0;
    if (vanished) await partOf?.read(context);
    const rows = new Map<string, Row>();
    for (const row of page.items) if (!rows.has(id(row))) rows.set(id(row), row);
    const repeated = page.items.length - rows.size;
    // Rows that the request did not cover stay as they were.
    for (const [known, row] of old?.rows ?? []) if (!rows.has(known) && page.isUnread?.(row)) rows.set(known, row);
    const isFollowed = (next: string): boolean => next === cursor || before.some(each => each.cursor === next);
    const next = nextCursor(page, isFollowed) ?? null;
    return {
      cursor,
      next,
      rows,
      dropped: page.dropped,
      repeated,
      others: page.others ?? 0,
      unsure: page.unsure ?? new Set(),
      isCutOff: isCutOff(page, next),
      mayChange: page.mayChange ?? false,
      note: page.note,
      rest: page.rest,
      rememberedAt: page.remembered_at,
      readAt: Date.now(),
      round,
    };
  }

  #publish(): void {
    if (this.#pages.pages.length > 0 || this.#seed) this.#ports.publish(this.data);
  }

  #say(state: ReaderState): void {
    const { reading, stoppable, error } = this.#state;
    if (state.reading === reading && state.stoppable === stoppable && state.error === error) return;
    this.#state = state;
    this.#listeners.notify();
  }
}
