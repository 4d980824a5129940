/**
 * `npm start`: builds if a source file is newer than the built program, then becomes the program. Plain JavaScript, so
 * that any version of Node can report what is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = `${root}dist/main.js`;

/** @param {string} advice */
function refuse(advice) {
  process.stderr.write(`${advice}\n`);
  process.exit(2);
}

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
  refuse('benchtop is not installed yet: run `npm ci` in this folder first.');
}
const oldest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace('>=', '');
const [major, minor] = oldest.split('.').map(Number);
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  refuse(
    `benchtop needs Node ${oldest} or newer; this is ${process.versions.node}. \`npm ci\` installs one, unless scripts are switched off.`,
  );
}
const builtAt = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const changedAt = Math.max(newest(`${root}src`), newest(`${root}tools`), statSync(`${root}package-lock.json`).mtimeMs);
if (builtAt < changedAt) {
  try {
    await import('./build.ts');
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n');
    refuse(`benchtop could not be built in ${root}: ${reason}`);
  }
}
const { status, signal } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
