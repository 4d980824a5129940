/** The columns for training runs: their records, their measurements, and the options in which they differ. */
import { perArguments, perObject } from '../base/memo.ts';
import { isRecord, own } from '../base/own-property.ts';
import { hasEnded, statusMeaning, trainingStatuses } from '../contract/status.ts';
import { lastReward } from '../contract/trainer-curve.ts';
import {
  type Cell,
  type Column,
  type ColumnWidth,
  idColumn,
  type NameOf,
  namedColumn,
  plainColumn,
  statusColumn,
  waitingWord,
} from '../present/column.ts';
import { type MeasuredMean, meanText } from '../present/mean.ts';
import { intervalColumn, numberColumn } from '../present/number-columns.ts';
import { defaultRange, type Interval } from '../present/statistics/interval.ts';
import { intervalOfMean } from '../present/statistics/mean-and-count.ts';
import { isBeyond, type Range } from '../present/statistics/tasks.ts';
import { durationColumn, queueColumn, seenColumn, timeColumn } from '../present/times.ts';
import {
  type HeldOutMean,
  type HeldOutMeans,
  heldOutMeans,
  isFinalCurve,
  mayLackRound,
  withoutLast,
  worstOf,
  worstSortNote,
} from '../queries/held-out.ts';
import { type QueryContext, readShared } from '../queries/query-context.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { type ProgressedRun, stepsOf } from '../queries/training.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training-curves.ts';
import { ifThere } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import { countOf } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { parseTime } from '../text/time.ts';
import { nameOr } from '../text/typed.ts';
import { displayWidth } from '../text/width.ts';
import type { Measures } from './define.ts';
import { measuredInParts } from './measure-each.ts';
import { modelColumn } from './models.ts';

/** A run's last and best held-out rewards. */
export type HeldOut = Pick<HeldOutMeans, 'last' | 'best' | 'isUnfinished' | 'recent'>;

/** A run with its rewards. */
export type MeasuredTraining = ProgressedRun & {
  readonly held_out?: HeldOut | undefined;
  /** The newest trainer reward. */
  readonly trainer_reward?: number | undefined;
  /** The active alarms, in words. */
  readonly alarm?: string | undefined;
};

/** The number of finished steps; undefined if unknown. A successful run has finished all of them. */
function stepsDone(run: ProgressedRun): number | undefined {
  const succeeded = statusMeaning(run.status ?? '') === 'success';
  return countOf(run.completed_steps) ?? (succeeded ? stepsOf(run) : undefined);
}

/** The share that is done; undefined if unknown. */
export const shareOf = (done: number | undefined, total: number | undefined): number | undefined =>
  done === undefined || !total ? undefined : done / total;

/** The share that is done, rounded down so that 100% means complete; the count if the total is unknown. */
export const formatShare = (done: number | undefined, total: number | undefined): string =>
  done === undefined || !total ? String(done ?? '') : `${Math.floor((100 * done) / total)}%`;

/** The progress if there is no room for both counts. */
const shareColumn: Column<ProgressedRun> = {
  ...{ id: 'share', title: 'DONE%', width: 5, align: 'right' },
  value: row => shareOf(stepsDone(row), stepsOf(row)),
  text: row => formatShare(stepsDone(row), stepsOf(row)),
};

export const trainingColumns: readonly Column<ProgressedRun>[] = [
  plainColumn('name', 'TRAINING RUN', { min: 16, max: 60, grow: 3 }, row =>
    nameOr(row.display_name, row.training_run_id),
  ),
  {
    ...statusColumn<ProgressedRun>(row => row.status, { known: [...trainingStatuses, waitingWord] }),
    width: { min: 11, max: 16, grow: 1 },
  },
  { id: 'done', title: 'DONE', width: 5, align: 'right', value: stepsDone },
  { id: 'steps', title: 'STEPS', width: 5, align: 'right', value: stepsOf },
  modelColumn(row => row.base_model_slug),
  timeColumn('created', 'STARTED', row => row.created_at),
  {
    id: 'benchmark',
    title: 'BENCHMARK',
    width: { min: 10, max: 30, grow: 1 },
    wide: true,
    value: row => row.bench_id ?? undefined,
  },
  { id: 'by', title: 'BY', width: { min: 8, max: 24, grow: 1 }, wide: true, value: row => row.created_by ?? undefined },
  idColumn(row => row.training_run_id),
  seenColumn(rememberedAt),
  durationColumn(),
  queueColumn(),
];

