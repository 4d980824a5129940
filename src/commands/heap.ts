import { setFlagsFromString } from 'node:v8';
import { saveCompiledCode } from '../base/compiled-code.ts';

/**
 * Keeps the heap close to the size of the live data, from the end of the start. By default V8 lets it grow for
 * throughput, which neither a screen nor a local service needs: 192 MB instead of 137 with 10,000 rows and a 5 MB
 * trajectory, where 180 are allowed (the memory rows of `npm run bench`), and 260 instead of 75 after 16,000 requests.
 * Set at run time, because a program started by name cannot pass flags to Node on every system. Not earlier, because with
 * other flags Node compiles its own modules, and most of what is collected during a start is still alive.
 */
export function keepHeapSmall(): void {
  // Compiled code is valid under the same flags only.
  saveCompiledCode();
  // The young generation keeps its size; the old one is collected after growing by this much.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
}
