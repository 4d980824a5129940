/** Combines the lists of all benchmarks: no service lists all of an organization's runs. */

import { asError } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { Benchmark } from '../contract/benchmarks.ts';
import type { ListQuery } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import { cursorAfter, hasMoreAfter, unreadableIn } from '../contract/lists.ts';
import { CapabilityMissingError, mayLackPath } from '../service/errors.ts';
import { isCutOff, nextCursor } from '../service/pagination.ts';
import { counted } from '../text/numbers.ts';
import { benchmarkQuery } from './benchmarks.ts';
import { type AnnotatedPage, type ListSource, pageSize, readRows, restKey } from './lists/list-source.ts';
import { activityOfRuns } from './polling.ts';
import { readPart, type rememberedKind } from './remembered-fallback.ts';

/** Maximum number of benchmarks per page. */
const benchmarksPerPage = 50;
/**
 * After this many 404s that may concern the path, no request is sent until all requests in flight have been answered.
 */
const enoughRefusals = 3;

interface BenchmarkPart {
  readonly bench_id?: string | null | undefined;
  readonly created_at?: string | null | undefined;
  readonly status?: string | null | undefined;
}

type PageContext<Row> = Parameters<ListSource<Row>['readPage']>[0];

interface AcrossOptions<Row> {
  readonly operation: Operation;
  readonly read: (benchId: string, query: ListQuery) => Promise<readonly Row[]>;
  /** Whether a benchmark may have rows, according to its record. Other benchmarks are skipped, unless all would be. */
  readonly mayHave?: (benchmark: Benchmark) => boolean;
  /** The plural noun for the rows in notes: `runs`. */
  readonly noun: string;
}

/** Runs that the service lists by benchmark. */
interface RunsByBenchmark<Run extends BenchmarkPart> extends Omit<AcrossOptions<Run>, 'read'> {
  readonly remembered: Pick<ReturnType<typeof rememberedKind<Run>>, 'list'>;
  readonly keys: { readonly everyRun: readonly unknown[]; readonly runsOf: (benchId: string) => readonly unknown[] };
  readonly read: (context: PageContext<Run>, benchId: string, query: ListQuery) => Promise<readonly Run[]>;
}

/** The list of one benchmark's runs, and that of all benchmarks' runs, newest first. */
export function runLists<Run extends BenchmarkPart>({ remembered, keys, read, ...across }: RunsByBenchmark<Run>) {
  const ofBenchmark = (benchId: string): ListSource<Run> =>
    remembered.list(
      {
        key: keys.runsOf(benchId),
        readPage: context =>
          readPart(across.operation, benchmarkQuery(benchId), context, () =>
            readRows(context.query, query => read(context, benchId, query)),
          ),
        activity: activityOfRuns,
      },
      { parent: benchId },
    );
  const ofAll = remembered.list({
    key: keys.everyRun,
    costly: true,
    readPage: context => readAcross(context, { ...across, read: (benchId, query) => read(context, benchId, query) }),
    activity: activityOfRuns,
  });
  return { ofBenchmark, ofAll };
}

/** A part of a page: one benchmark's rows, starting at a cursor. */
interface Part {
  readonly benchId: string;
  readonly cursor?: string;
}

/** What is left to read after a page, in order: benchmarks with more rows, benchmarks after a cursor, failed parts. */
interface Rest {
  readonly parts: readonly Part[];
  readonly benchmarks: string | null;
  readonly failed: readonly Part[];
  /** Whether a list ended although the service has more rows. */
  readonly isCutOff: boolean;
}

/**
 * Drops repeated parts. If the cursors of the benchmark list form a loop, benchmarks repeat, and a growing rest would
 * hide that.
 */
const eachPartOnce = (parts: readonly Part[]): readonly Part[] => [
  ...new Map(parts.map(part => [JSON.stringify([part.benchId, part.cursor]), part])).values(),
];

const restOf = (cursor: string | null | undefined): Rest | undefined => (cursor ? JSON.parse(cursor) : undefined);

