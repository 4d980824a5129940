/** Graders: a pure function from an answer to a reward between 0 and 1, with the reason for it. */
import * as z from 'zod/mini';

const text = z.string().check(z.minLength(1));

export const graderSpec = z.discriminatedUnion('kind', [
  /** The answer is the expected text, but for case, surrounding space and a full stop. */
  z.strictObject({ kind: z.literal('exact'), expected: text }),
  /** The expected text occurs in the answer as words of its own. */
  z.strictObject({ kind: z.literal('contains'), expected: text }),
  /** The expression matches the answer. */
  z.strictObject({ kind: z.literal('regex'), pattern: text }),
  /** The first number of the answer; the reward falls linearly to 0 at `tolerance` away. */
  z.strictObject({ kind: z.literal('number'), expected: z.number(), tolerance: z.optional(z.number().check(z.gt(0))) }),
  /** The share of the answer's words that begin with the letter. An answer without words has none. */
  z.strictObject({ kind: z.literal('word_share'), letter: z.string().check(z.length(1)) }),
]);
export type GraderSpec = z.output<typeof graderSpec>;

export interface Grade {
  readonly reward: number;
  readonly explanation: string;
}

/** A spec that cannot grade anything. This is no reward of 0: nothing was graded. */
export class GradingError extends Error {
  override readonly name = 'GradingError';
}

/** Longer answers are graded by their beginning; an expression could take for ever on more. */
const longestAnswer = 10_000;

function bare(answer: string): string {
  return answer
    .trim()
    .replace(/[.!]+$/, '')
    .trim()
    .toLowerCase();
}

function verdict(right: boolean, explanation: string): Grade {
  return { reward: right ? 1 : 0, explanation };
}

function wordsOf(answer: string): string[] {
  return answer.toLowerCase().match(/\p{L}+/gu) ?? [];
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'iu');
  } catch (error) {
    throw new GradingError(
      `The pattern of the grader is not an expression: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** @throws GradingError for a spec that cannot be used */
export function grade(spec: GraderSpec, whole: string): Grade {
  const answer = whole.slice(0, longestAnswer);
  switch (spec.kind) {
    case 'exact':
      return verdict(bare(answer) === bare(spec.expected), `expected “${spec.expected}”`);
    case 'contains': {
      const wanted = wordsOf(spec.expected).join(' ');
      return verdict(
        ` ${wordsOf(answer).join(' ')} `.includes(` ${wanted} `),
        `expected “${spec.expected}” in the answer`,
      );
    }
    case 'regex':
      return verdict(compile(spec.pattern).test(answer), `expected a match of ${spec.pattern}`);
    case 'number': {
      const found = /-?\d+(?:\.\d+)?/.exec(answer)?.[0];
      if (found === undefined) return verdict(false, `expected ${spec.expected}, found no number`);
      const off = Math.abs(Number(found) - spec.expected);
      const reward = off === 0 ? 1 : spec.tolerance ? Math.max(0, 1 - off / spec.tolerance) : 0;
      return { reward, explanation: `expected ${spec.expected}, found ${found}` };
    }
    case 'word_share': {
      const words = wordsOf(answer);
      const right = words.filter(word => word.startsWith(spec.letter.toLowerCase())).length;
      const reward = words.length === 0 ? 0 : right / words.length;
      return { reward, explanation: `${right} of ${words.length} words begin with ${spec.letter.toUpperCase()}` };
    }
  }
}
