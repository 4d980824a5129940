/**
 * The pages of one list, in order. Cursors are opaque: some name the previous row, some are offsets. So the rows decide
 * which pages a response replaces: the reader continues until it meets a known row, then replaces everything up to that
 * row at once. The known rows after it stay.
 */
import { isDeepStrictEqual } from 'node:util';
import { describePartlyRead } from '../../contract/lists.ts';
import { cutOffMessage } from '../../service/pagination.ts';
import { describeUnrelated, describeUnsure, type ListData } from './list-source.ts';

/** One response: a page of a list. */
export interface ListAnswer<Row> {
  /** This page's cursor; null for the first page. */
  readonly cursor: string | null;
  /** The next page's cursor; null at the end of the list. */
  readonly next: string | null;
  /** The rows by id, in order. A row is on only one page. */
  readonly rows: ReadonlyMap<string, Row>;
  readonly dropped: number;
  readonly repeated: number;
  readonly others: number;
  /** Ids of rows, on this page or another one, that may not belong to the list. */
  readonly unsure: ReadonlySet<string>;
  /** Whether the service has more rows, but sent no cursor for reading them. */
  readonly isCutOff: boolean;
  readonly mayChange: boolean;
  readonly note: string | undefined;
  readonly rest: string | undefined;
  readonly rememberedAt: number | undefined;
  /** When its oldest row was read, in epoch milliseconds. */
  readonly readAt: number;
  /** The poll in which its oldest row was read. */
  readonly round: number;
}

/** A response's place in the list. */
export interface ListPage<Row> extends ListAnswer<Row> {
  /** The response's sequence number. */
  readonly taken: number;
}

export class ListPages<Row> {
  #pages: readonly ListPage<Row>[] = [];
  readonly #pageOf = new Map<string, ListPage<Row>>();
  #data: ListData<Row> | undefined;
  #changed = true;
  /** The number of responses so far, and the number at the last call of `news`. */
  #taken = 0;
  #reported = 0;

  get pages(): readonly ListPage<Row>[] {
    return this.#pages;
  }

  pageOf(id: string): ListPage<Row> | undefined {
    return this.#pageOf.get(id);
  }

  /** The number of rows read so far; cheaper than `data`. */
  get size(): number {
    return this.#pageOf.size;
  }

  /** The pages read in a given round. */
  inRound(round: number): ListPage<Row>[] {
    return this.#pages.filter(page => page.round === round);
  }

  /** The rows read since the last call, among the first `most` rows of a round. */
  news(round: number, most = Number.POSITIVE_INFINITY): Row[] {
    const reported = this.#reported;
    this.#reported = this.#taken;
    let left = most;
    return this.inRound(round).flatMap(({ rows, taken }) => {
      const first = taken > reported ? [...rows.values()].slice(0, left) : [];
      left = Math.max(0, left - rows.size);
      return first;
    });
  }

  /** The number of unreadable rows. */
  get dropped(): number {
    return this.#pages.reduce((sum, { dropped }) => sum + dropped, 0);
  }

  /** Whether these are all of the service's rows; cheaper than `data`. */
  get complete(): boolean {
    const last = this.#pages.at(-1);
    return last?.next === null && !last.isCutOff;
  }

  /** When the oldest of its rows was seen, if they come from the remembered store. */
  get remembered_at(): number | undefined {
    return this.#pages[0]?.rememberedAt;
  }

