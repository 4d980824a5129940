/** The end-to-end tests run the built program. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../tools/built.ts', import.meta.url))], {
    stdio: 'inherit',
  });
}
