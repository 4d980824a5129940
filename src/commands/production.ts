/** Confirmation before something goes into production. */
import { readAuditWords } from '../resources/audit.ts';
import { type Entry, isStillReplaced, replacedNow } from '../resources/production.ts';
import { changedWords } from '../resources/recheck.ts';
import type { CommandContext } from './with-service.ts';

/**
 * Asks about the deployment to replace, and asks again if it changes before the user answers.
 *
 * @param ask asks once; `effects` describes the deployment that leaves production and the audit's findings
 * @throws AbortError if the user interrupts, and any error from `ask`
 */
export async function confirmEntry(
  entry: Entry,
  ask: (effects: string) => Promise<void>,
  context: CommandContext,
): Promise<void> {
  const { from_run } = entry;
  const audited = from_run ? ` ${await readAuditWords(from_run, context)}` : '';
  for (let replaced = await replacedNow(entry, context); ; context.note(changedWords)) {
    await ask(`${replaced.words}${audited}`);
    const asked = replaced;
    replaced = await replacedNow(entry, context);
    if (isStillReplaced(entry, asked, replaced)) return;
  }
}
