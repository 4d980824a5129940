#!/usr/bin/env node
/** Chooses a command by the first word of the command line; each is loaded when it is asked for. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
// Up to Node 23 SQLite is called experimental, which is no news to the user. Others are told as Node tells them.
process.removeAllListeners('warning');
process.on('warning', warning => {
  if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.name}: ${warning.message}\n`);
});

const commands: Readonly<Record<string, () => Promise<(args: readonly string[]) => Promise<number>>>> = {
  tui: async () => (await import('./commands/tui.tsx')).tuiCommand,
  lines: async () => (await import('./commands/lines.ts')).linesCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  help: async () => (await import('./commands/help.ts')).helpCommand,
};

const [, , first = '', ...rest] = process.argv;
const named = commands[first];
const has = (flag: string): boolean => process.argv.includes(flag);
const asked = has('--help') || has('-h') ? 'help' : has('--lines') ? 'lines' : undefined;
const command = await (commands[asked ?? ''] ?? named ?? commands['tui'])?.();
const args = named ? rest : process.argv.slice(2);
try {
  process.exitCode = await command?.(args);
} catch (error) {
  const { reportFailure } = await import('./commands/failure.ts');
  process.exitCode = reportFailure(error);
}
