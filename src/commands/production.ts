/** Confirmation before something goes into production. */
import { type Entry, isStillReplaced, replacedNow } from '../resources/production.ts';
import { changedWords } from '../resources/recheck.ts';
import type { CommandContext } from './with-service.ts';

/**
 * Asks about the deployment to replace, and asks again if it changes before the user answers.
 *
 * @param ask asks once; `replaced` is a sentence about the deployment that leaves production
 * @throws AbortError if the user interrupts, and any error from `ask`
 */
export async function confirmEntry(
  entry: Entry,
  ask: (replaced: string) => Promise<void>,
  context: CommandContext,
): Promise<void> {
  for (let replaced = await replacedNow(entry, context); ; context.note(changedWords)) {
    await ask(replaced.words);
    const asked = replaced;
    replaced = await replacedNow(entry, context);
    if (isStillReplaced(entry, asked, replaced)) return;
  }
}
