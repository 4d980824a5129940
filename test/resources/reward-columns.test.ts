/** Which reward and which progress a table shows, each number with its label. */
import { describe, expect, it } from 'vitest';
import type { EvalRun } from '../../src/contract/evaluations.ts';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { type Column, cellText, exportColumns, fitColumns, markWidth } from '../../src/present/column.ts';
import { withValue } from '../../src/present/fact.ts';
import { parseRowFilter } from '../../src/present/row-filter.ts';
import { sortRows } from '../../src/present/sort.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { certaintyOf } from '../../src/queries/run-mean.ts';
import { unknownResource } from '../../src/queries/statuses/known-resource.ts';
import type { BasedRun } from '../../src/resources/baseline.ts';
import { type MeasuredRun, withMean } from '../../src/resources/measured-run.ts';
import { runColumns, runListColumns } from '../../src/resources/run-columns.ts';
import { runFacts } from '../../src/resources/runs.ts';
import { trainingColumns } from '../../src/resources/training-columns.ts';
import { trajectories } from '../../src/resources/trajectories.ts';
import type { WatchedResource } from '../../src/resources/watch.ts';
import { displayWidth } from '../../src/text/width.ts';
import { layoutOf } from '../../src/ui/app/layout.ts';
import { rewardTitle, watchColumns } from '../../src/ui/views/watch-columns.ts';
import { gutter } from '../../src/ui/widgets/table/table-view.tsx';

const lineOf = (kind: string, more: Partial<WatchedResource>): WatchedResource => ({
  ...unknownResource({ kind, id: 'one' }, 'one'),
  pinned: false,
  pace: '',
  rate: '',
  standing: { kind: 'unknown' },
  readAt: undefined,
  benchmark: undefined,
  alarms: [],
  ...more,
});

/** The texts of a line, by the titles of the columns. */
function texts(line: WatchedResource, room = 200): Readonly<Record<string, string>> {
  const columns = watchColumns({ room, range: [0, 1], spark: () => '' });
  return Object.fromEntries(
    columns.map(({ title, value, text }) => [title, text?.(line) ?? String(value(line) ?? '')]),
  );
}

/** The shown columns of Watch, each with its texts as drawn. */
function drawn(rows: readonly WatchedResource[], room: number): ReadonlyMap<string, readonly string[]> {
  const columns = watchColumns({
    room,
    range: [0, 1],
    rewardTitle: rewardTitle(rows),
    spark: values => '▁'.repeat(values.length),
  });
  return new Map(
    fitColumns(columns, room, {}, rows).map(({ column, width }) => {
      const fits = (text: string): boolean => displayWidth(text) + (column.look ? markWidth : 0) <= width;
      const texts = rows.map(row => {
        const whole = cellText(column, row);
        return fits(whole) ? whole : (column.shortText?.(row) ?? whole);
      });
      return [column.id, texts] as const;
    }),
  );
}

