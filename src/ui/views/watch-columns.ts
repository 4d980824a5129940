/** Watch's columns. */

import { hasEnded } from '../../contract/status.ts';
import { type Column, cellText, idColumn, plainColumn, type StatusLook } from '../../present/column.ts';
import { meanNumber, meanText } from '../../present/mean.ts';
import { intervalColumn, numberColumn } from '../../present/number-columns.ts';
import type { Interval } from '../../present/statistics/interval.ts';
import type { Range } from '../../present/statistics/tasks.ts';
import { timeColumn } from '../../present/times.ts';
import { worstSortNote } from '../../queries/held-out.ts';
import { formatRate } from '../../queries/pace.ts';
import { intervalBeside, lacksCertainty } from '../../queries/run-mean.ts';
import { type LineState, stateOf, stateText } from '../../resources/line-state.ts';
import { meanOf, worstMean } from '../../resources/measured-run.ts';
import {
  alarmColumn,
  formatShare,
  intervalOfHeldOut,
  lacksTrainerReward,
  measuredColumns,
  shareOf,
} from '../../resources/training-columns.ts';
import { rewardName, uploadKind, type WatchedResource } from '../../resources/watch.ts';
import { percent } from '../../text/numbers.ts';
import { type Glyphs, unicodeGlyphs } from '../widgets/theme/glyphs.ts';

/** Uploads have no id on the service. */
export const formatId = ({ kind, id, group }: WatchedResource): string => (kind === uploadKind || group ? '' : id);

/** The suffix that distinguishes a line from others with the same label; empty if there are none. */
const endingOf = ({ apart, shortApart }: WatchedResource, room: number): string => {
  const words = room < narrow ? shortApart : apart;
  return words === undefined ? '' : ` (${words})`;
};

/** The progress; empty if unknown. */
export function formatProgress(row: WatchedResource): string {
  const { done, total } = counts(row);
  return done === '' || total === undefined ? done : `${done} of ${total}`;
}

/** The progress in fewer cells: `120/400`. */
export const shortProgress = (row: WatchedResource): string => formatProgress(row).replace(' of ', '/');

/** The completed and total counts as text; for an upload, only the share is known. */
function counts({ kind, done, total }: WatchedResource): { readonly done: string; readonly total: number | undefined } {
  if (kind === uploadKind) return { done: done === undefined ? '' : percent(done), total: undefined };
  return { done: done === undefined ? '' : String(done), total };
}

/** The progress in the fewest cells: `30%`. */
const shortestProgress = (row: WatchedResource): string =>
  row.kind === uploadKind ? counts(row).done : formatShare(row.done, row.total);

/** Whether a line's number comes from the trainer, whose rewards do not decide between runs. */
const isTrainers = ({ kind }: WatchedResource): boolean => rewardName(kind) === 'trainer';

/** An evaluation's mean, with its counts. */
const describeMean = (row: WatchedResource): string =>
  isTrainers(row) || row.mean === undefined ? '' : meanText(meanOf(row), true);

/** The interval for the line's number: the last held-out reward, or an evaluation's mean. */
function intervalOfLine(row: WatchedResource, range: Range): Interval | undefined {
  if (row.measured) return intervalOfHeldOut(row.measured.last, range);
  return isTrainers(row) ? undefined : intervalBeside(row, range);
}

const lacksInterval = (row: WatchedResource, range: Range): boolean =>
  isTrainers(row) ? row.measured === undefined : lacksCertainty(row, range);

/** The curve that decides between runs: held-out, if there is one. */
export const curveOf = ({ measured, curve }: WatchedResource): readonly (number | undefined)[] =>
  measured?.curve ?? curve;

/** Why a line waits, and its alarms; if there is neither, why it failed. */
export const describeReason = ({ alarms, reason, waits, status }: WatchedResource): string =>
  [
    waits === undefined || hasEnded(status) || alarms.some(({ kind }) => kind === 'stall') ? '' : `waits: ${waits}`,
    ...alarms.map(({ words }) => words),
  ]
    .filter(Boolean)
    .join('; ') ||
  (reason ?? '');

/** A line's rate. If it is queued or silent, the state column shows for how long. */
const describePace = ({ standing, rate }: WatchedResource): string =>
  standing.kind === 'queued' || standing.kind === 'silent' ? '' : rate;

const shortPace = (row: WatchedResource): string =>
  row.standing.kind === 'moving' ? formatRate(row.standing.stepMs) : describePace(row);

/** A line's alarms; if it has none, why it failed, or its rate. */
export const describeNote = (row: WatchedResource): string => describeReason(row) || describePace(row);

