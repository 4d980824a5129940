/**
 * Seeds of `npm run torture` that once failed: the built program in a pseudo-terminal, on mutated answers. Sessions mostly
 * wait, so they run side by side. `npm run smoke` runs sessions of each purpose.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depthSession } from '../../tools/torture/depth.ts';
import type { Purpose } from '../../tools/torture/shares.ts';
import { makeWorld, type World } from '../../tools/torture/world.ts';
import { depthSeeds } from '../torture/seeds.ts';

/** Typing a secret takes many a look at the screen. */
const keysOf = (purpose: Purpose | undefined): number => (purpose === 'secrets' ? 100 : 300);
let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

describe('random keys and signals in a pseudo-terminal', () => {
  it.concurrent.each(depthSeeds)('$seed: $was', async ({ seed, purpose }) => {
    const keys = keysOf(purpose);
    const session = await depthSession({ world, seed, keys, purpose });
    expect(session.failures.map(({ what }) => what)).toEqual([]);
    expect(session.typed > 0).toBe(purpose === 'secrets');
    expect(session.keys).toBeGreaterThanOrEqual(session.ending === 'by itself' ? 0 : keys);
  });
});
