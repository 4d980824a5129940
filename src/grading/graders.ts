/** Graders: pure functions from an answer to a reward between 0 and 1, with an explanation. */
import * as z from 'zod/mini';
import { errorMessage } from '../base/errors.ts';
import { withinCpuTime } from '../base/time-limit.ts';
import { type EarlyEnd, earlyEndOf } from '../contract/finish-reason.ts';
import { bare, numbersIn, placeIn, spaced, wordsIn } from './answer-text.ts';
import { patternMatches, syntaxProblem } from './patterns.ts';

/** In characters. */
const longestExpected = 10_000;
const maxChoices = 200;
const longestChoice = 1_000;

const text = z.string().check(z.refine(each => each.trim() !== '', 'is blank'));
const expectedText = text.check(z.maxLength(longestExpected));
const choice = text.check(z.maxLength(longestChoice));

export const graderSpec = z.discriminatedUnion('kind', [
  /** The answer equals the expected text, ignoring case, surrounding space and a final full stop. */
  z.object({ kind: z.literal('exact'), expected: expectedText }),
  /** The expected text occurs in the answer, not as a part of other words. */
  z.object({ kind: z.literal('contains'), expected: expectedText }),
  /** The expression matches the answer, ignoring case. */
  z.object({
    kind: z.literal('regex'),
    pattern: text.check(
      // V8 may take minutes to parse a long one, and has no limit.
      z.maxLength(500, { abort: true }),
      z.refine(pattern => syntaxProblem(pattern) === undefined, 'is not a regular expression'),
    ),
  }),
  /** The first number in the answer; the reward falls linearly to 0 at `tolerance` away. */
  z.object({ kind: z.literal('number'), expected: z.number(), tolerance: z.optional(z.number().check(z.gt(0))) }),
  /** The share of the answer's words that begin with the letter. An answer without words scores 0. */
  z.object({ kind: z.literal('word_share'), letter: z.string().check(z.regex(/^\p{L}$/u)) }),
  /** The first choice in the answer is the expected one. Naming all choices does not help. */
  z
    .object({
      kind: z.literal('choice'),
      choices: z.array(choice).check(z.minLength(2), z.maxLength(maxChoices)),
      expected: choice,
    })
    .check(z.refine(spec => spec.choices.includes(spec.expected), 'expected is not one of the choices')),
]);
export type GraderSpec = z.output<typeof graderSpec>;

/** The kinds of graders that run here. */
export const graderKinds: ReadonlySet<unknown> = new Set<GraderSpec['kind']>([
  'exact',
  'contains',
  'regex',
  'number',
  'word_share',
  'choice',
]);

export interface Grade {
  readonly reward: number;
  readonly explanation: string;
}

/** The spec cannot grade the answer, which is not the same as a reward of 0. */
export class GradingError extends Error {
  override readonly name = 'GradingError';
}

/** CPU time for searching an answer, in milliseconds. A regular expression has limits of its own. */
const searchLimit = 500;

function verdict(right: boolean, explanation: string): Grade {
  return { reward: right ? 1 : 0, explanation };
}

/** @throws GradingError if the pattern cannot be used, or takes too long on this answer */
function matchesOrThrows(pattern: string, answer: string): boolean {
  let found: boolean | undefined;
  try {
    found = patternMatches(pattern, answer);
  } catch (error) {
    throw new GradingError(`The grader's pattern cannot be used: ${errorMessage(error)}`);
  }
  if (found === undefined)
    throw new GradingError(`The pattern ${pattern} takes too long on this answer; write it without nested quantifiers`);
  return found;
}

/** @throws GradingError for an unusable spec, or one that takes too long on this answer */
export function grade(spec: GraderSpec, answer: string): Grade {
  if (spec.kind === 'regex')
    return verdict(matchesOrThrows(spec.pattern, answer), `expected a match for ${spec.pattern}`);
  // The other graders read each text at most a few times, and so does `contains` in an ordinary answer. A limit needs a
  // thread, and takes longer than such an answer.
  const isSearch = spec.kind === 'choice' || (spec.kind === 'contains' && answer.length > longestExpected);
  if (!isSearch) return gradeOf(spec, answer);
  const grades: Grade[] = [];
  const isInTime = withinCpuTime(() => grades.push(gradeOf(spec, answer)), searchLimit);
  const result = grades.at(-1);
  if (!isInTime || !result) throw new GradingError(`The grader (${spec.kind}) takes too long on this answer`);
  return result;
}

