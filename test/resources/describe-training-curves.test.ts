/** The facts of a training run, in words. */
import { expect, it } from 'vitest';
import { emptyCurve } from '../../src/contract/trainer-curve.ts';
import { type HeldOutReward, trainingRun } from '../../src/contract/training.ts';
import { cellText } from '../../src/present/column.ts';
import type { Range } from '../../src/present/statistics/tasks.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { describeBest, describeHeldOut } from '../../src/resources/describe-held-out.ts';
import { describeTrainingCurves } from '../../src/resources/describe-training-curves.ts';
import { trainingFacts } from '../../src/resources/training.ts';
import { listColumns } from '../../src/resources/training-columns.ts';

const diagnostics = {
  step: 24,
  kl: 0.021,
  entropy: 3.1,
  gradient_norm: 0.42,
  equal_groups: 0.125,
  truncated: 0,
};

it('describe the newest step (V45)', () => {
  const facts = trainingFacts(trainingRun.parse({ training_run_id: 'trn_1', diagnostics }));
  expect(facts.find(({ label }) => label === 'step 24')?.value).toBe(
    'KL to the base model 0.0210, entropy 3.10, gradient norm 0.420, 12.5% of the tasks with equal rewards, 0% of the answers cut off',
  );
  const without = trainingFacts(trainingRun.parse({ training_run_id: 'trn_1' }));
  expect(without.find(({ label }) => label.startsWith('step'))?.value).toBeUndefined();
});

it('say why the best held-out reward is not the last one, if that is higher', () => {
  const point = (step: number, held_out_reward: number, failed_samples = 0): HeldOutReward => ({
    ...{ step, held_out_reward, expected_samples: 30, completed_samples: 30 - failed_samples, failed_samples },
  });
  const means = heldOutMeans([point(200, 0.717), point(400, 0.778, 9)]);
  expect(means && describeBest(means.best, [0, 1], means.last)).toMatch(
    /^0\.717 at step 200, .*; step 400 has 0\.778, but from only 21 of 30 samples; 0\.545 if the rest scored the lowest/,
  );
  const whole = heldOutMeans([point(200, 0.778), point(400, 0.717)]);
  expect(whole && describeBest(whole.best, [0, 1], whole.last)).not.toContain('step 400');
});

it('say which tasks measured the held-out reward (V42)', () => {
  const words = (point: HeldOutReward, range?: Range) => {
    const last = heldOutMeans([point])?.last;
    return last && describeHeldOut(last, range);
  };
  const point = { step: 40, held_out_reward: 0.412, expected_samples: 104, completed_samples: 104, failed_samples: 0 };
  expect(words({ ...point, split: 'validation' })).toMatch(
    /^0\.412 at step 40, on the validation tasks, from 104 samples, 95% CI/,
  );
  expect(words(point)).toMatch(/^0\.412 at step 40, from 104 samples/);
});

it('say how certain a held-out reward is for the range of rewards, and how much is missing', () => {
  const point = {
    step: 40,
    held_out_reward: 0.4,
    completed_samples: 100,
    loaded_trajectories: 90,
    cancelled_samples: 1,
  };
  const last = heldOutMeans([point])?.last;
  expect(last).toMatchObject({ step: 40, reward: 0.4, samples: 90, expected: 100, cancelled: 1 });
  const words = (range?: Range) => last && describeHeldOut(last, range);
  expect(words()).toMatch(/^0\.400 at step 40, from 90 of 100 samples, 1 cancelled, 95% CI 0\.2\d+ to 0\.5\d+ on/);
  expect(words([0, 10])).toMatch(/95% CI 0\.0\d+ to 2\.\d+ on these tasks$/);
});

it('take the highest held-out reward from complete rounds, and count the samples of an incomplete one', () => {
  const whole = { expected_samples: 100, completed_samples: 100 };
  const rounds = [
    { ...whole, step: 1, held_out_reward: 0.5 },
    { ...whole, step: 2, held_out_reward: 0.6 },
    { ...whole, step: 3, held_out_reward: 0.4 },
    { ...whole, step: 4, held_out_reward: 1, completed_samples: 2 },
  ];
  const cells = (points: readonly HeldOutReward[]) => {
    const held_out = heldOutMeans(points);
    const row = { training_run_id: 'trn_1', held_out };
    return listColumns([row], [0, 1]).flatMap(column =>
      ['held-out', 'best'].includes(column.id) ? cellText(column, row) : [],
    );
  };
  expect(cells(rounds)).toEqual(['1.00 n=2', '0.600']);
  expect(cells(rounds.slice(3))).toEqual(['1.00 n=2', '1.00 n=2']);
  const words = describeTrainingCurves(rounds, emptyCurve, undefined);
  expect(words).toContain(
    '  highest 0.600 at step 2 (1.00 at step 4 is from an incomplete round), lowest 0.400 at step 3',
  );
  expect(words[1]).toMatch(/^ {2}newest: 1\.00 at step 4, from 2 of 100 samples/);
});
