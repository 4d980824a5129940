#!/usr/bin/env node
/** Starts the workbench, or the command given on the command line. */
import { join } from 'node:path';
import { cacheCompiledCode } from './base/compiled-code.ts';
import { makePrivateFolder } from './base/ownership.ts';
import { printPrebuilt } from './commands/prebuilt.ts';
import { findPaths } from './config/paths.ts';

// Without a listener it would open Node's debugger, in a process that holds keys. What is started as `thisProgram` has a
// flag as well; a command cannot, and Node takes some milliseconds to come here.
process.on('SIGUSR1', () => {});

/** The first Node that supports proxies; package.json requires it too. */
const oldestNode = [22, 21] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
  process.stderr.write(`benchtop needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}
const words = process.argv.slice(2);
if (!printPrebuilt(words, new URL('.', import.meta.url))) void start();

async function start(): Promise<void> {
  cacheCode(join(findPaths(process.env).cache, 'compiled'));
  hideKnownWarnings();
  // Only the screen needs no table of flags.
  if (words.length === 0) {
    try {
      process.exitCode = await (await import('./commands/tui.tsx')).run({});
    } catch (error) {
      const { reportFailure } = await import('./commands/failure.ts');
      process.exitCode = reportFailure(error);
    }
  } else {
    const { runCommandLine } = await import('./commands/run.ts');
    process.exitCode = await runCommandLine(words);
  }
}

/** In the user's own folder: whoever can change it changes what is run. */
function cacheCode(folder: string): void {
  const [word = '-'] = words;
  const purpose = word.startsWith('-') ? 'screen' : word === 'serve' ? 'service' : 'command';
  try {
    makePrivateFolder(folder);
    cacheCompiledCode(folder, purpose);
  } catch {
    // Every start compiles, then.
  }
}

/** Up to Node 23 SQLite warns that it is experimental. Node has a class for such warnings, and a code for neither. */
function isKnown({ name, message }: Error): boolean {
  // That FORCE_COLOR counts more than NO_COLOR is documented.
  return name === 'ExperimentalWarning' || (name === 'Warning' && message.includes("'NO_COLOR'"));
}

/** Other warnings go to whatever listens, as usual Node itself. */
function hideKnownWarnings(): void {
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (!isKnown(warning)) for (const listener of listeners) listener.call(process, warning);
  });
}