describe('a line of Watch', () => {
  const measured = heldOutMeans([
    { step: 12_000, held_out_reward: 0.4, completed_samples: 128 },
    { step: 12_400, held_out_reward: 0.325, completed_samples: 120, expected_samples: 128 },
  ]);
  const now = Date.now();
  const time = (minutesAgo: number): string => new Date(now - minutesAgo * 60_000).toISOString();
  const run = lineOf('training', { label: `a-${'long-'.repeat(20)}name`, measured, done: 12_401, total: 20_000 });
  const running = {
    ...run,
    status: 'running',
    standing: { kind: 'moving', stepMs: 4_800, leftMs: 36_479_000 },
  } as const;
  const ended = { ...run, status: 'succeeded', startedAt: time(6 * 60 + 26 + 125), endTime: time(125), endedAt: now };

  it('has the last and the best held-out reward with intervals and steps, the step count, and a curve (W4)', () => {
    const rows = [running, ended, lineOf('run', { mean: 0.667, graded: 44, done: 43, total: 60, status: 'running' })];
    const at200 = drawn(rows, 177);
    expect([...at200].map(([id, [first]]) => [id, first]).slice(1)).toEqual([
      ['held-out', '0.325 n=120'],
      ['interval', expect.stringMatching(/^0\.\d+\.\.0\.\d+$/)],
      ['held-out-step', '12400'],
      ['best', '0.400'],
      ['best-interval', expect.stringMatching(/^0\.\d+\.\.0\.\d+$/)],
      ['best-step', '12000'],
      ['done', '12401'],
      ['total', '20000'],
      ['state', 'running, ETA 10h 8m'],
      ['curve', '▁▁'],
    ]);
    expect(Object.fromEntries(drawn([running, { ...run, status: 'running' }], 118))).toMatchObject({
      interval: { length: 2 },
      best: ['0.400', '0.400'],
      'best-step': ['12000', '12000'],
      share: ['12401/20000', '12401/20000'],
      curve: ['▁▁', '▁▁'],
    });
    expect([...drawn([running], 97).keys()].slice(1, 8)).toEqual([
      ...['held-out', 'interval', 'best', 'best-step', 'share', 'state', 'curve'],
    ]);
    expect([...drawn(rows, 97).keys()].slice(1)).toEqual([
      ...['held-out', 'interval', 'best', 'best-step', 'share', 'state', 'curve'],
    ]);
    for (const some of [rows, [running]])
      expect([...drawn(some, 58).keys()]).toEqual(['label', 'held-out', 'state', 'share']);
  });

  it('shows the mean of an evaluation in the column of held-out rewards, and says so in the title', () => {
    const evaluation = lineOf('run', { mean: 0.667, graded: 44, done: 43, total: 60, status: 'running' });
    for (const room of [58, 78, 97, 118, 177]) {
      const shown = drawn([running, evaluation], room);
      expect(shown.get('held-out')).toEqual(['0.325 n=120', expect.stringMatching(/^0\.667( n=44\/60)?$/)]);
      if (room > 70) expect(shown.get('best')).toEqual(['0.400', '']);
    }
    expect([[running, evaluation], [running], [evaluation]].map(rewardTitle)).toEqual([
      ...['HELD-OUT/MEAN', 'HELD-OUT', 'MEAN'],
    ]);
  });

  it('shows when a run ended and how long it took, if there is room, and otherwise when', () => {
    for (const room of [58, 78, 97, 118, 177]) {
      const [state] = drawn([ended, running], room).get('state') ?? [];
      expect(state).toMatch(room < 90 ? /^succeeded 2h ago$/ : /^succeeded 2h ago, (took 6h 26m|6h)$/);
    }
  });

  it('keeps the status in narrow windows, whatever the held-out reward and the other lines', () => {
    const failed = heldOutMeans([
      { step: 12_000, held_out_reward: 0.4, completed_samples: 120, expected_samples: 128 },
      { step: 12_400, held_out_reward: null, completed_samples: 0, expected_samples: 128, failed_samples: 128 },
    ]);
    const evaluation = lineOf('run', { mean: 0.667, graded: 44, done: 43, total: 60, status: 'running' });
    for (const room of [56, 58]) {
      const shown = drawn([{ ...ended, measured: failed }, evaluation], room);
      expect(shown.get('held-out')?.[0]).toBe('0.400 n=120 at 12000');
      expect(shown.get('state')?.[0]).toBe('succeeded 2h ago');
    }
  });

  it('shows the held-out reward of a training run, and marks the other one as the trainer’s (W4)', () => {
    const measured = heldOutMeans([
      { step: 200, held_out_reward: 0.325, completed_samples: 128 },
      { step: 100, held_out_reward: 0.4, loaded_trajectories: 120, completed_samples: 128 },
      { step: 300, held_out_reward: null },
    ]);
    expect(measured).toMatchObject({
      curve: [0.4, 0.325, undefined],
      everySteps: 100,
      upTo: 300,
      last: { step: 200, reward: 0.325, samples: 128, expected: 128 },
      best: { step: 100, reward: 0.4, samples: 120, expected: 128 },
    });
    expect(heldOutMeans([{ step: 1, held_out_reward: null }])).toBeUndefined();
    expect(texts(lineOf('training', { mean: 0.613, measured, done: 139, total: 400 }))).toMatchObject({
      'HELD-OUT': '0.325',
      MEAN: '',
      BEST: '0.400 n=120',
      'AT STEP': '100',
      TRAINER: '0.613',
      DONE: '139',
      TOTAL: '400',
    });
    expect(texts(lineOf('run', { mean: 0.41 }))).toMatchObject({
      'HELD-OUT': '0.410 so far',
      MEAN: '0.410 so far',
      TRAINER: '',
    });
  });

  it('shows the share of an upload, which has no counts', () => {
    expect(texts(lineOf('upload', { done: 0.5, total: 1 }))).toMatchObject({ DONE: '50%', TOTAL: '' });
    expect(texts(lineOf('upload', { done: 0.5, total: 1 }), 100)).toMatchObject({ DONE: '50%' });
  });

  it('has the share of the steps if there is no room for both counts', () => {
    const shown = (more: Partial<WatchedResource>) => drawn([lineOf('training', more)], 58).get('share');
    expect(shown({ done: 139, total: 400, status: 'running' })).toEqual(['34%']);
    expect(shown({ done: 139, status: 'running' })).toEqual(['139']);
  });
});

