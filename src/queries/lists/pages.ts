/**
 * The pages of one list, in order, each with its cursor and age. Pages are read again one by one: a page replaces what
 * was known of its part of the list, and nothing else. Cursors are opaque: some name the row before, some are offsets.
 * So whether two pages still adjoin is decided by their rows: a page adjoins the next one if its last row was known to
 * come right before it, or is in it. Otherwise rows may be missing between them: a gap, which is closed by reading on
 * from the first of the two.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnnotatedPage, ListData, RowId } from './list.ts';
import { type ListPage, type PageAnswer, type Place, pageOf } from './page.ts';

/** More gaps are not kept: what follows is read when the cursor comes near. */
const mostGaps = 2;

export class ListPages<Row> {
  readonly #id: RowId<Row>;
  #pages: ListPage<Row>[] = [];
  /** The page with the newest copy of each row. */
  readonly #owners = new Map<string, ListPage<Row>>();
  #rememberedAt: number | undefined;
  #data: ListData<Row> | undefined;
  #changed = true;

  constructor(id: RowId<Row>) {
    this.#id = id;
  }

  get pages(): readonly ListPage<Row>[] {
    return this.#pages;
  }

  /** The page that shows the row with this id. */
  pageOf(id: string): ListPage<Row> | undefined {
    return this.#owners.get(id);
  }

  /** The first page after which rows may be missing. */
  get gap(): ListPage<Row> | undefined {
    return this.#pages.find(page => page.gap);
  }

  /** How many rows have been read; cheaper than `data`. */
  get size(): number {
    return this.#owners.size;
  }

