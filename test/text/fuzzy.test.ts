import { describe, expect, it } from 'vitest';
import { fuzzyMatch, fuzzyRank } from '../../src/text/fuzzy.ts';

function ranked(query: string, candidates: string[]): string[] {
  return fuzzyRank(query, candidates, text => text).map(({ item }) => item);
}

describe('fuzzyRank', () => {
  it('puts beginnings of words before letters on the way', () => {
    expect(ranked('tr', ['castor', 'training'])).toEqual(['training', 'castor']);
    expect(ranked('tj', ['trajectories', 'training job'])[0]).toBe('training job');
  });

  it('puts whole words before scattered letters, and short before long', () => {
    expect(ranked('run', ['retry until now', 'eval run', 'run', 'runtimes'])).toEqual([
      'run',
      'runtimes',
      'eval run',
      'retry until now',
    ]);
  });

  it('leaves out what does not match, and keeps all in order for an empty query', () => {
    expect(ranked('xyz', ['a', 'b'])).toEqual([]);
    expect(ranked('', ['b', 'a'])).toEqual(['b', 'a']);
    expect(ranked('  ', ['b', 'a'])).toEqual(['b', 'a']);
  });

  it('has smart case', () => {
    expect(ranked('Run', ['run', 'Run'])).toEqual(['Run']);
    expect(ranked('run', ['run', 'Run'])).toEqual(['run', 'Run']);
  });
});

describe('fuzzyMatch', () => {
  it('draws a match together', () => {
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

  it('prefers letters in a row, and takes a capital after any small letter for the start of a word', () => {
    const score = (query: string, text: string) => fuzzyMatch(query, text)?.score ?? Number.NaN;
    expect(score('ab', 'xabx')).toBeGreaterThan(score('ab', 'xaxb'));
    expect(score('b', 'aB')).toBe(score('b', 'xB'));
  });
});
