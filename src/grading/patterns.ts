/** Graders' regular expressions. They come from a manifest, so their CPU time is limited. */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage } from '../base/errors.ts';
import { compileExpression, compileLimit, ExpressionError } from '../base/expression.ts';
import { maxWallMs, withinCpuTime } from '../base/time-limit.ts';

const flags = 'iu';

/**
 * CPU time per answer, in milliseconds. An ordinary expression needs a thousandth of it; a quadratic one needs a third
 * on 10,000 characters; one with nested quantifiers exceeds any limit.
 */
const answerLimit = 500;

/** Wall-clock time for grading one answer on a busy machine, in milliseconds. */
export const longestMatchMs = maxWallMs(compileLimit) + maxWallMs(answerLimit);

/** Time for compiling all of a benchmark's patterns, in milliseconds. 10,000 ordinary patterns need a second. */
const benchmarkLimit = 10_000;

/** Matches properties such as `\p{L}`, and all other escapes. */
const escapes = /\\(?:[pP]\{[^}\\]*\}|.)/gsu;
const isProperty = (part: string): boolean => /^\\[pP]\{/.test(part);

/** The error in each property seen so far; undefined if it is valid. */
const properties = new Map<string, string | undefined>();
/** More properties than Unicode has. */
const maxProperties = 2_000;

/**
 * A pattern's syntax error, if it has one. Checks each property only once and does not compile the pattern: V8 builds
 * the character set for every occurrence, which takes 10 ms per hundred, and a benchmark may have thousands of
 * patterns.
 */
export function syntaxProblem(pattern: string): string | undefined {
  const met = new Set(pattern.match(escapes)?.filter(isProperty));
  for (const property of met) {
    if (properties.size >= maxProperties) properties.clear();
    if (!properties.has(property)) properties.set(property, problemOf(property));
    const problem = properties.get(property);
    if (problem !== undefined) return problem;
  }
  // `\d` stands in for each property: it is valid in the same positions.
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

/** Caches the last pattern: a task has several answers in a row, and compiling takes as long as matching. */
let lastPattern: { readonly pattern: string; readonly expression: RegExp } | undefined;

/** Whether a pattern matches; undefined if that takes too long. @throws ExpressionError if it is unusable */
export function patternMatches(pattern: string, answer: string): boolean | undefined {
  let found = false;
  if (lastPattern?.pattern !== pattern) lastPattern = { pattern, expression: compileExpression(pattern, flags) };
  const { expression } = lastPattern;
  try {
    const isInTime = withinCpuTime(() => {
      found = expression.test(answer);
    }, answerLimit);
    return isInTime ? found : undefined;
  } catch (error) {
    // V8 ran out of memory for backtracking in a long answer.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * The first unusable pattern and its problem. Compiles the patterns one by one, yielding in between. Stops at the first
 * problem, because hundreds of slow patterns would take minutes.
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
