import { describe, expect, it } from 'vitest';
import { cellText, fitColumns, withNamesCut } from '../../src/present/column.ts';
import { createArrange } from '../../src/present/rows.ts';
import { certaintyOf } from '../../src/queries/run-mean.ts';
import {
  branchOf,
  type KnownLineage,
  type TreeRow,
  treeColumns,
  treeRows,
  unfoldedRows,
} from '../../src/resources/tree.ts';
import { treeKey, treePlaceOf } from '../../src/resources/tree-place.ts';

const nothing: KnownLineage = {
  ...{ benchmarks: [], runs: [], training: [], deployments: [] },
  parts: new Map(),
  isBaseline: () => false,
};
const knownLineage: KnownLineage = {
  ...nothing,
  benchmarks: [{ bench_id: 'bench_1', label: 'words', description: '', eval_run_count: 2 } as never],
  runs: [
    {
      eval_run_id: 'evr_2',
      bench_id: 'bench_1',
      display_name: 'of step 6',
      parent_checkpoint_id: 'ckpt_6',
      training_run_id: 'trn_1',
      step: 6,
      reward_mean: 0.5,
      status: 'completed',
      created_at: '2026-01-03',
    },
    {
      eval_run_id: 'evr_1',
      bench_id: 'bench_1',
      display_name: 'base',
      reward_mean: 0.25,
      status: 'completed',
      created_at: '2026-01-01',
    },
  ] as never,
  training: [
    {
      training_run_id: 'trn_1',
      bench_id: 'bench_1',
      display_name: 'first',
      options: { lr: 0.1, seed: 1 },
      created_at: '2026-01-02',
    },
    {
      training_run_id: 'trn_2',
      bench_id: 'bench_1',
      display_name: 'second',
      options: { lr: 0.2, seed: 1 },
      parent_checkpoint_id: 'ckpt_6',
      created_at: '2026-01-04',
    },
  ] as never,
  deployments: [
    {
      deployment_id: 'dep_1',
      model_slug: 'mine',
      checkpoint_id: 'ckpt_6',
      is_active: true,
      role: 'production',
      status: 'DEPLOYED',
    },
    {
      deployment_id: 'dep_2',
      model_slug: 'other',
      checkpoint_id: 'ckpt_x',
      is_active: false,
      role: 'test',
      status: 'DEPLOYED',
    },
  ] as never,
  isBaseline: run => run.eval_run_id === 'evr_1',
};
const read: KnownLineage = {
  ...knownLineage,
  parts: new Map([
    [
      'trn_1',
      {
        checkpoints: [4, 6].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step })) as never,
        heldOut: [4, 6].map(step => ({ step, held_out_reward: step / 10 })) as never,
      },
    ],
  ]),
};

const drawn = (lineage: KnownLineage): string[] =>
  treeRows(lineage).map(({ path, kind, name, about }) => `${'-'.repeat(path.length)}${kind} ${name} ${about}`.trim());

