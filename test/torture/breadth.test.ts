/** A share of `npm run torture` with fixed seeds: the whole program on mutated answers, under random keys. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { breadthSession } from '../../tools/torture/breadth.ts';
import { makeWorld, type World } from '../../tools/torture/world.ts';
import { breadthSeeds } from './seeds.ts';

// Before React is loaded: its development build says more of what is wrong.
vi.hoisted(() => {
  process.env['NODE_ENV'] = 'development';
});

const keys = 250;
let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

describe('random keys on mutated answers', () => {
  it.each(['one', 'three', 'four'])('leave the program whole: %s', async seed => {
    const session = await breadthSession({ world, seed, keys });
    expect(session.failures.map(({ what }) => what)).toEqual([]);
    expect(session.keys).toBeGreaterThanOrEqual(keys);
    expect(session.mutated).toBeGreaterThan(0);
  });
});

describe('random keys on mutated answers, in a program', () => {
  it('that may only read, write nothing', async () => {
    const session = await breadthSession({ world, seed: 'reader', keys, purpose: 'read-only' });
    expect(session.failures.map(({ what }) => what)).toEqual([]);
  });

  it('in which secrets are typed, leave no trace of them', async () => {
    const session = await breadthSession({ world, seed: 'typist', keys, purpose: 'secrets' });
    expect(session.failures.map(({ what }) => what)).toEqual([]);
    expect(session.typed).toBeGreaterThan(0);
  });
});

// One of each kind: of pastes, of texts, of numbers. `npm run torture` has them all.
describe('seeds of failures that were found', () => {
  it.each(breadthSeeds.filter(([seed]) => ['s1', 'A-134', 'calm1-195'].includes(seed)))(
    '%s: %s',
    async (seed, _was, keysOfFailure) => {
      const { failures } = await breadthSession({ world, seed, keys: keysOfFailure });
      expect(failures.map(({ what }) => what)).toEqual([]);
    },
  );
});