/** The progress in one column: both counts or, if there is less room, their share. */
const shareColumn = ({ room, widestProgress = 0 }: WatchColumnsOptions): Column<WatchedResource> => ({
  id: 'share',
  title: 'DONE',
  width: room < narrow ? 4 : { min: 4, max: 13, grow: 8 },
  align: 'right',
  value: ({ done, total }) => shareOf(done, total),
  // All the same width, so that either all rows use the short form or none does.
  text: row => (room < narrow ? shortestProgress(row) : shortProgress(row).padStart(widestProgress)),
  shortText: shortestProgress,
});
const countColumns: readonly Column<WatchedResource>[] = [
  plainColumn('done', 'DONE', 5, row => row.done, { align: 'right', text: row => counts(row).done }),
  { id: 'total', title: 'TOTAL', width: 5, align: 'right', value: row => counts(row).total },
];

/** In a narrower pane, a line shows only its name, reward, progress and state. */
export const narrow = 72;
/** Minimum pane width at which ended lines show how long they took. */
const ample = 90;
/** The share of the pane that a long name gets before the other columns grow. */
const labelShare = 0.14;
/** Minimum pane width at which progress has two columns, and the last and the best reward have all of their columns. */
export const wide = 130;

interface WatchColumnsOptions {
  /** Width of the pane in cells. */
  readonly room: number;
  /** The reward range in the settings. */
  readonly range: Range;
  /** Whether some names end in words that distinguish them: other columns then make room for these. */
  readonly tellsApart?: boolean;
  /** The width of the widest `shortProgress`. */
  readonly widestProgress?: number;
  /** See {@link rewardTitle}. */
  readonly rewardTitle?: string;
  /** Draws a curve in at most `width` cells. */
  readonly spark: (values: WatchedResource['curve'], width: number) => string;
  /** The marks before the names of pinned lines and groups. */
  readonly glyphs?: Pick<Glyphs, 'pinned' | 'closed' | 'opened'>;
}

/** Minimum cells for a name. @param room width of the pane in cells */
export const nameWidth = (room: number): number => Math.min(16, Math.max(10, Math.floor(room * labelShare)));

function labelColumn(room: number, glyphs: Pick<Glyphs, 'pinned' | 'closed' | 'opened'>): Column<WatchedResource> {
  const mark = ({ pinned, group }: WatchedResource): string => {
    if (group) return `${group.isFolded ? glyphs.closed : glyphs.opened} `;
    return pinned ? `${glyphs.pinned} ` : '';
  };
  const nameOf = (row: WatchedResource): string => row.label + endingOf(row, room);
  return {
    id: 'label',
    title: 'WATCHED',
    width: { min: nameWidth(room), max: 100, grow: 3 },
    value: nameOf,
    ending: row => endingOf(row, room),
    mark,
    text: row => mark(row) + nameOf(row),
  };
}

/** For filters and sorting: the mean is shown in place of the held-out reward, which evaluations lack. */
const meanColumn: Column<WatchedResource> = {
  ...numberColumn<WatchedResource>('mean', 'MEAN', row => (isTrainers(row) ? undefined : row.mean)),
  ...{ hidden: true, bestFirst: true, text: describeMean, sortNote: worstSortNote },
  sortedBy: row => (isTrainers(row) ? undefined : worstMean(row)),
};

/** Names the deciding rewards of these lines: held-out rewards, the means of evaluations, or both. */
export function rewardTitle(rows: readonly WatchedResource[]): string {
  const hasMeans = rows.some(row => !isTrainers(row) && row.mean !== undefined);
  return [rows.some(isTrainers) || !hasMeans ? 'HELD-OUT' : '', hasMeans ? 'MEAN' : ''].filter(Boolean).join('/');
}

/** The deciding reward of a line: the last held-out reward, or the mean of an evaluation. */
const rewardColumn = (
  heldOut: Column<WatchedResource>,
  isNarrow: boolean,
  title = heldOut.title,
): Column<WatchedResource> => ({
  ...heldOut,
  title,
  // A mean may have its counts beside it.
  width: title === heldOut.title ? title.length : { min: Math.max(5, title.length), max: 20, grow: 1 },
  sortedBy: row => (isTrainers(row) ? heldOut.sortedBy?.(row) : worstMean(row)),
  exported: row => (isTrainers(row) ? heldOut.value(row) : row.mean),
  text: row => (isTrainers(row) ? cellText(heldOut, row) : describeMean(row)),
  shortText: row => {
    if (isTrainers(row)) return cellText(heldOut, row);
    if (row.mean === undefined) return '';
    // In a narrow pane, only the state shows that others may follow.
    return isNarrow && !hasEnded(row.status) ? meanNumber(meanOf(row)) : meanText(meanOf(row));
  },
});

const stateNow = (row: WatchedResource): LineState => stateOf(row, Date.now());

/** The order of states: those that need attention first, ended ones last. */
const stateOrder: readonly StatusLook[] = ['alarm', 'failure', 'running', 'stopping', 'waiting'];

/**
 * @param room width of the pane in cells
 * @param isBrief whether other columns matter more in a narrow pane
 */
