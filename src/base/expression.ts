/** Untrusted regular expressions: a user's filter, or a grader from a manifest. */
import { errorMessage } from './errors.ts';
import { withinCpuTime } from './time-limit.ts';

/** The message explains why the expression cannot be used, without a full stop. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** Whether the expression is valid but takes too long. */
  readonly isTooSlow: boolean;

  constructor(message: string, isTooSlow = false) {
    super(message);
    this.isTooSlow = isTooSlow;
  }
}

/** CPU time for compiling, in milliseconds. An ordinary expression needs less than one. */
export const compileLimit = 100;

/** V8 compiles an expression separately for one-byte and two-byte strings. */
const samples = ['', '\u0100'];

/**
 * An empty alternative that never matches. If no match can be empty, V8 first searches for characters to skip. For
 * twenty repeats of `(?:\P{L}|\P{N}|\P{M})`, this takes minutes, in code that cannot be interrupted.
 */
const orNothing = '(?!)';

/** The ends of a text at which it was cut from a longer one. */
export type Cut = 'start' | 'end' | 'both';

/**
 * Equivalents for the assertions. V8 also searches for characters to skip before `\b` and `\B`, but not before these.
 * At a cut, which is neither the start nor the end of a line or word, no assertion holds.
 */
function assertionsAt(cut: Cut | undefined): ReadonlyMap<string, string> {
  const [isStart, isEnd] = [cut === 'start' || cut === 'both', cut === 'end' || cut === 'both'];
  const [before, after] = [isStart ? '(?<=[^])' : '', isEnd ? '(?=[^])' : ''];
  return new Map([
    [String.raw`\b`, String.raw`(?:(?<=\w)${after}(?!\w)|${before}(?<!\w)(?=\w))`],
    [String.raw`\B`, String.raw`(?:(?<=\w)(?=\w)|${before}(?<!\w)${after}(?!\w))`],
    ['^', isStart ? orNothing : '^'],
    ['$', isEnd ? orNothing : '$'],
  ]);
}

/**
 * A group's name, an escape, a class, or an anchor: inside a class, `\b` is a backspace, and a name may contain a `$`.
 */
const assertionOrOther = /\(\?<[^=!][^>]*>?|\\(?:k<[^>]*>?|.)|\[(?:\\.|[^\]\\])*\]?|[\^$]/gsu;

/**
 * Compiles an expression now, within a time limit; V8 would otherwise do it on first use, without a limit. Run the
 * expression under a limit too: `withinCpuTime`.
 *
 * @param cut where the texts to search were cut
 * @throws ExpressionError if it is not an expression, is too large, or takes too long to compile
 */
export function compileExpression(source: string, flags: string, cut?: Cut): RegExp {
  try {
    // Compile it on its own first, so that unbalanced parentheses cannot combine with the wrapper below.
    new RegExp(source, flags);
    const assertions = assertionsAt(cut);
    const guarded = source.replace(assertionOrOther, part => assertions.get(part) ?? part);
    const expression = new RegExp(`(?:${guarded}|${orNothing})`, flags);
    if (withinCpuTime(() => compile(expression), compileLimit)) return expression;
  } catch (error) {
    // Strip V8's "Invalid regular expression: /…/iu: ".
    throw new ExpressionError(errorMessage(error).replace(/^.*\/[a-z]*: /s, ''));
  }
  throw new ExpressionError('it takes too long', true);
}

/**
 * Compiles an expression that finds this text. There is no time limit, which a busy machine could exceed: without
 * alternatives, V8 takes only milliseconds even for the longest text it accepts.
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
