/** The teaching signal of the groups of a step, the step at which it ended, and the steps that are read. */
import { describe, expect, it } from 'vitest';
import {
  describeShares,
  describeTeaching,
  describeTurn,
  type StepRewards,
  teachingOf,
  teachingTurn,
  widenedRange,
} from '../../src/present/teaching.ts';

const range = [0, 1] as const;
/** A step with the rewards of each task. */
const stepOf = (step: number, ...groups: (number | null)[][]): StepRewards => ({
  step,
  rewards: groups.flatMap((rewards, index) => rewards.map(reward => ({ task_id: `task ${index}`, reward }))),
});

describe('a group', () => {
  it('teaches only if its rewards differ; missing rewards are not 0', () => {
    const step = stepOf(7, [0, 1], [1, 1], [0, 0], [0.5, 0.5], [null, null], [0, null], [0, 1, null], [1, 1, null]);
    const { counts, groups } = teachingOf(step, range);
    expect(groups).toBe(8);
    expect(counts).toEqual({ teaches: 2, easy: 2, hard: 1, equal: 1, unscored: 2 });
  });

  it('is too easy at the highest reward, despite rounding', () => {
    const over = 0.2 + 0.4 + 0.3 + 0.1;
    const under = 0.7 + 0.2 + 0.1;
    expect([over > 1, under < 1]).toEqual([true, true]);
    const step = stepOf(1, [1, over], [over, over], [1, 1], [under, over], [0.8, 0.7999999999999999]);
    const widened = widenedRange(range, [step]);
    expect(widened).toEqual(range);
    expect(teachingOf(step, widened).counts).toMatchObject({ easy: 4, equal: 1, teaches: 0 });
  });

  it('is judged by the observed rewards if they lie outside the range', () => {
    const step = stepOf(1, [10, 10], [1, 1], [-2, -2], [3, 10]);
    const { counts } = teachingOf(step, widenedRange(range, [step]));
    expect(counts).toEqual({ teaches: 1, easy: 1, hard: 1, equal: 1, unscored: 0 });
  });

  it('counts tasks with a single rollout apart from rollouts without a task', () => {
    const nameless: StepRewards = { step: 1, rewards: [{ task_id: null, reward: 1 }, { reward: 0 }] };
    expect(describeShares(teachingOf(nameless, range))).toBe('2 rollouts without a task');
    expect(describeShares(teachingOf(stepOf(1, [1], [0], [0]), range))).toBe('3 tasks with a single rollout');
    // Beside whole groups, a single rollout has lost the others.
    expect(describeShares(teachingOf(stepOf(1, [1, 0], [0]), range))).toBe('2 groups, 1 teach, 1 no score');
    expect(describeShares(teachingOf(stepOf(1), range))).toBe('no rollouts listed');
  });
});

describe('the turning point', () => {
  const good = [0, 1];
  const easy = [1, 1];
  const at = (step: number, idle: number) =>
    teachingOf(stepOf(step, ...Array.from({ length: 8 }, (_, index) => (index < idle ? easy : good))), range);

  it('is the step from which at least half of the groups teach nothing', () => {
    const steps = [1, 2, 3, 4, 5, 6].map(step => at(step, step < 4 ? 2 : 6));
    const turn = teachingTurn(steps);
    expect(turn?.since).toBe(4);
    expect(turn && describeTurn(turn)).toBe('since step 4, 75% of the groups teach nothing, all too easy');
    expect(describeTeaching(steps, 60)[0]).toBe('teaching signal: 6 of 60 steps read');
  });

  it('needs three steps, and ends once they teach again', () => {
    expect(teachingTurn([at(1, 2), at(2, 2), at(3, 8)])).toBeUndefined();
    expect(teachingTurn([1, 2, 3, 4, 5, 6, 7].map(step => at(step, step < 5 ? 8 : 1)))).toBeUndefined();
    expect(teachingTurn([at(1, 8), at(2, 8)])).toBeUndefined();
  });

  it('has no onset at the edge of the steps that were read (out30 B3)', () => {
    const newest = [53, 54, 55, 56, 57, 58, 59, 60].map(step => at(step, step === 53 ? 2 : 6));
    const words = (steps: typeof newest) =>
      describeTurn(teachingTurn(steps) as NonNullable<ReturnType<typeof teachingTurn>>);
    expect(words(newest)).toBe('in the newest 7 steps read, 75% of the groups teach nothing, all too easy');
    // The step before shows that it began there.
    expect(words([at(52, 2), ...newest])).toMatch(/^since step 54, /);
  });

  it('names the main cause, and if it was always so', () => {
    const hard = (step: number) => teachingOf(stepOf(step, [0, 0], [0, 0], [1, 1], [0, 1]), range);
    const turn = teachingTurn([hard(1), hard(2), hard(3)]);
    expect(turn && describeTurn(turn)).toBe(
      'in the newest 3 steps read, 75% of the groups teach nothing, most too hard (6 of 9)',
    );
  });
});
