/** What a slug loses when another deployment goes into production, in words. */
import { pushAll } from '../base/many.ts';
import type { Deployment } from '../contract/deployments.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { clean } from '../text/sanitise.ts';
import { calledName, deployments, surelyInProduction, withStep } from './deployments.ts';
import { pagesOf } from './pages.ts';

/** Whether two slugs are the same: services store them in lower case. */
const isSameSlug = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** A deployment that goes into production. */
export interface Entry {
  readonly slug: string;
  /** Its id, if it exists already. */
  readonly id?: string | undefined;
  /** The deployment that the user chose to demote. */
  readonly demoted?: Deployment | undefined;
}

/**
 * Describes the deployment that leaves production: the one that serves the slug now, or the one chosen.
 *
 * @param rows the known deployments
 * @param complete whether `rows` is the whole list
 */
export function replacedWords({ slug, id, demoted }: Entry, rows: readonly Deployment[], complete: boolean): string {
  const ofSlug = rows.filter(row => row.deployment_id !== id && isSameSlug(calledName(row), slug));
  const active = ofSlug.find(surelyInProduction);
  const isKnown = complete && ofSlug.every(row => surelyInProduction(row) === false);
  const replaced = active
    ? clean`${withStep(active)} serves ${slug} now and is replaced.`
    : isKnown
      ? clean`Nothing serves ${slug} now.`
      : clean`Any deployment that serves ${slug} now is replaced.`;
  if (!demoted) return replaced;
  const chosen = rows.find(({ deployment_id }) => deployment_id === demoted.deployment_id);
  const isActive = chosen ? surelyInProduction(chosen) : complete ? false : undefined;
  const [called, served] = [withStep(chosen ?? demoted), calledName(chosen ?? demoted)];
  if (isActive) return clean`${called}, which serves ${served}, is demoted.`;
  if (isActive === false) return clean`${called} does not serve ${served} any more. ${replaced}`;
  return clean`${called} is demoted, if it still serves ${served}.`;
}

/** The most rows to read, because a list may be endless. */
const mostRows = 2_000;

/**
 * The same, from a fresh list of the service.
 *
 * @throws AbortError if the user interrupts
 */
export async function replacedNow(entry: Entry, context: QueryContext): Promise<string> {
  const rows: Deployment[] = [];
  let complete = false;
  try {
    for await (const page of pagesOf(deployments, {}, context)) {
      pushAll(rows, page.rows);
      complete = page.unread.length === 0 && !page.isCutOff && !page.isRemembered;
      if (rows.length < mostRows) continue;
      complete = false;
      break;
    }
  } catch {
    context.signal.throwIfAborted();
    // Ask anyway.
    return replacedWords(entry, [], false);
  }
  return replacedWords(entry, rows, complete);
}

/** Whether this confirmation still holds: it named everything that is replaced now. */
export const isStillReplaced = (entry: Entry, asked: string, now: string): boolean =>
  asked === now || (!entry.demoted && asked === replacedWords(entry, [], false));
