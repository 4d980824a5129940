#!/usr/bin/env node
/** Chooses a command by the first word of the command line; each is loaded when it is asked for. */
import module from 'node:module';
import { join } from 'node:path';
import { findPaths } from './config/paths.ts';
import { own } from './text/own.ts';

/** The first Node that goes through proxies; package.json says so too. */
const oldestNode = [22, 21] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
  process.stderr.write(`benchtop needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}
// In the user's own folder: the one that Node takes by itself is shared by all users of the machine.
module.enableCompileCache(join(findPaths(process.env).cache, 'compiled'));
// Up to Node 23 SQLite warns that it is experimental, which users need not see. Other warnings are printed as Node prints them.
process.removeAllListeners('warning');
process.on('warning', warning => {
  if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.name}: ${warning.message}\n`);
});

/** What a command's file gives: its work, and what `--help` says of it. */
interface CommandModule {
  readonly run: (args: readonly string[]) => Promise<number>;
  readonly help?: string;
  /** Whether the words ask for help; without it `-h` does so anywhere. For commands that take free text. */
  readonly asksForHelp?: (args: readonly string[]) => boolean;
}

const commands: Readonly<Record<string, () => Promise<CommandModule>>> = {
  tui: () => import('./commands/tui.tsx'),
  lines: () => import('./commands/lines.ts'),
  serve: () => import('./commands/serve.ts'),
  list: () => import('./commands/list.ts'),
  get: () => import('./commands/get.ts'),
  watch: () => import('./commands/watch.ts'),
  chat: () => import('./commands/chat.ts'),
  upload: () => import('./commands/upload.ts'),
  api: () => import('./commands/api.ts'),
  doctor: () => import('./commands/doctor.ts'),
};

const words = process.argv.slice(2);
const has = (...flags: string[]): boolean => flags.some(flag => words.includes(flag));

/** The first word names the command; without one it is the workbench. */
async function run(): Promise<number> {
  const [first = '', ...rest] = words;
  const name = (first === 'help' ? rest[0] : first) ?? '';
  const named = own(commands, name);
  const isFlag = name === '' || name.startsWith('-');
  const asksForHelp = first === 'help' || (has('--help', '-h') && ((await named?.())?.asksForHelp?.(rest) ?? true));
  if (asksForHelp || (!named && !isFlag)) {
    const { showHelp } = await import('./commands/help.ts');
    return showHelp(isFlag ? undefined : name, await named?.());
  }
  const command = await (named ?? commands[has('--lines') ? 'lines' : 'tui'])?.();
  return command?.run(named ? rest : words) ?? 1;
}

try {
  process.exitCode = await run();
} catch (error) {
  const { reportFailure } = await import('./commands/failure.ts');
  process.exitCode = reportFailure(error, has('--json'));
}
