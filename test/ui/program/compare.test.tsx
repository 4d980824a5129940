/** Two runs side by side on screen: which is the base, and which is better. */
import { expect, it, onTestFinished } from 'vitest';
import { fakeService } from '../../service/fake-service.ts';
import { openProgram } from './rig.tsx';

const oldAndNew = { base: { id: 'evr_old', name: 'before' }, new: { id: 'evr_new', name: 'after' } };

function twoRuns(
  { columns = 120, ...runs }: typeof oldAndNew & { readonly columns?: number } = oldAndNew,
  statusOf: (run: string) => string = () => 'completed',
  heldOutSplit?: string,
) {
  const rewards = { evr_old: 0.2, evr_new: 0.8 } as const;
  const service = fakeService({
    getEvalProgress: ({ params: { eval_run_id } }) => ({
      eval_run_id: String(eval_run_id),
      status: statusOf(String(eval_run_id)),
      terminal_rollouts: 30,
      total_rollouts: 30,
    }),
    ...(heldOutSplit && {
      getEvalRun: ({ params: { eval_run_id } }) => ({
        eval_run_id,
        split: 'test',
        ...(eval_run_id === 'evr_new' && { parent_checkpoint_id: 'ckpt_1', training_run_id: 'trn_1' }),
      }),
      getHeldOutRewards: () => ({ held_out_rewards: [{ step: 1, split: heldOutSplit, held_out_reward: 0.8 }] }),
    }),
    getTrajectoryRewards: ({ params }) => {
      const run = params.eval_run_id as keyof typeof rewards;
      const of = (task: number) => ({ task_id: `task ${task}`, trajectory_id: `traj_${run}_${task}` });
      return {
        trajectory_rewards: Array.from({ length: 30 }, (_, task) => ({
          ...of(task),
          reward: rewards[run] + task / 1000,
        })),
      };
    },
  });
  const start = { view: 'compare', ...runs } as const;
  const { screen, close } = openProgram({ service, start, columns, rows: 30 });
  onTestFinished(close);
  return { screen };
}

it('shows which run is better, and swaps the two', async () => {
  const { screen } = twoRuns();
  await screen.waitFor('The new run is better');
  expect(screen.text()).toMatch(/base +before +0\.215 over 30 tasks/);
  expect(screen.text()).toMatch(/TASK +BASE +NEW +DIFF/);
  expect(screen.text()).toContain('<v> swap');
  await screen.press('v');
  await screen.waitFor('The new run is worse');
  expect(screen.text()).toMatch(/base +after +0\.815 over 30 tasks/);
});

it('takes the run marked first as the base if no record has a time', async () => {
  const service = fakeService({
    listEvalRuns: () => ['evr_1', 'evr_2', 'evr_3'].map(eval_run_id => ({ eval_run_id, bench_id: 'b1' })),
    getTrajectoryRewards: ({ params }) => ({
      trajectory_rewards: [{ task_id: 'task', trajectory_id: `traj_${params.eval_run_id}`, reward: 0.5 }],
    }),
  });
  const start = { view: 'list', resource: 'runs', scope: { benchmark: 'b1' } } as const;
  const { screen, close } = openProgram({ service, start, columns: 120, rows: 30 });
  onTestFinished(close);
  await screen.waitFor('evr_3');
  await screen.press('G');
  await screen.press(' ');
  await screen.press('g');
  await screen.press(' ');
  await screen.press('=');
  await screen.waitFor('The start times are unknown: v swaps');
  expect(screen.text()).toMatch(/base +evr_3 .*\n.*new +evr_1 /);
  await screen.press('v');
  await screen.waitFor(text => /base +evr_1 /.test(text));
  expect(screen.text()).not.toContain('not known');
});

it.each([120, 60])('tells many runs with long names apart in the picker of the other, in %i columns', async columns => {
  const listed = Array.from({ length: 40 }, (_, index) => ({
    eval_run_id: `evr_${index}`,
    bench_id: 'b1',
    display_name: `sweep-with-a-long-name-${'0'.repeat(80)}-${index}`,
    status: 'completed',
    reward_mean: index / 100,
    reward_count: 4,
    total_rollouts: 4,
    ...(index > 0 && { parent_checkpoint_id: `ckpt_${index}`, step: index }),
  }));
  const service = fakeService({ listEvalRuns: () => listed });
  const start = { view: 'list', resource: 'runs', scope: { benchmark: 'b1' } } as const;
  const { screen, close } = openProgram({ service, start, columns, rows: 20 });
  onTestFinished(close);
  await screen.waitFor('▸');
  await screen.press('=');
  await screen.waitFor(text => / 1\/39 *│/.test(text));
  expect(screen.text()).toMatch(/sweep-.*…0+-1 +step 1 +0\.0100/);
  expect(screen.text()).toMatch(/sweep-.*…0+-7 +step 7 +0\.0700/);
  await screen.press('end');
  await screen.waitFor(text => / 39\/39 *│/.test(text) && /…0+-39 +step 39 +0\.390/.test(text));
});

