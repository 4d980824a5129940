/** Reads the words of a command line: the command that they name, and its flags and arguments. */
import { own } from '../base/own-property.ts';
import { commands, groups, workbench } from './table/commands.ts';
import { jsonFlag } from './table/flags.ts';
import { type CommandSpec, type FlagSpec, longFlag } from './table/spec.ts';

export type Token =
  | { readonly kind: 'argument'; readonly word: string }
  /** `value` is undefined without a value; a switch has one only as `--flag=value`. */
  | { readonly kind: 'flag'; readonly key: string; readonly spec: FlagSpec; readonly value: string | undefined }
  | { readonly kind: 'unknown'; readonly word: string };

type FlagSpecs = Readonly<Record<string, FlagSpec>>;

export const helpFlag = { help: { short: 'h', description: 'show help' } } as const satisfies FlagSpecs;

/** The flags that may be given before a command. */
export const rootFlags = {
  ...workbench.flags,
  ...jsonFlag,
  version: { short: 'V', description: 'print the version' },
  ...helpFlag,
} as const satisfies FlagSpecs;

/** A word meant as a long flag; quoted text has spaces. */
const longFlagForm = /^--[a-z][\w-]*(?:=.*)?$/is;
/** `-0.5`, and the range `-5..5`. */
const negativeNumber = /^-(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?(?:\.\.-?(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?)?$/i;

/**
 * Takes tokens off `rest`, one at a time. Free text begins after `textFrom` arguments: in it, a word with one dash that
 * is not a flag is an argument, but anything like a long flag is parsed as a flag, so that a typo is not sent as text.
 * `parseArgs` from `node:util` has no such mode, and reads a negative number as flags.
 */
function* tokensOf(rest: string[], specs: FlagSpecs, textFrom = Number.POSITIVE_INFINITY): Generator<Token> {
  const shorts = new Map(Object.entries(specs).map(([key, { short }]) => [`-${short}`, key]));
  const longs = new Map(Object.keys(specs).map(key => [longFlag(key), key]));
  let args = 0;
  let areFlagsOver = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const isText = args >= textFrom;
    const [, name = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const key = longs.get(name) ?? (isText && word === '-h' ? undefined : shorts.get(name));
    const first = isText ? undefined : shorts.get(word.slice(0, 2));
    const spec = own(specs, key ?? first ?? '');
    if (areFlagsOver || word === '-' || !word.startsWith('-') || negativeNumber.test(word)) {
      args += 1;
      yield { kind: 'argument', word };
    } else if (word === '--') areFlagsOver = true;
    else if (key !== undefined && spec) {
      yield { kind: 'flag', key, spec, value: inline ?? (spec.value === undefined ? undefined : rest.shift()) };
    } else if (first !== undefined && spec) {
      // `-L5`, or `-rw` for `-r -w`.
      const attached = spec.value === undefined ? undefined : word.slice(2);
      if (attached === undefined) rest.unshift(`-${word.slice(2)}`);
      yield { kind: 'flag', key: first, spec, value: attached };
    } else if (isText && !longFlagForm.test(word)) yield { kind: 'argument', word };
    else yield { kind: 'unknown', word };
  }
}

/** The parts of a command line. */
export interface Line {
  /** The tokens before the command. */
  readonly before: readonly Token[];
  /** The command's typed name, in two words if the first is a group; undefined if there is none. */
  readonly name: string | undefined;
  readonly spec: CommandSpec | undefined;
  readonly after: readonly Token[];
}

export function lineOf(words: readonly string[]): Line {
  const rest = [...words];
  const before: Token[] = [];
  for (const token of tokensOf(rest, rootFlags)) {
    if (token.kind === 'argument') {
      const hasSecond = Object.hasOwn(groups, token.word) && rest[0]?.startsWith('-') === false;
      const name = hasSecond ? `${token.word} ${rest.shift()}` : token.word;
      const spec = own<CommandSpec>(commands, name);
      const after = tokensOf(rest, { ...spec?.flags, ...helpFlag }, spec?.takesText && spec.args?.length);
      return { before, name, spec, after: [...after] };
    }
    before.push(token);
  }
  return { before, name: undefined, spec: undefined, after: [] };
}

export const argumentsIn = (tokens: readonly Token[]): string[] =>
  tokens.flatMap(token => (token.kind === 'argument' ? [token.word] : []));

/** The words that may follow a group, or the first words of a command line; each with a summary. */
export function choicesOf(group = ''): [word: string, summary: string][] {
  const named = Object.entries(commands).flatMap(([name, { summary }]): [string, string][] => {
    const [first = '', second] = name.split(' ');
    if (group === '') return second === undefined ? [[first, summary]] : [];
    return first === group && second !== undefined ? [[second, summary]] : [];
  });
  return group === '' ? [...named, ...Object.entries(groups)] : named;
}
