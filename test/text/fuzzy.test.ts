import { describe, expect, it } from 'vitest';
import { fuzzyFilter, fuzzyMatch, fuzzyRank } from '../../src/text/fuzzy.ts';

function ranked(query: string, candidates: string[]): string[] {
  return fuzzyRank(query, candidates, text => text).map(({ item }) => item);
}

describe('fuzzyRank', () => {
  it('ranks starts of words before letters inside', () => {
    expect(ranked('tr', ['castor', 'training'])).toEqual(['training', 'castor']);
    expect(ranked('tj', ['trajectories', 'training job'])[0]).toBe('training job');
  });

  it('ranks whole words before scattered letters, and short before long texts', () => {
    expect(ranked('run', ['retry until now', 'eval run', 'run', 'runtimes'])).toEqual([
      'run',
      'runtimes',
      'eval run',
      'retry until now',
    ]);
  });

  it('leaves out what does not match, and keeps everything in order for an empty query', () => {
    expect(ranked('xyz', ['a', 'b'])).toEqual([]);
    expect(ranked('', ['b', 'a'])).toEqual(['b', 'a']);
    expect(ranked('  ', ['b', 'a'])).toEqual(['b', 'a']);
  });

  it('uses smart case', () => {
    expect(ranked('Run', ['run', 'Run'])).toEqual(['Run']);
    expect(ranked('run', ['run', 'Run'])).toEqual(['run', 'Run']);
  });
});

describe('fuzzyMatch', () => {
  it('keeps a match together', () => {
    expect(fuzzyMatch('ab', 'a.....axb')?.ranges).toEqual([
      [6, 7],
      [8, 9],
    ]);
  });

  it('never splits a surrogate pair', () => {
    expect(fuzzyMatch('😀x', 'a😁😀.x')?.ranges).toEqual([
      [3, 5],
      [6, 7],
    ]);
    expect(fuzzyMatch('😀', '😁')).toBeUndefined();
  });

  it('joins the ranges of several words', () => {
    expect(fuzzyMatch('ab bc', 'abc')?.ranges).toEqual([[0, 3]]);
  });

  it('prefers adjacent letters, and takes a capital after a small letter as the start of a word', () => {
    const score = (query: string, text: string) => fuzzyMatch(query, text)?.score ?? Number.NaN;
    expect(score('ab', 'xabx')).toBeGreaterThan(score('ab', 'xaxb'));
    expect(score('b', 'aB')).toBe(score('b', 'xB'));
  });
});

describe('the score', () => {
  const score = (query: string, text: string) => fuzzyMatch(query, text)?.score;

  // 16 for a letter, 14 at the start, 10 at the start of a word, 8 in a row; -3 for a gap and -1 for each letter more.
  it.each([
    ['a', 'a', 30],
    ['b', 'ab', 16],
    ['ab', 'ab', 54],
    ['ac', 'abc', 43],
    ['ad', 'abcd', 42],
    ['ac', `a${'b'.repeat(50)}c`, 23],
    ['bd', 'abcd', 29],
    ['a b', 'ab', 46],
    ...['-b', '/b', ' b', '{b', '@b', '[b', '`b', ':b', '·b', '。b'].map(text => ['b', text, 26] as const),
    ...['0b', '9b', 'Ab', 'Zb', 'ab', 'zb', 'éb', '日b', 'Éb'].map(text => ['b', text, 16] as const),
    ...['aB', 'zB', 'éB'].map(text => ['b', text, 26] as const),
    ...['AB', 'ZB', '9B', 'ÉB'].map(text => ['b', text, 16] as const),
  ] as const)('of %s in %s is %i', (query, text, wanted) => {
    expect(score(query, text)).toBe(wanted);
  });
});

it('exists exactly if the text matches', () => {
  const texts = [
    'two-digit-sum',
    'Sum',
    'İs um',
    'sum',
    'mus',
    '',
    `${'x'.repeat(2_000)}sum`,
    `${'x'.repeat(1_997)}sum`,
  ];
  for (const query of ['sum', 'Sum', 'two sum', 's', 'ss', 'is']) {
    const accepts = fuzzyFilter(query);
    for (const text of texts) expect(accepts(text), `${query} in ${text}`).toBe(fuzzyMatch(query, text) !== undefined);
  }
  expect(texts.map(fuzzyFilter('sum'))).toEqual([true, true, true, true, false, false, false, true]);
  expect([fuzzyFilter('ss')('s'), fuzzyFilter('ss')('sxs')]).toEqual([false, true]);
});
