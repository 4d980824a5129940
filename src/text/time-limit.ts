/** Interrupts a task that takes too long: a regular expression with nested repeats can run forever. */
import { createContext, Script } from 'node:vm';
import { errorCode } from './errors.ts';

let guard: { readonly run: (timeout: number) => void; task: () => void } | undefined;
/** A nested guard would only cost time. */
let guarding = false;

/** Whether the current code already runs under a time limit. */
export const isTimeLimited = (): boolean => guarding;

/**
 * Runs `task`; true if it ended within `timeout` milliseconds. Only V8 can interrupt a running regular expression, and
 * node:vm gives access to that.
 */
export function withinTime(task: () => void, timeout: number): boolean {
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

function makeGuard(): NonNullable<typeof guard> {
  const made = { task: () => {}, run: (timeout: number): unknown => script.runInContext(context, { timeout }) };
  const context = createContext({ run: () => made.task() });
  const script = new Script('run()');
  return made;
}
