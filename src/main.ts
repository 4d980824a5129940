#!/usr/bin/env node
/** Starts the workbench, or the command given on the command line. */
import module from 'node:module';
import { join } from 'node:path';
import { printPrebuilt } from './commands/prebuilt.ts';
import { findPaths } from './config/paths.ts';

/** The first Node that supports proxies; package.json requires it too. */
const oldestNode = [22, 21] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
  process.stderr.write(`benchtop needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}
const words = process.argv.slice(2);
if (!printPrebuilt(words, new URL('.', import.meta.url))) {
  // In the user's own folder: Node's default is shared by all users of the machine.
  module.enableCompileCache(join(findPaths(process.env).cache, 'compiled'));
  // Up to Node 23 SQLite warns that it is experimental, which users need not see. Other warnings are printed as usual.
  process.removeAllListeners('warning');
  // Nor that FORCE_COLOR counts more than NO_COLOR: the documentation says so.
  const isKnown = ({ name, message }: Error): boolean => name === 'ExperimentalWarning' || /'NO_COLOR'/.test(message);
  process.on('warning', warning => {
    if (!isKnown(warning)) process.stderr.write(`${warning.name}: ${warning.message}\n`);
  });
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
