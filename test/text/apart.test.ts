import { describe, expect, it } from 'vitest';
import { cutApart } from '../../src/text/apart.ts';

const both = (one: string, other: string, width: number) => [cutApart(one, other, width), cutApart(other, one, width)];

describe('cutApart', () => {
  it('cuts the middle, where the names differ at their ends', () => {
    expect(both('t-words after training, seed 1', 't-words after training, seed 2', 15)).toEqual([
      't-words… seed 1',
      't-words… seed 2',
    ]);
    expect(both('first of the runs of today', 'other of the runs of today', 11)).toEqual([
      'first…today',
      'other…today',
    ]);
  });

  it('shows in what they differ, where that is in the middle', () => {
    expect(both('t-words with seed 1 by the tutor', 't-words with seed 2 by the tutor', 11)).toEqual([
      '…d 1 by th…',
      '…d 2 by th…',
    ]);
  });

  it('tells a name from a longer one', () => {
    const [one, other] = both('a run of many words by the tutor', 'a run of many more words by the tutor', 13);
    expect(one).not.toBe(other);
  });

  it('keeps what fits', () => {
    expect(both('one', 'other', 8)).toEqual(['one', 'other']);
    expect(both('seed 1 tutor', 'seed 2 tutor', 12)).toEqual(['seed 1 tutor', 'seed 2 tutor']);
    expect(cutApart('the same name', 'the same name', 8)).toBe('the …ame');
  });
});
