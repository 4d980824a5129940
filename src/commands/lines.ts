/**
 * `benchtop --lines`: the workbench as plain lines, for screen readers and basic terminals. A prompt for commands, in
 * which a number stands for a row of the last list. Nothing moves or is redrawn, and no escape sequences are written.
 */

import { createInterface, type Interface } from 'node:readline';
import { Readable } from 'node:stream';
import { unlessAborted } from '../base/abort.ts';
import { capitalised } from '../base/capitalised.ts';
import { own } from '../base/own-property.ts';
import { shellWords } from '../base/shell-words.ts';
import { loadConfig } from '../config/load.ts';
import { resourceNamed, resources } from '../resources/catalogue.ts';
import type { Resource } from '../resources/define.ts';
import { isUnanswered, ReadOnlyError } from '../service/errors.ts';
import { sanitise, sanitiseLine } from '../text/sanitise.ts';
import { defaultColumns } from '../text/terminal.ts';
import { askLine } from './act.ts';
import { acceptedResources } from './candidates.ts';
import { originsOf } from './connect.ts';
import { CommandError, exitCodes } from './exit.ts';
import { messageOf } from './failure.ts';
import type { CommandIo, LineMode } from './io.ts';
import type { Parsed } from './parse.ts';
import { commands, groups, type WorkbenchFlags } from './table/commands.ts';
import { configFlags } from './table/flags.ts';
import { type CommandSpec, longFlag } from './table/spec.ts';

const reading = `Type one of:
  ${resources.flatMap(({ names: [name], needs }) => (needs ? [] : name)).join(', ')}
                       a list; each line begins with its number
  3                    everything about number 3 of the list
  find WORDS           rows that match the words; find alone shows all rows again
  watch --since last   what has ended, and which alarms rang, since you last asked
  follow 3             prints each change of a run, a training run or a deployment until it ends; enter stops
  chat MODEL           chat with a model, or with number 3 of the list; an empty line ends it`;

const writing = `
  evaluate 3           on a benchmark: asks for model and name, and starts
  train 3              on a benchmark: asks for model and name, and starts
  deploy 3             a training run's last checkpoint: asks for slug and role, and starts
  cancel, delete 3     a run or a training run; delete also a secret
  undeploy 3           a deployment
  build 3              the images of a benchmark`;

const otherCommandsHelp = `
Every command of benchtop works, e.g. compare 1 2: --help lists them, help COMMAND explains one. Ctrl-c stops it.
  help, quit`;

type Flags = Readonly<Record<string, unknown>>;

/** Runs a command line. `meant` replaces the parsed one, e.g. numbers with ids. */
type RunLine = (words: readonly string[], io: CommandIo, meant: (parsed: Parsed) => Promise<Parsed>) => Promise<number>;

type Command = Extract<Parsed, { readonly kind: 'command' }>;

/** The last printed list, which typed numbers refer to. */
interface ShownList {
  /** The name of the list. */
  readonly name: string;
  readonly ids: readonly string[];
  /** The command that printed it, without the words of `find`. */
  readonly command: Command;
}

const isNumber = (word: unknown): word is string => typeof word === 'string' && /^\d+$/.test(word);

/** The words of the command for a line. */
function commandWords([first = '', ...rest]: readonly string[]): readonly string[] {
  if (isNumber(first)) return ['get', first, ...rest];
  if (first === 'follow') return ['watch', ...rest];
  const isCommand = Object.hasOwn(commands, first) || Object.hasOwn(groups, first);
  return !isCommand && resourceNamed(first) ? ['list', first, ...rest] : [first, ...rest];
}

/** Asks for the flags of a command that are missing. @throws Error if the user interrupts, or ends the input */
async function askFlags(
  { flags: specs }: CommandSpec,
  given: Flags,
  ask: (question: string) => Promise<string>,
  say: (text: string) => void,
): Promise<Flags> {
  const answers = new Map<string, unknown>();
  for (const [key, { prompt, choices, many }] of Object.entries(specs)) {
    if (!prompt || Object.hasOwn(given, key)) continue;
    const { unless = '', defaultText } = prompt;
    if (defaultText === undefined ? Object.hasOwn(given, unless) : Object.keys(given).length > 0) continue;
    const of = choices ? `, ${choices.join(' or ')}` : '';
    const question = `${capitalised(longFlag(key).slice(2))}${of}${defaultText === undefined ? '' : ` (enter for ${defaultText})`}:`;
    for (let isAnswered = false; !isAnswered; ) {
      const answer = (await ask(question)).trim();
      if (answer === '' && defaultText === undefined) say('It cannot be empty.');
      else if (answer !== '' && choices?.includes(answer) === false) say(`${answer} is not ${choices.join(' or ')}.`);
      else {
        isAnswered = true;
        if (answer !== '') answers.set(key, many ? [answer] : answer);
      }
    }
  }
  return Object.fromEntries(answers);
}

