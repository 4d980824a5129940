/** The tasks of a training step, and one task over time: curve, list and text move together. */
import { expect, it } from 'vitest';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { LengthsView } from '../../../../src/ui/views/tasks/lengths.tsx';
import { OutcomesView } from '../../../../src/ui/views/tasks/outcomes.tsx';
import { TrainingStepView } from '../../../../src/ui/views/training/step.tsx';
import { StepRolloutsView } from '../../../../src/ui/views/training/step-rollouts.tsx';
import { TaskLifeView } from '../../../../src/ui/views/training/task-life.tsx';
import { pageOf } from '../../../queries/scripted-service.ts';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

/** Task a gets better, b is always right, and c is in the first step alone. */
const rewardsOf = (step: number) =>
  [
    { task_id: 'a', rewards: [0, step / 10] },
    { task_id: 'b', rewards: [1, 1] },
    ...(step === 1 ? [{ task_id: 'c', rewards: [0, 0] }] : []),
  ].flatMap(({ task_id, rewards }) =>
    rewards.map((reward, index) => ({
      ...{ task_id, reward, completion_tokens: 10 * step },
      trajectory_id: `traj_${task_id}${step}_${index}`,
    })),
  );
const service = fakeService({
  getTrainingRun: () => ({ training_run_id: 'trn_1', status: 'succeeded' }),
  getCheckpoint: () => ({ checkpoint_id: 'ckpt_1', step_index: 1 }),
  getTrainerRewards: () => ({ trainer_rewards: [1, 2, 3, 4, 5, 6].map(step => ({ step, trainer_reward: 0.5 })) }),
  getStepTrajectoryRewards: ({ params: { step } }) => ({ trajectory_rewards: rewardsOf(Number(step)) }),
  listTrajectories: () =>
    pageOf(
      [1, 2].flatMap(step =>
        rewardsOf(step).map(row => ({ ...row, training_run_id: 'trn_1', policy_step: step, status: 'completed' })),
      ),
    ),
  getTrajectory: ({ params: { trajectory_id } }) => ({
    trajectory_id,
    status: 'completed',
    steps: [
      {
        messages: [
          { role: 'user', content: 'why' },
          { role: 'assistant', content: `because ${trajectory_id}` },
        ],
      },
    ],
  }),
});
const others = [
  defineView<'task-life'>({ id: 'task-life', title: 'Task', component: TaskLifeView, commands: [], general: [] }),
  defineView<'step-rollouts'>({
    id: 'step-rollouts',
    title: 'Rollouts',
    component: StepRolloutsView,
    commands: [],
    general: [],
  }),
  defineView<'step'>({ id: 'step', title: 'Step', component: TrainingStepView, commands: [], general: [] }),
  defineView<'lengths'>({ id: 'lengths', title: 'Lengths', component: LengthsView, commands: [], general: [] }),
  defineView<'outcomes'>({ id: 'outcomes', title: 'Ends', component: OutcomesView, commands: [], general: [] }),
];
const stageOf = (columns: number, rows: number) =>
  openViewOnStage(TrainingStepView, {
    place: { view: 'step', trainingRunId: 'trn_1', step: 1 },
    service: async () => service,
    others,
    columns,
    rows,
  });

it('lists the tasks of a step, worst first, with their rewards, lengths and teaching signal', async () => {
  const stage = stageOf(170, 30);
  // The next step is known from the curve.
  await stage.waitFor(text => text.includes('▸ c') && text.includes('<.> next step'));
  expect(stage.text()).toMatch(/c +2 +0 +▁▁ +0 +0 +0% +too hard +10/);
  expect(stage.text()).toMatch(/a +2 +0\.0500 +▁▂ +0 +0\.100 +0% +teaches +10/);
  expect(stage.text()).toMatch(/b +2 +1\.00 +██ +1\.00 +1\.00 +100% +too easy +10/);
  await stage.press('.');
  await stage.waitFor(text => !text.includes('▸ c') && /a +2 +0\.100/.test(text));
  await stage.press(',');
  await stage.waitFor('▸ c');
  await stage.press('v');
  await stage.waitFor('traj_b1_1');
});

it('says that a rollout has no reward', async () => {
  const rewards = [{ task_id: 'a', trajectory_id: 'traj_a', reward: null, completion_tokens: 9 }];
  const stage = openViewOnStage(StepRolloutsView, {
    place: { view: 'step-rollouts', trainingRunId: 'trn_1', step: 1 },
    service: async () => fakeService({ getStepTrajectoryRewards: () => ({ trajectory_rewards: rewards }) }),
    others,
    columns: 150,
    rows: 36,
  });
  await stage.waitFor(text => /a +none +9 +traj_a/.test(text));
});

it('follows a task through its steps: curve, list and text together', async () => {
  for (const [columns, rows] of [
    [140, 40],
    [80, 24],
  ] as const) {
    const stage = stageOf(columns, rows);
    await stage.waitFor('▸ c');
    await stage.press('j', 'enter');
    await stage.waitFor('because traj_a1_1');
    expect(stage.text()).toContain('in 6 of the 6 steps read (6 in all)');
    await stage.press('.', '.');
    await stage.waitFor('because traj_a3_1');
    expect(stage.text()).toContain('step 3, best of 2 rollouts, reward 0.300:');
    expect(stage.text()).toMatch(/▸ +3 /);
    await stage.press(',');
    await stage.waitFor('because traj_a2_1');
    await stage.press('enter');
    await stage.waitFor('traj_a2_0');
    expect(stage.text()).not.toContain('traj_b2_0');
  }
});

it('flags the rollouts of a step, and shows their tasks, their ends and their lengths (B3)', async () => {
  const stage = openViewOnStage(StepRolloutsView, {
    place: { view: 'step-rollouts', trainingRunId: 'trn_1', step: 1 },
    service: async () => service,
    others,
    columns: 150,
    rows: 36,
  });
  await stage.waitFor('traj_c1_1');
  await stage.press('3');
  await stage.waitFor('flagged: 1 gamed of the 6 rows read');
  expect(stage.text()).toMatch(/TASK +FLAG .*\n.* a +gamed/);
  await stage.press('3', 'L');
  await stage.waitFor('6 of 6 rollouts have a reward and a known length in tokens');
  await stage.press('esc', 'f');
  await stage.waitFor(text => / completed +status +6 +100% /.test(text));
  await stage.press('esc', 'V');
  await stage.waitFor(text => /▸ c +2 +0 /.test(text));
});
