/** Rewards that arrive after the end of a run reach each view with rewards, even if its mean does not change. */
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from './scripted-world.tsx';
import '../../../src/ui/views/tasks/tasks.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

const [early, other] = [
  { id: 'evr_0', name: 'early' },
  { id: 'evr_1', name: 'baseline' },
];
const scope = { run: 'evr_1' };

it.each<readonly [string, Place, RegExp, RegExp]>([
  [
    'a comparison',
    { view: 'compare', base: early, new: other },
    / 1\.00 over 3 tasks/,
    /new +baseline.* 0\.375 over 8 tasks/,
  ],
  [
    'a grid',
    { view: 'compare-many', runs: [early, other], base: early.id },
    /baseline +B +1\.00/,
    /baseline +B +0\.375/,
  ],
  ['the tasks', { view: 'tasks', scope }, /3 of 8 rollouts have a reward/, /passed 37\.5%/],
])('for a run that ends while %s is on screen', async (_, place, before, after) => {
  startVirtualTime();
  const run = world();
  let graded = 3;
  const rewardOf = (index: number) => ({ reward: index < 3 ? 1 : 0, trajectory_id: `t${index}`, task_id: `k${index}` });
  const all = Array.from({ length: 8 }, (_, index) => rewardOf(index));
  Object.assign(run.answers, {
    getEvalRun: ({ eval_run_id }) => ({ eval_run_id, bench_id: 'bench_1', status: statusOf(eval_run_id) }),
    getEvalProgress: ({ eval_run_id }) => ({ eval_run_id, status: statusOf(eval_run_id), total_rollouts: 8 }),
    getTrajectoryRewards: ({ eval_run_id }) => ({
      trajectory_rewards: eval_run_id === 'evr_0' ? all : all.slice(0, graded),
    }),
    listTrajectories: () =>
      pageOf(all.map((row, index) => ({ ...row, status: 'completed', ...(index >= graded && { reward: null }) }))),
  } satisfies Partial<typeof run.answers>);
  const statusOf = (id = ''): string => (id === 'evr_0' ? 'completed' : run.status);
  const screen = openWorld(run, place, { poll: { focusedMs: 2_000, visibleMs: 10_000 } });
  await passing(screen.waitFor(text => before.test(text)));
  run.status = 'completed';
  await pass(40_000);
  graded = 8;
  await pass(60_000);
  expect(screen.text()).toMatch(after);
});