  /** The list as it is known now. */
  get data(): ListData<Row> {
    if (this.#data && !this.#changed) return this.#data;
    this.#changed = false;
    const rows: Row[] = [];
    let dropped = 0;
    let repeated = 0;
    let gapAfter: number | undefined;
    for (const page of this.#pages) {
      this.#tidy(page);
      for (const row of page.rows) rows.push(row);
      dropped += page.dropped;
      repeated += page.repeated;
      if (page.gap) gapAfter ??= rows.length;
    }
    const old = this.#data;
    const complete = gapAfter === undefined && this.#pages.at(-1)?.next === null;
    const kept = old && sameRows(old.rows, rows) ? old.rows : rows;
    const fresh = {
      rows: kept,
      complete,
      dropped,
      repeated,
      gapAfter,
      notes: this.#notes(complete, old),
      remembered_at: this.#rememberedAt,
    };
    const data = old && sameFacts(old, fresh) ? old : { ...fresh, version: (old?.version ?? 0) + 1 };
    this.#data = data;
    return data;
  }

  #notes(complete: boolean, old: ListData<Row> | undefined): readonly string[] {
    const said = [...this.#pages.map(page => page.note), complete ? undefined : this.#pages.at(-1)?.rest];
    const notes = [...new Set(said)].filter(note => note !== undefined);
    return old && notes.join('\n') === old.notes.join('\n') ? old.notes : notes;
  }

  /** Whether everything known is from an earlier start of the program. */
  get isRestored(): boolean {
    return this.#pages[0]?.asked === 0;
  }

  /** Takes the first page of an earlier start, if nothing has been read yet. The next answer replaces it. */
  restore(page: AnnotatedPage<Row>, readAt: number): void {
    if (this.#pages.length > 0) return;
    const restored = pageOf({ page, cursor: null, asked: 0, round: -1, at: readAt }, this.#id, () => false);
    this.#pages = [restored];
    this.#rememberedAt = page.remembered_at;
    this.#claim(restored, undefined);
    this.#changed = true;
  }

  /** Takes an answer, unless newer ones have overtaken it. Returns the page if it was taken. */
  take(place: Place<Row>, answer: PageAnswer<Row>): ListPage<Row> | undefined {
    if (place.kind === 'after') return this.#append(place.page, answer);
    const old = place.kind === 'first' ? this.#pages[0] : place.page;
    const index = old ? this.#pages.indexOf(old) : 0;
    if (index === -1 || (old && (old.asked > answer.asked || old.cursor !== answer.cursor))) return undefined;
    if (this.#isBehindGap(index)) return undefined;
    if (index === 0) this.#rememberedAt = answer.page.remembered_at;
    this.#changed = true;
    const page = this.#pageFrom(answer, index, old?.after);
    if (old) this.#keepUnread(page, old, answer.page.isUnread);
    this.#pages[index] = page;
    const lastWas = this.#claim(page, old);
    if (old?.asked === 0) this.#release(old);
    else if (old) this.#replace(index, page, old, lastWas);
    this.#limitGaps();
    return page;
  }

  /** Removes rows that are known to be gone. Returns whether there were any. */
  remove(ids: readonly string[]): boolean {
    let removed = false;
    for (const id of ids) {
      const page = this.#owners.get(id);
      if (!page) continue;
      this.#owners.delete(id);
      page.outdated = true;
      removed = true;
    }
    if (removed) this.#changed = true;
    return removed;
  }

  /** Drops everything after a page: it is read again on demand. */
  cutAfter(page: ListPage<Row>): void {
    const index = this.#pages.indexOf(page);
    if (index === -1) return;
    this.#drop(index + 1, this.#pages.length);
    page.gap = false;
    this.#changed = true;
  }

  #append(before: ListPage<Row>, answer: PageAnswer<Row>): ListPage<Row> | undefined {
    const index = this.#pages.indexOf(before);
    const last = index === this.#pages.length - 1;
    if (index === -1 || before.next !== answer.cursor || before.next === null || !(last || before.gap))
      return undefined;
    if (this.#isBehindGap(index)) return undefined;
    this.#changed = true;
    const page = this.#pageFrom(answer, index + 1, before.ids.at(-1) ?? before.after);
    before.gap = false;
    this.#pages.splice(index + 1, 0, page);
    const lastWas = this.#claim(page, undefined);
    this.#settle(index + 1, lastWas, true);
    this.#limitGaps();
    return page;
  }

  /** Pages after a gap stay until it is closed: the pages that close it may overlap them. */
  #isBehindGap(index: number): boolean {
    const gap = this.#pages.findIndex(page => page.gap);
    return gap !== -1 && gap < index;
  }

  #pageFrom(answer: PageAnswer<Row>, index: number, after: string | undefined): ListPage<Row> {
    const isKnown = (cursor: string): boolean => this.#pages.slice(0, index).some(page => page.cursor === cursor);
    return { ...pageOf(answer, this.#id, isKnown), after };
  }

  /** Rows outside the request stay as they were. */
  #keepUnread(page: ListPage<Row>, old: ListPage<Row>, isUnread: ((row: Row) => boolean) | undefined): void {
    if (!isUnread) return;
    const taken = new Set(page.ids);
    for (const [at, row] of old.rows.entries()) {
      const id = old.ids[at];
      if (id === undefined || taken.has(id) || !isUnread(row)) continue;
      page.rows.push(row);
      page.ids.push(id);
    }
  }

  /** Makes a page the owner of its rows. Equal rows keep their identity. Returns the former page of its last row. */
  #claim(page: ListPage<Row>, old: ListPage<Row> | undefined): ListPage<Row> | undefined {
    const known = new Map(old?.ids.map((id, index) => [id, old.rows[index]]));
    let lastWas: ListPage<Row> | undefined;
    for (const [index, id] of page.ids.entries()) {
      const owner = this.#owners.get(id);
      if (index === page.ids.length - 1) lastWas = owner;
      const before = known.get(id) ?? (owner && owner !== old ? owner.rows[owner.ids.indexOf(id)] : undefined);
      if (before !== undefined && isDeepStrictEqual(before, page.rows[index])) page.rows[index] = before;
      if (owner && owner !== page) owner.outdated = true;
      this.#owners.set(id, page);
    }
    return lastWas;
  }

  /** Replaces a page by its newer version; rows after the new last one move to the next page. */
  #replace(index: number, page: ListPage<Row>, old: ListPage<Row>, lastWas: ListPage<Row> | undefined): void {
    const taken = new Set(page.ids);
    this.#markPreviousOutdated(index, page, old, taken);
    if (page.next === null) {
      this.#release(old);
      this.#drop(index + 1, this.#pages.length);
      return;
    }
    const lastId = page.ids.at(-1);
    const lastAt = lastId === undefined ? old.ids.length - 1 : old.ids.indexOf(lastId);
    const from = lastAt === -1 ? old.ids.findLastIndex(id => taken.has(id)) : lastAt;
    const rest = old.ids.flatMap((id, at) => (at > from && this.#owners.get(id) === old ? [at] : []));
    if (rest.length === 0) {
      page.gap = old.gap;
      this.#release(old);
      this.#settle(index, lastWas === old ? undefined : lastWas, false, lastWas === old && !old.gap);
      return;
    }
    const remainder: ListPage<Row> = {
      ...old,
      cursor: lastAt === -1 ? undefined : page.next,
      after: lastAt === -1 ? undefined : lastId,
      rows: rest.flatMap(at => old.rows.slice(at, at + 1)),
      ids: rest.flatMap(at => old.ids.slice(at, at + 1)),
      dropped: 0,
      repeated: 0,
      note: undefined,
      outdated: false,
    };
    page.gap = lastAt === -1;
    for (const id of remainder.ids) this.#owners.set(id, remainder);
    this.#release(old);
    this.#pages.splice(index + 1, 0, remainder);
    if (!old.gap) this.#mergeWithNext(index + 1);
  }

  /** Joins the remainder of a page with the next page: one cursor reads both. */
  #mergeWithNext(index: number): void {
    const [page, next] = this.#pages.slice(index, index + 2);
    if (!page || !next) return;
    this.#tidy(next);
    const merged: ListPage<Row> = {
      ...next,
      cursor: page.cursor,
      after: page.after,
      rows: [...page.rows, ...next.rows],
      ids: [...page.ids, ...next.ids],
      readAt: Math.min(page.readAt, next.readAt),
      round: Math.min(page.round, next.round),
    };
    for (const id of merged.ids) this.#owners.set(id, merged);
    this.#pages.splice(index, 2, merged);
  }

  /**
   * Rows that vanished from the head of a page are gone, or, if cursors are offsets, have moved to the previous page,
   * which is to be read too.
   */
  #markPreviousOutdated(index: number, page: ListPage<Row>, old: ListPage<Row>, taken: ReadonlySet<string>): void {
    const before = this.#pages[index - 1];
    const [head] = old.ids;
    if (!before || head === undefined || taken.has(head) || before.round === page.round) return;
    if (!before.ids.some(id => taken.has(id))) before.gap = true;
  }

  /**
   * Decides whether a page adjoins the next one. `lastWas` is the former page of its last row. Pages between the two
   * are dropped if two consecutive answers have shown that nothing is left of them.
   */
  #settle(index: number, lastWas: ListPage<Row> | undefined, skips: boolean, met = false): void {
    const page = this.#pages[index];
    if (!page) return;
    if (page.next === null) {
      page.gap = false;
      this.#drop(index + 1, this.#pages.length);
      return;
    }
    const next = this.#pages[index + 1];
    if (!next) {
      page.gap = false;
      return;
    }
    const lastId = page.ids.at(-1);
    const follower = this.#pages.findIndex((each, at) => {
      return at > index && (each === lastWas || (lastId !== undefined && each.after === lastId));
    });
    const sameCursor = next.cursor === page.next && (next.round === page.round || lastId === undefined);
    const joins = met || sameCursor || follower === index + 1 || (skips && follower > index);
    page.gap = !joins;
    if (!joins) return;
    if (!met && !sameCursor && follower > index + 1) this.#drop(index + 1, follower);
    this.#joinWithNext(index, page);
  }

  #joinWithNext(index: number, page: ListPage<Row>): void {
    for (let next = this.#pages[index + 1]; next; next = this.#pages[index + 1]) {
      this.#tidy(next);
      if (next.rows.length > 0 || next.dropped > 0) {
        next.cursor = page.next;
        next.after = page.ids.at(-1) ?? page.after;
        return;
      }
      // With this page the whole list has been read.
      this.#pages.splice(index + 1, 1);
      page.gap = next.gap;
      if (page.gap) return;
    }
  }

  /** Removes rows of which another page has a newer copy, and rows that were deleted. */
  #tidy(page: ListPage<Row>): void {
    if (!page.outdated) return;
    const kept = page.ids.map(id => this.#owners.get(id) === page);
    page.rows = page.rows.filter((_, index) => kept[index]);
    page.ids = page.ids.filter((_, index) => kept[index]);
    page.outdated = false;
  }

  #release(page: ListPage<Row>): void {
    for (const id of page.ids) if (this.#owners.get(id) === page) this.#owners.delete(id);
  }

  #drop(from: number, to: number): void {
    for (const page of this.#pages.splice(from, to - from)) this.#release(page);
  }

  #limitGaps(): void {
    const gaps = this.#pages.filter(page => page.gap);
    const last = gaps[mostGaps];
    if (last) this.cutAfter(last);
  }
}

function sameRows<Row>(left: readonly Row[], right: readonly Row[]): boolean {
  return left.length === right.length && left.every((row, index) => row === right[index]);
}

function sameFacts<Row>(old: ListData<Row>, fresh: Omit<ListData<Row>, 'version'>): boolean {
  return (Object.keys(fresh) as (keyof typeof fresh)[]).every(name => old[name] === fresh[name]);
}
