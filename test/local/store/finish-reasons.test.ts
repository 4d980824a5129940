/** The finish reason of a rollout in lists, which have no messages. */
import { expect, it } from 'vitest';
import { trajectory } from '../../../src/contract/trajectories.ts';
import { readUploaded } from '../../../src/local/server/uploaded-trajectory.ts';
import { outcomeClasses } from '../../../src/present/outcome-classes.ts';
import { trajectoryFacts } from '../../../src/resources/trajectories.ts';
import { newEvaluation, rollout, storesInMemory } from './memory.ts';

const answered = (...reasons: string[]) =>
  reasons.map((finish_reason, step_index) => ({ step_index, messages: [{ role: 'assistant', finish_reason }] }));

it('is that of the last answer, and counts rollouts by it (B4)', () => {
  const { stores, organizationId } = storesInMemory();
  const { evaluations, trajectories } = stores;
  const { eval_run_id } = evaluations.create(organizationId, newEvaluation);
  evaluations.setStatus(eval_run_id, 'running');
  evaluations.record(eval_run_id, [
    { ...rollout('one'), steps: answered('tool_calls', 'length') },
    { ...rollout('two'), steps: answered('length') },
    { ...rollout('three'), steps: answered('content_filter') },
  ]);
  const rows = trajectories.list(organizationId, { eval_run_id }).items.map(row => trajectory.parse(row));
  const finishes = outcomeClasses(rows).filter(({ by }) => by === 'finish');
  expect(finishes.map(({ value, rows: of }) => [value, of.length])).toEqual([
    ['length', 2],
    ['content_filter', 1],
  ]);
});

it('follows the steps of an open trajectory', () => {
  const { stores, organizationId } = storesInMemory();
  const { trajectories } = stores;
  const id = trajectories.add({ organization_id: organizationId, source: 'live', status: 'running', steps: [] });
  const finish = () => trajectories.list(organizationId, {}).items[0]?.finish_reason;
  expect(finish()).toBeNull();
  trajectories.addStep(id, 'm', { messages: [{ role: 'assistant', finish_reason: 'stop' }] });
  expect(finish()).toBe('stop');
});

it('makes no new trajectory of an export, and keeps its own reason', () => {
  const item = { steps: answered('stop'), reward: 1 };
  expect(readUploaded({ ...item, finish_reason: 'stop' }, 0)).toEqual(readUploaded(item, 0));
  expect(readUploaded({ ...item, steps: answered(''), finish_reason: null }, 0)).toEqual(
    readUploaded({ ...item, steps: answered('') }, 0),
  );
  const { stores, organizationId } = storesInMemory();
  const other = readUploaded({ ...item, finish_reason: 'max_turns' }, 0);
  stores.database.transaction(() => stores.trajectoryUploads.store(organizationId, 'mine', [other]));
  expect(stores.trajectories.list(organizationId, {}).items).toMatchObject([{ finish_reason: 'max_turns' }]);
});

it('is shown with the length of an answer that was cut off, which is the limit', () => {
  const message = (finish_reason: string) => ({ role: 'assistant', finish_reason, completion_tokens: 16 });
  const factOf = (...reasons: string[]) =>
    trajectoryFacts(
      trajectory.parse({ trajectory_id: 'traj_1', steps: [{ step_index: 0, messages: reasons.map(message) }] }),
    ).find(({ label }) => label === 'finish')?.value;
  expect([factOf('length'), factOf('length', 'stop')]).toEqual(['length, after 16 tokens', 'stop']);
});