it('names both runs in the crumbs, if there is room (X20)', async () => {
  const { screen } = twoRuns();
  await screen.waitFor('before vs after');
});

it.each(['test', 'validation'])(
  'says that its held-out curve may have chosen the new run, if of the %s tasks',
  async split => {
    const { screen } = twoRuns(oldAndNew, () => 'completed', split);
    const caution = 'The new run is optimistic if';
    const isSaid = (text: string): boolean => text.includes(caution) === (split === 'test');
    await screen.waitFor(text => text.includes('The new run is better') && isSaid(text));
    expect(screen.text()).not.toContain('he base run is optimistic');
  },
);

it('decides and is final once both runs have ended, as the total of a running one may count only what has begun', async () => {
  let status = 'running';
  const { screen } = twoRuns(oldAndNew, run => (run === 'evr_new' ? status : 'completed'));
  await screen.waitFor(text => text.includes('the new run is still running') && text.includes('live, read every'));
  status = 'completed';
  await screen.waitFor(text => text.includes('The new run is better') && text.includes('● final'));
});

it('opens the lowest rollout, that of the other run, and those of the next tasks (R1)', async () => {
  const rewards = { evr_old: [1, 1, 0], evr_new: [1, 0, 0.5] } as const;
  const service = fakeService({
    getTrajectoryRewards: ({ params }) => {
      const run = params.eval_run_id as keyof typeof rewards;
      return {
        trajectory_rewards: ['lost', 'next'].flatMap((task_id, task) =>
          rewards[run].slice(task, task + 2).map((reward, index) => ({
            task_id,
            trajectory_id: `traj_${run}_${task_id}_${index}`,
            reward,
          })),
        ),
      };
    },
    getTrajectory: ({ params }) => ({
      trajectory_id: String(params.trajectory_id),
      status: 'completed',
      steps: [{ step_index: 0, messages: [{ role: 'user', content: `this is ${params.trajectory_id}` }] }],
    }),
  });
  const start = { view: 'compare', base: { id: 'evr_old', name: 'old' }, new: { id: 'evr_new', name: 'new' } } as const;
  const { screen, close } = openProgram({ service, start, columns: 160, rows: 30 });
  onTestFinished(close);
  await screen.waitFor(text => /▸ lost +1\.00 +0\.500 +-0\.500 +2, 2/.test(text));
  await screen.press('enter');
  await screen.waitFor('this is traj_evr_new_lost_1');
  await screen.press(']');
  // Its means are 0.5 and 0.25: the new run lost it too.
  await screen.waitFor('this is traj_evr_new_next_0');
  expect(screen.text()).toContain('2/2');
  await screen.press('[');
  await screen.waitFor('this is traj_evr_new_lost_1');
  await screen.press('=', ']');
  await screen.waitFor('task 2/2');
  await screen.press('esc');
  // The reader of the task last seen side by side.
  await screen.waitFor(text => text.includes('this is traj_evr_new_next_0') && !text.includes('traj_evr_old'));
  await screen.press('[');
  await screen.waitFor('this is traj_evr_new_lost_1');
  await screen.resize(80, 24);
  await screen.waitFor('<tab> other run  <=> side by side');
  await screen.press('esc');
  await screen.waitFor('▸ lost');
  await screen.press('b');
  await screen.waitFor('this is traj_evr_old_lost_0');
  await screen.press(']');
  // The best of the run that won.
  await screen.waitFor('this is traj_evr_old_next_0');
});

