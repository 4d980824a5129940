/** Completes the rows of a list with data that takes a request per row. */

import { inParallel } from '../../base/in-parallel.ts';

/**
 * The rows, with incomplete ones replaced by the answers; the same array if all are complete. If one cannot be read,
 * the rows stay unchanged: the others would fail as well, and the list is useful without them.
 *
 * @throws if the signal aborts
 */
export async function amended<Row>(
  rows: readonly Row[],
  lacks: (row: Row) => boolean,
  ask: (row: Row) => Promise<Row>,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const waiting = [...rows.entries()].filter(([, row]) => lacks(row));
  if (waiting.length === 0) return rows;
  const made = [...rows];
  let failed = false;
  await inParallel(waiting, async ([index, row]) => {
    if (failed) return;
    try {
      made[index] = await ask(row);
    } catch (error) {
      if (signal.aborted) throw error;
      failed = true;
    }
  });
  return made;
}
