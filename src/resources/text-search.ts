/** Searches the texts of many trajectories: in the index if it has them, otherwise read from the service. */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { Listeners } from '../base/listeners.ts';
import { maxOf, minOf } from '../base/many.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { errorClass } from '../present/outcome-classes.ts';
import { type Origin, originOf, type SearchedPart, searchedParts } from '../present/searched-text.ts';
import { tokensOf } from '../present/task-groups.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { isGone, ServiceError } from '../service/errors.ts';
import type { FoundPart, TextIndex, TextPart } from '../store/text-index.ts';
import type { Range } from '../text/fuzzy.ts';
import type { LineMatches, LineSearch } from '../text/line-search.ts';
import { reward as rewardText } from '../text/numbers.ts';
import type { ResourcePage } from './pages.ts';
import { missingIn } from './trajectories.ts';

/** A matching trajectory with its first matching line. */
export interface TextHit
  extends Pick<
    Trajectory,
    'trajectory_id' | 'task_id' | 'reward' | 'status' | 'error' | 'eval_run_id' | 'training_run_id'
  > {
  /** The number of matching lines in messages. */
  readonly lines: number;
  /** The number of matching lines elsewhere: in rewards, metrics and other fields. */
  readonly other_lines: number;
  /** The place of the first one, in a message if there is one. */
  readonly at: Origin;
  /** Position of the first match in the transcript. */
  readonly place: number;
  /** The line, cut around the match. */
  readonly excerpt: string;
  /** The match in the excerpt. */
  readonly range: Range;
}

/** The number of matching and of searched trajectories of a kind. */
export interface Tally {
  readonly name: string;
  readonly found: number;
  readonly of: number;
}

export interface TextSearchState {
  readonly phase: 'listing' | 'searching' | 'done' | 'stopped' | 'failed';
  /** In the order in which they were found; the same array until there is another. */
  readonly hits: readonly TextHit[];
  /** Trajectories listed, and searched in full, so far. */
  readonly known: number;
  readonly searched: number;
  /** Searched trajectories that came from the index. */
  readonly stored: number;
  /** Trajectories that could not be read in full, with the reason: none of them counts as searched. */
  readonly unread: readonly { readonly trajectory_id: string; readonly reason: string }[];
  /** Listed trajectories beyond the limit. */
  readonly beyond: number;
  /** Why trajectories may be missing. */
  readonly notes: readonly string[];
  /** Whether trajectories are missing that could not be listed. */
  readonly isListCut: boolean;
  readonly error?: Error | undefined;
}

/** Maximum number of trajectories to search: reading more would take an hour. */
export const mostSearched = 20_000;
/** Maximum time without handling keys, in milliseconds. */
const sliceMs = 12;
/** Larger texts are read again for each search: indexing one would hold up the screen. In characters. */
const mostKept = 2 * 1024 * 1024;
/** Reading stops after this many failures in a row: the service has a problem, not a trajectory. */
const mostFailures = 10;
/** While trajectories are listed, the index is searched again each time that there are so many times more. */
const growth = 4;
/** Characters of an excerpt, and of its part before the match. */
const excerptLength = 240;
const beforeMatch = 20;

/** The line around the match. */
function excerptOf(line: string, [from, to]: Range): Pick<TextHit, 'excerpt' | 'range'> {
  // A narrow column shows the beginning.
  const start = from <= beforeMatch ? 0 : from - beforeMatch;
  const lead = start === 0 ? '' : '…';
  const cut = line.slice(start, start + excerptLength).toWellFormed();
  const text = `${lead}${cut}${start + excerptLength < line.length ? '…' : ''}`;
  // A slice would keep the whole text of its trajectory in memory; this copy does not.
  const excerpt = Buffer.from(text).toString();
  const shift = lead.length - start;
  return { excerpt, range: [from + shift, Math.min(to + shift, excerpt.length)] };
}

/** The kind of a trajectory's end: the class of its error, else its status. */
export function endOf({ error, status }: Pick<Trajectory, 'error' | 'status'>): string {
  return errorClass(error ?? '') || (status ?? 'no status');
}

