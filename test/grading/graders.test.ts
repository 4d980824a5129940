import { describe, expect, it } from 'vitest';
import { type GraderSpec, GradingError, grade, graderSpec } from '../../src/grading/graders.ts';
import { sampleManifests } from '../../src/local/samples/benchmarks.ts';
import { manifest, readTask, secretNames } from '../../src/local/samples/manifest.ts';
import { inTime } from '../in-time.ts';

const reward = (spec: GraderSpec, answer: string) => grade(spec, answer).reward;

describe('grade', () => {
  it.each<[GraderSpec, string, number]>([
    [{ kind: 'exact', expected: 'cold' }, ' Cold. ', 1],
    [{ kind: 'exact', expected: 'cold' }, 'very cold', 0],
    [{ kind: 'contains', expected: 'New York' }, 'in new york, mostly', 1],
    [{ kind: 'contains', expected: 'art' }, 'start', 0],
    [{ kind: 'regex', pattern: '^t\\w+' }, 'Tea', 1],
    [{ kind: 'regex', pattern: '^t\\w+' }, 'a tea', 0],
    [{ kind: 'contains', expected: '12' }, 'about 12, i think', 1],
    [{ kind: 'choice', choices: ['yes', 'no'], expected: 'no' }, 'No, never.', 1],
    [{ kind: 'choice', choices: ['yes', 'no'], expected: 'no' }, 'yes no', 0],
    [{ kind: 'choice', choices: ['yes', 'no'], expected: 'no' }, 'nothing', 0],
    [{ kind: 'choice', choices: ['light', 'light blue'], expected: 'light blue' }, 'light blue', 1],
    [{ kind: 'number', expected: 12 }, 'it is 12!', 1],
    [{ kind: 'number', expected: 12, tolerance: 4 }, '13', 0.75],
    [{ kind: 'number', expected: 12, tolerance: 4 }, '-90', 0],
    [{ kind: 'number', expected: 12 }, 'twelve', 0],
    [{ kind: 'word_share', letter: 't' }, 'Tea time, please', 2 / 3],
    [{ kind: 'word_share', letter: 't' }, '...', 0],
  ])('%j of “%s” is %d', (spec, answer, expected) => {
    expect(reward(spec, answer)).toBeCloseTo(expected, 12);
  });

  it('grades nothing with a spec that cannot be used', () => {
    expect(() => grade({ kind: 'regex', pattern: '(' }, 'x')).toThrow(GradingError);
    expect(() => grade({ kind: 'choice', choices: ['a', 'b'], expected: 'c' }, 'a')).toThrow(GradingError);
    expect(() => grade({ kind: 'number', expected: Number.NaN }, '1')).toThrow(GradingError);
  });

  it('stops an expression that would take forever', () => {
    const spec = { kind: 'regex', pattern: '^(\\w+\\s?)*$' } as const;
    expect(() => grade(spec, `${'a'.repeat(60)}!`)).toThrow(/takes too long/);
    expect(grade(spec, 'a b').reward).toBe(1);
  });

  it('reads each text once', () => {
    const dots = `${'.'.repeat(200_000)}x`;
    expect(inTime('the grade', () => reward({ kind: 'exact', expected: dots }, dots.slice(0, 10_000)))).toBe(0);
  });

  it('stops every kind of grader that would take long', () => {
    const choices = [...Array<string>(1_000_000).fill('no such words'), 'yes'];
    const spec = { kind: 'choice', choices, expected: 'yes' } as const;
    expect(() => grade(spec, 'a '.repeat(5_000))).toThrow('The grader (choice) takes too long');
  });

  it('takes no longer text than it reads of an answer, and a limited number of choices', () => {
    const usable = (spec: unknown) => graderSpec.safeParse(spec).success;
    for (const kind of ['exact', 'contains']) {
      expect(usable({ kind, expected: 'x'.repeat(10_000) })).toBe(true);
      expect(usable({ kind, expected: 'x'.repeat(10_001) })).toBe(false);
    }
    const choices = (count: number, length = 1) => [...Array<string>(count - 1).fill('x'), 'y'.repeat(length)];
    expect(usable({ kind: 'choice', choices: choices(200, 1_000), expected: 'x' })).toBe(true);
    expect(usable({ kind: 'choice', choices: choices(201), expected: 'x' })).toBe(false);
    expect(usable({ kind: 'choice', choices: choices(2, 1_001), expected: 'x' })).toBe(false);
  });

  it('names unusable specs if they are read', () => {
    const usable = (spec: unknown) => graderSpec.safeParse(spec).success;
    expect(usable({ kind: 'regex', pattern: 'a+' })).toBe(true);
    expect(usable({ kind: 'regex', pattern: '(' })).toBe(false);
    expect(usable({ kind: 'choice', choices: ['a', 'b'], expected: 'a' })).toBe(true);
    expect(usable({ kind: 'choice', choices: ['a', 'b'], expected: 'c' })).toBe(false);
    expect(usable({ kind: 'word_share', letter: '7' })).toBe(false);
  });

  it('does not parse a pattern that is too long', () => {
    const { error } = graderSpec.safeParse({ kind: 'regex', pattern: '('.repeat(501) });
    expect(error?.issues.map(({ code }) => code)).toEqual(['too_big']);
  });
});

describe('the sample benchmarks', () => {
  it.each(sampleManifests.map(each => [each.name, each] as const))(
    '%s is valid, with splits of 16 to 128 different tasks',
    (_, sample) => {
      const { tasks } = manifest.parse(sample);
      const asked = (split: string) =>
        tasks.filter(task => task.split === split).map(task => JSON.stringify(task.input_messages));
      const train = new Set(asked('train'));
      const test = asked('test');
      expect(train.size).toBe(asked('train').length);
      for (const size of [train.size, test.length]) {
        expect(size).toBeGreaterThanOrEqual(16);
        expect(size).toBeLessThanOrEqual(128);
      }
      expect(test.filter(task => train.has(task))).toEqual([]);
    },
  );

  it('are of different kinds, and one needs a secret', () => {
    const kinds = new Set(sampleManifests.flatMap(({ tasks }) => tasks.map(task => task.grader.kind)));
    expect(kinds.size).toBeGreaterThanOrEqual(3);
    expect(sampleManifests.flatMap(({ tasks }) => secretNames(tasks.map(readTask)))).toEqual(['QUIZ_API_KEY']);
  });
});