describe('the table of training runs', () => {
  it('has completed and total steps in separate columns, and sorts by completed ones (W6)', () => {
    const options = { num_steps: 400 };
    const rows = [
      { training_run_id: 'pending', status: 'pending', options },
      { training_run_id: 'running', status: 'running', options, completed_steps: 139 },
      { training_run_id: 'succeeded', status: 'succeeded', options },
    ];
    const columns = trainingColumns.filter(({ id }) => id === 'done' || id === 'steps');
    const exported = exportColumns(columns).map(({ name, value }) => [name, ...rows.map(row => value(row))]);
    expect(exported).toEqual([
      ['done', undefined, 139, 400],
      ['steps', 400, 400, 400],
    ]);
    const done = columns.find(({ id }) => id === 'done');
    const sorted = done ? sortRows(rows, done.value, true) : [];
    expect(sorted.map(row => row.training_run_id)).toEqual(['succeeded', 'running', 'pending']);
  });
});

describe('the table of runs', () => {
  it('has the mean so far of a run, until it has its own (W10)', () => {
    const rows = [
      { eval_run_id: 'a', status: 'running' },
      { eval_run_id: 'b', status: 'completed', reward_mean: 0.5 },
    ];
    const column = runColumns.find(({ id }) => id === 'mean');
    const seen = rows.map((row, index) => withMean(row, { mean: [0.41, 0.1][index] }));
    expect(seen.map(row => column?.text?.(row))).toEqual(['0.410 so far', '0.500 n=?']);
    expect(seen[1]).toBe(rows[1]);
  });

  it('does not show a missing mean of a running run as none, in cells and facts (X22)', () => {
    const column = runColumns.find(({ id }) => id === 'mean');
    const said = (row: Omit<MeasuredRun, 'eval_run_id'>) => {
      const run = { eval_run_id: 'a', reward_mean: null, ...row };
      const facts = withValue(runFacts(run)).filter(({ label }) => label.startsWith('mean'));
      return [column?.text?.(run), ...facts.map(({ label, value }) => `${label}: ${value}`)];
    };
    for (const status of ['running', 'pending', null]) expect(said({ status })).toEqual(['–']);
    const seen = withMean({ eval_run_id: 'a', status: 'running' }, { mean: 0.18, graded: 536, total: 1792 });
    expect(said(seen)).toEqual(['0.180 n=536+', 'mean so far: 0.180 over 536 rewards']);
    expect(said({ status: 'running', reward_mean: 0.5 })).toEqual(['0.500 so far', 'mean so far: 0.500']);
    const counted = { status: null, reward_mean: 0.4, reward_count: 20 };
    expect(said(counted)).toEqual(['0.400 n=20+', 'mean so far: 0.400 over 20 rewards']);
    // Nobody says that it has ended.
    expect(said({ status: null, reward_mean: 0.5 })).toEqual(['0.500 so far', 'mean so far: 0.500']);
    expect(said({ status: 'completed', reward_count: 48 })).toEqual(['–', 'mean: not reported']);
    expect(said({ status: 'failed' })).toEqual(['none', 'mean: none']);
    expect(said({ status: 'completed', reward_mean: 0.5 })).toEqual(['0.500 n=?', 'mean: 0.500']);
    const some = { status: 'completed', reward_mean: 0, reward_count: 4, total_rollouts: 8 };
    expect(said(some)).toEqual(['0 n=4', 'mean: 0 over 4 rewards, 4 rollouts without one']);
    expect(said({ ...some, total_rollouts: 4 })).toEqual(['0', 'mean: 0 over 4 rewards']);
    // A negative count is invalid.
    const wrong = { status: 'completed', reward_mean: 7, reward_count: -1, total_rollouts: -5 };
    expect(said(wrong)).toEqual(['7.00 n=?', 'mean: 7.00']);
    expect(said({ ...wrong, reward_count: 4 })).toEqual(['7.00 n=4', 'mean: 7.00 over 4 rewards']);
  });

  it('has the counts read with the rewards of its mean, if its record has none', () => {
    const rewards = Array.from({ length: 22 }, (_, index) => ({ task_id: `t${index}`, reward: index % 2 }));
    const certainty = certaintyOf(rewards, { status: 'completed', total: 40 });
    const cells = (reward_mean: number) => {
      const row = { eval_run_id: 'a', status: 'completed', reward_mean, certainty };
      const columns = runColumns.filter(({ id }) => ['mean', 'n', 'total'].includes(id));
      return columns.map(({ value, text }) => text?.(row) ?? value(row));
    };
    expect(cells(0.5)).toEqual(['0.500 n=22', 22, 40]);
    expect(cells(0.6)).toEqual(['0.600 n=?', undefined, undefined]);
    expect(texts(lineOf('run', { status: 'completed', mean: 0.5, certainty }))).toMatchObject({
      MEAN: '0.500 n=22/40',
    });
    expect(
      texts(lineOf('run', { status: 'running', mean: 0.5, certainty: { ...certainty, isFinal: false } })),
    ).toMatchObject({
      MEAN: '0.500 n=22/40',
    });
  });

  it('shows the number of rewards of a mean, if a run has ended and some are or may be missing', () => {
    const column = runColumns.find(({ id }) => id === 'mean');
    const cell = (row: Partial<EvalRun>) => column?.text?.({ eval_run_id: 'a', status: 'completed', ...row });
    expect(cell({ reward_mean: 0.877, reward_count: 163, total_rollouts: 200 })).toBe('0.877 n=163');
    expect(cell({ reward_mean: 0.877, reward_count: 200, total_rollouts: 200 })).toBe('0.877');
    expect(cell({ reward_mean: 0.877, reward_count: 163 })).toBe('0.877 n=163');
    expect(cell({ reward_mean: 0.877 })).toBe('0.877 n=?');
    expect(cell({ reward_mean: 0.877, total_rollouts: 200 })).toBe('0.877 n=?');
    expect(cell({ reward_count: 0, total_rollouts: 200 })).toBe('none');
    // The record of some services has neither a mean nor a number, and there may be rewards.
    expect(cell({ reward_mean: null })).toBe('–');
    expect(cell({ status: 'running', reward_mean: 0.877, reward_count: 12, total_rollouts: 200 })).toBe('0.877 n=12+');
    // None may follow, whatever the status means (C6).
    const whole = { reward_mean: 0.877, reward_count: 200, total_rollouts: 200 };
    expect([cell({ ...whole, status: 'archived' }), cell({ ...whole, status: 'running' })]).toEqual(['0.877', '0.877']);
    const seen = { graded: 163, total: 200 };
    const beside = (mean: number | undefined) =>
      cell(withMean({ eval_run_id: 'a', status: 'completed', reward_mean: 0.877 }, { ...seen, mean }));
    expect([beside(0.877), beside(undefined)]).toEqual(['0.877 n=163', '0.877 n=163']);
    // The count of an earlier mean.
    expect(beside(0.9)).toBe('0.877 n=?');
    expect(texts(lineOf('run', { status: 'completed', mean: 0.877, graded: 163, total: 200 }))).toMatchObject({
      MEAN: '0.877 n=163/200',
    });
  });

  it('tells a training step from its base model, even in a narrow column', () => {
    const run = { eval_run_id: 'a', base_model_slug: 'benchtop/tutor-base' };
    const trained = { ...run, parent_checkpoint_id: 'ckpt_1', step: 6 };
    const model = runColumns.find(({ id }) => id === 'model');
    const named = { ...trained, trained_in: 'long' };
    expect([run, trained, named].map(row => model?.text?.(row))).toEqual([
      'benchtop/tutor-base',
      'benchtop/tutor-base at step 6',
      'long step 6',
    ]);
    // Filters accept the base model too, and programs get it.
    expect(model?.value(named)).toBe('benchtop/tutor-base');
    const filter = (words: string) => parseRowFilter(words, runColumns);
    for (const words of ['model:"long step"', 'model:tutor-base', 'model=benchtop/tutor-base'])
      expect(filter(words)).toMatchObject({ passing: expect.toSatisfy(passing => passing(named) === named) });
    expect(model?.cutAt).toBe('start');
  });

  it('shows intervals before times and full names, at 120 columns and beside the facts at 200', () => {
    const certainty = certaintyOf([{ task_id: 'a', trajectory_id: 'a', reward: 0.5 }], {
      status: 'completed',
      total: 1,
    });
    const rowOf = (index: number): BasedRun => ({
      ...{
        eval_run_id: `evr_${index}`,
        display_name: `sweep-${'of-the-tutor-'.repeat(6)}${index}`,
        bench_id: 'bench_1',
      },
      ...{ status: index === 0 ? 'failed' : 'completed', created_at: '2020-01-02T03:04:05Z' },
      ...{ base_model_slug: `benchtop/wonderland-large-${index}`, certainty },
      ...{ reward_mean: 0.5, reward_count: 1, total_rollouts: 1 },
      from_baseline: {
        baseline: 'evr_9',
        isBaseline: false,
        difference: 0.05,
        interval: { low: -0.15, high: 0.25, confidence: 0.95 },
      },
    });
    const rows = [0, 1, 2].map(rowOf);
    const columns = runListColumns([0, 1], true);
    // Runs of several benchmarks are not comparable: the model gives way.
    const ofSeveral = fitColumns(runListColumns([0, 1], false), 57).map(({ column }) => column.id);
    expect(ofSeveral).toEqual(['name', 'status', 'mean', 'benchmark']);
    const ids = (room: number, shown: readonly BasedRun[]) =>
      fitColumns(columns, room, {}, shown).map(({ column }) => column.id);
    const rooms = [layoutOf(120, 40, 'main', true, { inspector: true }), layoutOf(200, 60, 'main', true)];
    for (const layout of rooms) {
      const room = (layout?.panes.main?.width ?? 0) - gutter;
      expect(ids(room, rows)).toEqual(
        expect.arrayContaining(['interval', 'difference', 'difference-interval', 'model']),
      );
      const unread = rows.map(({ certainty: _, from_baseline: __, ...row }) => row);
      expect(ids(room, unread)).toContain('created');
      // Without a baseline, there is room for all.
      const alone = rows.map(({ from_baseline: _, ...row }) => row);
      expect(ids(room, alone)).toEqual(expect.arrayContaining(['interval', 'model', 'n', 'total', 'created']));
    }
  });

  it('has room for it at 60 and 80 columns, without losing a column', () => {
    const rows = [
      { eval_run_id: 'a', status: 'completed', reward_mean: 0.877, base_model_slug: 'benchtop/tutor-base' },
    ];
    const short = rows.map(row => ({ ...row, reward_count: 163, total_rollouts: 200 }));
    const line = lineOf('run', { status: 'completed', mean: 0.877, done: 200 });
    const ids = <Row>(columns: readonly Column<Row>[], room: number, shown: readonly Row[]) =>
      fitColumns(columns, room, {}, shown)
        .map(({ column }) => column.id)
        .filter(id => id !== 'n' && id !== 'total');
    const soFar = rows.map(row => ({ ...row, status: 'running' }));
    for (const columns of [60, 80]) {
      const room = (layoutOf(columns, 24, 'main', false)?.panes.main?.width ?? 0) - gutter;
      expect(ids(runColumns, room, short)).toEqual(ids(runColumns, room, rows));
      expect(ids(runColumns, room, soFar)).toEqual(ids(runColumns, room, rows));
      const watch = watchColumns({ room, range: [0, 1], spark: () => '' });
      expect(ids(watch, room, [{ ...line, graded: 163, total: 200 }])).toContain('share');
    }
  });
});