function newInterval(held: HeldOutMean, range: Range, confidence?: number): Interval | undefined {
  const { reward: mean, samples = 0, expected = samples, extremes: [lowest, highest] = [mean, mean] } = held;
  if (isBeyond(lowest, range) || isBeyond(highest, range)) return undefined;
  return intervalOfMean(mean, samples, Math.max(0, expected - samples), range, confidence);
}

/** Cached, because an interval takes about a millisecond, and lists, alarms and trees ask for it again and again. */
const heldOutInterval = perObject((held: HeldOutMean) =>
  perObject((range: Range) => perArguments((confidence?: number) => newInterval(held, range, confidence))),
);

/**
 * A held-out mean's interval on its own tasks; missing samples count as missing rewards. Undefined if any mean of the
 * curve is outside the range, because the true range is then unknown.
 *
 * @param confidence by default, the usual confidence
 */
export const intervalOfHeldOut = (
  held: HeldOutMean,
  range: Range = defaultRange,
  confidence?: number,
): Interval | undefined => heldOutInterval(held)(range)(confidence);

/** More columns would leave no room for names. */
const maxOptions = 8;
/** Maximum number of options to compare per run. */
const maxCompared = 100;

/** Longer values are truncated before they are compared. */
const maxComparedLength = 200;

interface WithOptions {
  readonly options?: unknown;
}

function optionCell(row: WithOptions, name: string): Cell {
  const value = isRecord(row.options) ? own<unknown>(row.options, name) : undefined;
  if (value == null) return undefined;
  return typeof value === 'number' || typeof value === 'string'
    ? value
    : JSON.stringify(value)?.slice(0, maxComparedLength);
}

/**
 * The names of the runs' options: first those that differ, ordered by their number of values, then the equal ones. The
 * number of steps has its own column.
 */
function optionNames(rows: readonly WithOptions[]): { readonly differing: string[]; readonly equal: string[] } {
  const differing = new Set<string>();
  const first = new Map<string, { readonly value: Cell; count: number }>();
  for (const row of rows) {
    if (!isRecord(row.options)) continue;
    for (const name of Object.keys(row.options).slice(0, maxCompared)) {
      if (name === 'num_steps' || differing.has(name)) continue;
      const [value, known] = [optionCell(row, name), first.get(name)];
      if (!known) first.set(name, { value, count: 1 });
      else if (known.value === value) known.count += 1;
      else differing.add(name);
    }
    if (differing.size >= maxOptions) break;
  }
  const isPartial = differing.size < maxOptions;
  const differs = ([name, { count }]: [string, { count: number }]): boolean =>
    differing.has(name) || (isPartial && count < rows.length);
  const [some, others] = [[...first].filter(differs), [...first].filter(each => !differs(each))];
  const valuesOf = (name: string): number => new Set(rows.map(row => optionCell(row, name))).size;
  const names = some
    .map(([name]) => ({ name, values: valuesOf(name) }))
    .sort((left, right) => right.values - left.values)
    .map(({ name }) => name);
  return {
    differing: names.slice(0, maxOptions),
    equal: [...names.slice(maxOptions), ...others.map(([name]) => name)].slice(0, maxCompared),
  };
}

/** The minimum width of an option column: a long name may be truncated if its values are short. */
const minOptionWidth = 7;

/**
 * A column for each option in which the runs differ, all but the first optional, and a hidden column for each other
 * option, for filters.
 */
