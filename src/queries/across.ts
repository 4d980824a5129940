/** What the service lists by benchmark only, gathered over all of them: no service lists the runs of an organization. */

import type { Benchmark } from '../contract/benchmarks.ts';
import { unreadableIn } from '../contract/common.ts';
import { isNotOffered } from '../service/errors.ts';
import { asError } from '../text/errors.ts';
import type { AnnotatedPage, ListSource } from './lists/list.ts';

/** A page is made of so many benchmarks, at most. */
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
  /** Spares the request for a benchmark that has none by what its record says. */
  readonly mayHave?: (benchmark: Benchmark) => boolean;
  /** In the plural, for the notes: `runs`. */
  readonly words: string;
}

/**
 * A page: the rows of the next benchmarks, the newest row first. Benchmarks whose rows cannot be read keep those that
 * were read before, and a note counts them.
 *
 * @throws ServiceError if the benchmarks, or the rows of none of them, can be read
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
        // Nothing else would be worth asking for.
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
    rest: `These are the ${words} of the newest benchmarks: G reads those of the others`,
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
