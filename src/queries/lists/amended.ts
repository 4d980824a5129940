/** Adds to the rows of a list what it takes a request each to know. */

import { inParallel } from '../../text/in-parallel.ts';

/**
 * The rows, with those that lack something replaced by what is asked of each; the same array if none does. If one cannot
 * be read, the others could not be either, and the list is useful without.
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
