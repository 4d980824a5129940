/**
 * Draws runs of known means: how often intervals miss them. The seeds are fixed, and a promise counts as broken only where
 * luck is no explanation; `npm run bench -- statistics` draws more.
 */
import { describe, expect, it } from 'vitest';
import { shapes } from '../../../tools/bench/statistics-shapes.ts';
import { isBroken, lookAlways, lookOnce, promises } from '../../../tools/bench/statistics-simulation.ts';
import { Random } from '../../../tools/rig/random.ts';

const sizes = [2, 3, 5, 10, 20, 50, 100, 300, 1_000];
/** Many tasks take long to draw. */
const drawsOf = (size: number): number => (size < 100 ? 250 : size < 1_000 ? 100 : 30);

it('tries at least 30 shapes of rewards, each with its true mean (V44)', () => {
  expect(shapes.length).toBeGreaterThanOrEqual(30);
  for (const shape of shapes) {
    const random = new Random(`mean of ${shape.name}`);
    const values = Array.from({ length: 20_000 }, () => {
      const { base = [0], rewards } = shape.draw(random);
      const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
      return mean(rewards) - mean(base);
    });
    const average = values.reduce((sum, each) => sum + each, 0) / values.length;
    const variance = values.reduce((sum, each) => sum + (each - average) ** 2, 0) / values.length;
    // Five standard errors; rare values make them uncertain themselves.
    const reach = 5 * Math.sqrt(Math.max(variance, 1e-4) / values.length);
    expect(Math.abs(average - shape.mean), shape.name).toBeLessThan(reach);
  }
});

describe.each(shapes)('$name', shape => {
  it('is covered by the interval for a single look, which is rarely too high (V44)', () => {
    let [draws, missed, tooHigh] = [0, 0, 0];
    for (const size of sizes) {
      const once = lookOnce(shape, size, drawsOf(size), new Random(`${shape.name} ${size}`), 0);
      expect(isBroken(once.missed, once.draws, promises.missed), `missed at ${size}`).toBe(false);
      expect(isBroken(once.tooHigh, once.draws, promises.tooHigh), `too high at ${size}`).toBe(false);
      draws += once.draws;
      missed += once.missed;
      tooHigh += once.tooHigh;
    }
    expect(isBroken(missed, draws, promises.missed)).toBe(false);
    expect(isBroken(tooHigh, draws, promises.tooHigh)).toBe(false);
  });

  it('is covered at every look, whichever rollouts end first (V44)', () => {
    // More looks find no more: with 160 and 12 of them, sound intervals miss as often, and so do those that ignore
    // rollouts that have not ended, of which 17 and 27 of 40 shapes are caught.
    for (const [tasks, draws, looks] of [
      [20, 80, 20],
      [150, 24, 6],
    ] as const) {
      const always = lookAlways(shape, tasks, draws, looks, new Random(`${shape.name} always ${tasks}`));
      expect(isBroken(always.missed, always.draws, promises.missed), `missed at ${tasks}`).toBe(false);
      expect(isBroken(always.tooHigh, always.draws, promises.tooHigh), `too high at ${tasks}`).toBe(false);
    }
  });
});

it('catches a plain t interval (V44)', () => {
  const shape = shapes.find(({ name }) => name === 'pairs: 10% gain, none loses');
  const once = shape && lookOnce(shape, 5, 400, new Random('naive'), 1);
  expect(once && isBroken(once.naiveMissed, once.draws, promises.missed)).toBe(true);
});
