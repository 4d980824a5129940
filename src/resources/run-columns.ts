/** The columns for runs, and the reads that lists of runs need for them. */

import { perObject } from '../base/memo.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { evalRunStatuses } from '../contract/status.ts';
import {
  type Column,
  columnShownAs,
  idColumn,
  type NameOf,
  namedColumn,
  plainColumn,
  statusColumn,
  waitingWord,
} from '../present/column.ts';
import { intervalColumn } from '../present/number-columns.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { durationColumn, seenColumn, timeColumn } from '../present/times.ts';
import { evalRunQuery } from '../queries/evaluations.ts';
import { worstSortNote } from '../queries/held-out.ts';
import { type QueryContext, readShared, type SharedQuery } from '../queries/query-context.ts';
import { rememberedDifference } from '../queries/run-difference.ts';
import { extentOfRecord, type ReadRewards, readRunRewards } from '../queries/run-extent.ts';
import { rememberedCertainty } from '../queries/run-mean.ts';
import { rememberedAt } from '../store/seen.ts';
import { endOfId } from '../text/apart.ts';
import { nameOr } from '../text/typed.ts';
import {
  type BasedRun,
  baselineColumns,
  baselineOf,
  finalDifference,
  fromBaseline,
  knownFromBaseline,
} from './baseline.ts';
import { comparability } from './comparison.ts';
import type { MeasuredList, Measures } from './define.ts';
import { measuredInParts } from './measure-each.ts';
import {
  intervalOfRun,
  lacksIntervalOfRun,
  lacksMean,
  listedCount,
  listedFailed,
  listedMean,
  listedTotal,
  type MeasuredRun,
  meanOfRun,
  withTraining,
  worstMeanOf,
} from './measured-run.ts';
import { describeModel, modelColumn } from './models.ts';
import { rowsInLists, withCertainty, withFailed, withRead } from './run-certainty.ts';
import { namedRun } from './run-places.ts';

export const runColumns: readonly Column<MeasuredRun>[] = [
  plainColumn('name', 'RUN', { min: 13, max: 60, grow: 3 }, row => nameOr(row.display_name, row.eval_run_id)),
  statusColumn(row => row.status, { known: [...evalRunStatuses, waitingWord] }),
  plainColumn('mean', 'MEAN', 7, listedMean, {
    align: 'right',
    bestFirst: true,
    text: meanOfRun,
    sortedBy: worstMeanOf,
    sortNote: worstSortNote,
    isUnread: lacksMean,
  }),
  seenColumn(rememberedAt),
  plainColumn('benchmark', 'BENCHMARK', { min: 10, max: 30, grow: 1 }, row => row.bench_id, {
    wide: true,
    forPrograms: true,
  }),
  // A narrow column keeps the step.
  columnShownAs(
    modelColumn<MeasuredRun>(row => row.base_model_slug),
    describeModel,
  ),
  plainColumn('checkpoint', 'CHECKPOINT', { min: 12, max: 40, grow: 1 }, row => row.parent_checkpoint_id, {
    wide: true,
    forPrograms: true,
  }),
  timeColumn('created', 'STARTED', row => row.created_at),
  idColumn(row => row.eval_run_id),
  plainColumn('step', 'STEP', 5, row => row.step, { align: 'right', wide: true, forPrograms: true }),
  plainColumn('n', 'N', 5, listedCount, { align: 'right', wide: true, decides: 4, forPrograms: true }),
  plainColumn('total', 'TOTAL', 5, listedTotal, { align: 'right', wide: true, decides: 5, forPrograms: true }),
  plainColumn('failed', 'FAILED', 6, listedFailed, {
    align: 'right',
    wide: true,
    decides: 6,
    forPrograms: true,
    // This count comes from the same rewards as the interval.
    beside: 'interval',
    isUnread: row => listedFailed(row) === undefined,
  }),
  { ...durationColumn(), decides: 7 },
];

/**
 * The columns of a list of runs, with the interval and the baseline after the mean. Runs of different benchmarks are
 * not comparable, so a list that mixes them shows each run's benchmark.
 *
 * @param nameOf returns a benchmark's name, if known
 */
export function runListColumns(range: Range, isOfOne: boolean, nameOf: NameOf = id => id): readonly Column<BasedRun>[] {
  const interval: Column<BasedRun> = {
    ...intervalColumn<BasedRun>(row => intervalOfRun(row, range)),
    ...{ wide: true, decides: 1, forPrograms: true },
    isUnread: row => lacksIntervalOfRun(row, range),
  };
  return runColumns.flatMap((column): readonly Column<BasedRun>[] => {
    if (column.id === 'mean') return [column, interval, ...baselineColumns];
    if (column.id !== 'benchmark') return [column];
    return [{ ...namedColumn(column, nameOf), wide: isOfOne }];
  });
}

