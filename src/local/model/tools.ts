/**
 * Tools that a task offers to the model: a store of facts and a calculator. An answer that begins with a tool's name is
 * a call, and any other answer ends the rollout.
 */
import * as z from 'zod/mini';
import { own } from '../../base/own-property.ts';

const filledText = z.string().check(z.minLength(1), z.maxLength(1_000));
const shareSchema = z.number().check(z.gt(0), z.lte(1));

export const toolSpec = z
  .object({
    /** The results of `look up KEY`. */
    store: z.optional(z.record(filledText, filledText)),
    /** Whether `plus`, `minus` and `times` are available. They take two numbers, in digits or words. */
    calculator: z.optional(z.boolean()),
    /** Maximum number of answers that the model may give in a rollout, including calls. */
    max_steps: z.optional(z.int().check(z.gte(1), z.lte(32))),
    /** Calls that earn part of the reward, each only once. The answer's grade determines the rest. */
    rewards: z.optional(z.record(filledText, shareSchema)),
  })
  .check(
    z.refine(
      ({ rewards = {} }) => sumOf(Object.values(rewards)) <= 1,
      'the rewards of the calls add up to more than 1',
    ),
  );
export type ToolSpec = z.output<typeof toolSpec>;

const defaultSteps = 4;

export interface ToolResult {
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
  /** The tool's result, or an error. */
  readonly text: string;
  readonly is_error: boolean;
}

const numberWords = [
  ...'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen'.split(' '),
  ...'sixteen seventeen eighteen nineteen twenty'.split(' '),
];
const tens = ['thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const numbers = new Map<string, number>([
  ...numberWords.map((word, value) => [word, value] as const),
  ...tens.map((word, index) => [word, (index + 3) * 10] as const),
]);
const words = new Map([...numbers].map(([word, value]) => [value, word]));

/** A number as one word, or in digits if there is no single word for it. */
export function numberWord(value: number): string {
  return words.get(value) ?? String(value);
}

function numberOf(text: string): number | undefined {
  return numbers.get(text) ?? (/^\d{1,9}$/.test(text) ? Number(text) : undefined);
}

const operations: Readonly<Record<string, (left: number, right: number) => number>> = {
  plus: (left, right) => left + right,
  minus: (left, right) => left - right,
  times: (left, right) => left * right,
};

/** Runs the tool that a text calls; undefined if it calls none. */
export function callTool({ store, calculator }: ToolSpec, text: string): ToolResult | undefined {
  const call = text.trim().toLowerCase().split(/\s+/);
  const [first = '', second] = call;
  if (store && first === 'look' && second === 'up') {
    const key = call.slice(2).join(' ');
    const value = own<string>(store, key);
    const error = key === '' ? 'look up what?' : `there is no ${key} in the store`;
    const result = { name: 'look_up', arguments: { key } };
    return { ...result, text: value === undefined ? error : `${key}: ${value}`, is_error: value === undefined };
  }
  const operation = calculator ? own<(left: number, right: number) => number>(operations, first) : undefined;
  if (!operation) return undefined;
  const operands = call.slice(1);
  const [left, right] = operands.map(numberOf);
  const result = { name: first, arguments: { numbers: operands.join(' ') } };
  if (operands.length !== 2 || left === undefined || right === undefined)
    return { ...result, text: `${first} needs two numbers`, is_error: true };
  return { ...result, text: numberWord(operation(left, right)), is_error: false };
}

/** The maximum number of answers in a rollout. */
export function mostSteps(tools: ToolSpec | undefined): number {
  return tools ? (tools.max_steps ?? defaultSteps) : 1;
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);
const normal = (call: string): string => call.trim().toLowerCase().split(/\s+/).join(' ');

/** The rewards for calls, in order. A rewarded call earns its reward once. Undefined if the tools reward no calls. */
export function callRewards({ rewards }: ToolSpec, calls: readonly string[]): number[] | undefined {
  if (!rewards) return undefined;
  const left = new Map(Object.entries(rewards).map(([call, reward]) => [normal(call), reward]));
  return calls.map(call => {
    const reward = left.get(normal(call)) ?? 0;
    left.delete(normal(call));
    return reward;
  });
}

/** How much of the reward depends on the answer's grade. */
export function answerShare({ rewards = {} }: ToolSpec): number {
  // Shares such as 0.2 and 0.3 do not add up exactly in binary.
  return Math.max(0, Number((1 - sumOf(Object.values(rewards))).toFixed(9)));
}
