/** Answers in a list of rollouts: of those already read, and of visible rows if the column is on. */
import { expect, it } from 'vitest';
import { trajectories } from '../../../../src/resources/trajectories.ts';
import { pageOf } from '../../../queries/scripted-service.ts';
import { openWorld, world } from '../../program/scripted-world.tsx';

const rollouts = Array.from({ length: 60 }, (_, index) => ({
  ...{ trajectory_id: `traj_${index}`, task_id: `task-${index}`, status: 'completed', reward: index / 60 },
  ...{ num_steps: 1, eval_run_id: 'evr_1' },
}));

function open() {
  const service = world('completed');
  service.answers.listTrajectories = () => pageOf(rollouts);
  service.answers.getTrajectory = ({ trajectory_id: id }) => ({
    ...rollouts.find(({ trajectory_id }) => trajectory_id === id),
    steps: [{ step_index: 0, messages: [{ role: 'assistant', content: `said by ${id}` }] }],
  });
  const place = { view: 'list', resource: 'trajectories', scope: { run: 'evr_1' } } as const;
  const screen = openWorld(service, place, { columns: 200 });
  return { screen, read: () => service.asked('getTrajectory') };
}

it('reads those of the visible rows once the column is picked, and says so', async () => {
  const { screen, read } = open();
  await screen.waitFor('task-20');
  expect(screen.text()).not.toContain('ANSWER');
  await screen.press('C');
  const before = trajectories.columns.findIndex(({ id }) => id === 'answer');
  for (let at = 0; at < before; at += 1) await screen.press('down');
  await screen.press('space');
  await screen.press('esc');
  await screen.waitFor('said by traj_20');
  await screen.waitFor(' of 60 rollouts are known: visible rows are read');
  expect(read()).toBeLessThan(40);
  await screen.type('/answer:traj_20\r');
  await screen.waitFor(text => /ANSWER unread in \d+ of 60 rows/.test(text) && !text.includes('said by traj_19'));
  expect(screen.text()).toContain('said by traj_20');
});

it('has those of all rollouts after a search, without more requests', async () => {
  const { screen, read } = open();
  await screen.waitFor('task-20');
  await screen.type('//nothing\r');
  await screen.waitFor('searched 60 of 60');
  const after = read();
  await screen.press('esc');
  await screen.waitFor('said by traj_20');
  // The preview may have read one.
  expect(read() - after).toBeLessThanOrEqual(1);
});

it.each(['f', 'V', 'L'])('has those of the list in the view that %s opens with its filter (B5)', async key => {
  const { screen } = open();
  await screen.waitFor('task-20');
  await screen.type('//nothing\r');
  await screen.waitFor('searched 60 of 60');
  await screen.press('esc');
  await screen.waitFor('said by traj_20');
  await screen.type('/answer:traj_20\r');
  await screen.waitFor(text => !text.includes('said by traj_19'));
  await screen.type(key);
  await screen.waitFor('Only the 1 of 60 rollouts that match /answer:traj_20');
});
