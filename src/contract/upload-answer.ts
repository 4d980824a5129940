/**
 * Reads each trajectory's outcome from the response to an upload. Pure.
 *
 * A failed trajectory is sent again, which duplicates it if it was stored after all. So a trajectory counts as failed
 * only if the response clearly reports its failure, and nothing contradicts that. If in doubt, the outcome is unknown.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRawJson } from '../base/own-property.ts';
import type { Failure } from './errors.ts';
import { unreadableIn } from './lists.ts';
import type { UploadedTrajectory, UploadTrajectoriesResult } from './trajectories.ts';

/** The outcome of a trajectory. */
export interface ItemOutcome {
  /** `counted`: the service reports how many of several trajectories are stored, but not which. */
  readonly outcome: 'stored' | 'skipped' | 'failed' | 'counted' | 'unknown';
  readonly row?: UploadedTrajectory | undefined;
  /** The failure that the service reported, regardless of the outcome. */
  readonly failure?: Failure | undefined;
  /** Why the outcome is uncertain although the response mentions the trajectory: a sentence without its full stop. */
  readonly doubt?: string | undefined;
}

export interface ReadAnswer {
  /** In the order of the request. */
  readonly items: readonly ItemOutcome[];
  /** How many of the `counted` trajectories are stored or skipped. */
  readonly counted: { readonly stored: number; readonly skipped: number };
  /** The number of unknown outcomes, including the `counted` trajectories beyond the counts. */
  readonly unknown: number;
  /** Failures of the batch, and failures that cannot be assigned to a trajectory. */
  readonly batchFailures: readonly Failure[];
}

/** A trajectory that was sent. */
type Sent = Readonly<Record<string, unknown>> | undefined;

/** The ids that a row copies from the request. The service creates missing ones. */
const callerIds = ['trace_id', 'conversation_id'] as const;
const allIds = [...callerIds, 'trajectory_id'] as const;

function idIn(of: Sent, name: (typeof allIds)[number]): string | undefined {
  const id = of?.[name];
  if (isRawJson(id)) return id.rawJSON;
  return typeof id === 'number' || (typeof id === 'string' && id !== '') ? String(id) : undefined;
}

/** Compares the ids of rows with the ids in the request. */
function idsOf(sent: readonly Sent[]) {
  const places = new Map(allIds.map(name => [name, Map.groupBy(sent.keys(), at => idIn(sent[at], name))]));
  /** For each of the row's ids, its places in the request; empty for an id that was not sent. */
  const placesOf = (row: UploadedTrajectory): number[][] =>
    allIds.flatMap(name => {
      const id = idIn(row, name);
      return id === undefined ? [] : [places.get(name)?.get(id) ?? []];
    });
  /** Whether one of the row's ids was sent with other trajectories, but not with this one. */
  const isOfOthers = (row: UploadedTrajectory, at: number): boolean =>
    placesOf(row).some(each => each.length > 0 && !each.includes(at));
  return {
    isOfOthers,
    /** Whether this trajectory was sent with one of the row's ids. */
    hasOneOf: (row: UploadedTrajectory, at: number): boolean => placesOf(row).some(each => each.includes(at)),
    /** Whether this trajectory was sent with all of the row's ids, except ids that the service may have created. */
    isOf: (row: UploadedTrajectory, at: number): boolean =>
      !isOfOthers(row, at) &&
      callerIds.every(name => {
        const [id, own] = [idIn(row, name), idIn(sent[at], name)];
        return id === undefined || own === undefined || id === own;
      }),
    /**
     * The only trajectory sent with one of the row's ids; undefined if another of its ids belongs to others.
     */
    named: (row: UploadedTrajectory): number | undefined => {
      const [at] = placesOf(row).find(({ length }) => length === 1) ?? [];
      return at === undefined || isOfOthers(row, at) ? undefined : at;
    },
  };
}
type Ids = ReturnType<typeof idsOf>;

/** The index in a row; NaN if the row has two different ones. */
function indexOf({ request_index, failure }: UploadedTrajectory): number | undefined {
  const index = request_index ?? failure?.item_index ?? undefined;
  return (failure?.item_index ?? index) === index ? index : Number.NaN;
}

interface UploadAnswer {
  readonly rows: readonly UploadedTrajectory[];
  readonly failures: readonly Failure[];
}