describe('the tree', () => {
  it('places everything below its origin, with the options that differ and what answers now', () => {
    expect(drawn(read)).toEqual([
      'benchmark words 2 evaluations',
      '-run base baseline',
      '-training first best at step 6  lr 0.1',
      '--checkpoint step 4',
      '--checkpoint step 6 best',
      '---run of step 6 at step 6',
      '---deployment mine in production now',
      '---training second lr 0.2',
      'deployment other test  of ckpt_x',
    ]);
  });

  it('names the origin of a deployment while its branch is closed, if known', () => {
    const from_run = { training_run_id: 'trn_9', display_name: 'tutor', step: 40 };
    const deployments = knownLineage.deployments.map(each => ({ ...each, from_run })) as never;
    expect(drawn({ ...knownLineage, training: [], runs: [], deployments })).toContain(
      'deployment other test  of tutor step 40',
    );
  });

  it('shows in which model and number of steps training runs differ', () => {
    const training = ['tutor-base', 'clerk-small'].map((model, index) => ({
      ...{ training_run_id: `trn_${index}`, bench_id: 'bench_1', base_model_slug: model },
      options: { num_steps: 8 + index, seed: 1 },
    })) as never;
    expect(drawn({ ...nothing, benchmarks: knownLineage.benchmarks, training }).slice(1)).toEqual([
      '-training trn_0 steps 8  model tutor-base',
      '-training trn_1 steps 9  model clerk-small',
    ]);
  });

  it('says that a deployment may answer if that could not be read', () => {
    const deployment = { deployment_id: 'dep_1', role: 'test', unreadable_fields: { is_active: 1 } };
    const deployments = [deployment] as unknown as KnownLineage['deployments'];
    expect(drawn({ ...nothing, deployments })).toEqual(['deployment dep_1 may serve its slug now']);
  });

  it('knows an unread checkpoint from its evaluations', () => {
    expect(drawn(knownLineage)).toContain('--checkpoint step 6');
    expect(drawn(knownLineage)).not.toContain('--checkpoint step 4');
  });

  it('has the last and the best held-out reward of a training run, even before its branch is read', () => {
    const of = (lineage: KnownLineage) =>
      treeRows(lineage).flatMap(({ id, held_out, best_held_out }) =>
        id === 'trn_1' ? [held_out?.reward, best_held_out?.reward] : [],
      );
    const parts = new Map([
      ['trn_1', { checkpoints: [], heldOut: [0.7, 0.5].map((held_out_reward, step) => ({ step, held_out_reward })) }],
    ]);
    expect(of({ ...knownLineage, parts: parts as never })).toEqual([0.5, 0.7]);
    const point = (reward: number) => ({ step: 2, reward, samples: 8 });
    expect(of({ ...knownLineage, heldOutOf: () => ({ last: point(0.2), best: point(0.4) }) })).toEqual([0.2, 0.4]);
    expect(of(knownLineage)).toEqual([undefined, undefined]);
  });

  it('shows the number of samples of an incomplete held-out reward', () => {
    const counts = { step: 4, held_out_reward: 1, expected_samples: 100, completed_samples: 2, failed_samples: 98 };
    const checkpoints = [{ checkpoint_id: 'ckpt_4', step_index: 4 }];
    const rows = treeRows({
      ...knownLineage,
      parts: new Map([['trn_1', { checkpoints, heldOut: [counts] }]]) as never,
    });
    const column = treeColumns([0, 1]).find(({ id }) => id === 'held-out');
    const shown = (id: string) => column?.text?.(rows.find(row => row.id === id) as never);
    expect([shown('trn_1'), shown('ckpt_4'), shown('trn_2')]).toEqual(['1.00 n=2', '1.00 n=2', '']);
  });

  it('has the interval of each mean and held-out reward', () => {
    const rewards = Array.from({ length: 40 }, (_, index) => ({ task_id: `t${index}`, reward: index % 2 }));
    const certainty = certaintyOf(rewards, { status: 'completed', total: 40 });
    const runs = knownLineage.runs.map(run => ({ ...run, status: 'completed', reward_mean: 0.5, certainty }));
    const heldOut = [{ step: 6, held_out_reward: 0.6, expected_samples: 100, completed_samples: 100 }];
    const checkpoints = [{ checkpoint_id: 'ckpt_6', step_index: 6 }];
    const parts = new Map([['trn_1', { checkpoints, heldOut }]]) as never;
    const rows = treeRows({ ...knownLineage, runs, parts });
    const texts = (id: string) =>
      treeColumns([0, 1])
        .filter(column => column.id === id)
        .flatMap(column => rows.slice(1, 4).map(row => cellText(column, row)));
    expect(texts('interval')).toEqual(Array(3).fill(expect.stringMatching(/^0\.\d+\.\.0\.\d+$/)));
    // All rewards are counted.
    expect(texts('held-out')).toEqual(['0.500', '0.600', '0.600']);
  });

  it('cuts names, never the indentation that shows their parents', () => {
    const named = {
      ...knownLineage,
      training: knownLineage.training.map(run => ({ ...run, display_name: 'long-'.repeat(20) })),
    };
    const columns = treeColumns([0, 1], () => '+ ').slice(0, 1);
    const rows = treeRows(named);
    const [name] = withNamesCut(fitColumns(columns, 20, {}, rows), rows);
    const cut = rows.map(row => name?.cuts?.get(cellText(name.column, row)) ?? '');
    expect(cut.map(text => text.indexOf('+') / 2)).toEqual(rows.map(({ path }) => path.length));
    expect(cut.every(text => text.length <= 20)).toBe(true);
  });

  it('keeps the parents of a row that matches a filter, unless the rows are sorted', () => {
    const rows = treeRows(read);
    const arrange = createArrange(
      treeColumns([0, 1]),
      ({ key }) => key,
      ({ path }) => path,
    );
    const arranged = (filter: string, sort?: string) =>
      arrange(rows, { filter, sort: sort === undefined ? undefined : { column: sort, descending: false } });
    const found = (filter: string, sort?: string) => arranged(filter, sort).rows;
    const names = (shown: readonly TreeRow[]) => shown.map(({ name }) => name);
    expect(names(found('kind:evaluation'))).toEqual(['words', 'base', 'first', 'step 6', 'of step 6']);
    // The cursor begins on the first found row.
    expect(arranged('kind:evaluation').first).toBe(1);
    expect(arranged('kind:evaluation').matches).toBe(2);
    expect(names(found('kind:evaluation', 'name'))).toEqual(['base', 'of step 6']);
    expect(found('no such row')).toEqual([]);
    expect(found('')).toHaveLength(rows.length);
  });

  it('ends each list that was not read to its end with a line that says so', () => {
    const list = { read: 200, isReading: false };
    const rows = drawn({
      ...knownLineage,
      unread: [
        { kind: 'run', benchmark: 'bench_1', ...list },
        { kind: 'deployment', ...list, isReading: true },
      ],
    });
    expect(rows).toContain('-run … more, 200 read open to read more evaluations');
    expect(rows.at(-1)).toBe('deployment … more, 200 read reading…');
  });

  it('leaves nothing out and repeats nothing, even if runs continue each other in a circle', () => {
    const round = [1, 2].map(number => ({
      training_run_id: `trn_${number}`,
      bench_id: 'bench_1',
      parent_checkpoint_id: `ckpt_${3 - number}`,
    }));
    const parts = new Map(
      [1, 2].map(number => [
        `trn_${number}`,
        { checkpoints: [{ checkpoint_id: `ckpt_${number}`, step_index: 1 }] as never, heldOut: [] },
      ]),
    );
    const keys = treeRows({ ...knownLineage, runs: [], deployments: [], training: round as never, parts }).map(
      ({ key }) => key,
    );
    expect(keys.toSorted()).toEqual(
      ['benchmark bench_1', 'checkpoint ckpt_1', 'checkpoint ckpt_2', 'training trn_1', 'training trn_2'].toSorted(),
    );
  });

  it('folds child rows', () => {
    const rows = unfoldedRows(treeRows(read), key => key !== treeKey('training', 'trn_1'));
    expect(rows.map(({ name }) => name)).toEqual(['words', 'base', 'first', 'other']);
  });

  it('has a branch for each row: its parents and children', () => {
    const rows = branchOf(treeRows(read), treeKey('checkpoint', 'ckpt_6'));
    expect(rows?.map(({ name }) => name)).toEqual(['words', 'first', 'step 6', 'of step 6', 'mine', 'second']);
    expect(branchOf(treeRows(read), treeKey('run', 'evr_x'))).toBeUndefined();
  });
});

