/** The rollouts of a run on a service whose rows name no run, and whose rewards may arrive after the rows. */
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from './scripted-world.tsx';

const rowsOf = (run: string) =>
  ['completed', 'failed', 'completed'].map((status, index) => ({
    trajectory_id: `${run}-r${index}`,
    task_id: `${run}-task${index}`,
    status,
    reward: status === 'failed' ? null : index / 2,
  }));
const rewardsOf = (run: string) =>
  rowsOf(run).flatMap(({ trajectory_id, task_id, reward }) =>
    reward === null ? [] : [{ trajectory_id, task_id, reward }],
  );

it('shows those of a run without rewards yet, and of other runs before and after', async () => {
  const service = world('running');
  const isOver = (run: unknown): boolean => run !== 'evr_1' || service.status === 'completed';
  const runOf = (run: unknown) => ({ eval_run_id: run, status: isOver(run) ? 'completed' : 'running' });
  service.answers.getEvalRun = ({ eval_run_id }) => runOf(eval_run_id);
  service.answers.getEvalProgress = ({ eval_run_id }) => ({ ...runOf(eval_run_id), total_rollouts: 3 });
  service.answers.listTrajectories = (_, query) => pageOf(rowsOf(String(query?.['eval_run_id'])));
  service.answers.getTrajectoryRewards = ({ eval_run_id = '' }) => ({
    trajectory_rewards: isOver(eval_run_id) ? rewardsOf(eval_run_id) : [],
  });
  const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
  const showsAll = (run: string) => screen.waitFor(text => rowsOf(run).every(row => text.includes(row.task_id)));
  const doubts = /may be unrelated|lists other runs|do not fit/;
  await showsAll('evr_1');
  await screen.waitFor('3 rows may be unrelated');
  await screen.type(':run evr_2\r');
  await showsAll('evr_2');
  await screen.waitFor('✗ failed');
  expect(screen.text()).not.toMatch(doubts);
  await screen.type(':run evr_1\r');
  await showsAll('evr_1');
  service.status = 'completed';
  await screen.waitFor(text => /mean 0\.500/.test(text) && !doubts.test(text));
  await showsAll('evr_1');
  expect(screen.text()).toContain('✗ failed');
});

it('keeps those of a completed run whose rewards are late, and is final once they arrive', async () => {
  const service = world('completed');
  let read = 1;
  service.answers.getEvalProgress = () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 });
  service.answers.listTrajectories = () => pageOf(rowsOf('evr_1'));
  service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: rewardsOf('evr_1').slice(0, read) });
  const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
  await screen.waitFor('rows may be unrelated');
  for (const { task_id } of rowsOf('evr_1')) expect(screen.text()).toContain(task_id);
  expect(screen.text()).not.toMatch(/do not fit|final/);
  read = 2;
  await screen.waitFor(text => text.includes('final') && !text.includes('may be unrelated'));
  expect(screen.text()).toMatch(/over 2 rewards/);
});

const view = { view: 'record', resource: 'runs', id: 'evr_1' } as const;

it('reads the mean of a completed run again until it includes late rewards', async () => {
  const service = world('completed');
  let late = true;
  const rows = rowsOf('evr_1').map((row, index) => ({
    ...row,
    eval_run_id: 'evr_1',
    status: 'completed',
    reward: index / 4,
  }));
  const record = () => ({ eval_run_id: 'evr_1', status: 'completed', reward_mean: late ? 0.125 : 0.25 });
  service.answers.getEvalRun = record;
  service.answers.getEvalProgress = () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 });
  service.answers.listTrajectories = () => pageOf(rows);
  let rewards = rows.slice(0, 2);
  service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: rewards });
  const screen = openWorld(service, view);
  await screen.waitFor('mean 0.125 over 2 rewards');
  rewards = rows;
  await screen.waitFor('mean 0.125 (0.250 by the 3 rewards listed)');
  late = false;
  await screen.waitFor(text => text.includes('final') && text.includes('mean 0.250 over 3 rewards'));
});

describe('on a service without means, a run with fewer rewards than rollouts', () => {
  function ended(completed_at: string, count = 2) {
    const service = world('completed');
    service.answers.getEvalRun = () => ({ eval_run_id: 'evr_1', status: 'completed', completed_at });
    service.answers.getEvalProgress = () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 });
    const rewards = rowsOf('evr_1').map((row, index) => ({ ...row, reward: index / 4 }));
    const late = { isThere: false };
    service.answers.getTrajectoryRewards = () => ({
      trajectory_rewards: late.isThere ? rewards : rewards.slice(0, count),
    });
    const open = () => openWorld(service, view, { poll: { focusedMs: 5, visibleMs: 10 } });
    return { service, late, open };
  }
  const [now, longAgo] = [new Date().toISOString(), '2026-03-04T05:06:07Z'];

  it('is read again until the late rewards arrive', async () => {
    const { late, open } = ended(now);
    const screen = open();
    await screen.waitFor('mean 0.125 over 2 rewards');
    expect(screen.text()).not.toContain('final');
    late.isThere = true;
    await screen.waitFor(text => text.includes('final') && text.includes('mean 0.250 over 3 rewards'));
  });

  it.each([
    { name: 'after several reads that changed nothing, if it has just ended', at: now, reads: [6, 7] },
    // The clock of the service may be behind.
    { name: 'after several reads, if it seems to have ended long ago', at: longAgo, reads: [6, 7] },
    { name: 'at once, if it has all rewards', at: now, count: 3, reads: [1, 2] },
  ])('is final $name', async ({ at, count, reads }) => {
    const { service, open } = ended(at, count);
    await open().waitFor('final');
    // Twice before it changes nothing if the first read did not know of the end.
    expect(reads).toContain(service.asked('getTrajectoryRewards'));
  });
});

it('is final if a reward without a trajectory may belong to the row without one', async () => {
  const service = world('completed');
  const rows = rowsOf('evr_1').map(row => ({ ...row, eval_run_id: 'evr_1' }));
  const [first, , last] = rows;
  service.answers.getEvalProgress = () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 });
  service.answers.listTrajectories = () => pageOf(rows);
  service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: [first, { ...last, trajectory_id: null }] });
  const screen = openWorld(service, view);
  await screen.waitFor('final');
  // Twice if the first read did not know of the end.
  expect([1, 2]).toContain(service.asked('getTrajectoryRewards'));
});

it('is final after several reads of rows that do not match the rewards, without a change', async () => {
  const service = world('completed');
  const rows = ['evr_1', 'evr_2', 'evr_3'].flatMap(rowsOf);
  service.answers.getEvalProgress = () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 3 });
  service.answers.listTrajectories = () => pageOf(rows);
  service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: rewardsOf('evr_1') });
  const screen = openWorld(service, view, { poll: { focusedMs: 5, visibleMs: 10 } });
  await screen.waitFor(text => text.includes('do not fit the rewards of this run') && text.includes('final'));
  expect(service.asked('getTrajectoryRewards')).toBeGreaterThan(3);
});