/**
 * The index of the first trajectory: the document does not state whether a service counts from 0 or 1. `either` if the
 * response fits both. Undefined if an index is out of range, occurs twice or contradicts an id: then no index can be
 * trusted. Counting from 1 is certain only if the response covers every trajectory.
 */
function firstIndex({ rows, failures }: UploadAnswer, size: number, ids: Ids): 0 | 1 | 'either' | undefined {
  const lists = [rows.map(indexOf), failures.map(({ item_index }) => item_index)].map(list =>
    list.filter(each => each != null),
  );
  const fits = (first: number): boolean =>
    lists.every(list => new Set(list).size === list.length) &&
    lists.flat().every(index => Number.isInteger(index) && index >= first && index < first + size) &&
    rows.every(row => {
      const index = indexOf(row);
      return index === undefined || !ids.isOfOthers(row, index - first);
    });
  if (lists.flat().length === 0) return undefined;
  if (fits(0)) return fits(1) ? 'either' : 0;
  const named = rows.flatMap(row => (indexOf(row) === undefined ? (ids.named(row) ?? []) : []));
  const covered = new Set([...lists.flat().map(index => index - 1), ...named]);
  return fits(1) && covered.size === size ? 1 : undefined;
}

/** The trajectory that each row is about. */
function placesOfRows({ rows }: UploadAnswer, sent: readonly Sent[], first: number | undefined, ids: Ids) {
  const places = rows.map(row => {
    const index = indexOf(row);
    if (index === undefined) return ids.named(row);
    if (first !== undefined) return index - first;
    const [named, isOutside] = [ids.named(row), index < 0 || index >= sent.length];
    // If the id and the index name different trajectories, the row may mean either.
    return isOutside || index === named ? named : undefined;
  });
  // Rows without an index or an id are taken to be in order if there is one row per trajectory and no other row
  // contradicts the order.
  const isInOrder =
    unreadableIn(rows) === 0 &&
    rows.length === sent.length &&
    rows.every((row, at) => places[at] === at || (places[at] ?? indexOf(row)) === undefined) &&
    rows.every((row, at) => ids.isOf(row, at));
  return isInOrder ? [...rows.keys()] : places;
}

/** The meanings of known statuses. Any other status is uncertain. */
type StatusMeaning = 'stored' | 'skipped' | 'failed' | undefined;
const meanings: ReadonlyMap<string, StatusMeaning> = new Map([
  ['uploaded', 'stored'],
  ['skipped', 'skipped'],
  ['error', 'failed'],
  ['failed', 'failed'],
  ['rejected', 'failed'],
]);
const isThere = (said: StatusMeaning): boolean => said === 'stored' || said === 'skipped';
const meaningOf = ({ status }: UploadedTrajectory): StatusMeaning => meanings.get(status?.trim().toLowerCase() ?? '');

/** The parts of the response about one trajectory. */
interface About {
  readonly rows: readonly UploadedTrajectory[];
  /** Rows that may also be about it. */
  readonly others: readonly UploadedTrajectory[];
  readonly listed: Failure | undefined;
  /** Whether all of the rows' ids were sent with it. */
  readonly isOfIt: boolean;
}

/** One trajectory's outcome, before the counts are considered. */
function outcomeOf({ rows, others, listed, isOfIt }: About): ItemOutcome {
  const row = rows[0];
  const failure = rows.map(each => each.failure).find(saysWhy) ?? listed;
  const said = rows.map(meaningOf);
  const has = said.find(each => each === 'stored') ?? said.find(each => each === 'skipped');
  const hasFailed = said.includes('failed');
  // A failure reported for a stored trajectory is a warning, e.g. that a field was ignored.
  if (has && !hasFailed) return { row, failure, outcome: has };
  if (!hasFailed && !failure) return { row, outcome: 'unknown' };
  const doubt = doubtOf({ has: has ?? others.map(meaningOf).find(isThere), rows, isOfIt });
  return { row, failure, doubt, outcome: doubt === undefined ? 'failed' : 'unknown' };
}

/** Why the trajectory may be stored although the response reports a failure. */
function doubtOf({
  has,
  rows,
  isOfIt,
}: Pick<About, 'rows' | 'isOfIt'> & { readonly has: StatusMeaning }): string | undefined {
  if (has) return 'The response reports it as both stored and failed';
  if (rows.some(row => row.trajectory_id)) return 'It has a trajectory id, so it may be stored';
  return isOfIt ? undefined : 'The response names an id that was not sent with it';
}

