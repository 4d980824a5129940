/**
 * Builds when a source file is newer than the built program, then becomes the program. Plain JavaScript, so that any Node
 * can say what is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = `${root}dist/main.js`;

/** @param {string} folder */
function newest(folder) {
  return Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => statSync(`${entry.parentPath}/${entry.name}`).mtimeMs),
  );
}

if (!existsSync(`${root}node_modules/rolldown`)) {
  process.stderr.write('benchtop is not installed yet: run `npm ci` in this folder first.\n');
  process.exit(2);
}
const builtAt = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const changedAt = Math.max(newest(`${root}src`), newest(`${root}tools`), statSync(`${root}package-lock.json`).mtimeMs);
if (builtAt < changedAt) await import('./build.ts');
const { status, signal } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
