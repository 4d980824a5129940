/** Parses the command line into a command with arguments and flags, or a request for help. */
import { Command, CommanderError, Help, type HelpConfiguration, Option } from 'commander';
import { own } from '../text/own.ts';
import { defaultColumns } from '../text/terminal.ts';
import { CommandError } from './exit.ts';
import { didYouMean } from './suggest.ts';
import { type CommandName, commands, groups, workbench } from './table/commands.ts';
import { jsonFlag } from './table/flags.ts';
import { argumentTerm, type CommandSpec, type FlagSpec, flagWords, longFlag } from './table/spec.ts';
import { about, helpFooter } from './table/words.ts';

/** A parsed command line. The flags were checked against the table, so a command gets them with their types. */
export type Parsed =
  | { readonly kind: 'workbench'; readonly flags: Flags }
  | { readonly kind: 'command'; readonly name: CommandName; readonly args: readonly string[]; readonly flags: Flags }
  | { readonly kind: 'help'; readonly name: CommandName | undefined; readonly text: string }
  | { readonly kind: 'version'; readonly json: boolean };

type Flags = Readonly<Record<string, unknown>>;

const numberWords = {
  any: 'a number',
  positive: 'a number above 0',
  count: 'a whole number of at least 1',
  whole: 'a whole number of at least 0',
} as const;

/** @throws CommandError if the flag does not take this value */
function readValue(flag: string, { number: kind, choices, empty }: FlagSpec, text: string): string | number {
  if (choices && !choices.includes(text))
    throw new CommandError(`${flag} takes one of ${choices.join(', ')}, not ${text}.`);
  if (!kind) {
    // Most likely an unset variable.
    if (text === '' && !empty) throw new CommandError(`${flag} takes a value, not an empty string.`);
    return text;
  }
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const isWhole = kind === 'count' || kind === 'whole';
  const least = { any: Number.NEGATIVE_INFINITY, positive: Number.MIN_VALUE, count: 1, whole: 0 }[kind];
  if (number >= least && (!isWhole || Number.isInteger(number))) return number;
  throw new CommandError(`${flag} takes ${numberWords[kind]}, not ${text === '' ? 'an empty string' : text}.`);
}

function optionOf(key: string, spec: FlagSpec, known: ReadonlySet<string>): Option {
  const { short, value, hidden } = spec;
  const term = `${short ? `-${short}, ` : ''}${longFlag(key)}${value === undefined ? '' : ` <${value}>`}`;
  const option = new Option(term, flagWords(spec));
  // `--no-stream` is a flag of its own, not the opposite of `--stream`.
  option.negate = false;
  if (value !== undefined) {
    option.argParser<unknown>((text, before) => {
      // A flag where a value belongs: the value was forgotten.
      if (known.has(text)) throw new CommandError(`${longFlag(key)} needs a value before ${text}.`);
      const read = readValue(longFlag(key), spec, text);
      return spec.many ? [...((before as unknown[] | undefined) ?? []), read] : read;
    });
  }
  return hidden ? option.hideHelp() : option;
}

function addFlags(
  command: Command,
  { flags, exclusive = [] }: Pick<CommandSpec, 'flags' | 'exclusive'>,
  hidesService: boolean,
) {
  const known = new Set(Object.keys(flags).map(longFlag));
  for (const [key, spec] of Object.entries(flags)) {
    const option = optionOf(key, spec, known);
    if (spec.group === 'service') option.helpGroup('Which service:');
    if (spec.group === 'service' && hidesService) option.hideHelp();
    option.conflicts(
      exclusive.filter(group => group.includes(key)).flatMap(group => group.filter(other => other !== key)),
    );
    command.addOption(option);
  }
}

/** Commander's messages, in this program's style. */
function wordsOf(error: CommanderError): string {
  const [first = ''] = error.message.replace(/^error: /, '').split('\n');
  const sentence = first
    .replaceAll(/option '(?:-\w, )?(--[\w-]+)(?: <[^>]*>)?'/g, '$1')
    .replace(/argument missing$/, 'needs a value');
  const whole = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  return /[.?]$/.test(whole) ? whole : `${whole}.`;
}

/** The error for a word that a command does not know. */
function unknownWords({ code, message }: CommanderError, { options, commands: choices }: Command): string {
  const [, word = ''] = /'(.*)'/s.exec(message) ?? [];
  if (code === 'commander.unknownCommand') {
    const names = choices.map(choice => choice.name());
    return `Unknown command '${word}'. ${didYouMean(word, names) || 'benchtop --help lists the commands.'}`;
  }
  const [flag = '', value] = word.split('=', 2);
  if (value !== undefined && options.some(({ long }) => long === flag)) return `${flag} takes no value.`;
  if (['--jq', '--field', '-q'].includes(flag) && options.some(({ long }) => long === '--json')) {
    return `This command has no ${flag}: pipe its JSON into jq, with --json | jq FILTER.`;
  }
  // The flags that select the service are hidden in the help of a command, but known.
  const isKnown = ({ hidden, helpGroupHeading }: Option): boolean => !hidden || helpGroupHeading !== undefined;
  const flags = flag.startsWith('--') ? options.filter(isKnown).flatMap(({ long }) => long ?? []) : [];
  const hint = didYouMean(flag, flags);
  return [`Unknown option '${word}'.`, hint].filter(Boolean).join(' ');
}

