/** A share of `npm run torture` with fixed seeds: the built program in a pseudo-terminal, on mutated answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depthSession } from '../../tools/torture/depth.ts';
import { makeWorld, type World } from '../../tools/torture/world.ts';
import { depthSeeds } from '../torture/seeds.ts';

const keys = 300;
let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

describe('random keys and signals in a pseudo-terminal', () => {
  it.each([...depthSeeds, ['one', 'nothing yet'] as const, ['two', 'nothing yet'] as const])('%s: %s', async seed => {
    const session = await depthSession({ world, seed, keys });
    expect(session.faults.map(({ what }) => what)).toEqual([]);
    expect(session.keys).toBeGreaterThanOrEqual(session.ending === 'by itself' ? 0 : keys);
  });
});
