/** Regular expressions that somebody else wrote: a user's filter, a grader of a manifest. */
import { errorMessage } from './errors.ts';
import { withinCpuTime } from './time-limit.ts';

/** An expression that cannot be used; the message says why, without a full stop. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** Whether it is an expression, but takes too long. */
  readonly isTooSlow: boolean;

  constructor(message: string, isTooSlow = false) {
    super(message);
    this.isTooSlow = isTooSlow;
  }
}

/** Processor time for compiling in milliseconds; an ordinary expression needs less than one. */
export const compileLimit = 100;

/** V8 compiles for texts of one byte a character, and for others. */
const samples = ['', '\u0100'];

/**
 * An alternative that never matches, of no length. Where every match has a length, V8 first looks through them for
 * characters to skip: through twenty times `(?:\P{L}|\P{N}|\P{M})` for minutes, in code that looks at no interrupt.
 */
const orNothing = '(?!)';

/** Before `\b` and `\B` V8 looks for characters to skip as well, but not before what means the same. */
const boundaries: ReadonlyMap<string, string> = new Map([
  [String.raw`\b`, String.raw`(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))`],
  [String.raw`\B`, String.raw`(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))`],
]);
/** An escape or a class: in a class `\b` is another character. */
const escapeOrClass = /\\.|\[(?:\\.|[^\]\\])*\]/gsu;

/**
 * Compiles an expression, which a later first use would do without a limit. Its use needs a limit too: `withinCpuTime`.
 *
 * @throws ExpressionError if it is not an expression, is too large, or takes too long to compile
 */
export function compileExpression(source: string, flags: string): RegExp {
  try {
    // By itself first: that its parentheses are pairs.
    new RegExp(source, flags);
    const slower = source.replace(escapeOrClass, part => boundaries.get(part) ?? part);
    const expression = new RegExp(`(?:${slower}|${orNothing})`, flags);
    if (withinCpuTime(() => compile(expression), compileLimit)) return expression;
  } catch (error) {
    // Without V8's "Invalid regular expression: /…/iu: ".
    throw new ExpressionError(errorMessage(error).replace(/^.*\/[a-z]*: /s, ''));
  }
  throw new ExpressionError('it takes too long', true);
}

/**
 * Compiles an expression that finds this text. V8 needs milliseconds for the longest text that it takes, since there are
 * no choices in it: no time limit, which a busy machine could reach.
 *
 * @throws ExpressionError if it is too long
 */
export function compileLiteral(text: string, flags: string): RegExp {
  try {
    const expression = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), flags);
    compile(expression);
    return expression;
  } catch (error) {
    throw new ExpressionError(errorMessage(error));
  }
}

function compile(expression: RegExp): void {
  for (const sample of samples) expression.test(sample);
  expression.lastIndex = 0;
}
