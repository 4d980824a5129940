/**
 * Builds `dist`, unless the program there is newer than every source file. Tools that run the built program import
 * this, so that tools running in parallel do not rebuild it.
 */
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { prebuiltFile } from '../src/commands/prebuilt.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const sources = ['src', 'tools'].flatMap(folder =>
  readdirSync(`${root}${folder}`, { recursive: true }).map(path => `${root}${folder}/${path}`),
);
const inputs = [...sources, `${root}package.json`, `${root}package-lock.json`];
// The build writes this file last.
if (changedAt(`${root}dist/${prebuiltFile}`) < Math.max(...inputs.map(changedAt))) await import('./build.ts');
