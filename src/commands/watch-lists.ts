/** Reads the lists of running work for `benchtop watch`. */
import { enumerated } from '../base/enumerated.ts';
import { pluralName, type Resource } from '../resources/define.ts';
import { readEveryPage } from '../resources/pages.ts';
import { announcedMs, type CommandContext } from './with-service.ts';

/**
 * Reads the lists of these resources to their ends.
 *
 * @throws ServiceError if a list cannot be read at all
 */
export async function readWatchLists(wanted: readonly Resource[], context: CommandContext) {
  const names = enumerated(wanted.map(pluralName));
  const announce = (): void => context.noteWait(`Reading all pages of ${names}, which may take a while.`);
  const timer = setTimeout(announce, announcedMs);
  try {
    const read = wanted.map(async resource => {
      const { rows, ...page } = await readEveryPage(resource, context);
      const { observes } = resource.list({});
      return { ...page, resource, rows: rows.flatMap(row => observes?.(row) ?? []) };
    });
    const lists = await Promise.all(read);
    const unlisted = lists.filter(({ isRemembered }) => isRemembered).map(({ resource }) => pluralName(resource));
    return { lists, unread: lists.flatMap(({ unread }) => unread), unlisted };
  } finally {
    clearTimeout(timer);
  }
}

/** Notes that the service does not list these resources. */
export const describeUnlisted = (names: readonly string[]): string =>
  `This service does not list ${enumerated(names, 'or')}: only those seen on this machine are known.`;
