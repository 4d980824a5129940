import { describe, expect, it } from 'vitest';
import { cutApart } from '../../src/text/apart.ts';
import { displayWidth } from '../../src/text/width.ts';
import { Random } from '../../tools/rig/random.ts';

const both = (one: string, other: string, width: number) => [...cutApart([one, other], width).values()];

describe('cutApart', () => {
  it('cuts the middle, if the names differ at their ends', () => {
    expect(both('t-words after training, seed 1', 't-words after training, seed 2', 15)).toEqual([
      't-words… seed 1',
      't-words… seed 2',
    ]);
    expect(both('first of the runs of today', 'other of the runs of today', 11)).toEqual([
      'first…today',
      'other…today',
    ]);
  });

  it('shows the difference, if that is in the middle', () => {
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
    expect([...cutApart(['the same name', 'the same name'], 8)]).toEqual([['the same name', 'the …ame']]);
  });
});

describe('the names of a list', () => {
  const random = new Random('names');
  const words = ['nightly', 'tutor', 'seed', 'ünïcode', '訓練', 'words', '👩‍🔬', '1', '2', '-', ' ', 'aa', 'a'];
  const text = (most: number): string =>
    Array.from({ length: random.between(0, most) }, () => random.pick(words)).join('');

  /** Names that differ by a word or none at their start, in their middle and at their end. */
  const namesOf = (count: number): ReadonlySet<string> => {
    const [one, other] = [text(12), text(12)];
    return new Set(Array.from({ length: count }, () => [text(1), one, text(1), other, text(1)].join('')));
  };

  it.each([
    [2, 6],
    [30, 20],
  ])('never look alike: %i names, in %i cells and more', (count, least) => {
    for (let round = 0; round < 1_000; round++) {
      const [names, width] = [namesOf(count), random.between(least, 2 * least)];
      const cuts = cutApart(names, width);
      expect([...cuts.keys()]).toEqual([...names]);
      expect([...names].filter(name => displayWidth(cuts.get(name) ?? '') > width)).toEqual([]);
      expect(new Set(cuts.values()).size).toBe(names.size);
      for (const name of names) if (displayWidth(name) <= width) expect(cuts.get(name)).toBe(name);
    }
  });

  it('of 90 characters show their differences, at the ends and in the middle', () => {
    const [head, tail] = [
      'nightly run of the tutor on the words ',
      ' with the held-out split of the second week of May',
    ];
    const seeds = ['seed 1', 'seed 2', 'seed 3'];
    const inMiddle = seeds.map(seed => `${head}${seed}${tail}`);
    expect([...cutApart(inMiddle, 20).values()]).toEqual(seeds.map(seed => `…d ${seed.at(-1)} with the held-…`));
    const atEnd = seeds.map(seed => `${head}${tail}${seed}`);
    expect([...cutApart(atEnd, 20).values()]).toEqual(seeds.map(seed => `nightly ru…Mayseed ${seed.at(-1)}`));
  });

  it('that start with the same date and differ in more than their ends show what follows the date', () => {
    const names = ['swe-terminal-repair', 'kernel-cuda-optimise', 'security-ctf-web'].map(
      (family, index) => `2026-11-01_${family}_qwen3-next-80b-a3b-thinking-instruct_lr0.00001_g8_seed${index}`,
    );
    const shown = ['…swe-te…_seed0', '…kernel…_seed1', '…securi…_seed2'];
    expect([...cutApart(names, 14).values()]).toEqual(shown);
    expect([...cutApart([...names, 'live: collapses now'], 14).values()]).toEqual([...shown, 'live: c…es now']);
    // Where there is room for much more than the date, the names begin with it.
    expect([...cutApart(names, 34).values()][0]).toMatch(/^2026-11-01_swe.*…/);
  });

  it('that start with the same date show more of their differences in more room (out34 C3)', () => {
    const families = ['swe-terminal-repair', 'security-ctf-web', 'kernel-cuda-optimise', 'swe-lint'];
    const names = families.flatMap((family, at) =>
      [0, 1].map(seed => `2026-11-01_${family}_qwen3-next-80b_lr0.00001_g8_seed${at}${seed}`),
    );
    for (let width = 16; width < 34; width += 1) {
      const cuts = [...cutApart(names, width).values()];
      expect(cuts.filter(cut => !cut.startsWith('…'))).toEqual([]);
      expect(new Set(cuts.map(cut => cut.slice(1, 4)))).toEqual(new Set(['swe', 'sec', 'ker']));
    }
  });

  it('of a grid show each place in which they differ', () => {
    const names = ['lr1', 'lr2'].flatMap(rate =>
      ['g4', 'g8'].flatMap(group =>
        ['seed0', 'seed1'].map(
          seed => `2026-11-01_terminal-repair_${rate}_of_the_policy_${group}_rollouts_${seed}_of_two`,
        ),
      ),
    );
    const cuts = [...cutApart(names, 24).values()];
    expect(cuts[0]).toBe('…lr1_of…_g4_ro…ed0_of…');
    expect(cuts[7]).toBe('…lr2_of…_g8_ro…ed1_of…');
  });

  it('of 10,000 rows are cut quickly', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `${'a'.repeat(40)}${index}${'b'.repeat(40)}`);
    expect(new Set(cutApart(names, 24).values()).size).toBe(names.length);
  });
});
