/** Long names in the palette. */
import { expect, it } from 'vitest';
import { displayWidth } from '../../../src/text/width.ts';
import { cutTitles } from '../../../src/ui/navigation/palette.ts';

const names = [112, 117, 118].map(
  seed => `sweep-2026-11-opposites-tutor-base-lr3e-4-warmup200-s0${seed}-ctx4k-reader-rerun-with-the-long-prompt-final`,
);

it('differ after cutting, and keep the typed word', () => {
  const cut = (query: string) => [...cutTitles(names, 50, query).values()];
  for (const title of cut('runs')) expect(displayWidth(title)).toBeLessThanOrEqual(50);
  expect(new Set(cut('runs')).size).toBe(3);
  for (const query of ['s0117', 'run S0117']) expect(cut(query)[1]).toContain('-s0117-');
  expect(cut('opposites').every(title => title.includes('opposites') && displayWidth(title) <= 50)).toBe(true);
  expect(cut('long-prompt-final').every(title => title.endsWith('long-prompt-final'))).toBe(true);
  expect(cutTitles(['short'], 50, 'hor').get('short')).toBe('short');
  // A word that is too long is cut.
  expect(displayWidth(cutTitles(names, 10, names[0] ?? '').get(names[0] ?? '') ?? '')).toBe(10);
});
