/**
 * Watches a file for changes after the call. Node's `watchFile` records the initial state later, and misses earlier
 * changes.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';

const stateOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string => [ino, size, mtimeNs, ctimeNs].join();

/** The state of a file that cannot be found. */
const missingState = 'missing';

function stateNow(path: string): string {
  try {
    return stateOf(statSync(path, { bigint: true }));
  } catch {
    return missingState;
  }
}

/** Calls `onChange` whenever the file has changed, appeared or vanished, until the returned function is called. */
export function watchForChanges(path: string, everyMs: number, onChange: () => void): () => void {
  let last = stateNow(path);
  let isStopped = false;
  const look = async (): Promise<void> => {
    const now = await stat(path, { bigint: true }).then(stateOf, () => missingState);
    if (isStopped) return;
    timer = lookLater();
    if (now === last) return;
    last = now;
    onChange();
  };
  const lookLater = (): NodeJS.Timeout => setTimeout(() => void look(), everyMs).unref();
  let timer = lookLater();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