/** A word meant as a long flag; quoted text has spaces. */
const longFlagForm = /^--[a-z][\w-]*(?:=.*)?$/is;

/**
 * Moves the flags of a command before its free text. After the text begins, a word of one dash that is not a flag of
 * the command belongs to the text; anything like a long flag is parsed as one, so that a typo is not sent as text.
 *
 * @throws CommandError if a flag lacks its value
 */
function textBehindFlags(words: readonly string[], { flags, args = [] }: CommandSpec): string[] {
  const takesValue = new Map<string, boolean>([
    ...Object.entries(flags).map(([key, spec]) => [longFlag(key), spec.value !== undefined] as const),
    ...Object.values(flags).flatMap(({ short, value }) => (short ? [[`-${short}`, value !== undefined] as const] : [])),
  ]);
  const before: string[] = [];
  const text: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [name = ''] = word.split('=', 1);
    const valued = takesValue.get(name);
    if (word === '--') text.push(...rest.splice(0));
    else if (valued && name === word && rest.length === 0) throw new CommandError(`${word} needs a value.`);
    else if (valued !== undefined) before.push(word, ...(valued && name === word ? rest.splice(0, 1) : []));
    else if (longFlagForm.test(word)) before.push(word);
    else if (word.startsWith('-') && word !== '-' && text.length < args.length) before.push(word);
    else text.push(word);
  }
  return [...before, '--', ...text];
}

/** Finds `--json` even if the command line cannot be parsed. */
export function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).some((word, index) => {
    if (word === 'json') return words[index - 1] === '--format' || words[index - 1] === '-f';
    return word === '--json' || word === '--format=json' || word === '-fjson';
  });
}

/** The flags that may be given before a command, if the command takes them too. */
const globalFlags = { ...workbench.flags, ...jsonFlag };

/** Applies flags given before a command to the command. @throws CommandError for one that it does not take */
function withGlobals(before: Flags, name: CommandName, flags: Flags): Flags {
  const wrong = Object.keys(before).find(key => !Object.hasOwn(commands[name].flags, key));
  if (wrong === undefined) return { ...before, ...flags };
  const whose = Object.hasOwn(workbench.flags, wrong)
    ? 'it is for the workbench'
    : `benchtop ${name} --help lists its flags`;
  throw new CommandError(`${longFlag(wrong)} is not for benchtop ${name}: ${whose}.`);
}

/** @throws CommandError if a command got too few arguments, or too many */
function checkWords(name: CommandName, args: readonly string[]): void {
  const specs = (commands[name] as CommandSpec).args ?? [];
  const needed = specs.filter(({ optional }) => !optional).length;
  const most = specs.some(({ many }) => many) ? Number.POSITIVE_INFINITY : specs.length;
  if (args.length >= needed && args.length <= most) return;
  const wrong = args.length < needed ? 'An argument is missing.' : `One argument too many: ${args[most]}.`;
  throw new CommandError(`${wrong} Usage: ${['benchtop', name, ...specs.map(argumentTerm)].join(' ')} [options]`);
}

/** @throws CommandError if a flag is given without the flag it requires */
function checkNeeds({ flags: specs }: CommandSpec, flags: Flags): void {
  for (const key of Object.keys(flags)) {
    const needs = own(specs, key)?.needs;
    if (needs !== undefined && !Object.hasOwn(flags, needs)) {
      throw new CommandError(`${longFlag(key)} needs ${longFlag(needs)}.`);
    }
  }
}

/** A commander command that neither prints nor ends the process. */
class Quiet {
  readonly command: Command;
  #help = '';

  constructor(name: string, width: number) {
    this.command = new Command(name)
      .exitOverride()
      .enablePositionalOptions()
      .helpOption('-h, --help', 'show help')
      .helpCommand(false)
      .showSuggestionAfterError(false)
      .configureOutput({
        writeOut: text => {
          this.#help += text;
        },
        writeErr: () => {},
        getOutHelpWidth: () => width,
      });
  }

  /** @throws HelpAsked, CommandError */
  read<Result>(work: (command: Command) => Result): Result {
    try {
      return work(this.command);
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.code === 'commander.helpDisplayed') throw new HelpAsked(this.#help);
      if (error.code.startsWith('commander.unknown')) throw new CommandError(unknownWords(error, this.command));
      if (error.code !== 'commander.help') throw new CommandError(wordsOf(error));
      const choices = this.command.commands.map(command => command.name()).join(', ');
      throw new CommandError(`${this.command.name()} needs one of these words: ${choices}.`);
    }
  }

  /** Handles words that name no command. @throws HelpAsked, CommandError */
  refuse(words: readonly string[]): never {
    this.read(command => command.parse([...words], { from: 'user' }));
    throw new CommandError(`${words[0]} is not a command.`);
  }
}