export function optionColumns<Row extends WithOptions>(rows: readonly Row[]): readonly Column<Row>[] {
  const { differing, equal } = optionNames(rows);
  return [...differing, ...equal].map((name, index) => {
    const value = (row: Row): Cell => optionCell(row, name);
    const isNumber = rows.every(row => typeof (value(row) ?? 0) === 'number');
    const title = sanitiseLine(name).toUpperCase();
    return {
      ...{ id: `option.${name}`, title, value },
      width: { min: Math.min(minOptionWidth, displayWidth(title)), max: isNumber ? 16 : 30, grow: 1 },
      ...(isNumber && { align: 'right' }),
      ...(index > 0 && { wide: true }),
      ...(index >= differing.length && { hidden: true, filtered: false }),
    };
  });
}

/** Columns for the model, the number of steps and the options in which the runs differ. */
export function differingColumns(rows: readonly ProgressedRun[]): readonly Column<MeasuredTraining>[] {
  const own = trainingColumns.filter(({ id }) => id === 'model' || id === 'steps');
  const differs = ({ value }: Column<ProgressedRun>): boolean => new Set(rows.map(value)).size > 1;
  return [...own.filter(differs), ...optionColumns(rows).filter(({ hidden }) => !hidden)];
}

export function heldOutMean({ reward: mean, step, samples, expected, ...held }: HeldOutMean): MeasuredMean {
  // A round that was unfinished when its run ended stays unfinished.
  const isWhole = !held.isUnfinished && (samples ?? 0) >= (expected ?? 0);
  const others = isWhole ? undefined : 'are missing';
  return { mean, count: samples, of: expected, others, isOld: held.isOld, ...(held.failedSince && { step }) };
}

/** A held-out mean in a cell; empty without one. */
export const heldOutCell = (held: HeldOutMean | undefined): string => (held ? meanText(heldOutMean(held)) : '');

/** Whether a run's held-out curve or, with `ofTrainer`, its trainer's has not been read yet. */
type IsUnread<Row> = (row: Row, ofTrainer?: boolean) => boolean;

/** Whether a run that may have a trainer reward lacks it because its curve has not been read. */
export const lacksTrainerReward = ({ mean, curve, done }: Pick<KnownResource, 'mean' | 'curve' | 'done'>): boolean =>
  mean === undefined && curve.length === 0 && done !== 0;

/**
 * A column of held-out means. Sorts missing samples as the lowest reward, because a mean without them is often higher
 * than the mean of all.
 */
export function heldOutColumn<Row>(
  heldOf: (row: Row) => HeldOutMean | undefined,
  { id = 'held-out', title = 'HELD-OUT' } = {},
): Column<Row> {
  return {
    ...numberColumn<Row>(id, title, row => heldOf(row)?.reward),
    ...{ bestFirst: true, sortNote: worstSortNote },
    text: row => heldOutCell(heldOf(row)),
    sortedBy: row => {
      const held = heldOf(row);
      return held && worstOf(held);
    },
  };
}

/** The columns for the held-out curve and the newest trainer reward, with the same ids in every list. */
export function measuredColumns<Row>(of: {
  readonly heldOut: (row: Row) => HeldOut | undefined;
  readonly isUnread: IsUnread<Row>;
  /** The interval of the last held-out reward, or of the reward shown in its place. */
  readonly interval: (row: Row) => Interval | undefined;
  readonly trainer: (row: Row) => number | undefined;
}) {
  const isUnread = (row: Row): boolean => of.isUnread(row);
  const stepColumn = (id: string, title: string, beside: string, which: 'last' | 'best'): Column<Row> => ({
    ...numberColumn<Row>(id, title, row => of.heldOut(row)?.[which].step, { text: String }),
    ...{ isUnread, beside },
  });
  return {
    heldOut: { ...heldOutColumn<Row>(row => of.heldOut(row)?.last), isUnread },
    interval: { ...intervalColumn<Row>(of.interval), isUnread },
    step: stepColumn('held-out-step', 'HELD-OUT STEP', 'held-out', 'last'),
    best: { ...heldOutColumn<Row>(row => of.heldOut(row)?.best, { id: 'best', title: 'BEST' }), isUnread },
    bestStep: stepColumn('best-step', 'BEST STEP', 'best', 'best'),
    trainer: {
      ...numberColumn<Row>('trainer', 'TRAINER', of.trainer),
      ...{ wide: true, bestFirst: true },
      isUnread: (row: Row) => of.isUnread(row, true),
    },
  };
}

