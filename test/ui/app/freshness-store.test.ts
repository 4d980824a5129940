/** The frame never says that something is older than it is. Pure. */
import { describe, expect, it } from 'vitest';
import { freshnessWords } from '../../../src/ui/app/frame-lines.ts';
import { FreshnessStore } from '../../../src/ui/app/freshness-store.ts';

describe('what the frame knows of the freshness', () => {
  it('is renewed by every answer, though nothing is told', () => {
    const store = new FreshnessStore();
    let told = 0;
    store.subscribe(() => {
      told += 1;
    });
    const words = (now: number) => (store.current ? freshnessWords(store.current, now) : '');
    store.set({ kind: 'fresh', at: 0, intervalMs: 10_000 });
    expect(words(20_000)).toBe('live 10s');
    expect(words(26_000)).toBe('stale, 26s old');
    store.set({ kind: 'fresh', at: 20_000, intervalMs: 10_000 });
    expect(words(26_000)).toBe('live 10s');
    expect(told).toBe(1);
  });

  it('is told at once where it is of another kind', () => {
    const store = new FreshnessStore();
    let told = 0;
    store.subscribe(() => {
      told += 1;
    });
    store.set({ kind: 'fresh', at: 0, intervalMs: 10_000 });
    store.set({ kind: 'failing', at: 0, retryAt: 5 });
    store.set(undefined);
    expect([told, store.told()]).toEqual([3, '']);
  });
});

it('names a rate limit, and when the service is asked again', () => {
  const limited = { kind: 'limited', at: 1_000, until: 15_000 } as const;
  expect(freshnessWords(limited, 3_000)).toBe('rate limited, 2s old, again in 12s');
  expect(freshnessWords({ ...limited, at: undefined }, 3_000)).toBe('rate limited, again in 12s');
  expect(freshnessWords(limited, 16_000)).toBe('stale, 15s old');
});
