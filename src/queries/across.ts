/** What the service lists by benchmark only, gathered over all of them. */
import type { Benchmark } from '../contract/benchmarks.ts';
import type { Service } from '../service/index.ts';
import type { NotedPage } from './list.ts';

/** At most this many benchmarks are asked at once; no service lists the runs of an organization. */
const askedBenchmarks = 50;
const askedAtOnce = 4;

/** Asks every benchmark, newest first. `mayHave` spares those that have none by what their record says. */
export async function readAcross<Row extends { readonly created_at?: string | null | undefined }>(
  service: Service,
  signal: AbortSignal,
  read: (benchId: string) => Promise<Row[]>,
  mayHave: (benchmark: Benchmark) => boolean = () => true,
): Promise<NotedPage<Row>> {
  const { items, has_more } = await service.benchmarks.list({ limit: askedBenchmarks }, { signal });
  const waiting = items.filter(mayHave).map(item => item.bench_id);
  const rows: Row[] = [];
  const askNext = async (): Promise<void> => {
    for (let benchId = waiting.shift(); benchId !== undefined; benchId = waiting.shift()) {
      rows.push(...(await read(benchId)));
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, askNext));
  rows.sort((left, right) => (right.created_at ?? '').localeCompare(left.created_at ?? ''));
  const note = has_more
    ? `Of the ${askedBenchmarks} newest benchmarks only: the service lists these by benchmark. Open another one to see its own`
    : undefined;
  return { items: rows, has_more: false, next_cursor: null, dropped: 0, note };
}
