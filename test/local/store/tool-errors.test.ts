/** The tool error of a rollout in lists, which have no messages. */
import { expect, it } from 'vitest';
import { lastToolError } from '../../../src/contract/tool-error.ts';
import { trajectory } from '../../../src/contract/trajectories.ts';
import { readUploaded } from '../../../src/local/server/uploaded-trajectory.ts';
import { outcomeClasses, toolErrorOf } from '../../../src/present/outcome-classes.ts';
import { newEvaluation, rollout, storesInMemory } from './memory.ts';

const failing = (...errors: (string | null)[]) =>
  errors.map((error, step_index) => ({
    ...{ step_index, has_error: error !== null },
    messages: [{ role: 'tool', name: 'store', tool_response: error ?? 'tea: two', is_error: error !== null }],
  }));

it.each([
  ['a tool response', { is_error: true, tool_response: 'no tea' }, 'no tea'],
  ['text', { is_error: 'true', content: 'no tea' }, 'no tea'],
  ['parts', { is_error: true, content: [{ type: 'text', text: 'no tea' }] }, 'no tea'],
  ['a result among the parts', { content: [{ type: 'tool_result', is_error: true, content: 'no tea' }] }, 'no tea'],
  ['nothing', { is_error: true }, 'no text'],
  ['a result without an error', { is_error: false, content: 'tea' }, undefined],
])('is read from %s', (_, message, words) => {
  expect(lastToolError([message])).toBe(words);
  expect(toolErrorOf({ trajectory_id: 'a', steps: [{ messages: [message] }] } as never)).toBe(words);
});

it('is that of the last failed call, and counts rollouts by it', () => {
  const { stores, organizationId } = storesInMemory();
  const { evaluations, trajectories } = stores;
  const { eval_run_id } = evaluations.create(organizationId, newEvaluation);
  evaluations.setStatus(eval_run_id, 'running');
  evaluations.record(eval_run_id, [
    { ...rollout('one'), steps: failing('there is no tea', 'times needs 2 numbers', null) },
    { ...rollout('two'), steps: failing('times needs 3 numbers') },
    { ...rollout('three'), steps: failing(null) },
  ]);
  const rows = trajectories.list(organizationId, { eval_run_id }).items.map(row => trajectory.parse(row));
  const errors = outcomeClasses(rows).filter(({ by }) => by === 'tool');
  expect(errors.map(({ value, rows: of }) => [value, of.length])).toEqual([
    ['times needs N numbers', 2],
    [undefined, 1],
  ]);
});

it('follows the steps of an open trajectory, and makes no new one of an export', () => {
  const { stores, organizationId } = storesInMemory();
  const { trajectories } = stores;
  const id = trajectories.add({ organization_id: organizationId, source: 'live', status: 'running', steps: [] });
  const error = () => trajectories.list(organizationId, {}).items[0]?.tool_error;
  expect(error()).toBeNull();
  for (const step of failing('no tea', null)) trajectories.addStep(id, 'm', step);
  expect(error()).toBe('no tea');
  const item = { steps: failing('no tea'), reward: 1 };
  expect(readUploaded({ ...item, tool_error: 'no tea' }, 0)).toEqual(readUploaded(item, 0));
});
