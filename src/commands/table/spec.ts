/**
 * The command line as data. Parsing, help, completions, the man page and README's reference are all generated from it.
 * Imports nothing, so that help prints fast.
 */

export interface FlagSpec extends Pick<ArgumentSpec, 'of' | 'kinds'> {
  /** A few words without a full stop. */
  readonly description: string;
  /** One letter. */
  readonly short?: string;
  /** How help shows its value, e.g. `NAME`. A flag without one is a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Set if its value is a number: `count` is a whole number from 1, `positive` any number above 0. */
  readonly number?: 'any' | 'positive' | 'count' | 'whole';
  /** Whether the value may be an empty string. */
  readonly empty?: true;
  /** The key of another flag that this one requires. */
  readonly needs?: string;
  /** Whether it may be given several times. */
  readonly many?: true;
  /**
   * Set if line mode asks for it. `unless` is the key of a flag that replaces it; a flag with `defaultText` is asked
   * for only if no flag is given, and may be left out.
   */
  readonly prompt?: { readonly unless?: string; readonly defaultText?: string };
  /** The environment variable with the same meaning. */
  readonly variable?: string;
  /** Set if it selects the service; help lists these flags once for all commands. */
  readonly group?: 'service';
  /** Internal; not shown in help. */
  readonly hidden?: true;
}

/** Printed instead of candidates to have the shell complete file names. */
export const fileNames = ':files';

/** The kind of a value, for completions. */
export type ValueOf =
  | 'profile'
  | 'operation'
  | 'resource'
  /** Names and ids of some kinds. */
  | 'seen'
  /** The name of a resource, or a name or id of any row. */
  | 'resource or seen'
  /** A name or id of the resource that the argument before it names. */
  | 'of resource'
  | 'watched'
  | 'checkpoint'
  | 'chat model'
  | 'status'
  | 'flag'
  | 'grader'
  | 'field'
  | 'column'
  /** Several, separated by commas. */
  | 'columns'
  /** Words, and terms about columns. */
  | 'filter'
  | 'option'
  | 'setting'
  /** A setting that has a value. */
  | 'set setting'
  | 'setting value';

export interface ArgumentSpec {
  /** How help shows it, e.g. `ID|NAME`. */
  readonly name: string;
  readonly description?: string;
  readonly optional?: true;
  readonly many?: true;
  readonly choices?: readonly string[];
  /** The candidates for completion; none if missing. */
  readonly of?: ValueOf;
  /** The kinds of the offered names and ids; by default the kinds that the command changes. */
  readonly kinds?: readonly string[];
}

export interface CommandSpec {
  /** One line, beginning with a verb, without a full stop. */
  readonly summary: string;
  /** One or more paragraphs, shown in the command's own help. */
  readonly about?: string;
  readonly args?: readonly ArgumentSpec[];
  readonly flags: Readonly<Record<string, FlagSpec>>;
  /** Groups of mutually exclusive flags, by key. */
  readonly exclusive?: readonly (readonly string[])[];
  readonly examples?: readonly string[];
  /** The last argument is free text: once it begins, words are taken unchanged, except for long flags. */
  readonly takesText?: true;
}

/** The forms in which a record is printed. */
export const exclusiveRecordFlags = ['json', 'field', 'jq'] as const;

/** Declares a command and keeps the types of its flags. A record is printed in one form only. */
export const spec = <const Spec extends CommandSpec>(command: Spec): Spec =>
  Object.hasOwn(command.flags, 'jq')
    ? { ...command, exclusive: [exclusiveRecordFlags, ...(command.exclusive ?? [])] }
    : command;

/** The parsed value of a flag. */
type FlagValue<Flag extends FlagSpec> = Flag extends { many: true }
  ? readonly string[]
  : Flag extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Flag extends { number: string }
      ? number
      : Flag extends { value: string }
        ? string
        : boolean;

export type FlagValues<Flags extends Readonly<Record<string, FlagSpec>>> = {
  readonly [Name in keyof Flags]?: FlagValue<Flags[Name]> | undefined;
};

/** `--api-key-env` for `apiKeyEnv`. */
export function longFlag(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** `-l, --limit N` as help shows it. */
export function flagTerm(key: string, { short, value }: FlagSpec): string {
  return `${short ? `-${short}, ` : ''}${longFlag(key)}${value ? ` ${value}` : ''}`;
}

/** A flag's help: its description, then its choices and its variable in parentheses. */
export function describeFlag({ description, choices, variable }: FlagSpec): string {
  const notes = [choices?.join(', '), variable].filter(Boolean).join('; ');
  if (notes === '') return description;
  return description.endsWith(')') ? `${description.slice(0, -1)}; ${notes})` : `${description} (${notes})`;
}

/** `ID|NAME`, `[TEXT…]` as help shows it. */
export function argumentTerm({ name, optional, many }: ArgumentSpec): string {
  const term = `${name}${many ? '…' : ''}`;
  return optional ? `[${term}]` : term;
}
