/** An unread value looks different from a missing one, on screen only. */
import { expect, it } from 'vitest';
import type { EvalRun } from '../../src/contract/evaluations.ts';
import { type Column, exportColumns, type FittedColumn, fitColumns } from '../../src/present/column.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { certaintyOf } from '../../src/queries/run-mean.ts';
import { type BasedRun, fromBaseline, type RewardedRun } from '../../src/resources/baseline.ts';
import { runListColumns } from '../../src/resources/run-columns.ts';
import { listColumns } from '../../src/resources/training-columns.ts';
import { type WatchedResource, watchedLine } from '../../src/resources/watch.ts';
import { watchColumns } from '../../src/ui/views/watch-columns.ts';
import { rowText } from '../../src/ui/widgets/table/table-view.tsx';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const look = { underCursor: false, marked: false };

/** The cells of a row on the screen. */
function cells<Row>(columns: readonly Column<Row>[], row: Row, ...ids: readonly string[]): readonly string[] {
  return ids.map(id => {
    const fitted: FittedColumn<Row>[] = columns.filter(each => each.id === id).map(column => ({ column, width: 16 }));
    return rowText(fitted, row, look, undefined, theme).trim();
  });
}

const round = { held_out_reward: 0.573, completed_samples: 112 };
const measured = heldOutMeans([{ ...round, step: 5 }]);

it('in Watch', () => {
  const columns = watchColumns({ room: 200, range: [0, 1], spark: () => '' });
  const cellsOf = (kind: string, more: Partial<WatchedResource>) =>
    cells(
      columns,
      { ...watchedLine({ kind, id: 'one' }, 'one'), ...more },
      'held-out',
      'interval',
      'best',
      'best-step',
    );
  expect(cellsOf('training', {})).toEqual(['–', '–', '–', '–']);
  expect(cellsOf('training', { measured: null })).toEqual(['', '', '', '']);
  expect(cellsOf('training', { measured })).toEqual([
    '0.573',
    expect.stringMatching(/^0\.\d+\.\.0\.\d+$/),
    '0.573',
    '5',
  ]);
  const run = { status: 'completed', mean: 0.5, graded: 4, total: 4 };
  expect(cellsOf('run', run)).toEqual(['0.500', '–', '', '']);
  const certainty = certaintyOf([{ task_id: 'a', trajectory_id: 'a', reward: 2 }], { status: 'completed', total: 1 });
  expect(cellsOf('run', { ...run, mean: 2, graded: 1, certainty })).toEqual(['2.00 n=1/4', '', '', '']);
  expect(cellsOf('run', { status: 'running', mean: 0.5 })).toEqual(['0.500 so far', '', '', '']);
  expect(cellsOf('deployment', { status: 'deployed' })).toEqual(['', '', '', '']);
});

it("of the trainer's reward, in Watch (B14)", () => {
  const columns = watchColumns({ room: 200, range: [0, 1], spark: () => '' });
  const cellOf = (more: Partial<WatchedResource>, kind = 'training') =>
    cells(columns, { ...watchedLine({ kind, id: 'one' }, 'one'), ...more }, 'trainer')[0];
  expect([cellOf({}), cellOf({ mean: 0.5 }), cellOf({ done: 0 }), cellOf({ curve: [undefined] })]).toEqual([
    ...['–', '0.500', '', ''],
  ]);
  expect(cellOf({}, 'run')).toBe('');
});

it('in a filter or sort by the mean of evaluations', () => {
  const mean = runListColumns([0, 1], true).find(({ id }) => id === 'mean');
  const isUnread = (more: Partial<EvalRun>) => mean?.isUnread?.({ eval_run_id: 'evr_1', ...more });
  expect([{ status: 'running' }, { status: 'completed' }].map(isUnread)).toEqual([true, true]);
  const known = [
    { status: 'completed', reward_mean: 0.5 },
    { status: 'completed', reward_count: 0 },
  ];
  expect([...known, { status: 'failed' }].map(isUnread)).toEqual([false, false, false]);
});

it('in lists of training runs and evaluations, not in files, without taking room from others', () => {
  const training = { training_run_id: 'trn_1', status: 'running' };
  const columns = listColumns([training], [0, 1], undefined, () => true);
  expect(cells(columns, training, 'held-out', 'interval', 'best', 'trainer')).toEqual(['–', '–', '–', '–']);
  const held = columns.filter(({ id }) => id === 'held-out');
  expect(exportColumns(held).map(({ value }) => value(training))).toEqual([undefined]);
  const name: Column<typeof training> = {
    id: 'name',
    title: 'NAME',
    width: { min: 4, max: 40, grow: 1 },
    value: () => 'a name of thirty characters...',
  };
  expect(fitColumns([name, ...held], 32, {}, [training]).map(({ column }) => column.id)).toEqual(['name']);

  const run = { eval_run_id: 'evr_2', status: 'completed', reward_mean: 0.5, reward_count: 1, total_rollouts: 1 };
  const rewards = { rewards: [{ task_id: 'a', trajectory_id: 'a', reward: 0.5 }], total: 1, end: 'complete' as const };
  const settings = { rewardRange: [0, 1], missing: 'bounds' } as never;
  const from = (base: object, fresh: object): BasedRun => ({
    ...run,
    from_baseline: fromBaseline(
      { run: { eval_run_id: 'evr_1' }, ...base } as RewardedRun,
      { run, ...fresh } as RewardedRun,
      settings,
    ),
  });
  const cellsOf = (row: BasedRun) =>
    cells(runListColumns([0, 1], true), row, 'interval', 'difference', 'difference-interval');
  expect(cellsOf(run)).toEqual(['–', '', '']);
  expect(cellsOf(from({}, {}))).toEqual(['–', '–', '–']);
  const other = { ...rewards, rewards: [{ task_id: 'b', trajectory_id: 'b', reward: 0.5 }] };
  expect(cellsOf(from({ rewards }, { rewards: other }))).toEqual(['–', '', '']);
  expect(cellsOf({ ...from({}, {}), status: 'running', reward_mean: null })).toEqual(['', '', '']);
});

it('in cells that were read before the end', () => {
  const last = measured && { ...measured.last, isOld: true };
  const held_out = last && { last, best: last };
  const row = { training_run_id: 'trn_1', status: 'succeeded', held_out };
  expect(cells(listColumns([row], [0, 1]), row, 'held-out', 'best')).toEqual(['0.573?', '0.573?']);
});