/** The number of samples behind a held-out mean, and the expected number. */
export function samplesColumns<Row>(
  of: (row: Row) => HeldOutMean | undefined,
  before = { id: '', title: '' },
): readonly Column<Row>[] {
  const count = (id: 'samples' | 'expected', title: string): Column<Row> => ({
    ...numberColumn<Row>(`${before.id}${id}`, `${before.title}${title}`, row => of(row)?.[id], { text: String }),
    ...{ wide: true, forPrograms: true },
  });
  return [count('samples', 'N'), count('expected', 'OF')];
}

/** Which tasks the held-out rewards are from, if the service reports it. */
export const splitColumn = <Row>(of: (row: Row) => HeldOutMean | undefined): Column<Row> => ({
  ...{ id: 'split', title: 'SPLIT', width: { min: 5, max: 10, grow: 1 }, wide: true, forPrograms: true, ifAny: true },
  value: row => of(row)?.split,
});

/** Only for filters and programs: on screen, the state column shows the alarm. */
export const alarmColumn = <Row>(alarmOf: (row: Row) => string | undefined): Column<Row> => ({
  ...{ id: 'alarm', title: 'ALARM', width: { min: 8, max: 80, grow: 1 }, cutAt: 'end', hidden: true, filtered: false },
  value: alarmOf,
});

/**
 * The declared columns. The measurements that help to choose between runs follow the status.
 *
 * @param nameOf returns a benchmark's name, if known
 * @param onScreen the state column of Watch, which replaces the status except in filters, the width of the names, and
 *   whether both counts of steps have room
 */
export function listColumns(
  rows: readonly ProgressedRun[],
  range: Range,
  nameOf: NameOf = id => id,
  isUnread: IsUnread<MeasuredTraining> = () => false,
  onScreen?: {
    readonly state: Column<MeasuredTraining>;
    readonly nameWidth: ColumnWidth;
    readonly isRoomy: boolean;
  },
): readonly Column<MeasuredTraining>[] {
  const [name, status, done, steps, model, ...others] = trainingColumns;
  const isRoomy = onScreen?.isRoomy ?? true;
  const bestInterval = intervalColumn<MeasuredTraining>(
    ({ held_out }) => held_out && intervalOfHeldOut(held_out.best, range),
    { id: 'best-interval', title: 'BEST CI' },
  );
  const { heldOut, interval, step, best, bestStep, trainer } = measuredColumns<MeasuredTraining>({
    heldOut: row => row.held_out,
    isUnread,
    interval: ({ held_out }) => held_out && intervalOfHeldOut(held_out.last, range),
    trainer: row => row.trainer_reward,
  });
  /** Shown in the order given by `decides`, after the option with the most values. */
  const ranked = (column: Column<MeasuredTraining> | undefined, decides: number, forPrograms = true) =>
    column && { ...column, wide: true, forPrograms, decides };
  // Rewards of different benchmarks are not comparable, so these matter more than an option.
  const isMixed = !isRoomy && new Set(rows.map(({ bench_id }) => bench_id)).size > 1;
  const benchmarkColumn = (column: Column<MeasuredTraining>) =>
    isMixed ? ranked({ ...column, width: { min: minOptionWidth, max: 30, grow: 1 } }, 0, false) : column;
  const columns = [
    name && { ...name, width: onScreen?.nameWidth ?? name.width },
    onScreen?.state,
    status && { ...status, hidden: onScreen !== undefined },
    alarmColumn<MeasuredTraining>(row => row.alarm),
    ...(isRoomy ? [] : [done && { ...done, hidden: true }, steps && { ...steps, hidden: true }, shareColumn]),
    heldOut,
    ranked(interval, 1),
    ranked(step, 6, false),
    best,
    ranked({ ...bestInterval, isUnread: row => isUnread(row) }, 7, false),
    ranked(bestStep, 4),
    ...(isRoomy ? [ranked(done, 2), ranked(steps, 3)] : []),
    ranked(trainer, 5, false),
    ranked(durationColumn(), 8),
    // Without room for both counts, an option must not truncate short names.
    ...optionColumns(rows).map((column, index) => (isRoomy || index > 0 ? column : ranked(column, 0))),
    ranked(model, 9),
    ...others
      .filter(({ id }) => id !== 'took')
      .map(column => (column.id === 'benchmark' ? benchmarkColumn(namedColumn(column, nameOf)) : column)),
    ...samplesColumns<MeasuredTraining>(row => row.held_out?.last),
    ...samplesColumns<MeasuredTraining>(row => row.held_out?.best, { id: 'best-', title: 'BEST ' }),
    splitColumn<MeasuredTraining>(row => row.held_out?.last),
  ];
  return columns.filter(column => column !== undefined);
}

