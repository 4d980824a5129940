/** Builds when a source file is newer than the built program, then becomes the program. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = `${root}dist/main.js`;

function newest(folder: string): number {
  return Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => statSync(`${entry.parentPath}/${entry.name}`).mtimeMs),
  );
}

function builtAt(): number {
  return statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (builtAt() < Math.max(newest(`${root}src`), newest(`${root}tools`), statSync(`${root}package-lock.json`).mtimeMs)) {
  await import('./build.ts');
}
const { status, signal } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
