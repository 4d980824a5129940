import { setFlagsFromString } from 'node:v8';
import { expect, it, vi } from 'vitest';
import { withinCpuTime } from '../../src/base/time-limit.ts';

vi.mock('node:v8', async original => ({ ...(await original()), setFlagsFromString: vi.fn() }));

it.each([
  ['ends', () => {}],
  [
    'fails',
    () => {
      throw new Error('broken');
    },
  ],
])('optimises expressions again after a task that %s', (_, task) => {
  const seen: unknown[] = [];
  const set = vi.mocked(setFlagsFromString).mockClear();
  try {
    withinCpuTime(() => {
      seen.push(set.mock.lastCall);
      task();
    }, 1_000);
  } catch {}
  expect(seen).toEqual([['--no-regexp-optimization']]);
  expect(set.mock.lastCall).toEqual(['--regexp-optimization']);
});
