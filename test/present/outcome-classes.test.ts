/** How rollouts ended, in classes. */
import { expect, it } from 'vitest';
import { errorClass, finishOf, outcomeClasses } from '../../src/present/outcome-classes.ts';
import { createArrange } from '../../src/present/rows.ts';
import { trajectories } from '../../src/resources/trajectories.ts';

it.each([
  ['ToolError: exit 3 after 12.5 s', 'ToolError: exit N after N s'],
  ['no such run evr_9f31Ab, retry in 3', 'no such run ID, retry in N'],
  ['object 7f3a99c01b is gone\nat line 3', 'object ID is gone'],
  ['request 123e4567-e89b-12d3-a456-426614174000 failed', 'request ID failed'],
  ['Connection refused', 'Connection refused'],
  ['the_name of a tool is no id', 'the_name of a tool is no id'],
])('takes ids and numbers out of %j', (error, words) => {
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

it('counts each class with its share and the mean of its rewards, none last', () => {
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

it('shows numbers of steps in their order', () => {
  const numbers = (counts: readonly number[]) =>
    outcomeClasses(counts.map((num_steps, at) => ({ trajectory_id: `t${at}`, num_steps }))).map(({ value }) => value);
  expect(numbers([10, 10, 10, 2, 2, 3])).toEqual(['2', '3', '10']);
});

it('takes a number of steps below zero for unknown (C6)', () => {
  const classes = outcomeClasses([-1, 0, 2].map((num_steps, at) => ({ trajectory_id: `t${at}`, num_steps })));
  expect(classes.map(({ by, value }) => [by, value])).toEqual([
    ['steps', '0'],
    ['steps', '2'],
    ['steps', undefined],
  ]);
});

it('puts many different numbers of steps together', () => {
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
])('is a filter of the list: %s', (filter, ids) => {
  const arranged = createArrange(trajectories.columns, row => row.trajectory_id)(rows, { filter, sort: undefined });
  expect(arranged.ids).toEqual(ids);
});