it('reaches each pair of rollouts of a task side by side, and says that [ and ] skip ties (out24 B19)', async () => {
  const service = fakeService({
    getTrajectoryRewards: ({ params: { eval_run_id: run } }) => ({
      trajectory_rewards: ['lost', 'won', 'tied'].flatMap(task_id =>
        [0, 1].map(index => ({
          task_id,
          trajectory_id: `${run}_${task_id}_${index}`,
          reward: task_id === 'tied' || (run === 'evr_old') === (task_id === 'lost') ? 1 : index / 2,
        })),
      ),
    }),
    getTrajectory: ({ params: { trajectory_id = '' } }) => {
      const [, run, task_id] = String(trajectory_id).split('_');
      return {
        ...{ trajectory_id: String(trajectory_id), status: 'completed', task_id, eval_run_id: `evr_${run}` },
        steps: [{ step_index: 0, messages: [{ role: 'assistant', content: `this is ${trajectory_id}` }] }],
      };
    },
  });
  const { screen, close } = openProgram({ service, start: { view: 'compare', ...oldAndNew }, columns: 160, rows: 30 });
  onTestFinished(close);
  await screen.waitFor('▸ lost');
  await screen.press('enter');
  await screen.waitFor('1/2 changed');
  await screen.press('=');
  await screen.waitFor('task 1/2 changed  ·  left 1 of 2, right 1 of 2');
  await screen.press('.');
  await screen.waitFor(text => text.includes('left 1 of 2, right 2 of 2') && text.includes('this is evr_new_lost_1'));
  await screen.press(',');
  await screen.waitFor(text => text.includes('left 2 of 2, right 2 of 2') && text.includes('this is evr_old_lost_1'));
  // Each side is another rollout than the one listed; they keep its place.
  await screen.press('>');
  await screen.waitFor(text => text.includes('lost in after (new)') && text.includes('1/2 changed'));
  await screen.press('=');
  await screen.waitFor('task 1/2 changed  ·  left 2 of 2, right 2 of 2');
  await screen.press('esc', 'esc');
  await screen.waitFor('task 1/2 changed  ·  left 2 of 2, right 2 of 2');
  await screen.press('.');
  await screen.waitFor('task 1/2 changed  ·  left 2 of 2, right 1 of 2');
  // The rollouts still belong to the comparison.
  expect(screen.text()).toMatch(/lost +before .* lost +after /);
  for (const [key, name] of [
    ['<', 'lost in before (base)'],
    ['>', 'lost in after (new)'],
  ] as const) {
    await screen.press(key);
    await screen.waitFor(name);
    await screen.press('esc');
    await screen.waitFor('left 2 of 2, right 1 of 2');
  }
  await screen.press('v');
  await screen.waitFor('left 1 of 2, right 2 of 2');
  await screen.press('<');
  await screen.waitFor('lost in after (new)');
  await screen.press('esc');
  await screen.waitFor('left 1 of 2, right 2 of 2');
  await screen.press(']');
  await screen.waitFor('task 2/2 changed');
  await screen.press('esc', 'esc');
  await screen.waitFor('▸ won');
  await screen.press('g', 'j');
  await screen.waitFor('▸ tied');
  await screen.press('enter');
  await screen.waitFor(text => /this is evr_\w+_tied_\d/.test(text) && /\d\/3/.test(text));
  expect(screen.text()).not.toContain('changed');
});

it('keeps the tally visible at 60x15, below how the answers ended', async () => {
  const named = { evr_old: 'before-all-others', evr_new: 'after-all-others' } as const;
  const service = fakeService({
    getEvalProgress: ({ params: { eval_run_id } }) => ({
      ...{ eval_run_id: String(eval_run_id), status: 'completed' },
      ...{ terminal_rollouts: 28, total_rollouts: 28 },
    }),
    getTrajectoryRewards: ({ params: { eval_run_id: run } }) => ({
      trajectory_rewards: Array.from({ length: 28 }, (_, task) => ({
        ...{ task_id: `task ${task}`, trajectory_id: `${run}_${task}` },
        reward: ((task * 7) % 10) / 10 + (run === 'evr_new' ? (task % 5) / 50 : 0.03),
      })),
    }),
  });
  const run = (id: keyof typeof named) => ({ id, name: named[id], model: 'benchtop/tutor-base' });
  const start = { view: 'compare', base: run('evr_old'), new: run('evr_new') } as const;
  const { screen, close } = openProgram({ service, start, columns: 60, rows: 15 });
  onTestFinished(close);
  const parts = [/How the answers of the base and the new run ended/, /new is higher on/];
  const undecided = /Undecided: needs about \d+ more tasks to be equal +│/;
  await screen.waitFor(text => [...parts, undecided].every(part => part.test(text)));
});

it('says if a run is compared with itself', async () => {
  const { screen } = twoRuns({ base: { id: 'evr_old', name: 'before' }, new: { id: 'evr_old', name: 'before' } });
  await screen.waitFor('This is the same run twice');
  expect(screen.text()).not.toMatch(/ between |ndecided/);
});

it.each([120, 60])('tab reaches the two runs, and enter opens one, at %d columns', async columns => {
  const { screen } = twoRuns({ ...oldAndNew, columns });
  await screen.waitFor('The new run is better');
  await screen.press('tab', 'tab', 'tab');
  await screen.waitFor('▸after');
  await screen.press('enter');
  await screen.waitFor('30 of 30 rollouts');
  await screen.press('esc');
  await screen.waitFor('▸after');
});