  /** The list's current state. The same object until something in it changes. */
  get data(): ListData<Row> {
    if (this.#data && !this.#changed) return this.#data;
    this.#changed = false;
    const pages = this.#pages;
    const { complete } = this;
    const last = pages.at(-1);
    const rest = complete ? undefined : last?.isCutOff ? cutOffMessage : last?.rest;
    const others = pages.reduce((sum, page) => sum + page.others, 0);
    const doubted = new Set(pages.flatMap(page => [...page.unsure]));
    const unsure = [...doubted].filter(id => this.#pageOf.has(id)).length;
    const rows = pages.flatMap(page => [...page.rows.values()]);
    const notes = [
      describePartlyRead(rows as object[]),
      ...pages.map(({ note }) => note),
      others === 0 ? undefined : describeUnrelated(others),
      unsure === 0 ? undefined : describeUnsure(unsure),
      rest,
    ];
    const fresh = {
      rows,
      complete,
      dropped: this.dropped,
      repeated: pages.reduce((sum, { repeated }) => sum + repeated, 0),
      notes: [...new Set(notes)].filter(note => note !== undefined),
      remembered_at: this.remembered_at,
    };
    this.#data = keepIdentity(this.#data, fresh);
    return this.#data;
  }

  /**
   * Whether the known rows after the last row of `answers` still follow it. The first response replaces the page at
   * `from`. Known rows before the last one that the responses lack are gone, unless only the last row has moved: then
   * the last rows of the previous two responses are in their old order.
   */
  meets(from: number, answers: readonly ListAnswer<Row>[]): boolean {
    const [before, end] = [answers.at(-2), answers.at(-1)].map(answer => answer && lastId(answer));
    const isKnown = end !== undefined && this.#pageOf.has(end);
    let leftOut = false;
    let inOrder = false;
    for (const { rows } of this.#pages.slice(from)) {
      for (const id of rows.keys()) {
        if (id === end) return !leftOut || inOrder;
        inOrder ||= id === before;
        leftOut ||= !answers.some(answer => answer.rows.has(id));
        if (leftOut && !isKnown) return false;
      }
    }
    return !leftOut;
  }

  /**
   * Replaces the known rows from the page at `from` up to the last row in the responses. Later rows stay if the
   * responses meet them; otherwise they are dropped, and read again on demand.
   */
  splice(from: number, answers: readonly ListAnswer<Row>[], meet: boolean): void {
    const last = answers.at(-1);
    if (!last) return;
    this.#taken += 1;
    // With offset cursors, two responses may contain the same row. The later one has the newer copy.
    const owner = new Map(answers.flatMap(answer => [...answer.rows.keys()].map(id => [id, answer] as const)));
    const fresh = answers.map(answer => this.#withKnown(onlyKept(answer, id => owner.get(id) === answer)));
    const taken = new Set(owner.keys());
    const touched = new Set([...taken].map(id => this.#pageOf.get(id)));
    const untaken = (page: ListPage<Row>) => (touched.has(page) ? onlyKept(page, id => !taken.has(id)) : page);
    const follow = last.next !== null && meet ? this.#after(from, lastId(last), untaken) : [];
    const [next, ...more] = follow.filter(({ rows, dropped, others }) => rows.size > 0 || dropped > 0 || others > 0);
    const rest = next ? [{ ...next, cursor: last.next }, ...more] : [];
    this.#set([...this.#pages.slice(0, from).map(untaken), ...fresh, ...rest]);
  }

  /** Drops everything after the first page, to be read again on demand. */
  cut(): void {
    this.#set(this.#pages.slice(0, 1));
  }

  remove(ids: readonly string[]): void {
    const gone = new Set(ids);
    const touched = new Set(ids.map(id => this.#pageOf.get(id)));
    this.#set(this.#pages.map(page => (touched.has(page) ? onlyKept(page, id => !gone.has(id)) : page)));
  }

  /** The pages after a row. The rest of the row's page is merged with the next page, since one cursor reads both. */
  #after(
    from: number,
    end: string | undefined,
    untaken: (page: ListPage<Row>) => ListPage<Row>,
  ): readonly ListPage<Row>[] {
    const page = end === undefined ? undefined : this.#pageOf.get(end);
    const at = page ? this.#pages.indexOf(page) : -1;
    if (!page || at < from) return [];
    const ids = [...page.rows.keys()];
    const later = new Set(ids.slice(ids.indexOf(end as string) + 1));
    const left = {
      ...onlyKept(untaken(page), id => later.has(id)),
      dropped: 0,
      repeated: 0,
      others: 0,
      note: undefined,
    };
    const [next, ...more] = this.#pages.slice(at + 1).map(untaken);
    if (!next || left.rows.size === 0) return [left, ...(next ? [next] : []), ...more];
    const rows = new Map([...left.rows, ...next.rows]);
    const [readAt, round] = [Math.min(left.readAt, next.readAt), Math.min(left.round, next.round)];
    return [{ ...next, rows, unsure: new Set([...left.unsure, ...next.unsure]), readAt, round }, ...more];
  }

  /** Equal rows keep their identity. */
  #withKnown(page: ListAnswer<Row>): ListPage<Row> {
    const rows = [...page.rows].map(([id, row]): [string, Row] => {
      const known = this.#pageOf.get(id)?.rows.get(id);
      return [id, known !== undefined && isDeepStrictEqual(known, row) ? known : row];
    });
    return { ...page, rows: new Map(rows), taken: this.#taken };
  }

  #set(pages: readonly ListPage<Row>[]): void {
    const [old, kept] = [new Set(this.#pages), new Set(pages)];
    for (const page of old) if (!kept.has(page)) for (const id of page.rows.keys()) this.#pageOf.delete(id);
    for (const page of kept) if (!old.has(page)) for (const id of page.rows.keys()) this.#pageOf.set(id, page);
    this.#pages = pages;
    this.#changed = true;
  }
}

const lastId = <Row>({ rows }: ListAnswer<Row>): string | undefined => [...rows.keys()].at(-1);

function onlyKept<Page extends ListAnswer<unknown>>(page: Page, isKept: (id: string) => boolean): Page {
  return { ...page, rows: new Map([...page.rows].filter(([id]) => isKept(id))) };
}

const areSame = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);

/** Keeps the identity of the old state, or of its parts, where they are equal. */
function keepIdentity<Row>(old: ListData<Row> | undefined, fresh: Omit<ListData<Row>, 'version'>): ListData<Row> {
  if (!old) return { ...fresh, version: 1 };
  const rows = areSame(old.rows, fresh.rows) ? old.rows : fresh.rows;
  const notes = areSame(old.notes, fresh.notes) ? old.notes : fresh.notes;
  const next = { ...fresh, rows, notes, version: old.version };
  const isSame = (Object.keys(next) as (keyof typeof next)[]).every(name => old[name] === next[name]);
  return isSame ? old : { ...next, version: old.version + 1 };
}
