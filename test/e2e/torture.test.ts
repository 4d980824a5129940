/** A share of `npm run torture` with fixed seeds: the built program in a pseudo-terminal, on mutated answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depthSession } from '../../tools/torture/depth.ts';
import { makeWorld, type World } from '../../tools/torture/world.ts';
import { type DepthSeed, depthSeeds } from '../torture/seeds.ts';

const keys = 300;
const seeds: readonly DepthSeed[] = [
  ...depthSeeds,
  { seed: 'one', was: 'nothing yet' },
  { seed: 'two', was: 'nothing yet' },
  { seed: 'reader', was: 'nothing yet', purpose: 'read-only' },
];
let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

describe('random keys and signals in a pseudo-terminal', () => {
  it.each(seeds)('$seed: $was', async ({ seed, purpose }) => {
    const session = await depthSession({ world, seed, keys, purpose });
    expect(session.failures.map(({ what }) => what)).toEqual([]);
    expect(session.typed > 0).toBe(purpose === 'secrets');
    expect(session.keys).toBeGreaterThanOrEqual(session.ending === 'by itself' ? 0 : keys);
  });
});
