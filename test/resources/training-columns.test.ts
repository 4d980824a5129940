/** Columns of the list of training runs. */
import { describe, expect, it } from 'vitest';
import { type Column, cellText, fitColumns } from '../../src/present/column.ts';
import { createArrange } from '../../src/present/rows.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { runColumns } from '../../src/resources/run-columns.ts';
import { optionColumns as allOptions, listColumns, trainingColumns } from '../../src/resources/training-columns.ts';

const run = (id: string, options?: object) => ({ training_run_id: id, options: options as Record<string, unknown> });

const optionColumns = (rows: Parameters<typeof allOptions>[0]) => allOptions(rows).filter(({ hidden }) => !hidden);

describe('columns for options', () => {
  it('show options in which the runs differ, blank if a run has none', () => {
    const rows = [
      run('a', { num_steps: 5, learning_rate: 0.1, algorithm: 'grpo', seed: 1, ['__proto__x']: [1] }),
      run('b', { num_steps: 9, learning_rate: 0.2, algorithm: 'grpo', ['__proto__x']: [2] }),
      run('c'),
    ];
    const columns = optionColumns(rows.slice(0, 2));
    expect(columns.map(({ title }) => title)).toEqual(['LEARNING_RATE', 'SEED', '__PROTO__X']);
    expect(columns.map(column => rows.map(row => cellText(column, row)))).toEqual([
      ['0.1', '0.2', ''],
      ['1', '', ''],
      ['[1]', '[2]', ''],
    ]);
    // A run without options differs from others in each of them.
    expect(optionColumns(rows).map(({ title }) => title)).toContain('ALGORITHM');
    expect(optionColumns([])).toEqual([]);
  });

  it('start with the one that tells most runs apart, and are no wider than a short title', () => {
    const rows = [0.1, 0.2, 0.3].map((learning_rate, index) =>
      run(`${index}`, { samples_per_instance: index < 2 ? 8 : 16, learning_rate }),
    );
    expect(optionColumns(rows).map(({ title, width }) => [title, width])).toEqual([
      ['LEARNING_RATE', { min: 7, max: 16, grow: 1 }],
      ['SAMPLES_PER_INSTANCE', { min: 7, max: 16, grow: 1 }],
    ]);
  });

  it('are limited to eight', () => {
    const options = (value: number) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`o${index}`, value]));
    expect(optionColumns([run('a', options(1)), run('b', options(2))])).toHaveLength(8);
  });
});

it('show the held-out reward with its interval and its best step', () => {
  const points = [0, 20, 40].map((step, index) => ({
    step,
    held_out_reward: [0.1, 0.7, 0.6][index],
    completed_samples: 112,
  }));
  const row = { training_run_id: 'a', held_out: heldOutMeans(points), trainer_reward: 0.9 };
  const texts = new Map(listColumns([row], [0, 1]).map(column => [column.title, cellText(column, row)]));
  expect(texts.get('HELD-OUT')).toBe('0.600');
  expect(texts.get('BEST')).toBe('0.700');
  expect(texts.get('BEST STEP')).toBe('20');
  expect(texts.get('95% CI')).toMatch(/^0\.50\d\.\.0\.69\d$/);
  expect(texts.get('TRAINER')).toBe('0.900');
});

