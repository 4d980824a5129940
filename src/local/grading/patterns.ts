/** Regular expressions of strangers, run so that none of them can hold the process up. */

import { createContext, Script } from 'node:vm';
import { errorCode, errorMessage } from '../../text/errors.ts';

/** Milliseconds that an expression may take; an honest one needs a thousandth of it. */
const timeout = 250;

const context = createContext(Object.create(null));
const script = new Script('new RegExp(pattern, "iu").test(answer)');

/** What is wrong with a pattern, where something is. */
export function patternFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'iu');
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Whether a pattern matches; undefined where it did not come to an end in time (nested repeats can take for ever). */
export function matches(pattern: string, answer: string): boolean | undefined {
  context['pattern'] = pattern;
  context['answer'] = answer;
  try {
    return script.runInContext(context, { timeout }) === true;
  } catch (error) {
    if (errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
