/**
 * Makes text from the wire safe for a terminal. It drops or makes visible everything that a terminal would execute
 * (ECMA-48 control sequences and strings, C0 and C1 controls), that reorders text (bidi controls), or that is hidden
 * (zero-width characters, tag characters). Sanitise on the way to the screen and keep the original for export.
 */
import { isRawJson } from '../base/own-property.ts';
import { expandTabs } from './width.ts';

type SanitiseMode = 'drop' | 'show';

interface SanitiseOptions {
  /** `drop`, the default, removes unsafe characters; `show` makes them visible: `␛[31m`, `<U+202E>`. */
  readonly mode?: SanitiseMode;
  /** Keeps tabs, and line ends as line feeds. Otherwise the result is one line. */
  readonly multiline?: boolean;
  /** Cells per tab stop, or `keep` to leave `\t` in multi-line text (for pipes, not for layout). 4 by default. */
  readonly tabs?: number | 'keep';
}

/**
 * How many combining marks and joiners to keep after one character, and prefix signs before one; more would overlap
 * neighbouring lines or cells.
 */
const maximumMarks = 4;

/** Printable ASCII and line feeds need no work with any options. */
const plainText = /^[\n -~]*$/;
const plainLine = /^[ -~]*$/;

/**
 * ECMA-48: a terminated control string (OSC, DCS, APC, PM, SOS; 7-bit and C1 openers). A string's body ends at the next
 * control character, so that each stretch is scanned only once.
 */
const controlStrings = /(?:\x1b[P\]X^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)/g;

/**
 * A control sequence, a control string, or any other escape. An unterminated string's opener removes only itself, not
 * the text after it.
 */
