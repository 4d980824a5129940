import { expect, it } from 'vitest';
import { inParallel } from '../../src/base/in-parallel.ts';

it('starts four tasks at once, and another as each ends', async () => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = inParallel([0, 1, 2, 3, 4, 5], item => {
    begun.push(item);
    return new Promise<void>(resolve => ends.push(resolve));
  });
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4]);
  for (let next = 0; next < 6; next += 1)
    await expect
      .poll(() => ends[next])
      .toBeDefined()
      .then(() => ends[next]?.());
  await all;
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});

it('starts nothing after a failure', async () => {
  const begun: number[] = [];
  const held = Promise.withResolvers<void>();
  const all = inParallel([0, 1, 2, 3, 4, 5], async item => {
    begun.push(item);
    if (item === 0) throw new Error('no');
    await held.promise;
  });
  await expect(all).rejects.toThrow('no');
  held.resolve();
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2, 3]);
});
