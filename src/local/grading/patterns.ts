/** Regular expressions of strangers, run so that none of them can hold the process up. */
import { errorMessage } from '../../text/errors.ts';
import { withinTime } from '../../text/time-limit.ts';

/** Milliseconds that an expression may take; an honest one needs a thousandth of it. */
const timeout = 250;

/** What is wrong with a pattern, where something is. */
export function patternFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'iu');
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Whether a pattern matches; undefined where it did not come to an end in time. */
export function matches(pattern: string, answer: string): boolean | undefined {
  let found = false;
  const expression = new RegExp(pattern, 'iu');
  const inTime = withinTime(() => {
    found = expression.test(answer);
  }, timeout);
  return inTime ? found : undefined;
}
