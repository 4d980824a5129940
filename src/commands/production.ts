/** Confirmation before something goes into production. */
import type { OriginSearch } from '../queries/checkpoint-origins.ts';
import { readAuditText } from '../resources/audit.ts';
import { confirmed } from '../resources/changes.ts';
import { type Entry, type ReplacementText, recheckReplaced, replacedNow } from '../resources/production.ts';
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
  search: OriginSearch,
): Promise<void> {
  const { from_run } = entry;
  const audited = from_run ? ` ${await readAuditText(from_run, context)}` : '';
  const askOnce = ({ words }: ReplacementText): Promise<void> => ask(`${words}${audited}`);
  const again = (shown: ReplacementText) => recheckReplaced(entry, shown, context);
  await confirmed(await replacedNow(entry, context, search), askOnce, again, context.io.note);
}
