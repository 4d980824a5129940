/** Interrupts a task that takes too long: a regular expression with nested quantifiers can practically run forever. */
import { setFlagsFromString } from 'node:v8';
import { createContext, Script } from 'node:vm';
import { errorCode } from './errors.ts';

let guard: { readonly run: (timeout: number) => void; task: () => void } | undefined;
/** Whether a guard is active: a nested one would only cost time. */
let isGuarding = false;

/** Whether the current code is already running under a time limit. */
export const isTimeLimited = (): boolean => isGuarding;

/**
 * Runs `task`; true if it ended within `timeout` milliseconds of wall-clock time. Only V8 can interrupt a running
 * regular expression, and node:vm gives access to that.
 */
function withinTime(task: () => void, timeout: number): boolean {
  guard ??= makeGuard();
  guard.task = task;
  isGuarding = true;
  // V8 compiles an expression on first use, and optimising `a?a?a?…aaa…` takes exponential time in code that cannot be
  // interrupted. Other expressions stay optimised, which makes some of them 20 times faster.
  setFlagsFromString('--no-regexp-optimization');
  try {
    guard.run(timeout);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    setFlagsFromString('--regexp-optimization');
    isGuarding = false;
    guard.task = () => {};
  }
}

/** The last attempt's wall-clock limit is this many times the CPU limit. */
const maxWallFactor = 64;

/** Wall-clock time that all attempts of `withinCpuTime` may take together on a busy machine. */
export const maxWallMs = (limit: number): number => limit * (2 * maxWallFactor - 1);

/**
 * Runs `task`; true if it ended within `limit` milliseconds of this thread's CPU time, so that a busy machine does not
 * change the result. An attempt that got too little CPU time is repeated with a longer timeout, so `task` may run
 * several times.
 */
export function withinCpuTime(task: () => void, limit: number): boolean {
  for (let timeout = limit; timeout <= limit * maxWallFactor; timeout *= 2) {
    const before = process.threadCpuUsage();
    if (withinTime(task, timeout)) return true;
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1_000 >= limit * timerTolerance) return false;
  }
  return false;
}

/** A timer may fire slightly before the CPU time is used up. */
const timerTolerance = 0.9;

function makeGuard(): NonNullable<typeof guard> {
  const made = { task: () => {}, run: (timeout: number): unknown => script.runInContext(context, { timeout }) };
  const context = createContext({ run: () => made.task() });
  const script = new Script('run()');
  return made;
}
