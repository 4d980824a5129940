/** Small helpers that many modules use. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { unlessAborted } from '../../src/base/abort.ts';
import { lastAt } from '../../src/base/binary-search.ts';
import { hashOf } from '../../src/base/hash.ts';
import { deepestJson, isNestedDeeper } from '../../src/base/json-depth.ts';
import { firstLines } from '../../src/text/wrap.ts';

it('hashes with FNV-1a', () => {
  expect(['', 'a', 'foobar'].map(hashOf)).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
});

it('finds the last item at or before a place in any sorted list', () => {
  const places = [1, 3, 3, 3, 7, 9];
  for (let count = 0; count <= places.length; count += 1) {
    for (let place = 0; place <= 10; place += 1) {
      const wanted = places.slice(0, count).findLastIndex(each => each <= place);
      expect(lastAt(count, index => places[index] ?? Number.NaN, place)).toBe(wanted);
    }
  }
});

it('counts nesting of arrays and objects, up to the given depth', () => {
  const nested = (levels: number): unknown =>
    levels === 0 ? 1 : levels % 2 === 0 ? [0, nested(levels - 1)] : { a: 0, b: nested(levels - 1) };
  for (const levels of [0, 1, 2, 5]) {
    expect([levels - 1, levels].map(most => most >= 0 && isNestedDeeper(nested(levels), most))).toEqual([
      levels > 0,
      false,
    ]);
  }
  expect([
    isNestedDeeper(nested(deepestJson)),
    isNestedDeeper(nested(deepestJson + 1)),
    isNestedDeeper(null, 0),
  ]).toEqual([false, true, false]);
});

it('returns all of the first lines, or says how many more there are', () => {
  const lines = ['a', 'b', 'c', 'd'];
  expect(firstLines(lines, 4)).toBe(lines);
  expect(firstLines(lines, 3)).toEqual(['a', 'b', '… and 2 more lines']);
});

describe('waiting for a shared result', () => {
  it('ends with it, and removes its listener', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(Promise.resolve('done'), signal)).resolves.toBe('done');
    await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends on an abort before or after, with its reason or another', async () => {
    const forever = new Promise<never>(() => {});
    await expect(unlessAborted(forever, AbortSignal.abort('before'))).rejects.toBe('before');
    const later = new AbortController();
    const waiting = unlessAborted(forever, later.signal, () => 'another');
    later.abort('after');
    await expect(waiting).rejects.toBe('another');
  });
});