/**
 * Reads a page: the rows of the next benchmarks, newest first. If a benchmark has more rows than fit in one response,
 * the next pages contain these before they continue with other benchmarks. If a benchmark's rows cannot be read, its
 * old rows stay, a note counts the failed benchmarks, and the last pages retry them.
 *
 * @throws ServiceError if the benchmarks, or the rows of all of them, cannot be read
 */
export async function readAcross<Row extends BenchmarkPart>(
  context: PageContext<Row>,
  { mayHave = () => true, noun, ...options }: AcrossOptions<Row>,
): Promise<AnnotatedPage<Row>> {
  const rest = restOf(context.query.cursor);
  const isContinued = rest !== undefined && (rest.parts.length > 0 || rest.benchmarks === null);
  const {
    parts,
    benchmarks,
    unread,
    later,
    isCutOff: isListCutOff,
  } = isContinued
    ? nextParts(rest)
    : { ...(await nextBenchmarks(context, mayHave, rest?.benchmarks)), later: rest?.failed ?? [] };
  const reading = new PartsReader(context, parts, { ...options, knownToExist: isContinued });
  await reading.readAll();
  const { items, failed, dropped } = reading;
  // Responses arrive in any order, but rows created at the same time must keep theirs.
  items.sort(
    (left, right) =>
      (right.created_at ?? '').localeCompare(left.created_at ?? '') ||
      (left.bench_id ?? '').localeCompare(right.bench_id ?? ''),
  );
  const isIncomplete = [rest?.isCutOff, isListCutOff, reading.isCutOff].includes(true);
  const next: Rest = {
    parts: reading.remainingParts(),
    benchmarks,
    failed: eachPartOnce([...later, ...reading.failedParts()]),
    isCutOff: isIncomplete,
  };
  const hasRest = next.parts.length > 0 || benchmarks !== null || next.failed.length > 0;
  return {
    items,
    has_more: hasRest || isIncomplete,
    next_cursor: hasRest ? JSON.stringify(next) : null,
    // An unreadable benchmark counts as one row, because it is not known how many rows it has.
    dropped: dropped + unread,
    isPartial: failed.size > 0,
    requests: (isContinued ? 0 : 1) + parts.length,
    note: isContinued ? undefined : describeMissing(unread, failed, parts.length, noun),
    rest: describeRest(next, noun),
    isUnread: row => failed.has(row.bench_id ?? ''),
  };
}

interface PartsOptions<Row> extends Pick<AcrossOptions<Row>, 'operation' | 'read'> {
  /** Whether the endpoint exists, because an earlier page has read rows. */
  readonly knownToExist: boolean;
}

/** Reads the parts of a page, a few at a time. */
class PartsReader<Row extends BenchmarkPart> {
  readonly items: Row[] = [];
  /** Why a benchmark's rows could not be read, by its id. */
  readonly failed = new Map<string, Error>();
  dropped = 0;
  /** Whether a benchmark's rows ended although the service has more. */
  isCutOff = false;
  readonly #context: PageContext<Row>;
  readonly #options: PartsOptions<Row>;
  readonly #parts: readonly Part[];
  readonly #waiting: Part[];
  /** The cursor for the next rows, by benchmark. */
  readonly #cursors = new Map<string, string>();
  #succeeded = 0;
  /** Whether the endpoint may not exist. No request is sent until those in flight show whether it does. */
  #mayBeMissing = false;

  constructor(context: PageContext<Row>, parts: readonly Part[], options: PartsOptions<Row>) {
    this.#context = context;
    this.#options = options;
    this.#parts = parts;
    this.#waiting = [...parts];
  }