/** The ids of the columns that come from the held-out curve. */
const ofHeldOut = [
  ...['held-out', 'interval', 'held-out-step', 'samples', 'expected', 'split'],
  ...['best', 'best-interval', 'best-step', 'best-samples', 'best-expected'],
];

/** An ended run's remembered held-out rewards. */
interface EndedHeldOut extends HeldOut {
  /** When they were first read after the end, in epoch milliseconds. */
  readonly firstReadAt: number;
  /** See `isFinalCurve`. */
  readonly isFinal: boolean;
}

/**
 * Reads a run's held-out rewards. Remembers those of an ended run, and does not read them again once they are final,
 * see `isFinalCurve`.
 *
 * @param withRecent whether to read the newest rounds too, which are not remembered
 */
async function readHeldOut(
  run: MeasuredTraining,
  context: QueryContext,
  withRecent: boolean,
): Promise<HeldOut | undefined> {
  const { training_run_id: id, status, completed_at } = run;
  const ended = hasEnded(status);
  const known = ended ? (context.memory.seen.find('training', id)?.heldOut as EndedHeldOut | undefined) : undefined;
  if (known?.isFinal && !withRecent) return known;
  const readAt = Date.now();
  const means = heldOutMeans(await readShared(heldOutRewardsQuery(id, ended), context));
  if (!means) return undefined;
  const isLate = ended && mayLackRound(status ?? '', { endedAt: parseTime(completed_at) ?? 0, readAt });
  const { last, best, isUnfinished } = isLate ? withoutLast(means, stepsDone(run)) : means;
  const held: HeldOut = { last, best, isUnfinished };
  const whole: HeldOut = withRecent ? { ...held, recent: means.recent ?? [] } : held;
  if (!ended) return whole;
  // If the service does not report the end time, assume that the run ended just before the first read that shows its
  // end.
  const firstReadAt = known?.firstReadAt ?? readAt;
  const endedAt = parseTime(completed_at) ?? firstReadAt;
  const isFinal = isFinalCurve(means, { done: stepsDone(run), endedAt, readAt });
  const heldOut: EndedHeldOut = { ...held, firstReadAt, isFinal };
  context.memory.see([{ kind: 'training', id, status, heldOut }]);
  return whole;
}

const withHeldOut =
  (withRecent: boolean) =>
  async (row: MeasuredTraining, context: QueryContext): Promise<MeasuredTraining> => {
    const known = withRecent ? undefined : row.held_out;
    const held_out = known ?? (await ifThere(() => readHeldOut(row, context, withRecent)));
    return held_out ? { ...row, held_out } : row;
  };

async function withTrainerReward(row: MeasuredTraining, context: QueryContext): Promise<MeasuredTraining> {
  const { training_run_id: id, status, trainer_reward: known } = row;
  const rewards =
    known === undefined ? await ifThere(() => trainerRewardsQuery(id, hasEnded(status)).read(context)) : undefined;
  const newest = rewards && lastReward(rewards);
  return newest === undefined ? row : { ...row, trainer_reward: newest };
}

export const measures: Measures<MeasuredTraining> = {
  columns: listColumns,
  field: optionCell,
  ...measuredInParts<MeasuredTraining>([
    { columns: ['alarm'], add: withHeldOut(true) },
    { columns: ofHeldOut, add: withHeldOut(false) },
    { columns: ['trainer'], add: withTrainerReward },
  ]),
};
