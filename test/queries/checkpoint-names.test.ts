/** How a checkpoint of a training run is named. */
import { describe, expect, it } from 'vitest';
import type { HeldOutReward } from '../../src/contract/training.ts';
import { checkpointCalled, splitCheckpointName } from '../../src/queries/checkpoint-names.ts';
import { bestHeldOut } from '../../src/queries/held-out.ts';

const checkpoints = [30, 10, 20, 40].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step }));
const heldOut = [
  { step: 10, held_out_reward: 0.2 },
  { step: 20, held_out_reward: 0.7 },
  { step: 25, held_out_reward: 0.9 },
  { step: 30, held_out_reward: 0.7 },
  { step: 40, held_out_reward: null },
];
const stepOf = (which: string, rewards: readonly HeldOutReward[] = heldOut) =>
  checkpointCalled(which, checkpoints, rewards)?.step_index;

it('splits a name at its last @; a training run alone means its latest', () => {
  expect(splitCheckpointName('first')).toEqual({ name: 'first', which: 'latest' });
  expect(splitCheckpointName('a@b@best')).toEqual({ name: 'a@b', which: 'best' });
  expect(splitCheckpointName('first@')).toEqual({ name: 'first', which: '' });
  expect(splitCheckpointName('@6')).toEqual({ name: '@6', which: 'latest' });
});

it('finds the latest, or one by step', () => {
  expect([stepOf('latest'), stepOf('10'), stepOf('11'), stepOf('')]).toEqual([40, 10, undefined, undefined]);
});

it('the best has the highest held-out reward of the saved ones; the latest of equal ones', () => {
  expect(stepOf('best')).toBe(30);
  expect(stepOf('best', heldOut.slice(0, 2))).toBe(20);
  expect([stepOf('best', []), stepOf('best', heldOut.slice(4))]).toEqual([undefined, undefined]);
});

it('the latest of equal means is the best in any order', () => {
  const means = [20, 10].map(step => ({ step, reward: 0.7, samples: undefined }));
  expect([bestHeldOut(means)?.step, bestHeldOut(means.toReversed())?.step]).toEqual([20, 20]);
});

describe('an unfinished round', () => {
  const begun = { step: 40, held_out_reward: 0.99, completed_samples: 3, expected_samples: 100 };
  // Enough of them that it is the best if the others count as 0.
  const most = { ...begun, completed_samples: 90 };

  it.each([
    ['by the word of the service', { ...begun, completed_samples: 100, round_completed: false }],
    ['by its counts', { ...begun, failed_samples: 90, cancelled_samples: 6 }],
    ['by the samples that it has', { ...begun, completed_samples: null, loaded_trajectories: 99 }],
  ])('%s is not the best, unless there is no other', (_, point) => {
    expect(stepOf('best', [...heldOut.slice(0, 4), point])).toBe(30);
    expect(stepOf('best', [point])).toBe(40);
  });

  it.each([
    ['the service says so, whatever it counts', { ...most, round_completed: true }],
    ['the others failed or were cancelled', { ...most, failed_samples: 9, cancelled_samples: 1 }],
    ['all were completed, though some were left out', { ...most, completed_samples: 100, loaded_trajectories: 90 }],
    ['it is unknown how many it has', { ...begun, completed_samples: null }],
    ['it is unknown how many it should have', { ...begun, expected_samples: null }],
  ])('is finished if %s', (_, point) => {
    expect(stepOf('best', [...heldOut.slice(0, 4), point])).toBe(40);
  });
});
