/** The pace of a training run, and its stalls. */
import { describe, expect, it } from 'vitest';
import { describePace, formatRate, type PaceHints, paceOf, type RunSituation } from '../../src/queries/pace.ts';
import { type ProgressPoint, RememberedStore } from '../../src/store/store.ts';

const minute = 60_000;

/** Points from the time between them and the steps in between. */
function points(...intervals: readonly (readonly [ms: number, steps: number])[]): ProgressPoint[] {
  const seen: ProgressPoint[] = [{ at: 0, completed_steps: 0 }];
  for (const [ms, steps] of intervals) {
    const { at, completed_steps } = seen.at(-1) ?? { at: 0, completed_steps: 0 };
    seen.push({ at: at + ms, completed_steps: completed_steps + steps, since: at });
  }
  return seen;
}

function words(
  seen: readonly ProgressPoint[],
  later = 0,
  situation: Partial<RunSituation> = {},
  hints: PaceHints = {},
): string {
  const { at, completed_steps: completed } = seen.at(-1) ?? { at: 0, completed_steps: 0 };
  const now = at + later;
  return describePace(paceOf(seen, hints), {
    status: 'running',
    completed,
    total: 400,
    observedAt: now,
    now,
    ...situation,
  });
}

const steady = points(...Array.from({ length: 20 }, () => [2_000, 1] as const));

describe('the pace', () => {
  it('comes with the time left once there are enough steps', () => {
    expect(words(steady)).toBe('2 s/step  ETA 12m 40s');
    expect(words(steady.slice(0, 1))).toBe('');
    expect(words([], 0, { completed: undefined })).toBe('');
    expect(words(steady, 0, { total: null })).toBe('2 s/step');
    expect(words(steady, 0, { total: 20 })).toBe('2 s/step');
  });

  it('covers the last two minutes', () => {
    const seen = points([20_000, 1], ...Array.from({ length: 12 }, () => [10_000, 1] as const));
    expect(paceOf(seen).stepMs).toBe(10_000);
  });

  it('is unknown for a run that has not been observed for a while', () => {
    const { at } = steady.at(-1) ?? { at: 0 };
    expect(words(steady, 0, { now: at + 10_000 })).toBe('2 s/step  ETA 12m 40s');
    expect(words(steady, 0, { now: at + minute })).toBe('');
    // Seen to stand still, and then not seen any more.
    expect(words(steady, minute, { now: at + 3 * minute })).toBe('');
  });

  it.each([
    [1_000 / 1.04, '1.0 steps/s'],
    [1_000 / 9.96, '10 steps/s'],
    [2, '500 steps/s'],
    [4_800, '4.8 s/step'],
  ])('formats a rate with digits that fit its size (C3): %d', (stepMs, rate) => {
    expect(formatRate(stepMs)).toBe(rate);
  });

  it('ignores a step count that overflows', () => {
    expect(words(points([1_000, 5], [2_000, 10], [2_000, Number.POSITIVE_INFINITY]))).toBe('5.0 steps/s');
    const store = RememberedStore.inMemory('test');
    for (const [at, steps] of [Number.POSITIVE_INFINITY, 1e308, 3].entries()) store.recordProgress('trn_1', steps, at);
    expect(store.progress.of('trn_1').map(({ completed_steps }) => completed_steps)).toEqual([3]);
    store.close();
  });

  it('leaves out the time before the first step, which may have been in a queue', () => {
    expect(words(points([10 * minute, 5], [2_000, 10]))).toContain('5.0 steps/s');
    expect(words(points([10 * minute, 5]))).not.toContain('step');
  });

  it('leaves out times when nothing could be observed', () => {
    const withOutage = points([2_000, 10], [2_000, 10], [4 * minute, 3], [2_000, 10], [2_000, 10]);
    expect(words(withOutage)).toContain('5.0 steps/s');
    // Even if the outage is almost the last interval.
    expect(words(points([4 * minute, 3], [2_000, 10]))).toContain('5.0 steps/s');
  });

  it('follows recent steps, not the start', () => {
    const slowed = points(
      ...Array.from({ length: 100 }, () => [1_000, 5] as const),
      ...Array.from({ length: 65 }, () => [2_000, 1] as const),
    );
    expect(words(slowed, 0, { total: 600 })).toContain('2 s/step');
  });

  it('ignores the part of a step after the first look', () => {
    // 4 minutes a step, met 40 s before one.
    const met = [
      { at: 0, completed_steps: 70 },
      { at: 40_000, completed_steps: 71, since: 38_000 },
    ];
    expect(paceOf(met).stepMs).toBeUndefined();
    const created = 40_000 - 71 * 4 * minute;
    expect(words(met, 0, {}, { startedAt: created })).toBe('4m/step  ETA 21h 56m');
    const next = { at: 40_000 + 4 * minute, completed_steps: 72, since: 38_000 + 4 * minute };
    expect(words([...met, next])).toBe('4m/step  ETA 21h 52m');
  });

  it('is within a factor of two for any steps, polls and gaps, and within a fifth after 20 steps', () => {
    let seed = 7;
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const worst = { early: 1, late: 1 };
    for (let round = 0; round < 150; round += 1) {
      const stepMs = 200 * 3_000 ** random();
      const pollMs = 2_000 * 10 ** random();
      const store = RememberedStore.inMemory('test');
      const met = stepMs * (1 + 50 * random());
      let now = met;
      for (let poll = 0; poll < 60; poll += 1) {
        store.recordProgress('trn_1', Math.floor(now / stepMs), now);
        for (const hints of [{}, { startedAt: 0 }]) {
          const { stepMs: seen = stepMs } = paceOf(store.progress.of('trn_1'), hints);
          const when = now - met > 20 * stepMs ? 'late' : 'early';
          worst[when] = Math.max(worst[when], seen / stepMs, stepMs / seen);
        }
        const away = random() < 0.05 ? stepMs * 5 * random() : 0;
        now += pollMs * (0.8 + 0.4 * random()) + away + (random() < 0.2 ? stepMs : 0);
      }
      store.close();
    }
    expect(worst.early).toBeGreaterThan(1);
    expect(worst.early).toBeLessThanOrEqual(2);
    expect(worst.late).toBeLessThanOrEqual(1.2);
  });

  it('covers ten steps if two minutes contain few', () => {
    expect(words(points(...Array.from({ length: 12 }, () => [5 * minute, 1] as const)))).toContain('5m/step');
    const mixed = points([10 * minute, 1], ...Array.from({ length: 10 }, () => [minute, 1] as const));
    expect(words(mixed)).toContain('60 s/step');
  });

  it('averages out the rounding of polls', () => {
    // Steps of 1.5 s, polled every 2 s: one and two steps in turn.
    const polled = points(...Array.from({ length: 20 }, (_, index) => [2_000, index % 3 === 0 ? 2 : 1] as const));
    expect(words(polled)).toContain('1.5 s/step');
  });

  it('sees no silence from a checkpoint beyond the step count', () => {
    // Reached 60, fell back to 40, and is at 55 again.
    const saved = [10, 20, 30, 40, 50, 60].map(step => ({ at: 3 * minute * step, completed_steps: step }));
    const met = [{ at: 260 * minute, completed_steps: 55 }];
    expect(words(met, 0, {}, { checkpoints: saved })).toMatch(/^3m\/step {2}ETA/);
    expect(words(met, 0, {}, { checkpoints: saved.slice(0, 5) })).toBe('last checkpoint 1h ago');
  });

  it('has no time left while it is only the mean since the start, which grows', () => {
    const met = points().map(point => ({ ...point, at: 60 * minute, completed_steps: 20 }));
    const startedAt = 0;
    expect(words(met, 0, {}, { startedAt })).toBe('3m/step');
    expect(words(met, 4 * minute, {}, { startedAt })).toBe('3m/step');
    const checkpoints = [{ at: 59 * minute, completed_steps: 20 }];
    expect(words(met, 0, {}, { startedAt, checkpoints })).toMatch(/ETA/);
    const seen = { at: 60 * minute + 4_000, completed_steps: 21, since: 60 * minute };
    expect(words([...met, seen], 0, {}, { startedAt })).toMatch(/ETA/);
  });

  it('survives a step count that was reset to a checkpoint', () => {
    expect(words(points([2_000, 10], [2_000, 10], [5_000, -5], [2_000, 10]))).toContain('5.0 steps/s');
  });
});

