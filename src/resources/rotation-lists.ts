/** Chooses the lists to read in a round: those with a section count or with running rows. */
import { hasEnded } from '../contract/status.ts';
import { fewRunning, listQuery } from '../queries/lists/list-query.ts';
import { cachedQuery, dueAt } from '../queries/live-query.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { isLastingRefusal } from '../service/errors.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { isDueIn } from './rotation-budget.ts';
import { isInFlight, lastAttempt, type Purpose } from './rotation-turns.ts';
import { type CountedList, countedLists, countIntervals, intervalsOf, isOpening, maxRows } from './section-counts.ts';

/** The lists that may have running rows and take one request per page. */
const runningLists = countedLists.filter(({ source, runs }) => runs && !source.costly);

/** Up to `fewRunning` resources of a kind are read one by one; above that, the pages of their list are read instead. */
export function listedKinds(known: readonly KnownResource[]): ReadonlySet<string> {
  const many = (kind: string): boolean =>
    known.filter(each => each.kind === kind && !hasEnded(each.status)).length > fewRunning;
  return new Set(runningLists.flatMap(({ resource: { kind = '' } }) => (many(kind) ? [kind] : [])));
}

/** Represents the rounds among the viewers of a list. */
const viewer = {};

/** Makes polls of these lists cover all pages that have unfinished rows. */
export function seeListed({ lists }: Workbench, listed: ReadonlySet<string>): void {
  for (const { resource, source } of runningLists) {
    const reader = lists.of(source);
    const isUnfinished = (row: object): boolean => !hasEnded(source.observes?.(row).status);
    reader.see(viewer, listed.has(resource.kind ?? '') ? reader.data.rows.filter(isUnfinished) : undefined);
  }
}

/**
 * Visible intervals between two reads of a list, per request that it takes; more while many resources are read one by
 * one.
 */
const intervalsPerRequest = { many: 2, few: 0.25 } as const;

/**
 * The poll interval of a list, in visible intervals. A list that replaces individual reads is polled as often as in a
 * view. So is every list while Watch follows only a few resources.
 */
function listIntervals(workbench: Workbench, list: CountedList, { watched, listed, running }: Purpose): number {
  // Ended resources take no requests.
  const isMany = running > fewRunning;
  const isOften = listed.has(list.resource.kind ?? '') || (watched && !isMany);
  if (list.runs && isOften) return 1;
  const perRequest = isMany ? intervalsPerRequest.many : intervalsPerRequest.few;
  return Math.max(isMany ? countIntervals : intervalsOf(list), perRequest * workbench.lists.of(list.source).cost);
}

/** Maximum number of concurrent reads for section counts. */
const countsAtOnce = 2;

/** What is on screen besides the view. */
export interface Frame {
  /** Whether it shows the section counts. */
  readonly counted: boolean;
  /** Whether it opened at home, so that the first view depends on what is running. */
  readonly atHome: boolean;
}

/** Whether a list is due in this round. */
function isListDue(workbench: Workbench, list: CountedList, purpose: Purpose, { counted, atHome }: Frame): boolean {
  const { lists, poll } = workbench;
  const { watched, byHand, now } = purpose;
  const { source, runs } = list;
  const isForWatch = watched && runs;
  const query = cachedQuery(workbench, source.key);
  if (query?.isActive() || query?.state.fetchStatus === 'fetching') return false;
  if (!isForWatch && !(runs && atHome) && isOpening(workbench, now)) return false;
  if (!isForWatch && (lists.find(source.key)?.extent.rows ?? 0) > maxRows) return false;
  const last = lastAttempt(workbench, [source]);
  // Running work decides the first view, and rows from an earlier start may be out of date.
  if (runs && atHome && isOpening(workbench, now) && last < workbench.openedAt) return true;
  const isFirst = !runs && lists.countOf(source.key) === undefined;
  if (!runs && !counted) return false;
  // A refused count stays empty until the list is shown or refreshed.
  if (isFirst && (source.costly || isLastingRefusal(query?.state.error))) return false;
  if (byHand) return runs;
  const due = dueAt(workbench, listQuery(workbench, source), 'visible');
  const intervals = isFirst ? 1 : listIntervals(workbench, list, purpose);
  return due !== undefined && isDueIn(purpose, Math.max(due, last && last + intervals * poll.visibleMs));
}

/** The lists that are due. Reads for counts block nothing, and one failure does not delay the others. */
export function dueLists(
  workbench: Workbench,
  purpose: Purpose,
  frame: Frame,
): Record<'running' | 'others', CountedList[]> {
  const due = countedLists.filter(list => isListDue(workbench, list, purpose, frame));
  const lastTry = ({ source }: CountedList): number => lastAttempt(workbench, [source]);
  const inFlight = countedLists.filter(({ source, runs }) => !runs && isInFlight(workbench, source)).length;
  const others = due.filter(({ runs }) => !runs).toSorted((left, right) => lastTry(left) - lastTry(right));
  return { running: due.filter(({ runs }) => runs), others: others.slice(0, Math.max(0, countsAtOnce - inFlight)) };
}