export const stateColumn = <Row>(room: number, stateOfRow: (row: Row) => LineState, isBrief = false): Column<Row> => ({
  id: 'state',
  title: 'STATE',
  width: { min: 11, max: 40, grow: 4 },
  whole: true,
  value: row => stateOfRow(row).word,
  sortedBy: row => {
    const { look, word } = stateOfRow(row);
    const place = stateOrder.indexOf(look);
    return `${place === -1 ? stateOrder.length : place} ${word}`;
  },
  text: row => stateOfRow(row).text,
  shortText: row =>
    stateText(stateOfRow(row), isBrief && room < narrow ? 'brief' : room < ample ? 'shortest' : 'short'),
  look: row => stateOfRow(row).look,
});

const paceColumn = plainColumn('pace', 'PACE', { min: 12, max: 20, grow: 1 }, describePace, {
  wide: true,
  shortText: shortPace,
});

/** Why a line needs attention or failed. In a narrow pane, the pace has its own column, which gives way to the name. */
const noteColumn = (isRoomy: boolean): Column<WatchedResource> => ({
  id: 'note',
  title: isRoomy ? 'PACE, REASON' : 'REASON',
  width: { min: 20, max: 80, grow: 2 },
  cutAt: 'end',
  value: isRoomy ? describeNote : describeReason,
  ...(isRoomy && { shortText: row => describeReason(row) || shortPace(row) }),
});

/** The columns, most important first. */
export function watchColumns(options: WatchColumnsOptions): readonly Column<WatchedResource>[] {
  const { room, range, tellsApart = false, rewardTitle: title, spark, glyphs = unicodeGlyphs } = options;
  const isRoomy = room >= wide;
  const sparkWidth = isRoomy ? 14 : 10;
  const isUnread = (row: WatchedResource, ofTrainer = false): boolean =>
    isTrainers(row) && (ofTrainer ? lacksTrainerReward(row) : row.measured === undefined);
  const { heldOut, interval, step, best, bestStep, trainer } = measuredColumns<WatchedResource>({
    heldOut: row => row.measured ?? undefined,
    isUnread,
    interval: row => intervalOfLine(row, range),
    trainer: row => (isTrainers(row) ? row.mean : undefined),
  });
  const curve = (id: string, title: string, values: (row: WatchedResource) => WatchedResource['curve']) =>
    plainColumn(id, title, sparkWidth, (row: WatchedResource) => spark(values(row), sparkWidth), {
      cutAt: 'end',
    });
  const bestInterval = intervalColumn<WatchedResource>(
    ({ measured }) => (measured ? intervalOfHeldOut(measured.best, range) : undefined),
    { id: 'best-interval', title: 'BEST CI' },
  );
  const ranked = (column: Column<WatchedResource>, decides: number): Column<WatchedResource> => ({
    ...column,
    wide: true,
    ...(room >= narrow && { decides }),
  });
  const isNarrow = room < narrow;
  const state = stateColumn(room, stateNow);
  const share = { ...shareColumn(options), yields: isNarrow && tellsApart };
  return [
    labelColumn(room, glyphs),
    rewardColumn(heldOut, room < narrow, title),
    ranked({ ...interval, isUnread: row => lacksInterval(row, range) }, 1),
    // Longer titles would take their room from the state.
    ...(isRoomy ? [ranked({ ...step, title: 'STEP', width: 7 }, 7)] : []),
    ranked(best, 2),
    ...(isRoomy ? [ranked({ ...bestInterval, isUnread: row => isUnread(row) }, 6)] : []),
    ranked({ ...bestStep, ...(isRoomy ? { title: 'AT STEP', width: 7 } : { title: 'AT', width: 2 }) }, 3),
    // The last column is dropped first, and in a narrow pane the state matters more than the progress.
    ...(isNarrow ? [state, share] : [...(isRoomy ? countColumns : [share]), state]),
    ranked(
      curve('curve', isRoomy ? 'HELD-OUT CURVE' : 'CURVE', row => row.measured?.curve ?? []),
      5,
    ),
    ranked(noteColumn(isRoomy), 4),
    ...(isRoomy ? [] : [paceColumn]),
    plainColumn('kind', 'KIND', 10, row => row.kind, { wide: true }),
    plainColumn('benchmark', 'BENCHMARK', { min: 10, max: 30, grow: 1 }, row => row.benchmark, { wide: true }),
    meanColumn,
    alarmColumn<WatchedResource>(({ alarms }) => alarms.map(({ words }) => words).join('; ') || undefined),
    trainer,
    { ...curve('trainer-curve', 'TRAINER CURVE', row => row.curve), wide: true },
    timeColumn('started', 'STARTED', row => row.startedAt, { wide: true }),
    plainColumn('pinned', 'PINNED', 6, row => (row.pinned ? 'yes' : ''), { wide: true }),
    idColumn(formatId),
  ];
}
