/**
 * A process that runs sessions in breadth, one after the other, each when it is asked for: what hangs or runs out of memory
 * ends this process and not the whole run.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Purpose } from './shares.ts';

// Before anything of the program is loaded: what is drawn, and what React is, hangs on it.
Object.assign(process.env, { FORCE_COLOR: '3', COLUMNS: '100', LINES: '40' });
const { breadthSession } = await import('./breadth.ts');
const { makeWorld } = await import('./world.ts');

/** A session that was asked for. */
export interface SessionOrder {
  readonly seed: string;
  readonly keys: number;
  readonly purpose: Purpose;
}

/** Heap that a session may leave behind, in bytes; what is loaded and compiled on the way counts as well. */
const mostLeft = 60e6;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const world = await makeWorld();

async function session({ seed, keys, purpose }: SessionOrder): Promise<void> {
  const before = heap();
  const result = await breadthSession({ world, seed, keys, purpose, onProgress: () => process.send?.('progress') });
  const left = heap() - before;
  const failures =
    left > mostLeft
      ? [...result.failures, { seed, what: `${Math.round(left / 1e6)} MB are left behind`, screen: '' }]
      : result.failures;
  process.send?.({ ...result, failures });
}

process.on('message', (order: SessionOrder) => void session(order));
process.on('disconnect', () => {
  world.remove();
  process.exit(0);
});
process.send?.('ready');
