/** In its own process, with a replaced clock. */
import { expect, it } from 'vitest';
import type { Place } from '../src/resources/place.ts';
import { watched } from '../tools/bench/watch.ts';

it('takes at most 60 requests per minute for 40 active runs of 12 benchmarks in Watch, and reads each row once per minute (W21)', async () => {
  const cost = await watched(4);
  expect(cost.readAtFirst).toBe(cost.active);
  expect(cost.requests).toBeLessThanOrEqual(60);
  expect(cost.kilobytes).toBeLessThanOrEqual(300);
  expect(cost.longestWait).toBeLessThanOrEqual(62);
});

/** The longest wait: the rows of runs show no progress of training. And the minutes in which all is read once. */
const lists: readonly (readonly [string, Place, number, number])[] = [
  ['training runs', { view: 'list', resource: 'training' }, 62, 3],
  ['runs', { view: 'list', resource: 'runs' }, 66, 5],
];

it.each(lists)('takes no more in the list of %s, once its curves were read', async (_, start, longest, first) => {
  const cost = await watched(3, { start, first, count: 140 });
  expect(cost.readAtFirst).toBe(cost.active);
  expect(cost.requests).toBeLessThanOrEqual(60);
  expect(cost.kilobytes).toBeLessThanOrEqual(300);
  expect(cost.longestWait).toBeLessThanOrEqual(longest);
});