  /** @throws ServiceError if nothing can be read */
  async readAll(): Promise<void> {
    const read = (part: Part): Promise<void> => this.#read(part);
    await inParallel(this.#nextParts(), read);
    if (!this.#mayBeMissing) return;
    // The service has just listed the benchmarks, so the endpoint must be missing.
    if (this.#succeeded === 0) {
      for (const error of this.failed.values()) this.#context.service.capabilities.confirmMissing(error);
      throw new CapabilityMissingError(this.#options.operation);
    }
    this.#mayBeMissing = false;
    await inParallel(this.#nextParts(), read);
  }

  *#nextParts(): Generator<Part, void> {
    while (!this.#mayBeMissing) {
      const part = this.#waiting.shift();
      if (!part) return;
      yield part;
    }
  }

  async #read(part: Part): Promise<void> {
    const { benchId, cursor } = part;
    try {
      const rows = await this.#options.read(benchId, cursor === undefined ? {} : { cursor, limit: pageSize });
      this.#context.progressed?.();
      for (const row of rows) this.items.push(row);
      this.#succeeded += 1;
      this.dropped += unreadableIn(rows);
      const next = cursorAfter(rows);
      if (next !== null && next !== cursor) this.#cursors.set(benchId, next);
      else if (hasMoreAfter(rows)) this.isCutOff = true;
    } catch (error) {
      this.#noteFailure(part, error);
    }
  }

  /** @throws the error if the other requests would fail in the same way */
  #noteFailure({ benchId }: Part, error: unknown): void {
    this.failed.set(benchId, asError(error));
    const refused = [...this.failed.values()].filter(mayLackPath).length;
    this.#mayBeMissing ||=
      !this.#options.knownToExist && this.#succeeded === 0 && refused >= Math.min(enoughRefusals, this.#parts.length);
    if (this.#context.signal.aborted || error instanceof CapabilityMissingError) throw error;
    if (this.failed.size === this.#parts.length && !this.#mayBeMissing) throw error;
  }

  /** The parts with more rows to read, in the order of the benchmarks, so that equal pages have equal cursors. */
  remainingParts(): readonly Part[] {
    return this.#parts.flatMap(({ benchId }) => {
      const cursor = this.#cursors.get(benchId);
      return cursor === undefined ? [] : [{ benchId, cursor }];
    });
  }

  /** The failed parts, in the same order. */
  failedParts(): readonly Part[] {
    return this.#parts.filter(({ benchId }) => this.failed.has(benchId));
  }
}

/** The next parts to read: benchmarks with more rows or, at the end, the failed parts. */
function nextParts({ parts, benchmarks, failed }: Rest) {
  const isRetry = parts.length === 0;
  return { parts: isRetry ? failed : parts, benchmarks, unread: 0, later: isRetry ? [] : failed, isCutOff: false };
}

function describeRest({ parts, benchmarks, failed }: Rest, words: string): string {
  if (parts.length > 0) return `These benchmarks have more ${words}: ${restKey} reads the rest`;
  if (benchmarks !== null) return `These are the ${words} of the newest benchmarks: ${restKey} reads the rest`;
  return `Some ${words} of ${counted(failed.length, 'benchmark')} may be missing: ${restKey} tries again`;
}

/** The benchmarks on the next page of their list, and the number of unreadable ones. */
async function nextBenchmarks(
  { service, signal, memory, progressed }: PageContext<BenchmarkPart>,
  mayHave: (benchmark: Benchmark) => boolean,
  cursor: string | null | undefined,
): Promise<Omit<Rest, 'failed'> & { readonly unread: number }> {
  const query = { limit: benchmarksPerPage, ...(cursor ? { cursor } : {}) };
  const page = await service.call('listBenchmarks', { query }, { signal });
  progressed?.();
  // On screen, the names distinguish the rows of different benchmarks.
  memory.see(page.items.map(({ bench_id: id, label }) => ({ kind: 'benchmark', id, label })));
  const likely = page.items.filter(mayHave);
  // Ask for at least one benchmark even if none has rows: only a response shows whether the service has such lists.
  const chosen = likely.length > 0 ? likely : page.items.slice(0, 1);
  const parts = chosen.map(({ bench_id }) => ({ benchId: bench_id }));
  const benchmarks = nextCursor(page, next => next === cursor) ?? null;
  return { parts, benchmarks, unread: page.dropped, isCutOff: isCutOff(page, benchmarks) };
}

/** Why rows are missing: their benchmarks could not be read, or their lists. */
function describeMissing(unread: number, failed: ReadonlyMap<string, Error>, total: number, words: string) {
  const [first] = failed.values();
  const reasons = [
    unread > 0 && `The ${words} of ${counted(unread, 'unreadable benchmark')} are missing`,
    first && `The ${words} of ${failed.size} of ${total} benchmarks could not be read: ${first.message}`,
  ];
  return reasons.filter(Boolean).join('. ') || undefined;
}
