/**
 * `npm pack` and `npm publish` build first; in a clone where `npm ci` has not run, they run that too. Plain JavaScript,
 * so that any version of Node can read it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Standard output belongs to npm's report. @param {string} command @param {string[]} args */
function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(`${root}node_modules/rolldown`)) run('npm', 'ci');
// npm ci installs a Node that is new enough.
run(`${root}node_modules/.bin/node`, `${root}tools/build.ts`);