class HelpAsked extends Error {}

/** Flags as `--limit N`, and the commands before the flags. */
const helpStyle: HelpConfiguration = {
  minWidthToWrap: 20,
  optionTerm: option => option.flags.replaceAll(/[<>]/g, ''),
  formatHelp: (command, helper) => {
    const sections = Help.prototype.formatHelp.call(helper, command, helper).split(/\n\n(?=[A-Z][^\n]*:\n)/);
    const isCommands = (section: string): boolean => section.startsWith('Commands:');
    const [head = '', ...others] = sections.map(section => section.trimEnd());
    return `${[head, ...others.filter(isCommands), ...others.filter(section => !isCommands(section))].join('\n\n')}\n`;
  },
};

/** A command that only groups other commands. */
function choice(name: string, choices: readonly (readonly [word: string, summary: string])[], width: number): Quiet {
  const quiet = new Quiet(name, width);
  quiet.command.usage('COMMAND [options]').configureHelp({ ...helpStyle, subcommandTerm: command => command.name() });
  for (const [word, summary] of choices) quiet.command.command(word).description(summary).helpOption(false);
  return quiet;
}

/** The commands whose first word is `group`, by their second word; without a group, the commands of a single word. */
function summaries(group: string): [string, string][] {
  return Object.entries(commands).flatMap(([name, { summary }]) => {
    const words = name.split(' ');
    return words.length === 1 + Number(group !== '') && (group === '' || words[0] === group)
      ? [[words.at(-1) ?? '', summary] as [string, string]]
      : [];
  });
}

function rootCommand(width: number): Quiet {
  const root = choice('benchtop', [...summaries(''), ...Object.entries(groups)], width);
  root.command.usage('[COMMAND] [options]').description(about);
  addFlags(root.command, { ...workbench, flags: globalFlags }, false);
  root.command.option('-V, --version', 'print the version').addHelpText('after', helpFooter);
  return root;
}

function leaf(name: string, spec: CommandSpec, width: number): Quiet {
  const quiet = new Quiet(name, width);
  const { summary, about: more, args = [], examples = [] } = spec;
  const first = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  quiet.command
    .usage([...args.map(argumentTerm), '[options]'].join(' '))
    .description([first, ...(more === undefined ? [] : [more.replaceAll('\n', ' ')])].join('\n\n'))
    .argument('[words...]')
    .configureHelp({ ...helpStyle, visibleArguments: () => [] })
    .action(() => {});
  addFlags(quiet.command, spec, true);
  if (examples.length > 0)
    quiet.command.addHelpText('after', `\nExamples:\n${examples.map(line => `  ${line}`).join('\n')}`);
  return quiet;
}

/**
 * Parses a command line.
 *
 * @param columns width of the terminal for help, at most {@link defaultColumns}
 * @throws CommandError for an unknown command, argument or flag
 */
export function parse(given: readonly string[], columns = defaultColumns): Parsed {
  const width = Math.min(columns, defaultColumns);
  const [head = '', ...others] = given;
  const words = ['help', '--help', '-h'].includes(head) ? [...others, '--help'] : given;
  if (words.length === 0) return { kind: 'workbench', flags: {} };
  let name: CommandName | undefined;
  try {
    const root = rootCommand(width);
    const { operands, unknown } = root.read(command => command.parseOptions([...words]));
    const { version: asksForVersion, ...before } = root.command.opts();
    if (asksForVersion) return { kind: 'version', json: wantsJson(words) };
    const [first] = operands;
    if (first === undefined && unknown.length === 0) {
      if ('json' in before) throw new CommandError('--json is for commands: benchtop --help lists them.');
      const screen = leaf('benchtop', workbench, width).read(command => command.parse([...words], { from: 'user' }));
      return { kind: 'workbench', flags: screen.opts() };
    }
    const isGroup = first !== undefined && Object.hasOwn(groups, first);
    // An unknown command is an error even with --help.
    if (first === undefined || !(isGroup || nameOf(first))) return root.refuse(first === undefined ? words : [first]);
    name = nameOf(isGroup ? `${first} ${unknown[0]}` : first);
    if (name === undefined) {
      const [second] = unknown;
      const wrong = second === undefined || second.startsWith('-') ? unknown : [second];
      return choice(`benchtop ${first}`, summaries(first), width).refuse(wrong);
    }
    const spec: CommandSpec = commands[name];
    const rest = isGroup ? unknown.slice(1) : unknown;
    const read = leaf(`benchtop ${name}`, spec, width).read(command =>
      command.parse(spec.takesText ? textBehindFlags(rest, spec) : [...rest], { from: 'user' }),
    );
    checkWords(name, read.args);
    checkNeeds(spec, read.opts());
    return { kind: 'command', name, args: read.args, flags: withGlobals(before, name, read.opts()) };
  } catch (error) {
    if (error instanceof HelpAsked) return { kind: 'help', name, text: error.message };
    throw error;
  }
}

function nameOf(words: string): CommandName | undefined {
  return Object.hasOwn(commands, words) ? (words as CommandName) : undefined;
}
