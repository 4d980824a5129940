/** Measures the rows of a list one by one. */
import { inParallel } from '../base/in-parallel.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { affectsAllRequests, ServiceError } from '../service/errors.ts';
import type { MeasuredList } from './define.ts';

/** Whether the same request for another row would fail in the same way. */
const affectsEveryRow = (error: ServiceError): boolean =>
  affectsAllRequests(error) || error.retryAfterMs !== undefined || [403, 501, 503].includes(error.status ?? 0);

/**
 * The measured rows, in their order. If `onUnread` is given, a row that cannot be measured stays as it is.
 *
 * @throws ServiceError if a row cannot be measured without `onUnread`, or if other rows cannot be either
 */
export async function measureEach<Row>(
  rows: readonly Row[],
  { signal }: Pick<QueryContext, 'signal'>,
  { onUnread }: Pick<MeasuredList, 'onUnread'>,
  measure: (row: Row) => Promise<Row>,
): Promise<readonly Row[]> {
  const measured = [...rows];
  await inParallel(rows.entries(), async ([index, row]) => {
    try {
      measured[index] = await measure(row);
    } catch (error) {
      signal.throwIfAborted();
      if (!onUnread || !(error instanceof ServiceError) || affectsEveryRow(error)) throw error;
      onUnread(error);
    }
  });
  return measured;
}
