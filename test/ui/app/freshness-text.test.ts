/** The freshness in the frame: never too old, never too new, and never changing by itself. Pure. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Freshness } from '../../../src/queries/freshness.ts';
import {
  describeFreshness,
  describeFreshnessShort,
  freshnessMark,
  titleLine,
} from '../../../src/ui/app/frame-lines.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');

describe('the text', () => {
  const states: readonly (readonly [Freshness, string, string])[] = [
    [{ kind: 'loading' }, 'loading', 'loading'],
    [{ kind: 'fresh', at: 0, intervalMs: 2_000 }, 'live, read every 2s', 'live, every 2s'],
    [{ kind: 'fresh', at: 0, intervalMs: undefined }, 'final', 'final'],
    [{ kind: 'fresh', at: 0, intervalMs: 2_000, oldestAt: -1_000 }, 'live, read every 2s', 'live, every 2s'],
    [{ kind: 'fresh', at: 0, intervalMs: 2_000, oldestAt: -41_000 }, 'live, rows up to 50s old', 'live, up to 50s old'],
    [{ kind: 'stale', at: 0 }, 'stale, read 3s ago', 'stale, read 3s ago'],
    [{ kind: 'failing', at: 0, retryAt: 9_000 }, 'failing, read 3s ago, retry in 6s', 'failing, retry in 6s'],
    [{ kind: 'failing', at: undefined, retryAt: 9_000 }, 'failing, retry in 6s', 'failing, retry in 6s'],
    [{ kind: 'failing', at: undefined, retryAt: 3_400 }, 'failing, retry in 1s', 'failing, retry in 1s'],
    [{ kind: 'failing', at: 0, retryAt: 3_000 }, 'failing, read 3s ago, retrying', 'failing, retrying'],
    [{ kind: 'failing', at: 0, retryAt: undefined }, 'failing, read 3s ago', 'failing, read 3s ago'],
    [
      { kind: 'limited', at: 1_000, until: 15_000 },
      'rate limited, read 2s ago, retry in 12s',
      'rate limited, retry in 12s',
    ],
    [
      { kind: 'limited', at: 1_000, until: 61_000, requestedUntil: 3_603_000 },
      'rate limited, the service asks to wait 1h, read 2s ago, retry in 58s',
      'rate limited, retry in 58s',
    ],
    [{ kind: 'limited', at: 1_000, until: 3_000 }, 'stale, read 2s ago', 'stale, read 2s ago'],
    [{ kind: 'paused', at: 0 }, 'paused, read 3s ago', 'paused, read 3s ago'],
    [{ kind: 'gone', at: undefined }, 'not found', 'not found'],
    [{ kind: 'gone', at: 0 }, 'deleted, read 3s ago', 'deleted, read 3s ago'],
    [{ kind: 'unlisted', at: undefined }, 'not listed', 'not listed'],
    [{ kind: 'unlisted', at: 1_000 }, 'not listed, seen 2s ago', 'not listed, seen 2s ago'],
  ];

  it.each(states)('for %o says when it was read and when it will be', (freshness, long, short) => {
    expect([describeFreshness(freshness, 3_000), describeFreshnessShort(freshness, 3_000)]).toEqual([long, short]);
    expect(freshnessMark(freshness, 3_000, theme)).not.toBe('');
  });

  it('does not change while all is well', () => {
    const fresh = { kind: 'fresh', at: 0, intervalMs: 10_000 } as const;
    const said = Array.from({ length: 25 }, (_, second) => describeFreshness(fresh, second * 1_000));
    expect(new Set(said)).toEqual(new Set(['live, read every 10s']));
  });
});

describe('the title line', () => {
  const words = ['live, read every 10s • 3 running', 'live, every 10s • 3 running'];

  it('has the long text if there is room for it next to the title', () => {
    expect(titleLine(80, ['benchtop ── prod'], words, '●', theme)).toContain('● live, read every 10s • 3 running ─┐');
    expect(titleLine(60, ['benchtop ── prod'], words, '●', theme)).toContain('● live, read every 10s • 3 running ─┐');
    const narrow = titleLine(60, ['benchtop ── production (read-only)'], words, '●', theme);
    expect(narrow).toContain('● live, every 10s • 3 running ─┐');
    expect(stripVTControlCharacters(narrow)).toHaveLength(60);
  });
});