const rewardsOfRun = (run: EvalRun): SharedQuery<ReadRewards> => ({
  key: ['evaluations', 'rewards in lists', run.eval_run_id],
  read: context => readRunRewards(run.eval_run_id, context, extentOfRecord(run), rowsInLists(run)),
});

/**
 * Adds a run's difference from the baseline of its benchmark, by task. Sends a request for the run's rewards, unless
 * the run has ended and its difference is remembered, or there is no baseline.
 */
async function withBaseline(
  run: BasedRun,
  context: QueryContext,
  list: MeasuredList,
  rows: readonly BasedRun[],
): Promise<BasedRun> {
  const { memory, compare } = context;
  const id = list.baseline ?? baselineOf(memory, run.bench_id);
  if (id === undefined || listedMean(run) === undefined) return run;
  const base = rows.find(row => row.eval_run_id === id) ?? (await readShared(evalRunQuery(id), context));
  // Show nothing, because a column has no room for the reason.
  if (Object.keys(comparability([base, run].map(namedRun))).length > 0) return run;
  const { eval_run_id, status } = run;
  if (eval_run_id === id) return { ...run, from_baseline: fromBaseline({ run: base }, { run }, compare) };
  const known = rememberedDifference(memory, eval_run_id, status);
  const kept = knownFromBaseline(known, { base, run }, compare);
  if (kept) return { ...run, from_baseline: kept };
  const ofBase = await readShared(rewardsOfRun(base), context);
  const rewards = { base: ofBase, fresh: await rewardsOfRun(run).read(context) };
  const from_baseline = fromBaseline({ run: base, rewards: rewards.base }, { run, rewards: rewards.fresh }, compare);
  const difference = finalDifference(rewards, from_baseline, compare);
  if (difference) memory.see([{ kind: 'run', id: eval_run_id, status, difference }]);
  return { ...run, from_baseline };
}

/**
 * Adds to each run the remembered name of its checkpoint's training run, distinguished from others with the same name.
 */
export function withTrainingNames<Row extends MeasuredRun>(
  rows: readonly Row[],
  { memory }: Pick<QueryContext, 'memory'>,
): readonly Row[] {
  if (rows.every(row => row.training_run_id == null)) return rows;
  const runs = memory.seen.since(0, { kinds: ['training'] });
  const names = new Map(runs.map(({ id, label }) => [id, label]));
  return trainedApart(
    rows.map(row => (row.training_run_id ? withTraining(row, { name: names.get(row.training_run_id) }) : row)),
    runs.map(({ id, label }) => ({ training_run_id: id, trained_in: label })),
  );
}

const withEndOfId = perObject((row: MeasuredRun) => {
  return { ...row, trained_in: `${row.trained_in} (${endOfId(row.training_run_id ?? '')})` };
});

/**
 * Adds the ends of the ids to names that several training runs share. @param among the training runs to compare the
 * names with
 */
export function trainedApart<Row extends MeasuredRun>(
  rows: readonly Row[],
  among: readonly Pick<MeasuredRun, 'trained_in' | 'training_run_id'>[] = rows,
): readonly Row[] {
  const first = new Map<string, string>();
  const shared = new Set<string>();
  for (const { trained_in: name, training_run_id: id } of among) {
    if (name === undefined || id == null) continue;
    const other = first.get(name);
    if (other === undefined) first.set(name, id);
    else if (other !== id) shared.add(name);
  }
  const isShared = ({ trained_in: name }: Row): boolean => name !== undefined && shared.has(name);
  return shared.size === 0 ? rows : rows.map(row => (isShared(row) ? (withEndOfId(row) as Row) : row));
}

export const runMeasures: Measures<BasedRun> = {
  remembered: (rows, context) => {
    const { memory } = context;
    return withTrainingNames(rows, context).map(row => {
      return row.certainty ? row : withRead(row, rememberedCertainty(memory, row.eval_run_id, extentOfRecord(row)));
    });
  },
  columns: (rows, range) => runListColumns(range, new Set(rows.map(({ bench_id }) => bench_id)).size < 2),
  ...measuredInParts<BasedRun>([
    { columns: baselineColumns.map(({ id }) => id), add: withBaseline },
    { columns: ['interval', 'failed'], add: withCertainty },
    { columns: ['failed'], add: withFailed },
  ]),
};
