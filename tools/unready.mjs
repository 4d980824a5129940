/**
 * Ends a script with one line of advice if `npm ci` has not run or Node is too old. Plain JavaScript, so that any
 * version of Node can read it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Describes the missing requirement in one line. @returns {string | undefined} */
function missing() {
  if (!existsSync(`${root}node_modules/rolldown`)) {
    return 'benchtop is not installed yet: run `npm ci` in this folder first.';
  }
  const oldest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace('>=', '');
  const [major, minor] = oldest.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return undefined;
  return `benchtop needs Node ${oldest} or newer; this is ${process.versions.node}. \`npm ci\` installs one, unless scripts are switched off.`;
}

/** Exits with 2 and one line on standard error, if something is missing. */
export function refuseUnready() {
  const advice = missing();
  if (advice === undefined) return;
  process.stderr.write(`${advice}\n`);
  process.exit(2);
}