it('show the last and the best reward with intervals and steps, the trainer’s, and the duration, at 200 columns', () => {
  const points = [0, 20, 40].map((step, index) => ({
    step,
    held_out_reward: [0.1, 0.7, 0.6][index],
    completed_samples: 112,
  }));
  const rows = [1, 2, 3].map(index => ({
    ...{ training_run_id: `trn_${index}`, display_name: `a-${'long-'.repeat(16)}${index}`, status: 'succeeded' },
    ...{ created_at: '2020-01-02T03:04:05Z', completed_at: `2020-01-02T04:04:0${index}Z`, completed_steps: 40 + index },
    ...{ held_out: heldOutMeans(points), trainer_reward: 0.9, base_model_slug: `benchtop/tutor-base-${index}` },
    options: { num_steps: 400 + index, learning_rate: index / 10, samples_per_instance: index, group_size: index },
  }));
  const ids = (room: number) => fitColumns(listColumns(rows, [0, 1]), room, {}, rows).map(({ column }) => column.id);
  expect(ids(177)).toEqual(
    expect.arrayContaining([
      ...['held-out', 'interval', 'held-out-step', 'done', 'steps', 'best', 'best-interval', 'best-step', 'trainer'],
      ...['took', 'option.learning_rate'],
    ]),
  );
  // The option that distinguishes the runs stays; the others give way to results.
  expect(ids(57)).toEqual(['name', 'status', 'held-out', 'best', 'option.learning_rate']);
  expect(ids(107).slice(0, 9)).toEqual([
    ...['name', 'status', 'held-out', 'interval', 'best', 'best-step', 'done', 'steps', 'trainer'],
  ]);
  expect(ids(107).filter(id => id.startsWith('option.'))).toEqual(['option.learning_rate']);
  // A short name is not cut for them.
  const short = rows.map((row, index) => ({ ...row, display_name: `first training ${index}` }));
  const onScreen = (isRoomy: boolean) => ({
    state: { id: 'state', title: 'STATE', width: 9, value: () => 'ended' },
    nameWidth: { min: 10, max: 60, grow: 3 },
    isRoomy,
  });
  const columns = listColumns(short, [0, 1], undefined, undefined, onScreen(true));
  for (let room = 40; room < 120; room += 1) {
    const fitted = fitColumns(columns, room, {}, short);
    if (fitted.some(({ column }) => column.decides !== undefined))
      expect(fitted[0]?.width).toBeGreaterThanOrEqual('first training 0'.length);
  }
  const narrowed = listColumns(short, [0, 1], undefined, undefined, onScreen(false));
  for (let room = 54; room < 120; room += 1)
    expect(fitColumns(narrowed, room, {}, short)[0]?.width).toBeGreaterThanOrEqual('first training 0'.length);
  expect(fitColumns(narrowed, 80, {}, short).map(({ column }) => column.id)).toContain('option.learning_rate');
  // Without room for both counts, there is their share.
  const narrow = listColumns(rows, [0, 1], undefined, undefined, onScreen(false));
  for (const room of [56, 58, 97, 118]) {
    const share = fitColumns(narrow, room, {}, rows).find(({ column }) => column.id === 'share');
    expect(rows.slice(0, 2).map(row => share?.column.text?.(row))).toEqual(['10%', '10%']);
  }
});

it('sort by the rule for the best one: lost samples count as the lowest', () => {
  const of = (training_run_id: string, held_out_reward: number, completed_samples: number) => ({
    training_run_id,
    held_out: heldOutMeans([{ step: 9, held_out_reward, completed_samples, expected_samples: 40 }]),
  });
  const rows = [of('whole', 0.71, 40), of('few', 0.79, 20), of('none', 0.5, 40)];
  const columns = listColumns(rows, [0, 1]);
  for (const column of ['held-out', 'best']) {
    const arrange = createArrange(columns, row => row.training_run_id);
    const { rows: arranged } = arrange(rows, { filter: '', sort: { column, descending: true } });
    expect(arranged.map(row => row.training_run_id)).toEqual(['whole', 'none', 'few']);
  }
});

it('show the status of a waiting run as waiting in lists, and as the service sent it for scripts (B11)', () => {
  for (const columns of [trainingColumns, runColumns] as readonly (readonly Column<object>[])[]) {
    const status = columns.find(({ id }) => id === 'status');
    const wordOf = (row: object) => status && [cellText(status, row), status.value(row)];
    expect(wordOf({ status: 'running', waits_because: 'The disk is full.' })).toEqual(['waiting', 'running']);
    expect(wordOf({ status: 'running', waits_because: null })).toEqual(['running', 'running']);
    // Filters find it under both.
    const rows = [
      { status: 'running', waits_because: 'The disk is full.' },
      { status: 'running' },
      { status: 'failed' },
    ];
    const arrange = createArrange(status ? [status] : [], row => String(rows.indexOf(row as (typeof rows)[number])));
    const found = (filter: string) => arrange(rows, { filter, sort: undefined }).ids;
    for (const word of ['waiting', 'status:waiting', 'status=waiting']) expect(found(word)).toEqual(['0']);
    for (const word of ['running', 'status:running', 'status=running']) expect(found(word)).toEqual(['0', '1']);
    const none = arrange(rows.slice(1), { filter: 'status:waiting', sort: undefined });
    expect(none.ids).toEqual([]);
    expect(none.doubt).toBeUndefined();
  }
});

it('show the benchmark before an option if the runs belong to several (out26 B4)', () => {
  const row = (bench_id: string, learning_rate: number) => ({
    ...{ training_run_id: `trn_${learning_rate}`, status: 'succeeded', bench_id },
    options: { learning_rate },
  });
  const state: Column<object> = { id: 'state', title: 'STATE', width: 11, value: () => 'succeeded' };
  const shown = (first: string, second: string) => {
    const rows = [row(first, 1), row(second, 2)];
    const onScreen = { state, nameWidth: { min: 10, max: 60, grow: 3 }, isRoomy: false };
    const columns = listColumns(
      rows,
      [0, 1],
      id => id,
      () => false,
      onScreen,
    );
    return fitColumns(columns, 34, {}, rows).map(({ column }) => column.id);
  };
  expect(shown('bench_1', 'bench_2')).toEqual(['name', 'state', 'benchmark']);
  expect(shown('bench_1', 'bench_1')).toEqual(['name', 'state', 'option.learning_rate']);
});
