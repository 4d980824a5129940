/** The rollouts of steps: which are read, and never twice. */
import { describe, expect, it } from 'vitest';
import { type ReadStep, readSteps, stepRewardsQuery, stepsIn, stepsToRead } from '../../src/queries/step-rewards.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { trainerCurveOf } from '../trainer-curve.ts';
import { notFound, scriptedService } from './scripted-service.ts';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const readUpTo = (count: number) => stepsToRead(Float64Array.from(upTo(count)));

describe('the steps to read', () => {
  it('are all of them, newest first, or the newest and some evenly spaced', () => {
    expect(stepsToRead(stepsIn(trainerCurveOf([{ step: 3 }, { step: 1 }, { step: 3 }])))).toEqual([3, 1]);
    expect(readUpTo(60)).toEqual(upTo(60).reverse());
    const long = readUpTo(20_000);
    expect(long.length).toBeLessThanOrEqual(60);
    expect(long.slice(0, 12)).toEqual(upTo(20_000).slice(-12).reverse());
    expect(long.at(-1)).toBe(1);
  });

  it('are computed once per curve, as a key must not sort a million steps', () => {
    const curve = trainerCurveOf([{ step: 2 }, { step: 2 }, { step: 1 }]);
    expect(stepsIn(curve)).toBe(stepsIn(curve));
  });

  it('stay mostly the same while the run grows', () => {
    const before = new Set(readUpTo(15_000));
    const added = readUpTo(15_001).filter(step => !before.has(step));
    expect(added).toEqual([15_001]);
  });
});

describe('reading', () => {
  it('requests a few steps with each poll, none twice, and drops repeated ones', async () => {
    const rows = (step: number) => [{ trajectory_id: `t ${step}`, task_id: 'a', reward: 1 }];
    const scripted = scriptedService({
      getStepTrajectoryRewards: ({ step = '' }) =>
        step === '7' ? notFound('step 7') : { trajectory_rewards: rows(Number(step)) },
    });
    const context = {
      service: scripted.service,
      signal: new AbortController().signal,
      memory: RememberedStore.inMemory('test'),
    };
    let known: readonly ReadStep[] = [];
    const queryOf = (steps: readonly number[]) => stepRewardsQuery('trn_1', steps, () => known);
    const query = queryOf(readUpTo(20));
    for (const count of [8, 16, 20]) {
      expect(query.activity(known)).toBe('running');
      known = await query.read(context);
      expect(known).toHaveLength(count);
    }
    expect(query.activity(known)).toBe('settled');
    expect(known.map(({ step }) => step)).toEqual(upTo(20));
    // A step that the service does not have is empty, and not asked again.
    expect(known[6]).toEqual({ step: 7, rewards: [] });
    expect(scripted.requests).toHaveLength(20);
    const again = queryOf(readUpTo(18));
    expect(again.activity(known)).toBe('running');
    known = await again.read(context);
    expect(known.map(({ step }) => step)).toEqual(upTo(18));
    expect(scripted.requests).toHaveLength(20);
    expect(await readSteps('trn_1', [3, 2], context)).toHaveLength(2);
  });
});