/** The outcome of each trajectory in a request. */
export function readAnswer(answer: UploadTrajectoriesResult, sent: readonly Sent[]): ReadAnswer {
  const answered = { rows: answer.trajectories ?? [], failures: answer.failures ?? [] };
  const ids = idsOf(sent);
  const first = firstIndex(answered, sent.length, ids);
  const read = (from: number | undefined) => readFrom(from, answer, answered, sent, ids);
  if (first !== 'either') return read(first);
  // An outcome is certain only if both readings agree, and no counts are left to assign.
  const [unplaced, from0, from1] = [read(undefined), read(0), read(1)];
  if (unplaced.unknown === 0 || [from0, from1].some(({ counted }) => counted.stored + counted.skipped > 0))
    return unplaced;
  const doubt = 'The index in the response may count from 0 or from 1';
  const items = from0.items.map((item, at): ItemOutcome => {
    const other = from1.items[at];
    if (item.outcome !== other?.outcome) return { outcome: 'unknown', doubt };
    return isDeepStrictEqual(item, other) ? item : { outcome: item.outcome };
  });
  return { ...unplaced, items, counted: from0.counted, unknown: unknownIn(items) };
}

/** @param first index of the first trajectory; undefined if no index can be trusted */
function readFrom(
  first: number | undefined,
  answer: UploadTrajectoriesResult,
  answered: UploadAnswer,
  sent: readonly Sent[],
  ids: Ids,
): ReadAnswer {
  const places = placesOfRows(answered, sent, first, ids);
  const byPlace = Map.groupBy(answered.rows, (_, row) => places[row]);
  const rowsAt = (at: number | undefined): readonly UploadedTrajectory[] => byPlace.get(at) ?? [];
  const { byItem, ofBatch } = placedFailures(answered.failures, first);
  const unplaced = rowsAt(undefined);
  const read = sent.map((_, at) => {
    const rows = rowsAt(at);
    // A shared id, or an index that cannot be trusted, may still be right.
    const others = unplaced.filter(row => ids.hasOneOf(row, at) || (indexOf(row) !== undefined && ids.isOf(row, at)));
    return outcomeOf({ rows, others, listed: byItem.get(at)?.[0], isOfIt: rows.every(row => ids.isOf(row, at)) });
  });
  const said = withinCounts(read, answer);
  const left = {
    stored: leftOf('stored', answer.uploaded, said, unplaced),
    skipped: leftOf('skipped', answer.skipped, said, unplaced),
  };
  const unreadable = unreadableIn(answered.failures);
  const batchFailures = [
    ...ofBatch,
    ...unplaced.flatMap(failureIn),
    ...(unreadable > 0 ? [{ message: `${unreadable} of the failures could not be read` }] : []),
  ];
  const known = isRefused(answer, answered) ? said.map(withoutDoubt) : said;
  const { items, counted } = withCounts(known, left);
  return { items, counted, unknown: unknownIn(items) - counted.stored - counted.skipped, batchFailures };
}

/** Whether the service stored nothing: both counts are 0, a failure gives a reason, and no row contradicts that. */
function isRefused({ uploaded, skipped }: UploadTrajectoriesResult, { rows, failures }: UploadAnswer): boolean {
  const isNone = uploaded === 0 && skipped === 0 && failures.length > 0 && unreadableIn(rows) === 0;
  return isNone && rows.every(row => meaningOf(row) === 'failed' && !row.trajectory_id);
}

function withoutDoubt(item: ItemOutcome): ItemOutcome {
  if (item.outcome !== 'unknown' || item.doubt !== undefined) return item;
  return { outcome: 'failed', failure: { message: 'The service stored nothing from this request' } };
}

const unknownIn = (items: readonly ItemOutcome[]): number =>
  items.filter(({ outcome }) => outcome === 'unknown' || outcome === 'counted').length;

/** Assigns the failures of a request that was refused as a whole. Assumes that indexes count from 0 if both fit. */
export function refusedItems(failures: readonly Failure[], sent: readonly Sent[]) {
  const found = firstIndex({ rows: [], failures }, sent.length, idsOf(sent));
  return placedFailures(failures, found === 'either' ? 0 : found);
}

