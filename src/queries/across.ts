/** Gathers lists that the service offers by benchmark only: no service lists all runs of an organization. */

import type { Benchmark } from '../contract/benchmarks.ts';
import { unreadableIn } from '../contract/common.ts';
import { isNotOffered } from '../service/errors.ts';
import { asError } from '../text/errors.ts';
import type { AnnotatedPage, ListSource } from './lists/list.ts';

/** Maximum number of benchmarks in a page. */
const benchmarksAPage = 50;
const askedAtOnce = 4;

interface OfBenchmark {
  readonly bench_id?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

type PageContext<Row> = Parameters<ListSource<Row>['readPage']>[0];

export interface AcrossOptions<Row> {
  /** Reads the rows of one benchmark. */
  readonly read: (benchId: string) => Promise<readonly Row[]>;
  /** Skips the request for a benchmark whose record says that it has none. */
  readonly mayHave?: (benchmark: Benchmark) => boolean;
  /** In the plural, for the notes: `runs`. */
  readonly words: string;
}

/**
 * Reads a page: the rows of the next benchmarks, newest first. If a benchmark's rows cannot be read, its former rows
 * are kept, and a note counts these benchmarks.
 *
 * @throws ServiceError if the benchmarks, or the rows of all of them, cannot be read
 */
export async function readAcross<Row extends OfBenchmark>(
  { service, query, signal }: PageContext<Row>,
  { read, mayHave = () => true, words }: AcrossOptions<Row>,
): Promise<AnnotatedPage<Row>> {
  const { cursor } = query;
  const list = await service.call(
    'listBenchmarks',
    { query: { limit: benchmarksAPage, ...(cursor ? { cursor } : {}) } },
    { signal },
  );
  const asked = list.items.filter(mayHave).map(({ bench_id }) => bench_id);
  const failed = new Map<string, Error>();
  const items: Row[] = [];
  let dropped = 0;
  const waiting = [...asked];
  const askNext = async (): Promise<void> => {
    for (let benchId = waiting.shift(); benchId !== undefined; benchId = waiting.shift()) {
      try {
        const rows = await read(benchId);
        dropped += unreadableIn(rows);
        for (const row of rows) items.push(row);
      } catch (error) {
        failed.set(benchId, asError(error));
        if (!signal.aborted && !isNotOffered(error) && failed.size < asked.length) continue;
        // Other requests would fail in the same way.
        waiting.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, askNext));
  items.sort((left, right) => (right.created_at ?? '').localeCompare(left.created_at ?? ''));
  return {
    ...list,
    items,
    dropped,
    note:
      [failureWords(failed, asked.length, words), unreadableWords(list.dropped)].filter(Boolean).join('. ') ||
      undefined,
    rest: `These are the ${words} of the newest benchmarks: G reads the rest`,
    isUnread: row => failed.has(row.bench_id ?? ''),
  };
}

function failureWords(failed: ReadonlyMap<string, Error>, asked: number, words: string): string | undefined {
  const [first] = failed.values();
  return first && `The ${words} of ${failed.size} of ${asked} benchmarks could not be read: ${first.message}`;
}

function unreadableWords(benchmarks: number): string {
  return benchmarks === 0 ? '' : `${benchmarks} benchmark${benchmarks === 1 ? '' : 's'} could not be read`;
}
