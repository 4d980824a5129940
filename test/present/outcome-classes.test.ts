/** How rollouts ended, in classes. */
import { expect, it } from 'vitest';
import { fitColumns } from '../../src/present/column.ts';
import { differingWords, errorClass, finishOf, inClass, outcomeClasses } from '../../src/present/outcome-classes.ts';
import { createArrange } from '../../src/present/rows.ts';
import { outcomeColumns, outcomeFacts } from '../../src/resources/outcomes.ts';
import { trajectories } from '../../src/resources/trajectories.ts';

it.each([
  ['ToolError: exit 3 after 12.5 s', 'ToolError: exit N after N s'],
  ['no such run evr_9f31Ab, retry in 3', 'no such run ID, retry in N'],
  ['object 7f3a99c01b is gone\nat line 3', 'object ID is gone'],
  ['request 123e4567-e89b-12d3-a456-426614174000 failed', 'request ID failed'],
  ['Connection refused', 'Connection refused'],
  [`no "fine saw" at 'the shop' or \`here\``, `no "…" at '…' or \`…\``],
  ["it can't be: the users' saws", "it can't be: the users' saws"],
  ['the_name of a tool is no id', 'the_name of a tool is no id'],
])('removes ids and numbers from %j', (error, words) => {
  expect(errorClass(error)).toBe(words);
});

it('looks for the reason of the last answer once in each trajectory', () => {
  let reads = 0;
  const step = {
    get messages() {
      reads += 1;
      return [{ role: 'assistant', finish_reason: 'length' }, { role: 'tool' }];
    },
  };
  const trajectory = { trajectory_id: 'long', steps: [step, step, step] };
  expect([finishOf(trajectory), finishOf(trajectory)]).toEqual(['length', 'length']);
  expect(reads).toBe(3);
});

const rows = [
  { trajectory_id: 'a', status: 'completed', reward: 1, num_steps: 3, rollout: { termination_reason: 'ENV_DONE' } },
  { trajectory_id: 'b', status: 'completed', reward: 0, num_steps: 9, rollout: { termination_reason: 'MAX_STEPS' } },
  { trajectory_id: 'c', status: 'failed', error: 'ToolError: 3', num_steps: 1 },
  { trajectory_id: 'd', status: 'FAILED', error: 'ToolError: 44', num_steps: 1 },
];

it('counts each class with its share and mean reward, none last', () => {
  const classes = outcomeClasses(rows).map(({ by, value, rows: of, share, mean, scores }) => [
    ...[by, value ?? 'none', of.length, share, mean, scores.length],
  ]);
  expect(classes).toEqual([
    ['status', 'failed', 2, 0.5, undefined, 0],
    ['status', 'completed', 2, 0.5, 0.5, 2],
    ['error', 'ToolError: N', 2, 0.5, undefined, 0],
    ['error', 'none', 2, 0.5, 0.5, 2],
    ['ended', 'ENV_DONE', 1, 0.25, 1, 1],
    ['ended', 'MAX_STEPS', 1, 0.25, 0, 1],
    ['ended', 'none', 2, 0.5, undefined, 0],
    ['steps', '1', 2, 0.5, undefined, 0],
    ['steps', '3', 1, 0.25, 1, 1],
    ['steps', '9', 1, 0.25, 0, 1],
  ]);
});