function placedFailures(failures: readonly Failure[], first: number | undefined) {
  const isOfItem = ({ item_index }: Failure): boolean => item_index != null && first !== undefined;
  return {
    /** By index in the request. */
    byItem: Map.groupBy(failures.filter(isOfItem), ({ item_index }) => Number(item_index) - Number(first)),
    ofBatch: failures.filter(each => !isOfItem(each)),
  };
}

const countIn = (said: readonly ItemOutcome[], outcome: ItemOutcome['outcome']): number =>
  said.filter(each => each.outcome === outcome).length;

/** Marks stored and skipped trajectories as unknown if the response lists more of them than it counts. */
function withinCounts(said: readonly ItemOutcome[], answer: UploadTrajectoriesResult): readonly ItemOutcome[] {
  const excessOf = (outcome: 'stored' | 'skipped', count: number | null | undefined): number =>
    Number.isSafeInteger(count) ? countIn(said, outcome) - Math.max(0, Number(count)) : 0;
  const excess = { stored: excessOf('stored', answer.uploaded), skipped: excessOf('skipped', answer.skipped) };
  if (excess.stored + excess.skipped <= 0) return said;
  const doubt = 'The response counts fewer trajectories than it lists';
  return said.map(item => {
    const isDoubtful = (item.outcome === 'stored' || item.outcome === 'skipped') && excess[item.outcome] > 0;
    return isDoubtful ? { ...item, outcome: 'unknown', doubt } : item;
  });
}

/**
 * How many more trajectories are stored or skipped than the outcomes show, according to the counts and to rows that
 * match no trajectory.
 */
function leftOf(
  outcome: 'stored' | 'skipped',
  count: number | null | undefined,
  said: readonly ItemOutcome[],
  unplaced: readonly UploadedTrajectory[],
): number {
  const known = countIn(said, outcome);
  const total = Number.isSafeInteger(count) ? Number(count) : 0;
  return Math.max(total - known, unplaced.filter(row => meaningOf(row) === outcome).length);
}

/**
 * Assigns the remaining counts to unknown outcomes. If there are more counts than that, marks failed trajectories as
 * unknown.
 */
function withCounts(said: readonly ItemOutcome[], left: ReadAnswer['counted']): Pick<ReadAnswer, 'items' | 'counted'> {
  const isUnknown = ({ outcome }: ItemOutcome): boolean => outcome === 'unknown';
  const total = left.stored + left.skipped;
  // The counts exceed the unknown outcomes, so they must include failed trajectories.
  const isDoubtful = total > said.filter(isUnknown).length;
  const items = said.map((item): ItemOutcome => {
    const isIt = isDoubtful && item.outcome === 'failed';
    return isIt
      ? { ...item, outcome: 'unknown', doubt: 'It may be stored, according to the counts in the response' }
      : item;
  });
  const size = items.filter(isUnknown).length;
  const none = { stored: 0, skipped: 0 };
  if (total === 0 || size === 0) return { items, counted: none };
  const doubt = 'The response counts more trajectories than were sent';
  if (total > size) return { items: items.map(item => (isUnknown(item) ? { doubt, ...item } : item)), counted: none };
  const outcome = [left.stored, left.skipped].includes(size)
    ? left.stored === size
      ? 'stored'
      : 'skipped'
    : 'counted';
  const isSame = outcome !== 'counted';
  // Even if all are stored, a trajectory with contradictory reports stays unknown.
  const isCounted = (item: ItemOutcome): boolean => isUnknown(item) && !(isSame && item.doubt !== undefined);
  return {
    items: items.map(item => (isCounted(item) ? { ...item, outcome } : item)),
    counted: isSame ? none : left,
  };
}

/** The failure in a row that matches no trajectory. */
function failureIn(row: UploadedTrajectory): readonly Failure[] {
  if (saysWhy(row.failure)) return [row.failure];
  return row.status == null || isThere(meaningOf(row))
    ? []
    : [{ message: `a trajectory has the status ${row.status}` }];
}

/** Whether a failure has a code, a message or a context; an object of nulls counts as missing. */
export const saysWhy = (failure: Failure | null | undefined): failure is Failure =>
  failure?.code != null || failure?.message != null || Object.keys(failure?.context ?? {}).length > 0;
