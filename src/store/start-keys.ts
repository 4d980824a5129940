/**
 * The idempotency keys of start requests with unknown outcomes, by service, action and content. A retry of the same
 * request reuses its key, even from another window, command or run of the program, and after a change of the API key. A
 * key is written before it is sent, and deleted once the outcome is known. A key that cannot be written is kept in
 * memory, and its request is sent only if a repeat is harmless.
 */

import { createHash } from 'node:crypto';
import { orderedJson } from '../base/ordered-json.ts';
import type { Row, Tables } from './tables.ts';

/**
 * The document does not specify how long a key is valid. Services commonly promise a day, so an older key may start a
 * second run.
 */
export const honouredMs = 24 * 60 * 60_000;

/** An older request is not in flight, even if a process with its pid exists: pids are reused. */
const longestRequestMs = 10 * 60_000;

interface StartKey {
  readonly key: string;
  /** Whether an earlier request with this key may have succeeded. */
  readonly isOpen: boolean;
  /** When it was first sent, in epoch milliseconds. */
  readonly sentAt: number;
  /** The last process to send it. */
  readonly pid: number;
}

type StartOutcome = 'started' | 'refused' | 'unknown';

/** An earlier start request with the same content that may have succeeded. */
export interface EarlierStart extends Pick<StartKey, 'key' | 'sentAt'> {
  /** Whether the service may have forgotten its key. */
  readonly isExpired: boolean;
}

/** A hash, because an input may be a whole conversation. */
const inputHash = (input: unknown): string => createHash('sha256').update(orderedJson(input)).digest('hex');

/** Identifies one of several start requests. Leaves out the name, which depends on earlier requests. */
const contentOf = (input: unknown, chosen = ''): string =>
  `${inputHash({ ...(input as object), display_name: '' })} ${chosen}`;

/** One of several start requests that are sent together. */
export interface TogetherStart {
  readonly input: unknown;
  /** The user's own key: a different key is a different request. */
  readonly chosen?: string | undefined;
}

/** The `kind` of the rows that hold the ids of work started together. */
const bookOf = (action: string): string => `${action} each`;

/** The key of a request within its group, or with its name. */
const inGroup = (content: string, group: string): string => `${content}\n${group}`;

/** Identifies a start request, with its name. */
const requestOf = (input: unknown): string =>
  inGroup(contentOf(input), String((input as { readonly display_name?: unknown } | undefined)?.display_name ?? ''));

/** The range of a content's keys in all groups, or with all names; its end is exclusive. */
const inAnyGroup = (content: string): readonly [from: string, before: string] => [`${content}\n`, `${content}\v`];

/** Identifies start requests that are sent together, in any order. */
export const groupOf = (starts: readonly TogetherStart[]): string =>
  inputHash(starts.map(({ input, chosen }) => contentOf(input, chosen)).sort());

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const startKeyOf = ({ key, open, pid, sent_at }: Row): StartKey => ({
  key: String(key),
  isOpen: open === 1,
  sentAt: Number(sent_at),
  pid: Number(pid),
});

export class StartKeys {
  readonly #tables: Tables;
  /** Keys that could not be written, by action and content. */
  readonly #unwritten = new Map<string, readonly StartKey[]>();
  /** Keys that this program has sent. */
  readonly #sent = new Set<string>();
  /** Keys that could not be deleted. */
  readonly #settled = new Set<string>();

  /** The requests that this program awaits, by content and group. */
  readonly #awaited = new Set<string>();

