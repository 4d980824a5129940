#!/usr/bin/env node
/** Starts the workbench, or the command given on the command line. */
import { join } from 'node:path';
import { cacheCompiledCode } from './base/compiled-code.ts';
import { makePrivateFolder } from './base/ownership.ts';
import { printPrebuilt } from './commands/prebuilt.ts';
import { findPaths } from './config/paths.ts';

// Without a listener, SIGUSR1 opens Node's debugger in a process that holds keys. Background processes get a flag as
// well (`thisProgram`), which also covers the milliseconds before this line.
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
  // The screen does not need the table of flags.
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

/** The folder must be private: anyone who can change the code in it controls the program. */
function cacheCode(folder: string): void {
  const [word = '-'] = words;
  const purpose = word.startsWith('-') ? 'screen' : word === 'serve' ? 'service' : 'command';
  try {
    makePrivateFolder(folder);
    cacheCompiledCode(folder, purpose);
  } catch {
    // Without a cache, the code is compiled each time.
  }
}

/** SQLite warns up to Node 23 that it is experimental. Neither warning has a code. */
function isKnown({ name, message }: Error): boolean {
  // README documents that FORCE_COLOR overrides NO_COLOR.
  return name === 'ExperimentalWarning' || (name === 'Warning' && message.includes("'NO_COLOR'"));
}

/** Passes other warnings to their usual listeners, such as Node's own. */
function hideKnownWarnings(): void {
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (!isKnown(warning)) for (const listener of listeners) listener.call(process, warning);
  });
}
