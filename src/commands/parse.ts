/** Parses the command line into a command with arguments and flags, or a request for help. */
import { changesNumber } from '../base/json-depth.ts';
import { own } from '../base/own-property.ts';
import { CommandError } from './exit.ts';
import { didYouMean } from './suggest.ts';
import { type CommandName, commands, groups, workbench } from './table/commands.ts';
import { type ArgumentSpec, argumentTerm, type CommandSpec, type FlagSpec, longFlag } from './table/spec.ts';
import { argumentsIn, choicesOf, helpFlag, lineOf, rootFlags, type Token } from './tokens.ts';

/** A parsed command line. The flags were checked against the table, so a command gets them with their types. */
export type Parsed =
  | { readonly kind: 'workbench'; readonly flags: Flags }
  | { readonly kind: 'command'; readonly name: CommandName; readonly args: readonly string[]; readonly flags: Flags }
  /** Help for a command or a group or, without a name, for the program. */
  | { readonly kind: 'help'; readonly name: string | undefined }
  | { readonly kind: 'version'; readonly json: boolean };

type Flags = Readonly<Record<string, unknown>>;

const numberLabels = {
  any: 'a number',
  positive: 'a number above 0',
  count: 'a whole number of at least 1',
  whole: 'a whole number of at least 0',
} as const;

/** @throws CommandError if a number in the text or JSON cannot be sent exactly */
export function checkNumbers(what: string, text: string): void {
  if (changesNumber(text.trim()))
    throw new CommandError(`A number in ${what} cannot be sent exactly. Nothing was sent.`);
}

