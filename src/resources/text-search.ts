/** Searches the text of many trajectories: from the index where it is stored, otherwise from the service. */
import { setImmediate as turn } from 'node:timers/promises';
import { asError, errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { Listeners } from '../base/listeners.ts';
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { cutsIn, searchedParts } from '../present/searched-text.ts';
import type { SearchedRow } from '../present/tallies.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { isGone, ServiceError } from '../service/errors.ts';
import type { FoundPart, TextIndex, TextPart } from '../store/text-index.ts';
import type { LineSearch } from '../text/line-search.ts';
import type { ResourcePage } from './pages.ts';
import { completed, type Known, recordIn, recordOf, storedText } from './stored-text.ts';
import { Matches, matchIn, type RoleMatch, type TextMatch } from './text-matches.ts';
import { missingIn } from './trajectories.ts';

/** A matching trajectory, without its steps. */
export type TextHit = Trajectory & TextMatch;

export interface TextSearchState {
  readonly phase: 'listing' | 'searching' | 'done' | 'stopped' | 'failed';
  /** In order of discovery; the same array until there is a new hit. */
  readonly hits: readonly TextHit[];
  /** The number of trajectories listed so far. */
  readonly known: number;
  /** The number of trajectories searched in full. */
  readonly searched: number;
  /** The number of searched trajectories that came from the index. */
  readonly stored: number;
  /** Trajectories that could not be read in full, with the reason. They do not count as searched. */
  readonly unread: readonly { readonly trajectory_id: string; readonly reason: string }[];
  /** How many listed trajectories are beyond the limit. */
  readonly beyond: number;
  /** Why trajectories may be missing. */
  readonly notes: readonly string[];
  /** Whether some trajectories could not be listed. */
  readonly isListCut: boolean;
  readonly error?: Error | undefined;
}

/** Maximum number of trajectories to search, unless the user asks for more: reading more would take an hour. */
export const maxSearched = 20_000;
/** Maximum time without handling keys, in milliseconds. */
const sliceMs = 12;
/** In characters. Indexing a longer text would freeze the screen, so it is read again for each search. */
const maxIndexedLength = 2 * 1024 * 1024;
/** After this many failures in a row, the problem is the service rather than a trajectory, so the search stops. */
const maxFailures = 10;
/** During listing, the index is searched again whenever the number of trajectories has grown by this factor. */
const growth = 4;
export interface TextSearchPorts {
  readonly search: LineSearch;
  /** Only lines of this role count, e.g. `assistant`, including its reasoning, or `assistant reasoning`. */
  readonly role?: string | undefined;
  /** The trajectories to search, page by page, with notes about possible gaps in the list. */
  readonly pages: AsyncIterable<
    {
      readonly rows: readonly Trajectory[];
      /** Ids of rows from earlier pages that the list no longer has. */
      readonly gone?: readonly string[];
    } & Partial<Pick<ResourcePage<Trajectory>, 'notes' | 'unread'>>
  >;
  readonly index: TextIndex;
  /** Maximum number of trajectories to search; `maxSearched` by default. */
  readonly most?: number;
  readonly context: Pick<QueryContext, 'service' | 'signal'>;
  readonly onHit?: (hit: TextHit) => void;
}

function isOfRole({ at }: RoleMatch, role: string): boolean {
  const [own, wanted] = [at.role.toLowerCase(), role.toLowerCase()];
  return own === wanted || own.startsWith(`${wanted} `);
}

/** Characters per regular expression call: a call takes a millisecond, and keys are handled between calls. */
const atOnce = 256 * 1024;

/** Groups the parts into batches of `atOnce`. */
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

/** The parts up to the first read error. @param failed called with that error */
function* untilFailure(parts: Iterable<FoundPart>, failed: (error: unknown) => void): Generator<FoundPart, void> {
  try {
    yield* parts;
  } catch (error) {
    failed(error);
  }
}

export class TextSearch {
  readonly #ports: TextSearchPorts;
  readonly #listeners = new Listeners();
  readonly #rows = new Map<string, Trajectory>();
  /** The rows that have been searched in full. */
  readonly #searched = new Map<string, Trajectory>();
  /** `state` copies this array; copying it for each hit would be slow. */
  #hits: TextHit[] = [];
  /** The trajectories that have been looked up in the index. */
  readonly #tried = new Set<string>();
  #known: Known | undefined;
  #state: TextSearchState = {
    ...{ phase: 'listing', hits: [], known: 0, searched: 0, stored: 0 },
    ...{ unread: [], beyond: 0, notes: [], isListCut: false },
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

  /** The trajectories that have been searched in full so far. */
  get searched(): readonly SearchedRow[] {
    return [...this.#searched.values()];
  }

  /** Searches to the end, or until the signal aborts or the search fails. Never throws. */
  async run(): Promise<TextSearchState> {
    const { signal } = this.#ports.context;
    try {
      await this.#list();
      this.#set({ phase: 'searching' });
      const unknown = [...this.#rows.values()].filter(({ trajectory_id }) => !this.#searched.has(trajectory_id));
      await inParallel(unknown, row => this.#searchRead(row));
      signal.throwIfAborted();
      this.#set({ phase: 'done' });
    } catch (error) {
      if (signal.aborted) this.#set({ phase: 'stopped' });
      else this.#set({ phase: 'failed', error: asError(error) });
    }
    const { problem } = this.#ports.index;
    if (problem !== undefined) this.#set({ notes: [...this.#state.notes, problem] });
    return this.state();
  }

  #set(change: Partial<TextSearchState>): void {
    this.#state = { ...this.#state, searched: this.#searched.size, ...change };
    this.#listeners.notify();
  }

  /** Lists the trajectories. Searches the index meanwhile, so that its hits need not wait for the whole list. */
  async #list(): Promise<void> {
    const { most = maxSearched } = this.#ports;
    let listed = 0;
    let searchedAt = 0;
    for await (const { rows, notes = [], unread = [], gone = [] } of this.#ports.pages) {
      this.#ports.context.signal.throwIfAborted();
      for (const row of rows) {
        const { trajectory_id: id } = row;
        const isNew = !this.#rows.has(id);
        if (isNew) listed += 1;
        // A row may have ended since it was first listed.
        if (isNew ? listed <= most : !this.#tried.has(id)) this.#rows.set(id, row);
      }
      listed -= this.#forget(gone);
      const known = this.#rows.size;
      const isListCut = this.#state.isListCut || unread.length > 0;
      this.#set({ known, beyond: listed - known, notes: [...new Set([...this.#state.notes, ...notes])], isListCut });
      // Each such search reads the whole index.
      if (known >= searchedAt) {
        await this.#searchStored();
        searchedAt = known * growth;
      }
      if (listed > most) break;
    }
    await this.#searchStored();
  }

  /** Removes trajectories that are no longer listed. @returns how many */
  #forget(gone: readonly string[]): number {
    const ids = new Set(gone.filter(id => this.#rows.delete(id)));
    if (ids.size === 0) return 0;
    for (const id of ids) this.#searched.delete(id);
    this.#hits = this.#hits.filter(({ trajectory_id }) => !ids.has(trajectory_id));
    this.#set({ hits: [...this.#hits], stored: this.#searched.size });
    return ids.size;
  }

  /** Pauses now and then so that keys are handled. @throws the signal's reason */
  async #pause(): Promise<void> {
    if (performance.now() < this.#turnAt) return;
    await turn();
    this.#ports.context.signal.throwIfAborted();
    this.#turnAt = performance.now() + sliceMs;
  }

  /** Searches the listed trajectories that are in the index. */
  async #searchStored(): Promise<void> {
    const { index, search } = this.#ports;
    this.#known ??= index.known();
    const texts = new Map<number, string>();
    for (const [trajectoryId, row] of this.#rows) {
      const text = this.#tried.has(trajectoryId) ? undefined : storedText(row, this.#known);
      if (!text) continue;
      this.#tried.add(trajectoryId);
      texts.set(text.id, trajectoryId);
      this.#rows.set(trajectoryId, completed(row, recordIn(text.record)));
    }
    if (texts.size === 0) return;
    const before = this.#hits.length;
    const isWhole = (await this.#find(index.parts(texts, search.words))) === undefined;
    if (isWhole) index.used(texts.keys());
    const hit = new Set(this.#hits.slice(before).map(({ trajectory_id }) => trajectory_id));
    const others = [...texts.keys()].filter(id => !hit.has(texts.get(id) ?? ''));
    // Another process may have deleted or replaced some of them in the meantime.
    const still = new Set(isWhole ? index.remaining(others) : []);
    for (const [id, trajectoryId] of texts) if (hit.has(trajectoryId) || still.has(id)) this.#count(trajectoryId);
    this.#set({ stored: this.#searched.size });
  }

  /**
   * Reports the trajectories that have matches in these parts. A trajectory's parts must be consecutive.
   *
   * @returns the error if some parts could not be read. The last trajectory is then incomplete and not reported.
   */
  async #find(parts: Iterable<FoundPart>): Promise<Error | undefined> {
    const { search } = this.#ports;
    let last: Matches | undefined;
    let problem: Error | undefined;
    const readable = untilFailure(parts, error => {
      problem = asError(error);
    });
    for (const group of inGroups(readable)) {
      const found = search.matchesIn(group.map(({ body, origins }) => ({ body, cuts: cutsIn(origins) })));
      for (const [at, part] of group.entries()) {
        const { trajectoryId } = part;
        if (last?.trajectoryId !== trajectoryId) {
          this.#report(last);
          last = new Matches(trajectoryId);
        }
        last.add(found[at] ?? [], part);
      }
      await this.#pause();
    }
    if (problem === undefined) this.#report(last);
    return problem;
  }

  #count(trajectoryId: string): void {
    const row = this.#rows.get(trajectoryId);
    if (row) this.#searched.set(trajectoryId, row);
  }

  #report(matches: Matches | undefined): void {
    const row = matches && this.#rows.get(matches.trajectoryId);
    const { role } = this.#ports;
    const match = matchIn((matches?.roles ?? []).filter(each => role === undefined || isOfRole(each, role)));
    if (!row || !match) return;
    const hit = { ...row, ...match };
    this.#hits.push(hit);
    this.#listeners.notify();
    this.#ports.onHit?.(hit);
  }

  /**
   * Reads and searches a trajectory, and indexes its text if it has ended.
   *
   * @throws ServiceError that concerns all trajectories
   */
  async #searchRead(listed: Trajectory): Promise<void> {
    const { context, index } = this.#ports;
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
      if (signal.aborted || !isOfOne || this.#failures >= maxFailures) throw error;
      this.#unread(trajectory_id, errorMessage(error));
      return;
    }
    // The list may know more, such as the run.
    const record = recordOf(completed(trajectory, listed));
    this.#rows.set(trajectory_id, completed(listed, record));
    const parts: TextPart[] = [];
    let length = 0;
    const kept = function* (): Generator<FoundPart, void> {
      for (const { body, origins } of searchedParts(trajectory)) {
        const part = { body, origins: JSON.stringify(origins) };
        length += body.length;
        if (length <= maxIndexedLength) parts.push(part);
        yield { trajectoryId: trajectory_id, ...part };
      }
    };
    const problem = await this.#find(kept());
    if (problem) throw problem;
    const missing = missingIn(trajectory);
    if (missing !== undefined) {
      this.#unread(trajectory_id, missing);
      return;
    }
    if (length <= maxIndexedLength && hasEnded(trajectory.status)) {
      const steps = trajectory.num_steps ?? undefined;
      index.keep({ trajectoryId: trajectory_id, steps, record: JSON.stringify(record), parts });
    }
    this.#count(trajectory_id);
    this.#set({});
  }

  #unread(trajectory_id: string, reason: string): void {
    this.#set({ unread: [...this.#state.unread, { trajectory_id, reason }] });
  }
}
