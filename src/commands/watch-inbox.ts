/** `benchtop watch --since last`: prints the workbench's inbox. */
import { errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { trimEnd } from '../base/trim.ts';
import { isRunning } from '../contract/status.ts';
import type { AnyQuery } from '../queries/live-query.ts';
import type { Observation } from '../queries/statuses/known-resource.ts';
import { lostAfterMs, StatusStore } from '../queries/statuses/store.ts';
import { isAlarmKind, isOn } from '../resources/alarms.ts';
import { kinds, resourceOfKind, resources } from '../resources/catalogue.ts';
import { describeEvent, eventFields, eventNames, summaryOf } from '../resources/inbox.ts';
import { lookAt, observeOnce } from '../resources/look.ts';
import { isAbsent } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import { Inbox, type InboxEvent, isBad } from '../workbench/inbox.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { printRecord, timeText } from './output.ts';
import { alarmRulesOf } from './past-alarms.ts';
import type { CommandInput } from './table/commands.ts';
import { describeUnlisted, readWatchLists } from './watch-lists.ts';
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
 * may be missing, and which lists the service does not offer.
 */
async function readEnds(context: CommandContext, inbox: Inbox, statuses: StatusStore) {
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
  const { lists, unread, unlisted } = await readWatchLists(
    resources.filter(({ watch }) => watch?.runs),
    context,
  );
  for (const { rows } of lists) report(rows);
  // A list may lack them, or their end times.
  const open = before.filter(ref => isRunning(statuses.get(ref)?.status));
  await Promise.all(
    open.map(async ref => {
      try {
        report([await lookAt(ref, context)]);
      } catch (error) {
        if (!isAbsent(error)) unread.push(clean`${ref.label} could not be read: ${trimEnd(errorMessage(error), '.')}`);
      }
    }),
  );
  await inParallel(inbox.list().flatMap(lastNumbers), async query => {
    const askedAt = Date.now();
    const seen = await observeOnce(query, context).catch(() => undefined);
    if (seen) report([seen], askedAt);
  });
  return { unread, unlisted };
}

/**
 * Whether an alarm is active and the settings still ask for it. An alarm whose benchmark's name cannot be read counts as
 * asked for.
 */
async function isAnyActive(alarms: readonly InboxEvent[], context: CommandContext): Promise<boolean> {
  const open = alarms.filter(({ detail }) => detail.overAtStep === undefined);
  const active = [...Map.groupBy(open, ({ detail }) => detail.parent)].map(async ([parent, ofIt]) => {
    const rules = await alarmRulesOf(parent, context).catch((error: unknown) => {
      if (context.signal.aborted) throw error;
      return undefined;
    });
    return ofIt.some(({ what }) => !rules || !isAlarmKind(what) || isOn(what, rules));
  });
  return (await Promise.all(active)).includes(true);
}

/**
 * Prints the undismissed events, oldest first. Exit code 1 if something failed, 8 if nothing failed and an alarm is
 * active, and otherwise 6 if there may be more because no history can be saved or not everything could be read.
 */
export function printInbox(flags: CommandInput<'watch'>['flags'], io: CommandIo): Promise<ExitCode> {
  return withService(flags, io, async context => {
    const { memory, compare } = context;
    const statuses = new StatusStore(kinds);
    const inbox = new Inbox(() => memory, statuses);
    statuses.onTransitions(transitions => {
      for (const transition of transitions) if (transition.ended) inbox.ended(transition);
    });
    const { unread, unlisted } = await readEnds(context, inbox, statuses);
    const events = inbox.list().toReversed();
    memory.flush();
    const lacks = [memory.file.problem, ...unread].filter(each => each !== undefined);
    if (events.length > 0) io.note(`${summaryOf(inbox)}.`);
    else if (lacks.length === 0)
      io.note(
        `Nothing ${unlisted.length > 0 ? 'is known to have' : 'has'} ended, failed or stalled since you last looked.`,
      );
    const unknown = `So it is not known what ${events.length > 0 ? 'else ' : ''}has ended since you last looked.`;
    if (lacks.length > 0) io.note(`${lacks.join('. ')}. ${unknown}`);
    if (unlisted.length > 0) io.note(describeUnlisted(unlisted));
    const nameOf = eventNames(memory, events);
    for (const event of events) {
      const { id, at, isExact } = event;
      const isNew = inbox.isNew(event);
      const words = `${isNew && inbox.newSince !== undefined ? 'new, ' : ''}${describeEvent(event, compare.rewardRange, statuses.doneReadAt(event))}`;
      const text = `${clean`${isExact ? '' : 'seen '}${timeText(at, io)}  ${nameOf(event)}  ${words}`}\n`;
      const record = { ...eventFields(event, compare.rewardRange), is_new: isNew };
      await printRecord(record, id, flags, io, { text: () => text, isLine: true });
    }
    const bad = events.filter(isBad);
    if (bad.some(({ what }) => what === 'end')) return exitCodes.failed;
    if (await isAnyActive(bad, context)) return exitCodes.alarm;
    return lacks.length === 0 ? exitCodes.done : exitCodes.endUnseen;
  });
}
