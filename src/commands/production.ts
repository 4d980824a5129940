/** Confirmation before something goes into production or leaves it. */
import { deploymentList } from '../queries/deployments.ts';
import { pageSize, readListed } from '../queries/lists/list-source.ts';
import { replacedWords } from '../resources/deployments.ts';
import type { CommandContext } from './with-service.ts';

/**
 * The deployment that serves a slug now and will be replaced, in words.
 *
 * @param except the deployment that will replace it
 * @throws AbortError if the user interrupts
 */
export async function replacedBy(slug: string, context: CommandContext, except?: string): Promise<string> {
  try {
    const page = await readListed(deploymentList, { ...context, query: { limit: pageSize } });
    const isWhole = !page.has_more && page.dropped === 0 && page.remembered_at === undefined;
    return replacedWords(slug, page.items, isWhole, except);
  } catch {
    context.signal.throwIfAborted();
    // Ask anyway.
    return replacedWords(slug, [], false);
  }
}
