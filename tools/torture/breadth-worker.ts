/**
 * A process that runs sessions one after another on request: if one hangs or runs out of memory, only this process
 * ends.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Purpose } from './shares.ts';

// Before the program is loaded, which depends on it: the environment decides on glyphs, and on the build of React.
Object.assign(process.env, { FORCE_COLOR: '3', COLUMNS: '100', LINES: '40' });
const { breadthSession } = await import('./breadth.ts');
const { makeWorld } = await import('./world.ts');

/** A requested session. */
export interface SessionOrder {
  readonly seed: string;
  readonly keys: number;
  readonly purpose: Purpose;
}

/** Heap that a session may leave behind, in bytes; loaded and compiled code counts as well. */
const mostLeft = 60e6;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const world = await makeWorld(process.env['TORTURE_DATA']);

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
