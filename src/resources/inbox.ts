/** Shows inbox events in words and columns, on screen and on the command line. */
import { formatStatus } from '../contract/status.ts';
import { type Column, idColumn, plainColumn, type StatusLook } from '../present/column.ts';
import { meanText } from '../present/mean.ts';
import { formatLimits } from '../present/number-columns.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { agoOf, runMs } from '../present/times.ts';
import type { HeldOutMean } from '../queries/held-out.ts';
import { keyOf } from '../queries/statuses/known-resource.ts';
import type { RememberedStore, ResourceRef } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { clockOrDay, duration } from '../text/time.ts';
import { describeTally, type Inbox, type InboxEvent, sortOf } from '../workbench/inbox.ts';
import { describeHeldOut, describeHigher } from './describe-held-out.ts';
import { heldOutFields } from './held-out-fields.ts';
import { formatSilence } from './line-state.ts';
import { meanOf } from './measured-run.ts';
import { describeWithoutReward } from './run-outcome.ts';
import { heldOutCell, intervalOfHeldOut } from './training-columns.ts';
import { type Labelled, withDistinctions } from './watch.ts';

/** A word for an event: `failed`, `succeeded`, `stalled`, `alarm`, `deployed`. */
function eventWord(event: InboxEvent): string {
  const sort = sortOf(event);
  const { status } = event.detail;
  return sort === 'ended' && status !== undefined ? formatStatus(status) : sort;
}

/**
 * A word for an event, with a stall's duration as of the last read of the steps, as in Watch.
 *
 * @param readAt when the steps were last read, in epoch milliseconds; before the first read, the stall has lasted at
 * least until it was noticed
 */
export function describeEventKind(event: InboxEvent, readAt?: number): string {
  const { since, atLeast, noticedAt = event.at } = event.detail;
  if (since === undefined) return eventWord(event);
  const silence = { forMs: (readAt ?? noticedAt) - since, atLeast: atLeast || readAt === undefined };
  return `${eventWord(event)} ${formatSilence(silence)}`;
}

const sortLooks: Readonly<Record<ReturnType<typeof sortOf>, StatusLook>> = {
  failed: 'failure',
  stalled: 'alarm',
  alarm: 'alarm',
  deleted: 'unknown',
  deployed: 'success',
  ended: 'success',
};

function lookOf(event: InboxEvent): StatusLook {
  return eventWord(event) === 'cancelled' ? 'stopped' : sortLooks[sortOf(event)];
}

/** An event's time, preceded by `seen` if the service did not report it. */
const formatEventTime = ({ at, isExact }: InboxEvent): string => `${isExact ? '' : 'seen '}${clockOrDay(at)}`;

/**
 * How long the ended work took, in milliseconds, if known. As in lists, includes time in a queue that it was not seen
 * leaving.
 */
const tookMs = ({ what, isExact, detail: { startedAt, endTime, beganAt } }: InboxEvent): number | undefined =>
  what === 'end' && isExact ? runMs({ created_at: startedAt, completed_at: endTime, began_at: beganAt }) : undefined;

function formatElapsed(event: InboxEvent): string {
  const ms = tookMs(event);
  return ms === undefined ? '' : duration(ms);
}

/** `after 38m`, with a note if this is known to include time in the queue. */
function describeAfter(event: InboxEvent): string {
  const words = formatElapsed(event);
  return words && `after ${words}${event.detail.beganAt === null ? ' including the queue' : ''}`;
}

/** A held-out reward in a cell: `0.936 (0.873..0.974) at step 120`. */
function shortHeldOut(held: HeldOutMean, range: Range | undefined): string {
  const limits = formatLimits(intervalOfHeldOut(held, range));
  return `${heldOutCell(held)}${limits && ` (${limits})`} at step ${held.step}`;
}

/**
 * An event's last numbers: the held-out reward or the mean, and the progress. @param words describes a held-out reward
 */
export function numbersOf({ kind, detail }: InboxEvent, range?: Range, words = describeHeldOut): string {
  const { measured, mean, total, graded } = detail;
  const isTraining = kind === 'training';
  // The list of runs has only the number of rewards.
  const done = detail.done ?? (!isTraining && graded === total ? graded : undefined);
  return [
    measured ? `held-out ${words(measured.last, range)}` : '',
    measured && measured.best.step !== measured.last.step
      ? `best ${heldOutCell(measured.best)} at step ${measured.best.step}`
      : '',
    measured ? describeHigher(measured) : '',
    !isTraining && mean !== undefined ? `mean ${meanText(meanOf(detail), true)}` : '',
    done === undefined ? '' : describeDone(done, total, isTraining),
    // A mean is shown with its number of rewards.
    mean === undefined ? describeWithoutReward(detail) : '',
  ]
    .filter(Boolean)
    .join('; ');
}

function describeDone(done: number, total: number | undefined, isTraining: boolean): string {
  const unit = isTraining ? ' steps' : '';
  return total === undefined ? `${done}${unit || ' done'}, total unknown` : `${done} of ${total}${unit}`;
}

