/** The end-to-end tests run the built program. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isStale } from '../../tools/stale.mjs';

export function setup(): void {
  if (!isStale()) return;
  execFileSync(process.execPath, [fileURLToPath(new URL('../../tools/build.ts', import.meta.url))], {
    stdio: 'inherit',
  });
}