it('shows how many rollouts a running evaluation covers beside its interval (out34 C1)', () => {
  const more = { status: 'running', mean: 0.41, graded: 40, done: 40, total: 128 };
  const run = lineOf('run', { ...more, label: 'an evaluation of the newest checkpoint' });
  const measured = heldOutMeans([{ step: 12, held_out_reward: 0.4, completed_samples: 128 }]);
  const training = lineOf('training', { label: 'a run', status: 'running', measured, done: 12, total: 20 });
  let intervals = 0;
  for (let room = 72; room < 130; room += 1) {
    const shown = drawn([run, training], room);
    intervals += Number(shown.has('interval'));
    expect(shown.get('held-out')?.[0]).toMatch(/^0\.410 n=40(\/128|\+)$/);
  }
  expect(intervals).toBeGreaterThan(0);
});

it('sorts states by urgency, and ended runs last (out34 C17)', () => {
  const alarms = [{ kind: 'stall', words: 'stalled for 12m' }] as const;
  const states: readonly Partial<WatchedResource>[] = [
    { status: 'cancelled' },
    { status: 'succeeded' },
    { status: 'running' },
    { status: 'failed' },
    { status: 'pending' },
    { status: 'running', alarms },
  ];
  const rows = states.map(each => lineOf('training', each));
  const column = watchColumns({ room: 200, range: [0, 1], spark: () => '' }).find(({ id }) => id === 'state');
  const sorted = sortRows(rows, row => column?.sortedBy?.(row), false);
  expect(sorted.map(row => column?.value(row))).toEqual([
    ...['ALARM', 'failed', 'running', 'pending', 'cancelled', 'succeeded'],
  ]);
});

describe('the table of trajectories', () => {
  it('has the training step before the number of its own steps, which is often 1', () => {
    const row = {
      trajectory_id: 'a',
      task_id: 'a-task-with-a-long-name',
      status: 'completed',
      reward: 1,
      num_steps: 1,
    };
    const failed = { ...row, policy_step: 40, error: 'the environment did not answer in time' };
    const ids = (room: number, shown: readonly Trajectory[]) =>
      fitColumns(trajectories.columns as readonly Column<Trajectory>[], room, {}, shown).map(({ column }) => column.id);
    const room = (layoutOf(120, 40, 'main', true)?.panes.main?.width ?? 0) - gutter;
    expect(ids(room, [failed])).toEqual(['task', 'reward', 'status', 'step', 'error']);
    expect(ids(room, [row])).toEqual(['task', 'reward', 'status', 'steps']);
  });
});
