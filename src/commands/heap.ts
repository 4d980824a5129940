import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { saveCompiledCode } from '../base/compiled-code.ts';

let isSmall = false;

/**
 * Keeps the heap close to the size of the live data. By default V8 lets it grow for throughput, which neither a screen
 * nor a local service needs: 192 MB instead of 137 with 10,000 rows and a 5 MB trajectory (`npm run bench`, memory),
 * and 260 instead of 75 after 16,000 requests. Set at run time, because a program started by name cannot pass flags to
 * Node on every system. Call it once startup is done: after its flags change, Node recompiles its own modules. Further
 * calls do nothing.
 */
export function keepHeapSmall(): void {
  if (isSmall) return;
  isSmall = true;
  // Compiled code is valid only under the same flags.
  saveCompiledCode();
  // The young generation keeps its size; the old one is collected after it has grown by this percentage.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--expose-gc');
}

/**
 * Returns memory to the system after heavy work. Left alone, V8 keeps the pages of collected objects for later use.
 * Call it after `keepHeapSmall`, which exposes the collector.
 */
export function emptyHeap(): void {
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
}