/** The typed number; NaN if it is none. @throws CommandError as `checkNumbers` does */
export function numberIn(what: string, text: string): number {
  checkNumbers(what, text);
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** @throws CommandError if the flag does not take this value */
function readValue(flag: string, { number: kind, choices, empty }: FlagSpec, text: string): string | number {
  if (choices && !choices.includes(text))
    throw new CommandError(`${flag} takes one of ${choices.join(', ')}, not ${text}.`);
  if (!kind) {
    // Most likely an unset variable.
    if (text === '' && !empty) throw new CommandError(`${flag} takes a value, not an empty string.`);
    return text;
  }
  const number = numberIn(flag, text);
  const isWhole = kind === 'count' || kind === 'whole';
  const least = { any: Number.NEGATIVE_INFINITY, positive: Number.MIN_VALUE, count: 1, whole: 0 }[kind];
  if (number >= least && (isWhole ? Number.isSafeInteger(number) : Number.isFinite(number))) return number;
  throw new CommandError(`${flag} takes ${numberLabels[kind]}, not ${text === '' ? 'an empty string' : text}.`);
}

const usageOf = (name: string, { args = [] }: CommandSpec): string =>
  `Usage: ${['benchtop', name, ...args.map(argumentTerm)].join(' ')} [options]`;

/** For a flag from another command, such as `--run`: how this command takes the resource. Empty if it takes none. */
function otherForm(kind: string, name: string, spec: CommandSpec): string {
  const takes = ({ of, kinds }: Partial<ArgumentSpec>): boolean =>
    kinds?.includes(kind) ?? (of === 'of resource' || of === 'watched');
  if (!takes(own(commands.list.flags as CommandSpec['flags'], kind) ?? {})) return '';
  if (spec.args?.some(takes)) return `${usageOf(name, spec)}.`;
  const key = Object.keys(spec.flags).find(each => takes(own(spec.flags, each) ?? {}));
  return key === undefined ? '' : `Did you mean ${longFlag(key)}?`;
}

function unknownOption(word: string, name: string, spec: CommandSpec): CommandError {
  const { flags: specs } = spec;
  const [flag = ''] = word.split('=', 1);
  if (['--jq', '--field', '-q'].includes(flag) && Object.hasOwn(specs, 'json')) {
    return new CommandError(`This command has no ${flag}: pipe its JSON into jq, with --json | jq FILTER.`);
  }
  const known = Object.entries(specs).flatMap(([key, { hidden }]) => (hidden ? [] : longFlag(key)));
  const hint = flag.startsWith('--') ? didYouMean(flag, known) || otherForm(flag.slice(2), name, spec) : '';
  return new CommandError([`Unknown option '${word}'.`, hint].filter(Boolean).join(' '));
}

/** The flag values by key. @throws CommandError for an unknown flag, or a wrong value */
function flagsIn(tokens: readonly Token[], spec: CommandSpec, name = ''): Flags {
  const { flags: specs, exclusive = [] } = spec;
  const flags = new Map<string, unknown>();
  const names = new Set(Object.keys(specs).map(longFlag));
  for (const token of tokens) {
    if (token.kind === 'unknown') throw unknownOption(token.word, name, spec);
    if (token.kind === 'argument') continue;
    const { key, spec: flagSpec, value } = token;
    const flag = longFlag(key);
    if (flagSpec.value === undefined) {
      if (value !== undefined) throw new CommandError(`${flag} takes no value.`);
      flags.set(key, true);
      continue;
    }
    if (value === undefined) throw new CommandError(`${flag} needs a value.`);
    // A flag where a value belongs means that the value was forgotten.
    if (names.has(value)) throw new CommandError(`${flag} needs a value before ${value}.`);
    const read = readValue(flag, flagSpec, value);
    flags.set(key, flagSpec.many ? [...((flags.get(key) as unknown[] | undefined) ?? []), read] : read);
  }
  // Both imply JSON.
  if (flags.has('jq') || flags.has('field')) flags.delete('json');
  for (const group of exclusive) {
    const [one, other] = Object.keys(specs).filter(key => group.includes(key) && flags.has(key));
    if (one !== undefined && other !== undefined) {
      throw new CommandError(`${longFlag(one)} cannot be used with ${longFlag(other)}.`);
    }
  }
  return Object.fromEntries(flags);
}

/** Finds `--json` even if the command line cannot be parsed. */
export function wantsJson(words: readonly string[]): boolean {
  const { before, after } = lineOf(words);
  return [...before, ...after].some(token =>
    token.kind === 'flag'
      ? (token.key === 'json' && token.value === undefined) || (token.key === 'format' && token.value === 'json')
      : token.kind === 'unknown' && token.word === '--json',
  );
}

/** Applies flags given before a command to it. @throws CommandError for one that it does not take */
function withGlobals(before: Flags, name: CommandName, flags: Flags): Flags {
  const wrong = Object.keys(before).find(key => !Object.hasOwn(commands[name].flags, key));
  if (wrong === undefined) return { ...before, ...flags };
  const whose = Object.hasOwn(workbench.flags, wrong)
    ? 'it is for the workbench'
    : `benchtop ${name} --help lists its flags`;
  throw new CommandError(`${longFlag(wrong)} is not for benchtop ${name}: ${whose}.`);
}

/** @throws CommandError if a command has too few arguments, or too many */
function checkArguments(name: CommandName, args: readonly string[]): void {
  const { args: specs = [], flags }: CommandSpec = commands[name];
  const needed = specs.filter(({ optional }) => !optional).length;
  const most = specs.some(({ many }) => many) ? Number.POSITIVE_INFINITY : specs.length;
  if (args.length >= needed && args.length <= most) return;
  const usage = usageOf(name, commands[name]);
  if (args.length < needed) throw new CommandError(`An argument is missing. ${usage}`);
  const takers = Object.keys(flags).filter(key => ['seen', 'filter'].includes(own(flags, key)?.of ?? ''));
  const hint = takers.length === 0 ? '' : ` Did you mean it for one of ${takers.map(longFlag).join(', ')}?`;
  throw new CommandError(`One argument too many: ${args[most]}. ${usage}.${hint}`);
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

/** The error for a word that is not a command, or that needs a second one. */
function unknownCommand(name: string): CommandError {
  const [first = ''] = name.split(' ', 1);
  const isGroup = Object.hasOwn(groups, first);
  const known = choicesOf(isGroup ? first : '').map(([word]) => word);
  if (name === first && isGroup) {
    return new CommandError(`benchtop ${first} needs one of these words: ${known.join(', ')}.`);
  }
  const word = isGroup ? name.slice(first.length + 1) : name;
  const hint = didYouMean(word, known) || 'benchtop --help lists the commands.';
  return new CommandError(`Unknown command '${word}'. ${hint}`);
}

/**
 * Parses a command line.
 *
 * @throws CommandError for an unknown command, argument or flag
 */
export function parse(argv: readonly string[]): Parsed {
  const [head = '', ...others] = argv;
  const words = ['help', '--help', '-h'].includes(head) ? [...others, '--help'] : argv;
  const { before, name, spec, after } = lineOf(words);
  const isGroup = name !== undefined && Object.hasOwn(groups, name);
  // An unknown command is an error even with --help.
  const isKnown = spec !== undefined || isGroup || name === undefined;
  const asksHelp = [...before, ...after].some(token => token.kind === 'flag' && token.key === 'help');
  if (isKnown && asksHelp) return { kind: 'help', name };
  const { version, ...globals } = flagsIn(before, { ...workbench, flags: rootFlags });
  if (version) return { kind: 'version', json: wantsJson(words) };
  if (name === undefined) {
    if ('json' in globals) throw new CommandError('--json is for commands: benchtop --help lists them.');
    return { kind: 'workbench', flags: globals };
  }
  if (!spec) {
    if (isGroup) flagsIn(after, { summary: '', flags: helpFlag });
    throw unknownCommand(name);
  }
  const [command, args, flags] = [name as CommandName, argumentsIn(after), flagsIn(after, spec, name)];
  checkArguments(command, args);
  checkNeeds(spec, flags);
  return { kind: 'command', name: command, args, flags: withGlobals(globals, command, flags) };
}