const escapes = new RegExp(
  String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|${controlStrings.source}|\x1b[ -/]*[0-~]?`,
  'g',
);

/** NEL and the line and paragraph separators also end a line. */
const lineEnds = /\r\n?|[\x85\u2028\u2029]/g;
/** The same, without a carriage return within a line. */
const otherLineEnds = /\r(?:\n|$)|[\x85\u2028\u2029]/g;

/**
 * Matches joiners where no script or emoji needs them: they are kept after an emoji, a mark, or a letter of a joining
 * script. Elsewhere they could make different words look the same.
 */
const strayJoiners = String.raw`(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}[\p{L}--[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]]])[\u200C\u200D]`;

/**
 * Invisible by definition (Unicode `Default_Ignorable_Code_Point`: bidi controls, zero-width space, tags, fillers, soft
 * hyphen…) except joiners and variation selectors, plus characters outside that set that are just as harmful.
 */
const invisible = String.raw`[[\p{DI}--[\u200C\u200D\uFE00-\uFE0F\u{E0100}-\u{E01EF}\u180B-\u180D\u180F]]\u2028\u2029\uFFF9-\uFFFB\p{Noncharacter_Code_Point}]`;

/**
 * Prefix signs that form one grapheme with the number or letter that follows (`Grapheme_Cluster_Break=Prepend`). With
 * nothing after them, they would join their cell's padding, which would make the line shorter.
 */
const prefixSigns = String.raw`\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u0D4E\u{110BD}\u{110CD}\u{111C2}\u{111C3}\u{1193F}\u{11941}\u{11A3A}\u{11A84}-\u{11A89}\u{11D46}\u{11F02}`;

/** Compiling each of these takes about ten milliseconds, so plain ASCII text must not need them. */
function whenNeeded(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

const unsafe = whenNeeded(String.raw`[\x00-\x08\x0B-\x1F\x7F-\x9F]|\p{Cs}|${invisible}|${strayJoiners}`, 'gv');
/** A cheap first check, in one pass, for everything that the replacements below could change. */
const mayNeedWork = whenNeeded(
  String.raw`[\x00-\x08\x0B-\x1F\x7F-\x9F\p{Cs}\p{M}\u200C\u200D${prefixSigns}]|${invisible}`,
  'v',
);
const excessMarks = whenNeeded(String.raw`([\p{M}\u200C\u200D]{${maximumMarks}})[\p{M}\u200C\u200D]+`, 'gv');

/**
 * Characters that settle the text up to them: not controls, not parts of a longer grapheme, nothing that a joiner may
 * follow.
 */
const firmPattern = whenNeeded(
  String.raw`[\u0020-\u0022\u0024-\u0029\u002B-\u002F\u003A-\u007E[\p{L}&&[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]]`,
  'v',
);
/** Excludes tabs, whose width depends only on the text before them. */
const anyControl = /[\x00-\x08\x0B-\x1F\x7F-\x9F]/;
/** Half a surrogate pair or prefix signs at the end: the next character may change them. */
const openEnd = whenNeeded(String.raw`(?:[\uD800-\uDBFF]|[${prefixSigns}]+)$`, 'v');

/** The length of the prefix of `text` whose sanitised form no later text can change. */
export function settledLength(text: string): number {
  const control = text.search(anyControl);
  for (let end = control === -1 ? text.length : control; end > 0; end -= 1) {
    if (firmPattern().test(text.charAt(end - 1))) return end;
  }
  return 0;
}

/** The length of `text` without an incomplete end, which the next character may change. */
export function closedLength(text: string): number {
  const open = openEnd().exec(text.slice(-longestOpenEnd));
  return text.length - (open?.[0].length ?? 0);
}

const longestOpenEnd = 16;

const excessSigns = whenNeeded(`([${prefixSigns}]{${maximumMarks}})[${prefixSigns}]+`, 'gv');
/** Match only from the first sign: also starting at each later one would be quadratic. */
const prefixesOfNothing = whenNeeded(String.raw`(?<![${prefixSigns}])[${prefixSigns}]+(?=\s|$)`, 'gv');

/** Makes text safe for a terminal. Linear in its length; plain ASCII passes at memory speed. */
export function sanitise(text: string, options: SanitiseOptions = {}): string {
  const { mode = 'drop', multiline = false, tabs = 4 } = options;
  if ((multiline ? plainText : plainLine).test(text)) return text;
  const clean = mayNeedWork().test(text) ? (mode === 'show' ? show(text) : drop(text)) : text;
  if (multiline) return tabs === 'keep' ? clean : expandTabs(clean, tabs);
  return clean.replace(/\n/g, mode === 'show' ? '↵' : ' ').replace(/\t/g, mode === 'show' ? '→' : ' ');
}

/** The text without control sequences and control strings, as `sanitise` drops them. */
export const withoutEscapes = (text: string): string => text.replace(escapes, '');

/**
 * The text with everything that `sanitise` drops, in the lines that multi-line sanitising makes of it. Line ends within
 * a control string become spaces.
 *
 * @param keepsReturns whether a carriage return within a line ends no line
 */
export function unsanitisedLines(text: string, keepsReturns: boolean): string {
  const whole = text.replace(controlStrings, each => each.replace(/[\r\n\u2028\u2029]/g, ' '));
  return whole.replace(keepsReturns ? otherLineEnds : lineEnds, '\n');
}

/** Counts of the content that `sanitise` drops from multi-line text. */
export interface HiddenCount {
  /** Control sequences and strings, such as colours. */
  readonly sequences: number;
  /** Characters that are invisible, reorder the text, or control the terminal. */
  readonly characters: number;
}

/** Counts the content that `sanitise` drops from multi-line text; carriage returns count as line ends. */
export function hiddenIn(text: string): HiddenCount {
  if (plainText.test(text) || !mayNeedWork().test(text)) return { sequences: 0, characters: 0 };
  let sequences = 0;
  const rest = text.replace(escapes, () => {
    sequences += 1;
    return '';
  });
  const characters = rest.replace(lineEnds, '\n').match(unsafe())?.length ?? 0;
  return { sequences, characters };
}

/** One line for a cell, a title or a message: line ends and tabs become spaces, or `↵` and `→` in `show` mode. */
export function sanitiseLine(text: string, mode: SanitiseMode = 'drop'): string {
  return sanitise(text, { mode });
}

type Value = string | number | boolean | null | undefined;

/**
 * A template for sentences with text from the wire: each value is sanitised to one line before it is inserted.
 * Sanitising the whole sentence instead would lose the words after an incomplete escape sequence in a value. A list's
 * values are separated by commas.
 */
export function clean(parts: TemplateStringsArray, ...values: readonly (Value | readonly Value[])[]): string {
  const safe = values.map(value => [value].flat().map(each => sanitiseLine(String(each))));
  return String.raw({ raw: parts }, ...safe.map(each => each.join(', ')));
}

/**
 * JSON for a terminal: the same value as `JSON.stringify` gives, with everything unsafe written as `\uXXXX`, so that
 * it can still be parsed to exactly the original. `undefined` becomes `null`.
 * @throws TypeError as JSON.stringify does, for cycles and bigint.
 */
export function safeJson(value: unknown, indent: number = 0): string {
  const json: string | undefined = JSON.stringify(value, undefined, indent);
  if (json === undefined) return 'null';
  if (plainText.test(json) || !mayNeedWork().test(json)) return json;
  return json
    .replace(unsafe(), escapeUnits)
    .replace(excessMarks(), (run, kept: string) => kept + escapeUnits(run.slice(kept.length)));
}

/** How many levels of objects and lists to traverse: down to a trajectory's messages. */
const levels = 4;

/** The same text in parts, so that a large one need not fit in memory. */
export const safeJsonParts = (value: unknown, indent: number): Generator<string, void> =>
  jsonParts(value, indent, levels, indent === 0 ? '' : '\n');

function* jsonParts(value: unknown, indent: number, depth: number, lineEnd: string): Generator<string, void> {
  const isWhole = depth === 0 || typeof value !== 'object' || value === null || isRawJson(value);
  const entries = isWhole ? [] : Object.entries(value);
  const present = Array.isArray(value) ? entries : entries.filter(([, each]) => each !== undefined);
  if (present.length === 0) return yield safeJson(value, indent).replaceAll('\n', lineEnd);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const inner = `${lineEnd}${' '.repeat(indent)}`;
  for (const [index, [key, each]] of present.entries()) {
    const name = Array.isArray(value) ? '' : `${safeJson(key)}:${indent === 0 ? '' : ' '}`;
    yield `${index === 0 ? open : ','}${inner}${name}`;
    yield* jsonParts(each, indent, depth - 1, inner);
  }
  yield `${lineEnd}${close}`;
}

function drop(text: string): string {
  return text
    .replace(escapes, '')
    .replace(lineEnds, '\n')
    .toWellFormed()
    .replace(unsafe(), '')
    .replace(excessMarks(), '$1')
    .replace(prefixesOfNothing(), '')
    .replace(excessSigns(), '$1');
}

function show(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(unsafe(), makeVisible)
    .replace(excessMarks(), (run, kept: string) => kept + run.slice(kept.length).replace(/./gsu, makeVisible))
    .replace(prefixesOfNothing(), signs => signs.replace(/./gsu, makeVisible))
    .replace(excessSigns(), (run, kept: string) => kept + run.slice(kept.length).replace(/./gsu, makeVisible));
}

/** C0 controls and DEL have pictures of their own (U+2400 block); others are named by code point. */
function makeVisible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

function escapeUnits(text: string): string {
  let escaped = '';
  for (let i = 0; i < text.length; i++) escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return escaped;
}
