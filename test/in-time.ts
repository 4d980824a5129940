import { expect } from 'vitest';
import { withinCpuTime } from '../src/base/time-limit.ts';

/** In milliseconds; work that grows with the square of its input needs minutes for the inputs of these tests. */
const limit = 5_000;

/** The result of `work`; fails instead of waiting for minutes. */
export function inTime<Result>(name: string, work: () => Result): Result {
  let result: { readonly of: Result } | undefined;
  expect([name, withinCpuTime(() => (result = { of: work() }), limit)]).toEqual([name, true]);
  if (!result) throw new Error(`${name} did not end`);
  return result.of;
}