/** An alarm's text, and when it ended. */
export function alarmOf({ kind, detail: { alarm, overAtStep } }: InboxEvent): string | undefined {
  if (alarm === undefined || overAtStep === undefined) return alarm;
  return `${alarm}; over ${kind === 'run' ? `after ${counted(overAtStep, 'rollout')}` : `at step ${overAtStep}`}`;
}

/** The reason, if known, and the last numbers. */
export function reasonOf(event: InboxEvent, range?: Range, words = describeHeldOut): string {
  return [alarmOf(event), event.detail.reason, numbersOf(event, range, words)].filter(Boolean).join('; ');
}

/** Everything about an event except its time and name. @param readAt as in {@link describeEventKind} */
export const describeEvent = (event: InboxEvent, range?: Range, readAt?: number): string =>
  [describeEventKind(event, readAt), describeAfter(event), reasonOf(event, range)].filter(Boolean).join(', ');

/** `1 failed, 2 ended since 18:40:00 (33 in all)`: the new events and the total; empty without events. */
export function summaryOf(inbox: Inbox): string {
  const events = inbox.list();
  const since = inbox.newSince;
  const fresh = events.filter(event => inbox.isNew(event));
  const tally = describeTally(fresh) || (events.length > 0 ? 'nothing new' : '');
  // An end that was noticed late may be older than the user's last visit.
  const isSince = since !== undefined && fresh.every(({ at }) => at >= since);
  const words = isSince && tally ? `${tally} since ${clockOrDay(since)}` : tally;
  if (fresh.length === events.length) return words;
  return `${isSince ? words : `new: ${words}`} (${events.length} in all)`;
}

/**
 * The events' names, with words that distinguish resources of one kind and label.
 *
 * @param isNarrow whether space is tight, so that the words must be few
 */
export function eventNames(
  memory: RememberedStore,
  events: readonly InboxEvent[],
  isNarrow = false,
): (event: ResourceRef) => string {
  const lines = [...new Map(events.map(({ kind, id, label }) => [keyOf({ kind, id }), { kind, id, label }])).values()];
  const apart = new Map(
    withDistinctions<Labelled>(memory, lines).map(line => [keyOf(line), isNarrow ? line.shortApart : line.apart]),
  );
  return event => {
    const words = apart.get(keyOf(event));
    return words === undefined ? event.label : `${event.label} (${words})`;
  };
}

/** An event, for programs. @param range the range of rewards from the settings */
export function eventFields(event: InboxEvent, range: Range | undefined) {
  const { kind, id, label, at, isExact, detail } = event;
  const { status, reason, alarm, overAtStep, done, total, mean, graded, measured, startedAt } = detail;
  return {
    at: new Date(at).toISOString(),
    at_is_exact: isExact,
    event: eventWord(event),
    kind,
    id,
    label,
    status: status ?? null,
    reason: reason ?? null,
    alarm: alarm ?? null,
    over_at_step: kind === 'run' ? null : (overAtStep ?? null),
    over_at_rollouts: kind === 'run' ? (overAtStep ?? null) : null,
    started_at: startedAt ?? null,
    done: done ?? null,
    total: total ?? null,
    mean: kind === 'training' ? null : (mean ?? null),
    graded: graded ?? null,
    held_out: heldOutFields(measured, range) ?? null,
  };
}

/**
 * @param range the range of rewards from the settings
 * @param markOf the mark before the name
 * @param nameOf see {@link eventNames}
 * @param isNarrow whether space is tight, so that times are shown as ages
 * @param readAtOf when its steps were last read, in epoch milliseconds
 */
export const inboxColumns = (
  range: Range,
  markOf: (row: InboxEvent) => string,
  nameOf: (row: InboxEvent) => string = row => row.label,
  isNarrow = false,
  readAtOf: (row: InboxEvent) => number | undefined = () => undefined,
): readonly Column<InboxEvent>[] => [
  plainColumn('label', 'NAME', { min: 12, max: 100, grow: 2 }, nameOf, {
    text: row => `${markOf(row)}${nameOf(row)}`,
  }),
  plainColumn('event', 'EVENT', { min: 11, max: 24, grow: 0 }, eventWord, {
    whole: true,
    text: row => describeEventKind(row, readAtOf(row)),
    look: lookOf,
  }),
  plainColumn('time', 'TIME', isNarrow ? 7 : 10, row => row.at, {
    align: 'right',
    filtered: false,
    time: 'instant',
    text: row => (isNarrow ? agoOf(row.at) : formatEventTime(row)),
    exported: row => new Date(row.at).toISOString(),
  }),
  {
    id: 'reason',
    title: 'REASON, NUMBERS',
    width: { min: isNarrow ? 16 : 14, max: 160, grow: 3 },
    cutAt: 'end',
    value: row => reasonOf(row, range),
    text: row => reasonOf(row, range, shortHeldOut),
  },
  plainColumn('took', 'TOOK', 7, tookMs, { align: 'right', filtered: false, time: 'length', text: formatElapsed }),
  { id: 'kind', title: 'KIND', width: 10, wide: true, value: row => row.kind },
  idColumn(row => row.id),
];
