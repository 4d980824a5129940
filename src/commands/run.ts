/** Runs a command line. Each command's code is loaded only when used. */

import { version } from '../base/version.ts';
import { type ExitCode, exitCodes, Interruption } from './exit.ts';
import { type CommandIo, type NoteFields, processIo } from './io.ts';
import { type Parsed, parse, wantsJson } from './parse.ts';
import type { CommandInput, CommandName, WorkbenchFlags } from './table/commands.ts';

/** The exports of a command's file. */
interface CommandModule<Name extends CommandName> {
  readonly run: (input: CommandInput<Name>, io: CommandIo) => Promise<number>;
}

const modules: { readonly [Name in CommandName]: () => Promise<CommandModule<Name>> } = {
  list: () => import('./list.ts'),
  get: () => import('./get.ts'),
  watch: () => import('./watch.ts'),
  chat: () => import('./chat.ts'),
  upload: () => import('./upload.ts'),
  api: () => import('./api.ts'),
  evaluate: async () => ({ run: (await import('./starts.ts')).evaluate }),
  train: async () => ({ run: (await import('./starts.ts')).train }),
  deploy: async () => ({ run: (await import('./starts.ts')).deploy }),
  build: async () => ({ run: (await import('./starts.ts')).build }),
  cancel: async () => ({ run: (await import('./changes.ts')).changeBy('cancel') }),
  delete: async () => ({ run: (await import('./changes.ts')).changeBy('delete') }),
  undeploy: async () => ({ run: (await import('./changes.ts')).changeBy('undeploy') }),
  promote: () => import('./promote.ts'),
  reward: () => import('./reward.ts'),
  'secret set': () => import('./secret-set.ts'),
  compare: () => import('./compare.ts'),
  tasks: () => import('./tasks.ts'),
  failures: () => import('./failures.ts'),
  search: () => import('./search.ts'),
  regrade: () => import('./regrade.ts'),
  describe: () => import('./describe.ts'),
  tree: () => import('./tree.ts'),
  export: () => import('./export.ts'),
  report: () => import('./report.ts'),
  'notes list': async () => ({ run: (await import('./notes.ts')).list }),
  'notes set': async () => ({ run: (await import('./notes.ts')).set }),
  'notes export': async () => ({ run: (await import('./notes.ts')).exportAll }),
  'notes import': async () => ({ run: (await import('./notes.ts')).importAll }),
  choices: () => import('./choices.ts'),
  read: () => import('./read.ts'),
  'profile list': async () => ({ run: (await import('./settings.ts')).listProfiles }),
  'profile use': async () => ({ run: (await import('./settings.ts')).useProfile }),
  'profile add': async () => ({ run: (await import('./settings.ts')).addProfile }),
  'profile remove': async () => ({ run: (await import('./settings.ts')).removeProfile }),
  'config path': async () => ({ run: (await import('./settings.ts')).printPath }),
  'config get': async () => ({ run: (await import('./settings.ts')).getSetting }),
  'config set': async () => ({ run: (await import('./settings.ts')).setSetting }),
  'config unset': async () => ({ run: (await import('./settings.ts')).unsetSetting }),
  open: () => import('./open.ts'),
  completion: () => import('./completion.ts'),
  version: async () => ({ run: printVersion }),
  doctor: () => import('./doctor.ts'),
  serve: () => import('./serve.ts'),
};

/** Notes and errors as JSON, one per line, for a caller that reads JSON. */
function inJson(io: CommandIo): CommandIo {
  return Object.create(io, {
    note: { value: (text: string, fields?: NoteFields) => io.note(JSON.stringify({ note: text, ...fields })) },
    fail: {
      value: async (error: unknown, code?: ExitCode) =>
        io.note((await import('./failure.ts')).failureJson(error, code)),
    },
  }) as CommandIo;
}

/**
 * Runs the command and returns the exit code. Errors are reported, never thrown.
 *
 * @param words the arguments, without Node and the program
 * @param meant replaces the parsed command line, as line mode does with the numbers of rows
 */
export async function runCommandLine(
  words: readonly string[],
  ownIo?: CommandIo,
  meant = async (parsed: Parsed): Promise<Parsed> => parsed,
): Promise<number> {
  const asJson = wantsJson(words);
  const plain = ownIo ?? processIo(asJson);
  const io = asJson ? inJson(plain) : plain;
  try {
    // Called by the scripts from `benchtop completion`.
    if (words[0] === '__complete') return await (await import('./completion.ts')).complete(words.slice(1), io);
    return interruptedBy(io, await run(await meant(parse(words)), io));
  } catch (error) {
    const code = interruptedBy(io, (await import('./failure.ts')).exitCodeOf(error));
    await io.fail(error, code);
    return code;
  }
}

/** The exit code for the signal that interrupted the command. */
function interruptedBy<Code extends number>({ signal }: CommandIo, code: Code): Code | ExitCode {
  return code === exitCodes.interrupted && signal.reason instanceof Interruption ? signal.reason.exitCode : code;
}

async function run(parsed: Parsed, io: CommandIo): Promise<number> {
  switch (parsed.kind) {
    case 'version':
      return printVersion({ args: [], flags: { json: parsed.json } }, io);
    case 'help':
      await io.print(await (await import('./help.ts')).helpText(parsed.name, io.columns));
      return exitCodes.done;
    case 'workbench': {
      // The parser has checked the flags against the table.
      const flags = parsed.flags as WorkbenchFlags;
      if (flags.lines) return (await import('./lines.ts')).run(flags, io, runCommandLine);
      return (await import('./tui.tsx')).run(flags);
    }
    case 'command': {
      const { run: command } = await modules[parsed.name]();
      return (command as (input: unknown, io: CommandIo) => Promise<number>)(parsed, io);
    }
  }
}

async function printVersion({ flags }: CommandInput<'version'>, io: CommandIo): Promise<number> {
  const [{ versionText }, { printRecord }] = await Promise.all([import('./help.ts'), import('./output.ts')]);
  const { node } = process.versions;
  await printRecord({ version, node }, version, flags, io, { text: () => versionText });
  return exitCodes.done;
}
