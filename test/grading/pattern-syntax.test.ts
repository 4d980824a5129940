/** Which patterns are valid regular expressions. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { syntaxProblem } from '../../src/grading/patterns.ts';
import { Random } from '../../tools/rig/random.ts';

it('accepts the same patterns as V8', () => {
  const random = new Random('patterns');
  const parts = [
    ...[
      '\\p{L}',
      '\\P{Script=Latin}',
      '\\p{Nonsense}',
      '\\p{',
      '\\p',
      '\\\\p{L}',
      '\\\\',
      '\\d',
      '\\u{1F600}',
      '}',
      '{',
      '{2}',
    ],
    ...['[', '[^', ']', '-', '(', ')', '(?<n>', '\\k<n>', '|', '*', '+?', '^', 'a', 'é', '😀', '.', '/'],
  ];
  const verdicts = { right: 0, wrong: 0 };
  for (let round = 0; round < 20_000; round++) {
    const pattern = Array.from({ length: random.between(1, 6) }, () => random.pick(parts)).join('');
    let isRight = true;
    try {
      new RegExp(pattern, 'iu');
    } catch {
      isRight = false;
    }
    expect([pattern, syntaxProblem(pattern) === undefined]).toEqual([pattern, isRight]);
    verdicts[isRight ? 'right' : 'wrong'] += 1;
  }
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(1_000);
});

it('checks patterns with many properties without building their sets again', () => {
  const sets: string[] = [];
  class Counted extends RegExp {
    constructor(source: string, flags?: string) {
      super(source, flags);
      sets.push(...(source.match(/\\p\{L\}/g) ?? []));
    }
  }
  vi.stubGlobal('RegExp', Counted);
  onTestFinished(() => void vi.unstubAllGlobals());
  for (let index = 0; index < 500; index++) expect(syntaxProblem('\\p{L}'.repeat(98) + index)).toBeUndefined();
  expect(sets.length).toBeLessThanOrEqual(1);
});
