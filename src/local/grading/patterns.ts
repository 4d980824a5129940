/** The regular expressions of graders. They come from a manifest, so their use has a limit of processor time. */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage } from '../../text/errors.ts';
import { compileExpression, compileLimit, ExpressionError } from '../../text/expression.ts';
import { longestByTheClock, withinCpuTime } from '../../text/time-limit.ts';

const flags = 'iu';

/**
 * Processor time for an answer in milliseconds. An ordinary expression needs a thousandth of it, a quadratic one a third
 * on the longest answer, and one with nested repeats more than any limit: a faster or slower machine grades alike.
 */
const answerLimit = 500;

/** Time by the clock, in milliseconds, that the verdict on one answer may take on a busy machine. */
export const longestMatchMs = longestByTheClock(compileLimit) + longestByTheClock(answerLimit);

/** Time for compiling all patterns of a benchmark in milliseconds. 10,000 ordinary ones need a second. */
const benchmarkLimit = 10_000;

/** An escape: one of a property such as `\p{L}`, or another. */
const escapes = /\\(?:[pP]\{[^}]*\}|.)/gsu;
const isProperty = (part: string): boolean => /^\\[pP]\{/.test(part);

/** What is wrong with each property that was met, undefined for nothing. */
const properties = new Map<string, string | undefined>();
/** More than Unicode has. */
const mostProperties = 2_000;

/**
 * Why a pattern is no regular expression, if it is none. Does not compile it, and looks at each property but once: V8
 * makes a set of all its characters wherever it stands, which takes 10 ms for a hundred, and a benchmark may have
 * thousands of patterns.
 */
export function syntaxProblem(pattern: string): string | undefined {
  const met = new Set(pattern.match(escapes)?.filter(isProperty));
  for (const property of met) {
    if (properties.size >= mostProperties) properties.clear();
    if (!properties.has(property)) properties.set(property, problemOf(property));
    const problem = properties.get(property);
    if (problem !== undefined) return problem;
  }
  // A digit may stand wherever a property may, and nowhere else.
  return problemOf(
    met.size === 0 ? pattern : pattern.replace(escapes, part => (isProperty(part) ? String.raw`\d` : part)),
  );
}

function problemOf(pattern: string): string | undefined {
  try {
    new RegExp(pattern, flags);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Whether a pattern matches; undefined if it takes too long. @throws ExpressionError if it cannot be used at all */
export function patternMatches(pattern: string, answer: string): boolean | undefined {
  let found = false;
  const expression = compileExpression(pattern, flags);
  const isInTime = withinCpuTime(() => {
    found = expression.test(answer);
  }, answerLimit);
  return isInTime ? found : undefined;
}

/**
 * The first pattern that cannot be used, and why. Compiles all of them, and lets the process do other work in between.
 * Stops at the first: hundreds of slow ones would take minutes.
 */
export async function unusablePattern(
  patterns: readonly (string | undefined)[],
): Promise<{ readonly index: number; readonly problem: string } | undefined> {
  const seen = new Set<string>();
  let spent = 0;
  for (const [index, pattern] of patterns.entries()) {
    if (pattern === undefined || seen.has(pattern)) continue;
    seen.add(pattern);
    if (spent > benchmarkLimit) return { index, problem: 'the patterns of this benchmark take too long together' };
    const begun = performance.now();
    try {
      compileExpression(pattern, flags);
    } catch (error) {
      if (error instanceof ExpressionError) return { index, problem: error.message };
      throw error;
    }
    spent += performance.now() - begun;
    await turn();
  }
  return undefined;
}