/** Maximum number of distinct rewards listed one by one. */
const mostRewards = 6;

/** Kinds by reward, in ascending order after those without one; many distinct rewards are divided into five ranges. */
function rewardNames(rewards: readonly (number | null | undefined)[]): (reward: number | null | undefined) => string {
  const values = [...new Set(rewards.filter(value => value != null))];
  const name = (value: number | null | undefined): string => (value == null ? 'none' : rewardText(value));
  if (values.length <= mostRewards) return name;
  const [low, high] = [minOf(values), maxOf(values)];
  const width = (high - low) / 5;
  return value => {
    if (value == null) return 'none';
    const bin = Math.min(4, Math.floor((value - low) / width));
    return `${rewardText(low + bin * width)}..${rewardText(low + (bin + 1) * width)}`;
  };
}

function tallies<Row>(
  searched: readonly Row[],
  found: ReadonlySet<string>,
  id: (row: Row) => string,
  name: (row: Row) => string,
): Tally[] {
  const named = new Map<string, { found: number; of: number }>();
  for (const row of searched) {
    const tally = named.get(name(row)) ?? { found: 0, of: 0 };
    tally.of += 1;
    if (found.has(id(row))) tally.found += 1;
    named.set(name(row), tally);
  }
  return [...named].map(([each, tally]) => ({ name: each, ...tally }));
}

type SearchedRow = Pick<Trajectory, 'trajectory_id' | 'reward' | 'status' | 'error'>;

/** The number of matching trajectories of those searched, by reward and by end. */
export function countHits(rows: readonly SearchedRow[], hits: readonly TextHit[]) {
  const found = new Set(hits.map(({ trajectory_id }) => trajectory_id));
  const id = ({ trajectory_id }: SearchedRow): string => trajectory_id;
  const nameOf = rewardNames(rows.map(({ reward }) => reward));
  const ascending = rows.toSorted(
    (left, right) => (left.reward ?? Number.NEGATIVE_INFINITY) - (right.reward ?? Number.NEGATIVE_INFINITY),
  );
  return {
    by_reward: tallies(ascending, found, id, ({ reward }) => nameOf(reward)),
    by_end: tallies(rows, found, id, endOf).sort((left, right) => right.found - left.found || right.of - left.of),
  };
}

export interface TextSearchPorts {
  readonly search: LineSearch;
  /** The trajectories to search, page by page, with notes on possible gaps in the list. */
  readonly pages: AsyncIterable<
    {
      readonly rows: readonly Trajectory[];
      /** Ids of rows on earlier pages that the list no longer has. */
      readonly gone?: readonly string[];
    } & Partial<Pick<ResourcePage<Trajectory>, 'notes' | 'unread'>>
  >;
  readonly index: TextIndex;
  readonly context: Pick<QueryContext, 'service' | 'signal'>;
  readonly onHit?: (hit: TextHit) => void;
}

/** The part of a hit that depends on the lines of a trajectory. */
interface Matches {
  inMessages: number;
  elsewhere: number;
  first?: Pick<TextHit, 'at' | 'place' | 'excerpt' | 'range'>;
}

const noMatches = (): Matches => ({ inMessages: 0, elsewhere: 0 });

/** Adds the matches of a part; only the first line needs its origin. */
function addMatches(matches: Matches, found: LineMatches, partOf: (line: number) => SearchedPart): void {
  if (!found.first) return;
  const isInMessages = partOf(0).origins[0]?.message !== undefined;
  const isFirst = matches.first === undefined || (isInMessages && matches.inMessages === 0);
  matches[isInMessages ? 'inMessages' : 'elsewhere'] += found.count;
  const at = isFirst ? originOf(partOf(found.first.line), found.first.line) : undefined;
  if (at)
    matches.first = { at, place: at.place + found.first.range[0], ...excerptOf(found.first.text, found.first.range) };
}

/** The separator of two origins. No string contains it, because quotes within strings are escaped. */
const nextOrigin = '},{"from":';