it('finds the place of a record', () => {
  const parentOf = ({ kind, id }: { kind: string; id: string }) =>
    kind === 'training' && id === 'trn_1' ? 'bench_1' : undefined;
  const at = (record: object, whole?: Parameters<typeof treePlaceOf>[1]) => treePlaceOf(record, whole, parentOf);
  expect(at({ eval_run_id: 'evr_2', bench_id: 'bench_1', training_run_id: 'trn_1' })).toEqual({
    ...{ view: 'tree', benchmark: 'bench_1', training: 'trn_1', at: 'run evr_2' },
  });
  expect(at({ checkpoint_id: 'ckpt_6' }, { kind: 'training', id: 'trn_1' })).toEqual({
    ...{ view: 'tree', benchmark: 'bench_1', training: 'trn_1', at: 'checkpoint ckpt_6' },
  });
  // A rollout does not name the training run of its evaluation.
  const evaluation = { kind: 'run', id: 'evr_2', record: { eval_run_id: 'evr_2', training_run_id: 'trn_1' } };
  expect(at({ trajectory_id: 'traj_1', eval_run_id: 'evr_2' }, evaluation)).toEqual({
    ...{ view: 'tree', benchmark: 'bench_1', training: 'trn_1', at: 'run evr_2' },
  });
  expect(at({ bench_id: 'bench_1' })).toEqual({ view: 'tree', benchmark: 'bench_1', at: 'benchmark bench_1' });
  expect(at({ secret_id: 'sec_1' })).toBeUndefined();
});
