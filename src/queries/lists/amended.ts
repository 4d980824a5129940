/** Completes the rows of a list with one request per incomplete row. */

import { inParallel } from '../../base/in-parallel.ts';

/**
 * Replaces incomplete rows with complete ones; returns the same array if all are complete. Stops at the first failure,
 * because the others would fail too, and the list is useful with incomplete rows.
 *
 * @throws Error if the signal aborts
 */
export async function amendRows<Row>(
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