/**
 * A text read back from the index. Parses only the origin of a requested line, because parsing all of them takes long.
 */
function partIn({ body, origins }: TextPart, line: number): SearchedPart {
  let from = 1;
  let to = origins.indexOf(nextOrigin);
  while (to >= 0 && Number.parseInt(origins.slice(to + nextOrigin.length), 10) <= line) {
    from = to + 2;
    to = origins.indexOf(nextOrigin, from);
  }
  return { body, origins: JSON.parse(`[${origins.slice(from, to < 0 ? -1 : to + 1)}]`) as Origin[] };
}

/** Characters searched without handling keys: a call for an expression takes a millisecond. */
const atOnce = 256 * 1024;

/** The parts in groups. */
function* inGroups(parts: Iterable<FoundPart>): Generator<readonly FoundPart[], void> {
  let group: FoundPart[] = [];
  let length = 0;
  for (const part of parts) {
    group.push(part);
    length += part.body.length;
    if (length < atOnce) continue;
    yield group;
    [group, length] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/** The parts that can be read. @param failed called if some cannot be read */
function* untilFailure(parts: Iterable<FoundPart>, failed: () => void): Generator<FoundPart, void> {
  try {
    yield* parts;
  } catch {
    failed();
  }
}

export class TextSearch {
  readonly #ports: TextSearchPorts;
  readonly #listeners = new Listeners();
  readonly #rows = new Map<string, Trajectory>();
  #searched: Trajectory[] = [];
  /** Copied on request rather than for each hit. */
  #hits: TextHit[] = [];
  /** The trajectories that were looked for in the index, and those of them that were searched. */
  readonly #tried = new Set<string>();
  readonly #done = new Set<string>();
  #known: Known | undefined;
  #state: TextSearchState = {
    ...{
      phase: 'listing',
      hits: [],
      known: 0,
      searched: 0,
      stored: 0,
      unread: [],
      beyond: 0,
      notes: [],
      isListCut: false,
    },
  };
  #turnAt = performance.now() + sliceMs;
  #failures = 0;

  constructor(ports: TextSearchPorts) {
    this.#ports = ports;
  }

  readonly subscribe = this.#listeners.subscribe;

  /** The same object until something changes. */
  readonly state = (): TextSearchState => {
    if (this.#state.hits.length < this.#hits.length) this.#state = { ...this.#state, hits: [...this.#hits] };
    return this.#state;
  };

  /** The trajectories that were searched in full so far. */
  get searched(): readonly SearchedRow[] {
    return this.#searched;
  }

  /** Searches to the end, or until the signal aborts or the search fails; never throws. */
  async run(): Promise<TextSearchState> {
    const { signal } = this.#ports.context;
    try {
      await this.#list();
      this.#set({ phase: 'searching' });
      const unknown = [...this.#rows.values()].filter(({ trajectory_id }) => !this.#done.has(trajectory_id));
      await inParallel(unknown, row => this.#searchRead(row));
      signal.throwIfAborted();
      this.#set({ phase: 'done' });
    } catch (error) {
      if (signal.aborted) this.#set({ phase: 'stopped' });
      else this.#set({ phase: 'failed', error: error instanceof Error ? error : new Error(errorMessage(error)) });
    }
    const { problem } = this.#ports.index;
    if (problem !== undefined) this.#set({ notes: [...this.#state.notes, problem] });
    return this.state();
  }

  #set(change: Partial<TextSearchState>): void {
    this.#state = { ...this.#state, ...change };
    this.#listeners.notify();
  }

  /** Lists the trajectories, and meanwhile searches those in the index: their hits need not wait for the whole list. */
  async #list(): Promise<void> {
    let listed = 0;
    let searchedAt = 0;
    for await (const { rows, notes = [], unread = [], gone = [] } of this.#ports.pages) {
      this.#ports.context.signal.throwIfAborted();
      for (const row of rows) {
        const { trajectory_id: id } = row;
        const isNew = !this.#rows.has(id);
        if (isNew) listed += 1;
        // A row that was listed again may have ended since.
        if (isNew ? listed <= mostSearched : !this.#tried.has(id)) this.#rows.set(id, row);
      }
      listed -= this.#forget(gone);
      const known = this.#rows.size;
      const isListCut = this.#state.isListCut || unread.length > 0;
      this.#set({ known, beyond: listed - known, notes: [...new Set([...this.#state.notes, ...notes])], isListCut });
      // Each search of the index goes through all that it has.
      if (known >= searchedAt) {
        await this.#searchStored();
        searchedAt = known * growth;
      }
      if (listed > mostSearched) break;
    }
    await this.#searchStored();
  }

  /** Takes back what is no longer listed. @returns how many trajectories */
  #forget(gone: readonly string[]): number {
    const ids = new Set(gone.filter(id => this.#rows.delete(id)));
    if (ids.size === 0) return 0;
    const isLeft = ({ trajectory_id }: Pick<Trajectory, 'trajectory_id'>): boolean => !ids.has(trajectory_id);
    this.#hits = this.#hits.filter(isLeft);
    this.#searched = this.#searched.filter(isLeft);
    const searched = this.#searched.length;
    this.#set({ hits: [...this.#hits], searched, stored: searched });
    return ids.size;
  }

  /** Lets keys be handled now and then. @throws the signal's reason */
  async #pause(): Promise<void> {
    if (performance.now() < this.#turnAt) return;
    await turn();
    this.#ports.context.signal.throwIfAborted();
    this.#turnAt = performance.now() + sliceMs;
  }

  /** Searches the trajectories that are listed by now and in the index. */
  async #searchStored(): Promise<void> {
    this.#known ??= this.#ports.index.known();
    const known = this.#known;
    const texts = new Map<number, string>();
    for (const [trajectoryId, row] of this.#rows) {
      const text = this.#tried.has(trajectoryId) ? undefined : storedText(row, known);
      if (!text) continue;
      this.#tried.add(trajectoryId);
      texts.set(text.id, trajectoryId);
      this.#rows.set(trajectoryId, { ...recordIn(text.record), ...withoutNothing(row) });
    }
    if (texts.size === 0) return;
    for (const trajectoryId of await this.#searchTexts(texts)) {
      this.#done.add(trajectoryId);
      this.#count(trajectoryId);
    }
    const searched = this.#searched.length;
    this.#set({ searched, stored: searched });
  }

  /** Searches these texts in the index. Returns the trajectories that are known to be searched in full. */
  async #searchTexts(texts: ReadonlyMap<number, string>): Promise<readonly string[]> {
    const { index, search } = this.#ports;
    const hit = new Set<string>();
    let last: { readonly id: string; readonly matches: Matches } | undefined;
    let isWhole = true;
    const finish = (): void => {
      if (last && this.#found(last.id, last.matches)) hit.add(last.id);
    };
    const parts = index.parts(texts, search.words);
    // The parts of a trajectory follow each other.
    for (const group of inGroups(untilFailure(parts, () => (isWhole = false)))) {
      const found = search.matchesIn(group.map(({ body }) => body));
      for (const [at, part] of group.entries()) {
        if (last?.id !== part.trajectoryId) {
          finish();
          last = { id: part.trajectoryId, matches: noMatches() };
        }
        addMatches(last.matches, found[at] ?? { count: 0 }, line => partIn(part, line));
      }
      await this.#pause();
    }
    // If the read did not reach the end, the last trajectory may have more lines, and any other one unread lines.
    if (!isWhole) return [...hit];
    finish();
    index.used(texts.keys());
    // Another program may have deleted or replaced some of them in the meantime.
    const still = index.known();
    return [...texts].flatMap(([id, trajectoryId]) =>
      still.get(trajectoryId)?.id === id || hit.has(trajectoryId) ? [trajectoryId] : [],
    );
  }

  #count(trajectoryId: string): void {
    const row = this.#rows.get(trajectoryId);
    if (row) this.#searched.push(row);
  }

  /** Reports the matches of a trajectory. @returns whether there are any */
  #found(trajectoryId: string, matches: Matches): boolean {
    const row = this.#rows.get(trajectoryId);
    if (!row || !matches.first) return false;
    const { trajectory_id, task_id, reward, status, error, eval_run_id, training_run_id } = row;
    const hit: TextHit = {
      ...{ trajectory_id, task_id, reward, status, error, eval_run_id, training_run_id },
      ...{ lines: matches.inMessages, other_lines: matches.elsewhere },
      ...matches.first,
    };
    this.#hits.push(hit);
    this.#listeners.notify();
    this.#ports.onHit?.(hit);
    return true;
  }

  /**
   * Reads and searches a trajectory; indexes its text if it has ended.
   *
   * @throws ServiceError that concerns all trajectories
   */
  async #searchRead(listed: Trajectory): Promise<void> {
    const { context, index, search } = this.#ports;
    const { service, signal } = context;
    signal.throwIfAborted();
    const { trajectory_id } = listed;
    let trajectory: Trajectory;
    try {
      const options = { params: { trajectory_id }, query: { include_steps: true } };
      trajectory = await service.call('getTrajectory', options, { signal });
      this.#failures = 0;
    } catch (error) {
      this.#failures += isGone(error) ? 0 : 1;
      const isOfOne = error instanceof ServiceError && error.status !== undefined && error.status !== 401;
      if (signal.aborted || !isOfOne || this.#failures >= mostFailures) throw error;
      this.#unread(trajectory_id, errorMessage(error));
      return;
    }
    const parts: SearchedPart[] = [];
    const matches = noMatches();
    let length = 0;
    for (const part of searchedParts(trajectory)) {
      addMatches(matches, search.matchesIn([part.body])[0] ?? { count: 0 }, () => part);
      length += part.body.length;
      if (length <= mostKept) parts.push(part);
      await this.#pause();
    }
    // The record may have fields that the list lacks.
    this.#rows.set(trajectory_id, { ...trajectory, ...withoutNothing(listed), steps: undefined });
    this.#found(trajectory_id, matches);
    const missing = missingIn(trajectory);
    if (missing !== undefined) {
      this.#unread(trajectory_id, missing);
      return;
    }
    if (length <= mostKept && hasEnded(trajectory.status)) {
      const { num_steps, status, error, reward, task_id, eval_run_id, training_run_id } = trajectory;
      const record = JSON.stringify({
        ...{ status, error, reward, task_id, eval_run_id, training_run_id },
        completion_tokens: tokensOf(trajectory),
      });
      const steps = num_steps ?? undefined;
      index.keep({ trajectoryId: trajectory_id, steps, record, parts: parts.map(textOf) });
    }
    this.#count(trajectory_id);
    this.#set({ searched: this.#state.searched + 1 });
  }

  #unread(trajectory_id: string, reason: string): void {
    this.#set({ unread: [...this.#state.unread, { trajectory_id, reason }] });
  }
}

const textOf = ({ body, origins }: SearchedPart): TextPart => ({ body, origins: JSON.stringify(origins) });

type Known = ReturnType<TextIndex['known']>;

/** The text of a trajectory in the index; undefined if it may have changed since. */
function storedText({ trajectory_id, num_steps, status }: Trajectory, known: Known) {
  const text = known.get(trajectory_id);
  const isSame = text && (num_steps == null || text.steps === undefined || text.steps === num_steps);
  return isSame && !isRunning(status) ? text : undefined;
}

/** The tokens of these trajectories that the index knows, by id. */
export function storedTokens(rows: readonly Trajectory[], index: TextIndex) {
  const known = index.known();
  return new Map(
    rows.flatMap(row => {
      const { completion_tokens } = recordIn(storedText(row, known)?.record);
      return completion_tokens === undefined ? [] : [[row.trajectory_id, { completion_tokens }] as const];
    }),
  );
}

/** The fields that have a value. */
const withoutNothing = (row: Trajectory): Trajectory =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value != null)) as Trajectory;

/** The fields of a record that the index keeps, which the list may lack. */
const recordIn = (record: string | undefined): Partial<Trajectory> => (record === undefined ? {} : JSON.parse(record));