const formatFailure = (error: unknown): string =>
  `${error instanceof CommandError ? '' : 'This did not work: '}${messageOf(error)}`;

class Lines implements LineMode {
  readonly #flags: Flags;
  readonly #isReadOnly: boolean;
  readonly #io: CommandIo;
  readonly #runLine: RunLine;
  #terminal: Interface;
  /** The lines typed or piped in. */
  #lines: AsyncIterator<string>;
  /** A line that an interrupted question no longer waits for. */
  #awaited: Promise<IteratorResult<string>> | undefined;
  /** Stops the running command. */
  #stop: AbortController | undefined;
  /** The beginning of a line that is not printed yet. */
  #begun = '';
  /** The last command. */
  #command: Command | undefined;
  #shown: ShownList | undefined;

  constructor(flags: Flags, isReadOnly: boolean, io: CommandIo, runLine: RunLine) {
    this.#flags = flags;
    this.#isReadOnly = isReadOnly;
    this.#io = io;
    this.#runLine = runLine;
    [this.#terminal, this.#lines] = this.#open();
    io.signal.addEventListener('abort', () => this.close(), { once: true });
    io.onInterrupt?.(() => {
      // The terminal has echoed ^C.
      void io.print('\n');
      if (!this.#stop || this.#stop.signal.aborted) return false;
      this.#stop.abort();
      return true;
    });
  }

  #open(): [Interface, AsyncIterator<string>] {
    const terminal = createInterface({ input: this.#io.input, terminal: false });
    return [terminal, terminal[Symbol.asyncIterator]()];
  }

  close(): void {
    this.#terminal.close();
  }

  /** Prints whole lines only: a screen reader reads each from its beginning. */
  readonly #print = async (text: string): Promise<void> => {
    this.#begun += text;
    const end = text.includes('\n') ? this.#begun.lastIndexOf('\n') + 1 : 0;
    const lines = this.#begun.slice(0, end);
    this.#begun = this.#begun.slice(end);
    if (lines !== '') await this.#io.print(sanitise(lines, { multiline: true }));
  };

  /** Prints text on lines of its own. */
  readonly say = (text: string): void => void this.#print(`${this.#begun === '' ? '' : '\n'}${text}\n`);

  /** The next line; undefined at the end of the input. @throws AbortError if the signal aborts */
  async #next(signal: AbortSignal): Promise<string | undefined> {
    this.#awaited ??= this.#lines.next();
    const { value, done } = await unlessAborted(this.#awaited, signal);
    this.#awaited = undefined;
    return done ? undefined : value;
  }

  readonly ask = async (question: string, hidden: boolean): Promise<string> => {
    if (this.#begun !== '') await this.#print('\n');
    if (hidden && this.#io.input.isTTY) {
      this.#terminal.close();
      try {
        return await askLine(this.#io, question, { hidden });
      } finally {
        this.#awaited = undefined;
        [this.#terminal, this.#lines] = this.#open();
      }
    }
    await this.#io.print(`${sanitiseLine(question.trimEnd())} `);
    const line = await this.#next(this.#stop?.signal ?? this.#io.signal);
    if (line === undefined) throw new CommandError('The input ended before the answer. Nothing was sent.');
    return line;
  };

  readonly listed = (name: string, ids: readonly string[]): void => {
    if (this.#command) this.#shown = { name, ids, command: this.#command };
  };

  /** Runs the next line. Returns false at the end of the input, or once the user wants to leave. */
  async hear(): Promise<boolean> {
    await this.#io.print('> ');
    const line = await this.#next(this.#io.signal);
    if (line === undefined) return false;
    const words = shellWords(line);
    const [first = '', ...rest] = words;
    if (['quit', 'exit', 'q'].includes(first)) return false;
    if (first === 'help' && rest.length === 0)
      this.say(`${reading}${this.#isReadOnly ? '' : writing}${otherCommandsHelp}`);
    else if (first === 'find') await this.#find(rest.join(' '));
    else if (first !== '') await this.#run(commandWords(words), this.#meant);
    return true;
  }

  async #find(filter: string): Promise<void> {
    const { command, name } = this.#list();
    const found = { ...command, flags: { ...command.flags, ...(filter !== '' && { filter }) } };
    await this.#run(['list', name], async () => {
      this.#command = command;
      return found;
    });
  }

  async #run(words: readonly string[], meant: (parsed: Parsed) => Promise<Parsed>): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#io.signal, stop.signal]);
    const { exitUnread: _, onInterrupt: __, environment, ...io } = this.#io;
    const own: CommandIo = {
      ...io,
      environment: { ...environment, NO_COLOR: '1', FORCE_COLOR: undefined },
      input: Object.assign(Readable.from([]), { isTTY: true }),
      print: this.#print,
      note: text => this.say(sanitiseLine(text)),
      fail: async error => {
        // Name the work that may have started, even on exit.
        if (!signal.aborted || isUnanswered(error)) this.say(formatFailure(error));
      },
      columns: io.columns ?? defaultColumns,
      signal,
      lines: this,
    };
    this.#stop = stop;
    let isEnter = false;
    const entered = (line: string): void => {
      isEnter = line === '';
      stop.abort();
    };
    if (words[0] === 'watch') this.#terminal.once('line', entered);
    try {
      await this.#runLine(words, own, meant);
    } finally {
      this.#stop = undefined;
      this.#terminal.off('line', entered);
    }
    if (this.#begun !== '') await this.#print('\n');
    if (stop.signal.aborted) this.say('Stopped.');
    // Any other line is the next command.
    if (isEnter) await this.#next(this.#io.signal);
    // Another service may have other rows with the same ids.
    if (words[0] === 'profile' || words[0] === 'config') this.#shown = undefined;
  }

  /** @throws CommandError if there is no list */
  #list(): ShownList {
    if (this.#shown) return this.#shown;
    throw new CommandError('Ask for a list first.');
  }

  /** Replaces numbers with ids, and adds the flags of line mode and the flags that the user is asked for. */
  readonly #meant = async (parsed: Parsed): Promise<Parsed> => {
    if (parsed.kind === 'help' || parsed.kind === 'version') return parsed;
    if (parsed.kind === 'workbench' || parsed.name === 'open')
      throw new CommandError('This is the workbench as plain lines. Type help for the commands.');
    const { name } = parsed;
    const spec: CommandSpec = commands[name];
    let service: Flags = {};
    const read = (value: unknown, taken: readonly Resource[], what: string): unknown => {
      if (Array.isArray(value)) return value.map(each => read(each, taken, what));
      if (!isNumber(value) || taken.length === 0) return value;
      const { name: listed, ids, command } = this.#list();
      if (!taken.some(({ names }) => names[0] === listed)) throw new CommandError(`${what} is not for ${listed}.`);
      const id = ids[Number(value) - 1];
      if (id === undefined) throw new CommandError(`There is no number ${value} in the list.`);
      service = { ...configFlags(command.flags) };
      return id;
    };
    const args = parsed.args.map((word, index) => {
      const argument = spec.args?.[index] ?? spec.args?.at(-1);
      return String(read(word, argument ? acceptedResources(argument, name) : [], name));
    });
    // Without its kind, an id may be that of another resource.
    if (name === 'get' && args.length === 1 && isNumber(parsed.args[0])) args.unshift(this.#list().name);
    const typed = Object.entries(parsed.flags).map(([key, value]) => {
      const flag = own(spec.flags, key);
      return [key, read(value, flag ? acceptedResources(flag, name) : [], longFlag(key))];
    });
    const general = { ...this.#flags, ...service };
    const asked = await askFlags(spec, parsed.flags, this.#question, this.say);
    const taken = Object.entries(general).filter(([key]) => Object.hasOwn(spec.flags, key));
    this.#command = { ...parsed, args, flags: { ...Object.fromEntries([...taken, ...typed]), ...asked } };
    return this.#command;
  };

  readonly #question = (question: string): Promise<string> => {
    // Refuse before the first question rather than after the last.
    if (this.#isReadOnly) throw new ReadOnlyError();
    return this.ask(question, false);
  };
}

export async function run({ lines: _, ...flags }: WorkbenchFlags, io: CommandIo, runLine: RunLine): Promise<number> {
  const { profile } = loadConfig(configFlags(flags), io.environment);
  io.stopOnSignals?.();
  const lines = new Lines(flags, profile.readOnly, io, runLine);
  lines.say(`benchtop, ${profile.name}. Type help for the commands.`);
  for (const origin of originsOf(profile)) lines.say(origin);
  try {
    for (let isOpen = true; isOpen; ) {
      isOpen = await lines.hear().catch(error => {
        if (!io.signal.aborted) lines.say(formatFailure(error));
        return !io.signal.aborted;
      });
    }
  } finally {
    lines.close();
  }
  return io.signal.aborted ? exitCodes.interrupted : exitCodes.done;
}
