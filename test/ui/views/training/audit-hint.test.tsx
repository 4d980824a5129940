/** How lists lead to the audit of a completed training run. */
import { expect, it } from 'vitest';
import { emptyCurve } from '../../../../src/contract/trainer-curve.ts';
import { auditOfCurves, hintOfCurves } from '../../../../src/resources/audit.ts';
import { openWorld, world } from '../../program/scripted-world.tsx';

const curveOf = (values: readonly number[]) => ({
  ...emptyCurve,
  steps: Float64Array.from(values, (_, at) => at + 1),
  rewards: Float64Array.from(values),
});

it('reports a curve without any reward, after twenty steps', () => {
  const never = Array.from({ length: 20 }, () => 0);
  expect(hintOfCurves(curveOf(never), [], [0, 1])).toMatch(/^the trainer's reward is 0 in all 20 steps/);
  expect(auditOfCurves(curveOf(never), [], [0, 1])[0]?.words).toBe(hintOfCurves(curveOf(never), [], [0, 1]));
  for (const others of [never.slice(1), [...never, 0.1], [...never, -1], []])
    expect(hintOfCurves(curveOf(others), [], [0, 1])).toBeUndefined();
  expect(hintOfCurves(undefined, undefined, [0, 1])).toBeUndefined();
});

it('names a finding in the inspector of Training, with the keys to the audit (B15)', async () => {
  const service = world('none');
  const run = { training_run_id: 'trn_1', display_name: 'shop', status: 'succeeded', bench_id: 'bench_1' };
  service.answers.listTrainingRuns = () => [run];
  service.answers.getTrainingRun = () => run;
  service.answers.getTrainerRewards = () => ({
    trainer_rewards: Array.from({ length: 30 }, (_, at) => ({ step: at + 1, trainer_reward: 0 })),
  });
  service.answers.getHeldOutRewards = () => ({ held_out_rewards: [] });
  const screen = openWorld(service, { view: 'list', resource: 'training' }, { columns: 160, rows: 40 });
  await screen.waitFor("audit: the trainer's reward is 0 in all 30 steps");
  expect(screen.text()).toContain('tasks are too hard (<enter> <Q> reads more)');
  expect(service.asked('getStepTrajectoryRewards')).toBe(0);
});