it('merges errors that differ only in a name, but not in the last word (B13)', () => {
  const errors = [
    ...['hammer', 'saw', 'lamp', 'saw'].map(name => `there is no ${name} in the store`),
    ...['hammer', 'saw'].map(name => `${name} is no longer in the store`),
    ...['refused', 'reset', 'closed'].map(cause => `the connection to it was ${cause}`),
  ];
  const rollouts = errors.map((tool_error, index) => ({ trajectory_id: `t${index}`, tool_error }));
  const classes = outcomeClasses(rollouts).map(({ value, rows: of }) => [value, of.length]);
  expect(classes).toEqual([
    ['there is no … in the store', 4],
    ['hammer is no longer in the store', 1],
    ['saw is no longer in the store', 1],
    ['the connection to it was refused', 1],
    ['the connection to it was reset', 1],
    ['the connection to it was closed', 1],
  ]);
  // The word may be the cause (attack34 B7).
  const [named] = outcomeClasses(rollouts);
  expect(named && differingWords(named)).toEqual([
    ['saw', 2],
    ['hammer', 1],
    ['lamp', 1],
  ]);
  expect(named && outcomeFacts(named)[1]).toEqual({ label: 'differ in', value: 'saw 2, hammer 1, lamp 1' });
  const many = outcomeClasses(rollouts.map(row => ({ ...row, finish_reason: 'stop', reward: 1 })));
  const widthOf = (room: number, wanted: string) =>
    fitColumns(
      outcomeColumns,
      room,
      {},
      many,
      new Map([
        ['class', 60],
        ['by', 13],
        ['by short', 6],
      ]),
    ).find(({ column }) => column.id === wanted)?.width;
  // The words of BY are cut short before a class is cut.
  expect([widthOf(55, 'by'), widthOf(55, 'class')]).toEqual([6, 26]);
  expect([widthOf(160, 'by'), widthOf(160, 'rewards')]).toEqual([13, 7]);
});

it('shows numbers of steps in order', () => {
  const numbers = (counts: readonly number[]) =>
    outcomeClasses(counts.map((num_steps, at) => ({ trajectory_id: `t${at}`, num_steps }))).map(({ value }) => value);
  expect(numbers([10, 10, 10, 2, 2, 3])).toEqual(['2', '3', '10']);
});

it('treats a negative number of steps as unknown (C6)', () => {
  const classes = outcomeClasses([-1, 0, 2].map((num_steps, at) => ({ trajectory_id: `t${at}`, num_steps })));
  expect(classes.map(({ by, value }) => [by, value])).toEqual([
    ['steps', '0'],
    ['steps', '2'],
    ['steps', undefined],
  ]);
});

it('groups many different numbers of steps', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({ trajectory_id: `t${index}`, num_steps: index }));
  expect(outcomeClasses(many).map(({ value, rows: of }) => [value, of.length])).toEqual([
    ['0', 1],
    ['1', 1],
    ['2-3', 2],
    ['4-7', 4],
    ['8-15', 8],
    ['16-31', 4],
  ]);
});

it.each([
  ['MAX_STEPS', ['b']],
  ['ended:max_steps', ['b']],
  ['class:"ToolError: N"', ['c', 'd']],
  ['steps>2', ['a', 'b']],
])('filters the list: %s', (filter, ids) => {
  const arranged = createArrange(trajectories.columns, row => row.trajectory_id)(rows, { filter, sort: undefined });
  expect(arranged.ids).toEqual(ids);
});

it('still finds the rollouts of a class after more rollouts have changed its name (out30 B5)', () => {
  const errors = ['hammer', 'saw', 'drill'].map(tool => `there is no ${tool} in the store`);
  const missing = errors.map((error, index) => ({ trajectory_id: `e${index}`, error, num_steps: index + 4 }));
  const long = Array.from({ length: 12 }, (_, index) => ({ trajectory_id: `l${index}`, num_steps: index }));
  const few = missing.slice(0, 2);
  const many = [...missing, ...long];
  const found = (all: typeof many, by: 'error' | 'steps', value: string | undefined) =>
    all.filter(inClass(all, { by, value })).map(({ trajectory_id }) => trajectory_id);
  for (const all of [few, many]) {
    expect(found(all, 'error', errors[0])).toEqual(['e0']);
    expect(found(all, 'steps', '5')).toEqual(all === few ? ['e1'] : ['e1', 'l5']);
    expect(found(all, 'error', 'there is no … in the store')).toEqual(
      all.filter(row => 'error' in row).map(row => row.trajectory_id),
    );
  }
  expect(found(few, 'steps', '4-7')).toEqual(['e0', 'e1']);
  expect(found(many, 'error', undefined)).toEqual(long.map(({ trajectory_id }) => trajectory_id));
});