  /** The ids of started work that could not be written, by the request's content and group. */
  readonly #unwrittenStarts = new Map<string, string>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** All keys for this content with an unknown outcome, latest first. */
  #all(action: string, content: string): StartKey[] {
    const unwritten = this.#unwritten.get(`${action} ${content}`) ?? [];
    const sql = 'select * from starts where service = ? and action = ? and content = ? order by sent_at desc';
    const written = this.#tables.all(sql, this.#tables.service, action, content).map(startKeyOf);
    const isNew = ({ key }: StartKey): boolean => !unwritten.some(each => each.key === key) && !this.#settled.has(key);
    return [...unwritten, ...written.filter(isNew)];
  }

  /** The latest key that no other program is still sending. */
  #latest(action: string, content: string, now: number): StartKey | undefined {
    const isInFlight = ({ key, isOpen, sentAt, pid }: StartKey): boolean =>
      !isOpen && !this.#sent.has(key) && now - sentAt < longestRequestMs && pid !== process.pid && isAlive(pid);
    return this.#all(action, content).find(each => !isInFlight(each));
  }

  /** The latest earlier request with the same input that may have succeeded; undefined if there is none. */
  earlier(action: string, input: unknown, now = Date.now()): EarlierStart | undefined {
    const known = this.#latest(action, requestOf(input), now);
    return known && { key: known.key, sentAt: known.sentAt, isExpired: now - known.sentAt >= honouredMs };
  }

  /**
   * The names of the earlier requests that may have succeeded and differ from this input only in the name, latest first.
   *
   * @param chosen the user's own key: a request with another key is not repeated
   */
  openNames(action: string, input: unknown, chosen?: string, now = Date.now()): readonly string[] {
    const [from, before] = inAnyGroup(contentOf(input));
    const sql =
      'select content from starts where service = ? and action = ? and content >= ? and content < ? order by sent_at desc';
    const written = this.#tables
      .all(sql, this.#tables.service, action, from, before)
      .map(row => String(row['content']));
    const unwritten = [...this.#unwritten.keys()].map(id => id.slice(action.length + 1));
    const contents = [...unwritten.filter(content => content.startsWith(from)), ...written];
    const isRepeated = (content: string): boolean =>
      chosen === undefined
        ? this.#latest(action, content, now) !== undefined
        : this.#all(action, content).some(({ key }) => key === chosen);
    return contents.filter(isRepeated).map(content => content.slice(from.length));
  }

  /**
   * The key to send with this input. It stays the same until it is settled or expires.
   *
   * @param chosen the user's own key; an earlier one whose outcome is unknown is kept as well
   */
  take(action: string, input: unknown, chosen?: string, now = Date.now()): string {
    const content = requestOf(input);
    const isExpired = ({ sentAt }: StartKey): boolean => now - sentAt >= honouredMs;
    const all = this.#all(action, content);
    const known = this.#latest(action, content, now);
    const repeated = known && !isExpired(known) ? known.key : undefined;
    const key = chosen ?? repeated ?? crypto.randomUUID();
    const before = all.find(each => each.key === key);
    // A new key replaces those that the service may have forgotten.
    if (!before) for (const { key } of all.filter(isExpired)) this.#forget(action, content, key);
    this.#keep(action, content, {
      key,
      // If this program did not send it, its sender ended before the response arrived.
      isOpen: before !== undefined && (before.isOpen || !this.#sent.has(key)),
      // The latest key comes first, also of two that are sent within a millisecond.
      sentAt: before?.sentAt ?? Math.max(now, (all[0]?.sentAt ?? 0) + 1),
      pid: process.pid,
    });
    this.#sent.add(key);
    return key;
  }

  /** Why a later run of the program could not find this key; undefined if it could. */
  whyUnwritten(key: string): string | undefined {
    const isUnwritten = [...this.#unwritten.values()].some(keys => keys.some(each => each.key === key));
    return isUnwritten || !this.#tables.isOpen ? this.#tables.problem : undefined;
  }

  /**
   * Forgets the key once the outcome is known, so that the same input can start another run. Only a success settles an
   * earlier attempt with an unknown outcome; a refusal does not.
   */
  settle(action: string, input: unknown, key: string, outcome: StartOutcome): void {
    const content = requestOf(input);
    const known = this.#all(action, content).find(each => each.key === key);
    if (!known) return;
    const isOpen = outcome === 'unknown' || (outcome === 'refused' && known.isOpen);
    if (isOpen) this.#keep(action, content, { ...known, isOpen });
    else this.#forget(action, content, key);
  }

  /**
   * The name that was first sent with this content and the user's own key; undefined once the key has expired.
   *
   * @param kind the kind of resource that the request starts
   */
  nameOf(kind: string, input: unknown, key: string, now = Date.now()): string | undefined {
    const sql = 'select name from start_names where service = ? and kind = ? and key = ? and sent_at > ?';
    const [row] = this.#tables.all(sql, this.#tables.service, kind, contentOf(input, key), now - honouredMs);
    return row && String(row['name']);
  }

  /** Remembers the name sent with the user's own key: a repeat with a different name would be a different request. */
  keepName(kind: string, input: unknown, key: string, name: string, now = Date.now()): void {
    if (this.nameOf(kind, input, key, now) !== undefined) return;
    const sql = 'insert or replace into start_names (service, kind, key, name, sent_at) values (?, ?, ?, ?, ?)';
    this.#tables.run(sql, this.#tables.service, kind, contentOf(input, key), name, now);
  }

  /**
   * Records several start requests that are sent together. Until `forgetStarts`, `startOf` knows in every window and
   * command which of them have started, even if the service has forgotten their keys.
   */
  awaitStarts(action: string, starts: readonly TogetherStart[], now = Date.now()): void {
    const sql = `insert or ignore into start_names (service, kind, key, name, sent_at) values (?, ?, ?, '', ?)`;
    const group = groupOf(starts);
    for (const { input, chosen } of starts) {
      const key = inGroup(contentOf(input, chosen), group);
      this.#awaited.add(key);
      if (!this.#tables.run(sql, this.#tables.service, bookOf(action), key, now)) this.#unwrittenStarts.set(key, '');
    }
  }

  /**
   * The id of the started work; undefined if there is none. It does not expire while other requests in the group are
   * pending, or with the user's own key. Otherwise it is kept for a day, for other groups too: the user may have
   * corrected the other requests.
   */
  startOf(action: string, { input, chosen }: TogetherStart, group: string, now = Date.now()): string | undefined {
    const content = contentOf(input, chosen);
    const own = inGroup(content, group);
    const sql = `select name from start_names where service = ? and kind = ? and key >= ? and key < ? and name <> ''
      and (sent_at > ? or (key = ? and (? or exists (
        select 1 from start_names where service = ? and kind = ? and name = '' and key like ?
      )))) order by key = ? desc limit 1`;
    const book = [this.#tables.service, bookOf(action)] as const;
    const isKept = chosen === undefined ? 0 : 1;
    const values = [...book, ...inAnyGroup(content), now - honouredMs, own, isKept, ...book, `%\n${group}`, own];
    const [row] = this.#tables.all(sql, ...values);
    return this.#unwrittenStarts.get(own) || (row && String(row['name']));
  }

  /** Records the id of started work in all groups that await it, with and without the key that was sent. */
  noteStart(action: string, input: unknown, key: string, id: string, now = Date.now()): void {
    const sql = 'update start_names set name = ?, sent_at = ? where service = ? and kind = ? and key >= ? and key < ?';
    for (const content of [contentOf(input), contentOf(input, key)]) {
      const [from, before] = inAnyGroup(content);
      const isWritten = this.#tables.run(sql, id, now, this.#tables.service, bookOf(action), from, before);
      for (const each of this.#awaited) {
        if (each.startsWith(from) && (!isWritten || this.#unwrittenStarts.has(each)))
          this.#unwrittenStarts.set(each, id);
      }
    }
  }

  /** Forgets that work has started which the service no longer has: repeating its request starts it again. */
  forgetStart(id: string): void {
    const sql = 'delete from start_names where service = ? and kind like ? and name = ?';
    this.#tables.run(sql, this.#tables.service, bookOf('%'), id);
    for (const [key, started] of this.#unwrittenStarts) if (started === id) this.#unwrittenStarts.delete(key);
  }

  /** Stops awaiting the requests: all their work has started, so repeating them starts new work. */
  forgetStarts(action: string, starts: readonly TogetherStart[]): void {
    const group = groupOf(starts);
    const keys = starts.map(({ input, chosen }) => inGroup(contentOf(input, chosen), group));
    for (const key of keys) {
      this.#awaited.delete(key);
      this.#unwrittenStarts.delete(key);
    }
    const rows = keys.map(key => [this.#tables.service, bookOf(action), key] as const);
    this.#tables.runAll('delete from start_names where service = ? and kind = ? and key = ?', rows);
  }

  #keep(action: string, content: string, entry: StartKey): void {
    const sql =
      'insert or replace into starts (service, action, content, key, open, pid, sent_at) values (?, ?, ?, ?, ?, ?, ?)';
    const { key, isOpen, pid, sentAt } = entry;
    const id = `${action} ${content}`;
    if (this.#tables.run(sql, this.#tables.service, action, content, key, isOpen ? 1 : 0, pid, sentAt)) {
      this.#dropUnwritten(id, key);
    } else this.#unwritten.set(id, [entry, ...this.#dropUnwritten(id, key)]);
  }

  /** Returns the other unwritten keys for this action and content. */
  #dropUnwritten(id: string, key: string): readonly StartKey[] {
    const left = (this.#unwritten.get(id) ?? []).filter(each => each.key !== key);
    if (left.length > 0) this.#unwritten.set(id, left);
    else this.#unwritten.delete(id);
    return left;
  }

  #forget(action: string, content: string, key: string): void {
    this.#dropUnwritten(`${action} ${content}`, key);
    const sql = 'delete from starts where service = ? and action = ? and content = ? and key = ?';
    if (!this.#tables.run(sql, this.#tables.service, action, content, key)) this.#settled.add(key);
  }

  prune(before: number): void {
    this.#tables.run('delete from starts where sent_at < ?', before);
    this.#tables.run('delete from start_names where sent_at < ?', before);
  }
}