describe('a silence', () => {
  it('replaces the rate and the time left', () => {
    expect(words(steady, 14_000)).toBe('2 s/step  ETA 12m 40s');
    expect(words(steady, 4 * minute)).toBe('no new step for 4m');
  });

  it('is judged by the usual duration of steps', () => {
    const slow = points(...Array.from({ length: 12 }, () => [5 * minute, 1] as const));
    expect(words(slow, 14 * minute)).toContain('5m/step');
    expect(words(slow, 16 * minute)).toBe('no new step for 16m');
  });

  it('may have been longer if it began before the first look', () => {
    expect(words(points(), 30_000, { completed: 40 })).toBe('');
    expect(words(points(), 4 * minute, { completed: 40 })).toBe('no new step for at least 4m');
  });
});

it.each(['cancel_signaled', 'cancelling'])('a run that is %s has no time left', status => {
  expect(words(steady, 0, { status })).toBe('2 s/step');
});

describe('a waiting run', () => {
  it('is queued, not silent (W11)', () => {
    const pace = paceOf([{ at: 0, completed_steps: 0 }]);
    const situation = { completed: 0, total: 900, observedAt: 98_000, now: 98_000, startedAt: 0 };
    expect(describePace(pace, { ...situation, status: 'pending' })).toBe('queued 1m 38s');
    expect(describePace(pace, { ...situation, status: 'queued', startedAt: undefined })).toBe('queued');
    // It continues: since when it waits is not known.
    expect(describePace(pace, { ...situation, status: 'pending', completed: 5 })).toBe('queued');
    expect(describePace(pace, { ...situation, status: 'running' })).toBe('no new step for at least 1m 38s');
  });
});
