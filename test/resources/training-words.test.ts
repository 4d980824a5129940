/** The facts of a training run, in words. */
import { expect, it } from 'vitest';
import { trainingRun } from '../../src/contract/training.ts';
import { heldOutWords, trainingFacts } from '../../src/resources/training.ts';

const diagnostics = {
  step: 24,
  kl: 0.021,
  entropy: 3.1,
  gradient_norm: 0.42,
  equal_groups: 0.125,
  truncated: 0,
};

it('say what the newest step did (V45)', () => {
  const facts = trainingFacts(trainingRun.parse({ training_run_id: 'trn_1', diagnostics }));
  expect(facts.find(({ label }) => label === 'step 24')?.value).toBe(
    'KL to the base model 0.0210, entropy 3.10, gradient norm 0.420, 12.5% of the tasks with equal rewards, 0% of the answers cut off',
  );
  const without = trainingFacts(trainingRun.parse({ training_run_id: 'trn_1' }));
  expect(without.find(({ label }) => label.startsWith('step'))?.value).toBeUndefined();
});

it('say on which tasks the held-out reward was measured (V42)', () => {
  const point = { step: 40, held_out_reward: 0.412, expected_samples: 104, completed_samples: 104, failed_samples: 0 };
  expect(heldOutWords([{ ...point, split: 'validation' }])).toMatch(
    /^0\.412 at step 40, on the validation tasks, of 104 of 104 samples, 95% between/,
  );
  expect(heldOutWords([point])).toMatch(/^0\.412 at step 40, of 104 of 104 samples/);
});
