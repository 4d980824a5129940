/** The audit of a training run on screen: its findings, and the rollouts they rest on. */
import { expect, it } from 'vitest';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { triageCommands } from '../../../../src/ui/views/commands.ts';
import { AuditView, EvidenceView } from '../../../../src/ui/views/training/audit.tsx';
import { type Answers, fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

/** Longer answers are worth more; those of odd steps are `yes` throughout. */
const answers: Answers = {
  getTrainerRewards: () => ({ trainer_rewards: [1, 2, 3].map(step => ({ step, trainer_reward: 0.5 })) }),
  getHeldOutRewards: () => ({ held_out_rewards: [{ step: 3, held_out_reward: 0.4 }] }),
  getStepTrajectoryRewards: ({ params: { step } }) => ({
    trajectory_rewards: Array.from({ length: 32 }, (_, index) => ({
      task_id: `task ${Math.floor(index / 4)}`,
      trajectory_id: `traj_${step}_${index}`,
      reward: (index % 4) / 4,
      completion_tokens: 10 + (index % 4),
    })),
  }),
  getTrajectory: ({ params: { trajectory_id } }) => ({
    trajectory_id,
    status: 'completed',
    steps: [
      {
        messages: [
          { role: 'user', content: `what about ${trajectory_id}?` },
          { role: 'assistant', content: `this is ${trajectory_id}` },
        ],
      },
    ],
  }),
};
const evidence = defineView<'evidence'>({
  id: 'evidence',
  title: 'Evidence',
  component: EvidenceView,
  commands: Object.values(triageCommands),
  general: [],
});
const stageOf = (more: Answers, columns: number, rows: number) =>
  openViewOnStage(AuditView, {
    place: { view: 'audit', trainingRunId: 'trn_1' },
    service: async () => fakeService({ ...answers, ...more }),
    others: [evidence],
    columns,
    rows,
  });

it('lists the findings and what was read, and opens their rollouts', async () => {
  for (const [columns, rows] of [
    [200, 60],
    [80, 24],
  ] as const) {
    const stage = stageOf({}, columns, rows);
    await stage.waitFor('▸ length');
    await stage.waitFor('3 of 3 steps read, texts of 48 rollouts, 1 held-out');
    // In full, however narrow the column is.
    await stage.waitFor(text => /steps 1 to 3/.test(text));
    await stage.press('enter');
    await stage.waitFor(text => / 1 +task 0 +0\.750 +13 /.test(text));
    expect(stage.text()).toContain('longer answers get more reward: rank correlation 1.00');
  }
});

it('flags the rollouts of a finding (out30 B7)', async () => {
  const stage = stageOf({}, 150, 36);
  await stage.waitFor('▸ length');
  await stage.press('enter');
  await stage.waitFor(text => / 1 +task 0 +0\.750 +13 /.test(text));
  await stage.press('3');
  await stage.waitFor(text => /flagged: 1 gamed of the \d+ rows read/.test(text));
  expect(stage.text()).toMatch(/STEP +FLAG .*\n.* 1 +gamed +task 0/);
  await stage.press("'");
  await stage.waitFor('Note on task 0');
});

it('says that it found nothing', async () => {
  const trajectory_rewards = [0, 1].map(reward => ({ task_id: 'a', trajectory_id: `t_${reward}`, reward }));
  const stage = stageOf({ getStepTrajectoryRewards: () => ({ trajectory_rewards }) }, 120, 30);
  await stage.waitFor('No sign of a problem was found, but this is no proof');
});
