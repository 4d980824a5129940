/** Gathers lists that the service offers by benchmark only: no service lists all runs of an organization. */

import type { Benchmark } from '../contract/benchmarks.ts';
import { cursorAfter, type ListQuery, unreadableIn } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import { CapabilityMissingError, mayLackPath } from '../service/errors.ts';
import { nextCursor } from '../service/pagination.ts';
import { asError } from '../text/errors.ts';
import { inParallel } from '../text/in-parallel.ts';
import { counted } from '../text/numbers.ts';
import { type AnnotatedPage, type ListSource, pageSize, restKey } from './lists/list.ts';

/** Maximum number of benchmarks in a page. */
const benchmarksAPage = 50;
/** After this many refusals that may be of the path, nothing else is asked until those in flight are answered. */
const fewRefused = 3;

interface OfBenchmark {
  readonly bench_id?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

type PageContext<Row> = Parameters<ListSource<Row>['readPage']>[0];

export interface AcrossOptions<Row> {
  /** The operation behind `read`. */
  readonly operation: Operation;
  /** Reads rows of one benchmark. */
  readonly read: (benchId: string, query: ListQuery) => Promise<readonly Row[]>;
  /** Skips the request for a benchmark whose record says that it has none, as long as another may have some. */
  readonly mayHave?: (benchmark: Benchmark) => boolean;
  /** In the plural, for the notes: `runs`. */
  readonly words: string;
}

/** What a page asks for: rows of these benchmarks, each from its cursor on. */
interface Part {
  readonly benchId: string;
  readonly cursor?: string;
}

/**
 * What follows a page: the rest of the benchmarks with more rows, the benchmarks from a cursor on, then what failed.
 */
interface Rest {
  readonly parts: readonly Part[];
  readonly benchmarks: string | null;
  readonly failed: readonly Part[];
}

const restOf = (cursor: string | null | undefined): Rest | undefined => (cursor ? JSON.parse(cursor) : undefined);

/**
 * Reads a page: rows of the next benchmarks, newest first. Where a benchmark has more rows than a single answer, the
 * next pages hold these before they continue with other benchmarks. If a benchmark's rows cannot be read, its former
 * rows are kept, a note counts these benchmarks, and the last pages try again.
 *
 * @throws ServiceError if the benchmarks, or the rows of all of them, cannot be read
 */
export async function readAcross<Row extends OfBenchmark>(
  context: PageContext<Row>,
  { operation, read, mayHave = () => true, words }: AcrossOptions<Row>,
): Promise<AnnotatedPage<Row>> {
  const { signal, progressed } = context;
  const rest = restOf(context.query.cursor);
  const isContinued = rest !== undefined && (rest.parts.length > 0 || rest.benchmarks === null);
  const { parts, benchmarks, unread, later } = isContinued
    ? continued(rest)
    : { ...(await nextBenchmarks(context, mayHave, rest?.benchmarks)), later: rest?.failed ?? [] };
  const failed = new Map<string, Error>();
  const items: Row[] = [];
  const more: Part[] = [];
  const again: Part[] = [];
  let dropped = 0;
  let succeeded = 0;
  /** Whether the endpoint may not exist: the requests in flight decide, and no others are sent until then. */
  let mayBeMissing = false;
  const waiting = [...parts];
  const ask = async (part: Part): Promise<void> => {
    const { benchId, cursor } = part;
    try {
      const rows = await read(benchId, cursor === undefined ? {} : { cursor, limit: pageSize });
      progressed?.();
      for (const row of rows) items.push(row);
      succeeded += 1;
      dropped += unreadableIn(rows);
      const next = cursorAfter(rows);
      const isEmpty = rows.length === 0 && unreadableIn(rows) === 0;
      if (next !== null && next !== cursor && !isEmpty) more.push({ benchId, cursor: next });
    } catch (error) {
      failed.set(benchId, asError(error));
      const refused = [...failed.values()].filter(mayLackPath).length;
      mayBeMissing ||= !isContinued && succeeded === 0 && refused >= Math.min(fewRefused, parts.length);
      // Other requests would fail in the same way.
      if (signal.aborted || error instanceof CapabilityMissingError) throw error;
      if (failed.size === parts.length && !mayBeMissing) throw error;
      again.push(part);
    }
  };
  function* nextParts(): Generator<Part, void> {
    for (let part = waiting.shift(); part; part = mayBeMissing ? undefined : waiting.shift()) yield part;
  }
  await inParallel(nextParts(), ask);
  if (mayBeMissing) {
    // The service has just listed these benchmarks: it is the endpoint that does not exist.
    if (succeeded === 0) {
      for (const error of failed.values()) context.service.capabilities.confirmMissing(error);
      throw new CapabilityMissingError(operation);
    }
    mayBeMissing = false;
    await inParallel(nextParts(), ask);
  }
  items.sort((left, right) => (right.created_at ?? '').localeCompare(left.created_at ?? ''));
  // In the order of the benchmarks, so that an equal page has an equal cursor.
  const order = new Map(parts.map(({ benchId }, index) => [benchId, index]));
  for (const each of [more, again])
    each.sort((left, right) => (order.get(left.benchId) ?? 0) - (order.get(right.benchId) ?? 0));
  const next: Rest = { parts: more, benchmarks, failed: [...later, ...again] };
  const has_more = more.length > 0 || benchmarks !== null || next.failed.length > 0;
  const notes = [unreadableWords(unread), isContinued ? undefined : failureWords(failed, parts.length, words)];
  return {
    items,
    has_more,
    next_cursor: has_more ? JSON.stringify(next) : null,
    dropped,
    mayBeEmpty: true,
    note: notes.filter(Boolean).join('. ') || undefined,
    rest: restWords(next, words),
    isUnread: row => failed.has(row.bench_id ?? ''),
  };
}

/** The rows that an earlier page left over: of benchmarks with more rows or, at the end, of those that failed. */
function continued({ parts, benchmarks, failed }: Rest) {
  const isRetry = parts.length === 0;
  return { parts: isRetry ? failed : parts, benchmarks, unread: 0, later: isRetry ? [] : failed };
}

function restWords({ parts, benchmarks, failed }: Rest, words: string): string {
  if (parts.length > 0) return `There are more ${words} of these benchmarks: ${restKey} reads the rest`;
  if (benchmarks !== null) return `These are the ${words} of the newest benchmarks: ${restKey} reads the rest`;
  return `Some ${words} of ${counted(failed.length, 'benchmark')} may be missing: ${restKey} tries again`;
}

/** The benchmarks of the next page of their list, and how many of them could not be read. */
async function nextBenchmarks(
  { service, signal, progressed }: PageContext<OfBenchmark>,
  mayHave: (benchmark: Benchmark) => boolean,
  cursor: string | null | undefined,
): Promise<Omit<Rest, 'failed'> & { readonly unread: number }> {
  const query = { limit: benchmarksAPage, ...(cursor ? { cursor } : {}) };
  const page = await service.call('listBenchmarks', { query }, { signal });
  progressed?.();
  const held = page.items.filter(mayHave);
  // One is asked even if none says that it has any: only the answer tells whether the service has such lists.
  const asked = held.length > 0 ? held : page.items.slice(0, 1);
  const parts = asked.map(({ bench_id }) => ({ benchId: bench_id }));
  return { parts, benchmarks: nextCursor(page, next => next === cursor) ?? null, unread: page.dropped };
}

function failureWords(failed: ReadonlyMap<string, Error>, asked: number, words: string): string | undefined {
  const [first] = failed.values();
  return first && `The ${words} of ${failed.size} of ${asked} benchmarks could not be read: ${first.message}`;
}

function unreadableWords(benchmarks: number): string {
  return benchmarks === 0 ? '' : `${counted(benchmarks, 'benchmark')} could not be read`;
}
