import { expect, it } from 'vitest';
import { parseLineSearch } from '../../src/text/line-search.ts';

const wordsOf = (query: string): readonly string[] | undefined => {
  const search = parseLineSearch(query);
  return search.ok ? search.words : undefined;
};

it.each([
  ['Word "a phrase"', ['Word', 'a phrase']],
  [String.raw`/needle_\d+/`, ['needle_']],
  [String.raw`/^Traceback \(most.*line (\d+)$/`, ['Traceback (most', 'line ']],
  [String.raw`/a\/b\.ts:[0-9]+/i`, ['a/b.t', ':']],
  ['/a\\.TS:x?y+z{2}w/', ['a.TS:', 'y', 'w']],
  ['/one|two/', []],
  ['/pre(?:one|two)(?!three)(four)?fin/', ['pre', 'fin']],
  [String.raw`/\p{Lu}able\u{61}bc\x41bc\k<n>de(?<n>f)/`, ['able', 'bc', 'bc', 'de']],
  ['/[(|]able[^)]bar/', ['able', 'bar']],
  ['/classes ſ é/', ['cla', 'e', ' ', ' ']],
  ['/Classes/', ['Classes']],
])('finds the words that every match of %s contains', (query, words) => {
  expect(wordsOf(query)).toEqual(words);
});
