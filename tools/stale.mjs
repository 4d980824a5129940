/** Whether `dist` has to be built again. Plain JavaScript, so that any version of Node can read it. */
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} folder */
function newest(folder) {
  return Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => statSync(`${entry.parentPath}/${entry.name}`).mtimeMs),
  );
}

/** Whether a source file is newer than the built program. */
export function isStale() {
  const builtAt = statSync(`${root}dist/main.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = [`${root}package.json`, `${root}package-lock.json`].map(path => statSync(path).mtimeMs);
  return builtAt < Math.max(newest(`${root}src`), newest(`${root}tools`), ...inputs);
}