/** How an answer ended, as the model's server reports it. */
interface AnswerEnd {
  readonly refusal?: string | null | undefined;
  readonly finish_reason?: string | null | undefined;
  readonly tool_calls?: unknown;
}

const earlyEndLabels: Record<EarlyEnd, string> = {
  'token limit': 'cut off at the token limit',
  'content filter': 'withheld by a content filter',
  refusal: 'the model refused',
  error: 'ended with an error',
};

/** Why an answer is missing or incomplete; undefined if the server gives no reason. */
export function shortfallOf({ refusal, finish_reason, tool_calls }: AnswerEnd, isEmpty: boolean): string | undefined {
  const end = refusal ? 'refusal' : earlyEndOf(finish_reason);
  if (end !== undefined) return earlyEndLabels[end];
  return isEmpty && tool_calls ? 'the model only called tools' : undefined;
}

/**
 * Grades an answer. If the reward is 0, the explanation includes the server's reason for a missing or incomplete
 * answer.
 *
 * @throws GradingError like `grade`
 */
export function gradeEnded(spec: GraderSpec, answer: string, end: AnswerEnd): Grade {
  const graded = grade(spec, answer);
  const isEmpty = answer.trim() === '';
  const shortfall = graded.reward === 0 ? shortfallOf(end, isEmpty) : undefined;
  if (shortfall === undefined) return graded;
  const explanation = isEmpty ? `no answer: ${shortfall}` : `${graded.explanation}; ${shortfall}`;
  return { ...graded, explanation };
}

function gradeOf(spec: Exclude<GraderSpec, { kind: 'regex' }>, answer: string): Grade {
  switch (spec.kind) {
    case 'exact':
      return verdict(bare(answer) === bare(spec.expected), `expected “${spec.expected}”`);
    case 'contains':
      return verdict(placeIn(spaced(answer), spaced(spec.expected)) >= 0, `expected “${spec.expected}” in the answer`);
    case 'number': {
      if (!Number.isFinite(spec.expected)) throw new GradingError("The grader's expected value is not a number");
      const readings = numbersIn(answer).map(found => ({
        found,
        off: Math.abs(Number(found.replaceAll(',', '')) - spec.expected),
      }));
      const [closest] = readings.sort((left, right) => left.off - right.off);
      if (!closest) return verdict(false, `expected ${spec.expected}, found no number`);
      const { found, off } = closest;
      const reward = off === 0 ? 1 : spec.tolerance ? Math.max(0, 1 - off / spec.tolerance) : 0;
      return { reward, explanation: `expected ${spec.expected}, found ${found}` };
    }
    case 'word_share': {
      const words = wordsIn(answer);
      const right = words.filter(word => word.startsWith(spec.letter.toLowerCase())).length;
      const reward = words.length === 0 ? 0 : right / words.length;
      return { reward, explanation: `${right} of ${words.length} words begin with ${spec.letter.toUpperCase()}` };
    }
    case 'choice': {
      if (!spec.choices.includes(spec.expected))
        throw new GradingError(`The grader expects “${spec.expected}”, which is not one of its choices`);
      const whole = spaced(answer);
      const [named] = spec.choices
        .map(choice => ({ choice, text: spaced(choice) }))
        .map(each => ({ ...each, place: placeIn(whole, each.text) }))
        .filter(({ place }) => place >= 0)
        .sort((left, right) => left.place - right.place || right.text.length - left.text.length);
      return verdict(
        named?.text === spaced(spec.expected),
        `expected “${spec.expected}”, ${named ? `the answer names “${named.choice}”` : 'the answer names no choice'}`,
      );
    }
  }
}
