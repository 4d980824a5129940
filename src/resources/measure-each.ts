/** Measures the rows of a list one by one. */
import { inParallel } from '../base/in-parallel.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { type Call, type UntypedCall, untypedCall } from '../service/call.ts';
import { affectsAllRequests, ServiceError, TimeoutError } from '../service/errors.ts';
import { duration } from '../text/time.ts';
import type { MeasuredList, Measures } from './define.ts';

/** Whether the same request would fail in the same way for any other row. */
const affectsEveryRow = (error: ServiceError): boolean =>
  affectsAllRequests(error) || error.retryAfterMs !== undefined || [403, 501, 503].includes(error.status ?? 0);

/**
 * The measured rows, in their order. With `onUnread`, a row that cannot be measured stays unchanged, as do all
 * remaining rows once an error would affect them too, or there has been no response for `silentMs`.
 *
 * @param measures functions that each add a part to a row; if one fails, the others still run
 * @throws ServiceError if a row cannot be measured and there is no `onUnread`
 */
export async function measureEach<Row extends object>(
  rows: readonly Row[],
  context: QueryContext,
  { onUnread, silentMs, needsOne, failure }: Pick<MeasuredList, 'onUnread' | 'silentMs' | 'needsOne' | 'failure'>,
  measures: readonly ((row: Row, context: QueryContext) => Promise<Row>)[],
): Promise<readonly Row[]> {
  const measured = [...rows];
  /** The error after which nothing more is requested. Remembered values are still shown. */
  let end = failure;
  let done = 0;
  const silence = new AbortController();
  const giveUp = (): void => {
    if (needsOne && done === 0) return;
    const error = new TimeoutError(`There was no response for ${duration(silentMs ?? 0)}.`);
    end ??= error;
    silence.abort(error);
  };
  const timer = silentMs === undefined ? undefined : setTimeout(giveUp, silentMs);
  const ask = untypedCall(context.service);
  const call: UntypedCall = async (...request) => {
    if (end) throw end;
    try {
      return await ask(...request);
    } finally {
      timer?.refresh();
    }
  };
  const limited = {
    ...context,
    service: { ...context.service, call: call as Call },
    signal: AbortSignal.any([context.signal, silence.signal]),
  };
  const measureRow = async (index: number, measure: (typeof measures)[number]): Promise<void> => {
    try {
      measured[index] = await measure(measured[index] as Row, limited);
      done += 1;
    } catch (caught) {
      context.signal.throwIfAborted();
      const error = end ?? caught;
      if (!onUnread || !(error instanceof ServiceError)) throw error;
      // Once any row has succeeded, a timeout affects only its own row.
      const isOfAll = error.kind === 'timeout' ? done === 0 : affectsEveryRow(error);
      onUnread(rows[index] as Row, error, isOfAll);
      if (isOfAll) end ??= error;
    }
  };
  try {
    await inParallel(rows.keys(), async index => {
      for (const measure of measures) await measureRow(index, measure);
    });
  } finally {
    clearTimeout(timer);
  }
  return measured;
}

/** Columns that the same requests fill, and the function that adds their values to a row. */
interface MeasuredPart<Row> {
  readonly columns: readonly string[];
  readonly add: (row: Row, context: QueryContext, list: MeasuredList, rows: readonly Row[]) => Promise<Row>;
}

/** Measures rows one by one, in the parts with a wanted column. */
export const measuredInParts = <Row extends object>(
  parts: readonly MeasuredPart<Row>[],
): Pick<Measures<Row>, 'costly' | 'read'> => ({
  costly: parts.flatMap(({ columns }) => columns),
  read: (rows, wanted, context, list) => {
    const read = parts.filter(({ columns }) => columns.some(id => wanted.has(id)));
    const adding = read.map(part => (row: Row, asking: QueryContext) => part.add(row, asking, list, rows));
    return measureEach(rows, context, list, adding);
  },
});
