/** Adds to the rows of a list what it takes a request each to know. */

const atOnce = 4;

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
  const askNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, row] = next;
      try {
        made[index] = await ask(row);
      } catch (error) {
        if (signal.aborted) throw error;
        waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askNext));
  return made;
}
