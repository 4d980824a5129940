/**
 * What the command line takes, as data. Parsing, help, completions, the man page and README's reference are all made of
 * it; it loads nothing, so that help is there at once.
 */

export interface FlagSpec {
  /** What it does, in a few words without a full stop. */
  readonly description: string;
  /** One letter. */
  readonly short?: string;
  /** How help shows its value, e.g. `NAME`. A flag without one is on or off. */
  readonly value?: string;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  /** Its value is a number: `count` is a whole one from 1 on, `positive` any above 0. */
  readonly number?: 'any' | 'positive' | 'count' | 'whole';
  /** Its value may be an empty string. */
  readonly empty?: true;
  /** The key of a flag without which it means nothing. */
  readonly needs?: string;
  /** It may be given several times. */
  readonly many?: true;
  /** The environment variable that says the same. */
  readonly variable?: string;
  /** Which service, and how it is asked: help names these flags once for all commands. */
  readonly group?: 'service';
  /** Not for people. */
  readonly hidden?: true;
}

export interface ArgumentSpec {
  /** How help shows it, e.g. `ID|NAME`. */
  readonly name: string;
  readonly description?: string;
  readonly optional?: true;
  readonly many?: true;
  readonly choices?: readonly string[];
  /** What completions offer: names of resources, of profiles, ids and names of what was seen, files, or nothing. */
  readonly of?: 'resource' | 'listed resource' | 'operation' | 'file' | 'profile' | 'seen';
  /** Of which kinds, where it is something seen. */
  readonly kinds?: readonly string[];
}

export interface CommandSpec {
  /** One line, a verb first, without a full stop. */
  readonly summary: string;
  /** A paragraph or several of it, shown in its own help. */
  readonly about?: string;
  readonly args?: readonly ArgumentSpec[];
  readonly flags: Readonly<Record<string, FlagSpec>>;
  /** Flags of which at most one may be given, by their keys. */
  readonly exclusive?: readonly (readonly string[])[];
  /** Lines to try. */
  readonly examples?: readonly string[];
  /** Its last argument is free text: what follows the argument before it is taken word by word, dashes and all. */
  readonly takesText?: true;
  readonly hidden?: true;
}

/** Declares a command, and keeps the types of its flags. */
export const spec = <const Spec extends CommandSpec>(given: Spec): Spec => given;

/** The value of a flag as a command gets it. */
export type FlagValue<Flag extends FlagSpec> = Flag extends { many: true }
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

/** `ID|NAME`, `[TEXT…]` as help shows it. */
export function argumentTerm({ name, optional, many }: ArgumentSpec): string {
  const term = `${name}${many ? '…' : ''}`;
  return optional ? `[${term}]` : term;
}
