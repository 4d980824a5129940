/** `benchtop watch --since last`: prints the workbench's inbox. */
import { inParallel } from '../base/in-parallel.ts';
import { pushAll } from '../base/many.ts';
import { isRunning } from '../contract/status.ts';
import type { AnyQuery } from '../queries/live-query.ts';
import type { Observation } from '../queries/statuses/known-resource.ts';
import { lostAfterMs, StatusStore } from '../queries/statuses/store.ts';
import { kinds, resourceOfKind, resources } from '../resources/catalogue.ts';
import { describeEvent, eventFields, eventNames, summaryOf } from '../resources/inbox.ts';
import { lookAt, observeOnce } from '../resources/look.ts';
import { readEveryPage } from '../resources/pages.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { clockOrDay } from '../text/time.ts';
import { type EventSort, Inbox, type InboxEvent, isBad, sortOf } from '../workbench/inbox.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { printRecord } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

/** The progress and the held-out rewards of ended work, unless the inbox already has both final values. */
function lastNumbers({ what, kind, id, detail }: InboxEvent): readonly AnyQuery[] {
  const { countsDone, status, measures } = resourceOfKind(kind)?.watch ?? {};
  if (what !== 'end' || detail.gone || !countsDone) return [];
  const { done, measured } = detail;
  const [progress] = status?.(id) ?? [];
  const [curve] = measures?.(id) ?? [];
  const isOld = curve && (measured === undefined || measured?.isUnfinished || measured?.last.isOld);
  return done === undefined || isOld ? [progress, curve].filter(query => query !== undefined) : [];
}

/**
 * Updates the inbox from the service's lists, and from resources that were running when last seen. Returns why others
 * may be missing.
 */
async function readEnds(context: CommandContext, inbox: Inbox, statuses: StatusStore): Promise<readonly string[]> {
  const { memory } = context;
  const runningKinds = [...kinds.keys()].filter(kind => statuses.runs(kind));
  const before = memory.seen
    .since(Date.now() - lostAfterMs, { kinds: runningKinds })
    .filter(({ status }) => isRunning(status));
  statuses.recall(before);
  const report = (observations: readonly Observation[], askedAt = Date.now()): void => {
    const at = Date.now();
    statuses.report(observations, { askedAt, at });
    inbox.observed(observations, at);
  };
  const unread: string[] = [];
  await Promise.all(
    resources.map(async resource => {
      if (!resource.watch?.runs) return;
      const page = await readEveryPage(resource, { ...context, isFollowed: true });
      pushAll(unread, page.unread);
      const { observes } = resource.list({});
      report(page.rows.flatMap(row => observes?.(row) ?? []));
    }),
  );
  // A list may lack them, or their end times.
  const open = before.filter(ref => isRunning(statuses.get(ref)?.status));
  await Promise.all(
    open.map(async ref => {
      const seen = await lookAt(ref, context).catch(() => undefined);
      if (seen) report([seen]);
    }),
  );
  await inParallel(inbox.list().flatMap(lastNumbers), async query => {
    const askedAt = Date.now();
    const seen = await observeOnce(query, context).catch(() => undefined);
    if (seen) report([seen], askedAt);
  });
  return unread;
}

/**
 * Prints the undismissed events, oldest first. Exit code 1 if something failed, 8 if there are only alarms, and 6 if
 * there may be more because no history can be saved or not everything could be read.
 */
export function printInbox(flags: CommandInput<'watch'>['flags'], io: CommandIo): Promise<ExitCode> {
  return withService(flags, io, async context => {
    const { memory, compare } = context;
    const statuses = new StatusStore(kinds);
    const inbox = new Inbox(() => memory, statuses);
    statuses.onTransitions(transitions => {
      for (const transition of transitions) if (transition.ended) inbox.ended(transition);
    });
    const unread = await readEnds(context, inbox, statuses);
    const events = inbox.list().toReversed();
    memory.flush();
    const lacks = [memory.problem, ...unread].filter(each => each !== undefined);
    if (events.length > 0) io.note(`${summaryOf(inbox)}.`);
    else if (lacks.length === 0) io.note('Nothing has ended, failed or stalled since you last looked.');
    const unknown = `So it is not known what ${events.length > 0 ? 'else ' : ''}has ended since you last looked.`;
    if (lacks.length > 0) io.note(`${lacks.join('. ')}. ${unknown}`);
    const nameOf = eventNames(memory, events);
    for (const event of events) {
      const { id, at, isExact } = event;
      // Logs are read on other days and in other time zones.
      const time = io.columns === undefined ? new Date(at).toISOString() : clockOrDay(at);
      const isNew = inbox.isNew(event);
      const words = `${isNew && inbox.newSince !== undefined ? 'new, ' : ''}${describeEvent(event, compare.rewardRange, statuses.doneReadAt(event))}`;
      const text = `${clean`${isExact ? '' : 'seen '}${time}  ${nameOf(event)}  ${words}`}\n`;
      const record = { ...eventFields(event, compare.rewardRange), is_new: isNew };
      if (flags.json) await io.print(`${safeJson(record)}\n`);
      else await printRecord(record, id, flags, io, { text: () => text });
    }
    const sorts = events.filter(isBad).map(sortOf);
    const isAlarm = (sort: EventSort): boolean => sort === 'stalled' || sort === 'alarm';
    if (sorts.some(sort => !isAlarm(sort))) return exitCodes.failed;
    if (sorts.length > 0) return exitCodes.alarm;
    return lacks.length === 0 ? exitCodes.done : exitCodes.endUnseen;
  });
}
