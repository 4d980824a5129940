/** Interrupts a task that takes too long: a regular expression with nested repeats can run forever. */
import { setFlagsFromString } from 'node:v8';
import { createContext, Script } from 'node:vm';
import { errorCode } from './errors.ts';

let guard: { readonly run: (timeout: number) => void; task: () => void } | undefined;
/** A nested guard would only cost time. */
let guarding = false;

/** Whether the current code already runs under a time limit. */
export const isTimeLimited = (): boolean => guarding;

/**
 * Runs `task`; true if it ended within `timeout` milliseconds of the clock. Only V8 can interrupt a running regular expression, and
 * node:vm gives access to that.
 */
function withinTime(task: () => void, timeout: number): boolean {
  guard ??= makeGuard();
  guard.task = task;
  guarding = true;
  try {
    guard.run(timeout);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    guarding = false;
    guard.task = () => {};
  }
}

/** The last attempt's limit is this many times the limit of processor time. */
const mostOfTheClock = 64;

/** Time by the clock that `withinCpuTime` may take on a busy machine, all attempts together. */
export const longestByTheClock = (limit: number): number => limit * (2 * mostOfTheClock - 1);

/**
 * Runs `task`; true if it ended within `limit` milliseconds of this thread's processor time, so that a busy machine does
 * not change the verdict. An attempt that the machine held up is repeated with more time: `task` may run several times.
 */
export function withinCpuTime(task: () => void, limit: number): boolean {
  for (let clock = limit; clock <= limit * mostOfTheClock; clock *= 2) {
    const before = process.threadCpuUsage();
    if (withinTime(task, clock)) return true;
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1_000 >= limit * almost) return false;
  }
  return false;
}

/** The timer of an attempt may fire a little before its processor time is up. */
const almost = 0.9;

function makeGuard(): NonNullable<typeof guard> {
  // V8 compiles an expression when it is first used, and its optimisation of `a?a?a?…aaa…` takes exponential time in code
  // that looks at no interrupt. Expressions that were compiled before stay as they are.
  setFlagsFromString('--no-regexp-optimization');
  const made = { task: () => {}, run: (timeout: number): unknown => script.runInContext(context, { timeout }) };
  const context = createContext({ run: () => made.task() });
  const script = new Script('run()');
  return made;
}
