/**
 * `npm start`: builds if a source file is newer than the built program, then becomes the program. Plain JavaScript, so
 * that any version of Node can report missing requirements.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { refuseUnready } from './unready.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

refuseUnready();
try {
  await import('./built.ts');
} catch (error) {
  const [reason] = String(error instanceof Error ? error.message : error).split('\n');
  process.stderr.write(`benchtop could not be built in ${root}: ${reason}\n`);
  process.exit(2);
}
// SIGUSR1 would open Node's debugger before the program listens for it.
const noDebugger = '--disable-sigusr1';
const flags = process.allowedNodeEnvironmentFlags.has(noDebugger) ? [noDebugger] : [];
const { status, signal } = spawnSync(process.execPath, [...flags, `${root}dist/main.js`, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
