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
    [{ kind: 'word_share', letter: 'é' }, 'e\u0301te\u0301, hiver', 1 / 2],
    [{ kind: 'number', expected: 0.5 }, 'It is .5.', 1],
    [{ kind: 'number', expected: 5 }, 'so it is...5', 1],
    [{ kind: 'number', expected: 1234 }, '1,234 people', 1],
    [{ kind: 'number', expected: 1_234_567.5 }, '1,234,567.5', 1],
    [{ kind: 'number', expected: 3 }, '3,14', 1],
    [{ kind: 'number', expected: 100 }, '100,200,30', 1],
    [{ kind: 'number', expected: 100 }, '100,200.5,300', 1],
    [{ kind: 'number', expected: 100 }, '[100,200]', 1],
    [{ kind: 'number', expected: -100 }, '[ -100,200,300]', 1],
    [{ kind: 'number', expected: 123_456_789 }, '123,456,789, and no more', 1],
    [{ kind: 'number', expected: 1234 }, '\\[1,234\\]', 1],
    [{ kind: 'number', expected: -1234.5 }, '\\boxed{-1,234.5}', 1],
    [{ kind: 'number', expected: 1234 }, '1,234, 5,678', 1],
    // Either reading may be meant (attack34 B6).
    [{ kind: 'number', expected: 1234 }, '[1,234](x)', 1],
    [{ kind: 'number', expected: 1234 }, '\\left[1,234\\right]', 1],
    [{ kind: 'number', expected: -1234.5 }, '[[ -1,234.5]]', 1],
    [{ kind: 'number', expected: 1 }, '[1,234]', 1],
    [{ kind: 'number', expected: 234 }, '[1,234]', 0],
    [{ kind: 'number', expected: 1 }, '1,234', 0],
    [{ kind: 'number', expected: 1000 }, '1e3', 1],
    [{ kind: 'number', expected: 0.0012 }, '1.2E−3', 1],
    [{ kind: 'number', expected: 1 }, '1exact', 1],
    [{ kind: 'number', expected: -5 }, 'x = −5', 1],
    [{ kind: 'number', expected: 5 }, '−5', 0],
    [{ kind: 'number', expected: 19 }, 'COVID-19', 1],
    [{ kind: 'contains', expected: 'C++' }, 'In C.', 0],
    [{ kind: 'contains', expected: 'C++' }, 'In C++.', 1],
    [{ kind: 'contains', expected: '+' }, '1 + 1', 1],
    [{ kind: 'contains', expected: '.NET' }, 'ASP.NET', 1],
    [{ kind: 'contains', expected: '.NET' }, '.NETs', 0],
    [{ kind: 'contains', expected: 'New York' }, 'New\n  York', 1],
    [{ kind: 'contains', expected: 'art' }, 'start, then art', 1],
    [{ kind: 'contains', expected: 'art' }, '\u{10400}art', 0],
    [{ kind: 'contains', expected: '北京' }, '答案是北京。', 1],
    [{ kind: 'contains', expected: 'Paris' }, '答案是Paris。', 1],
    [{ kind: 'contains', expected: '서울' }, '답은 서울입니다.', 1],
    [{ kind: 'contains', expected: 'กรุงเทพ' }, 'คำตอบคือกรุงเทพค่ะ', 1],
    [{ kind: 'contains', expected: 'café' }, 'a cafe\u0301', 1],
    [{ kind: 'contains', expected: 'cafe' }, 'a cafe\u0301', 0],
    [{ kind: 'contains', expected: "don't" }, 'I don’t.', 1],
    [{ kind: 'exact', expected: 'café' }, 'Cafe\u0301', 1],
    [{ kind: 'exact', expected: '北京' }, '北京。', 1],
    [{ kind: 'exact', expected: '!' }, '!', 1],
    [{ kind: 'exact', expected: '!' }, '', 0],
    [{ kind: 'choice', choices: ['C', 'C++'], expected: 'C' }, 'C', 1],
    [{ kind: 'choice', choices: ['C', 'C++'], expected: 'C' }, 'C++', 0],
    [{ kind: 'choice', choices: ['C', 'C++'], expected: 'C++' }, 'C++', 1],
    [{ kind: 'choice', choices: ['<', '<=', '>'], expected: '<=' }, 'a <= b', 1],
    [{ kind: 'choice', choices: ['<', '>'], expected: '>' }, 'a > b', 1],
    [{ kind: 'choice', choices: ['yes', 'Yes'], expected: 'Yes' }, 'yes', 1],
    [{ kind: 'choice', choices: ['北京', '上海'], expected: '上海' }, '是上海', 1],
  ])('%j of “%s” is %d', (spec, answer, expected) => {
    expect(reward(spec, answer)).toBeCloseTo(expected, 12);
  });

  it('refuses an invalid spec', () => {
    expect(() => grade({ kind: 'regex', pattern: '(' }, 'x')).toThrow(GradingError);
    expect(() => grade({ kind: 'choice', choices: ['a', 'b'], expected: 'c' }, 'a')).toThrow(GradingError);
    expect(() => grade({ kind: 'number', expected: Number.NaN }, '1')).toThrow(GradingError);
  });

  it('stops a regular expression that would take forever', () => {
    const spec = { kind: 'regex', pattern: '^(\\w+\\s?)*$' } as const;
    expect(() => grade(spec, `${'a'.repeat(60)}!`)).toThrow(/takes too long/);
    expect(grade(spec, 'a b').reward).toBe(1);
  });

  it('reads each text once', () => {
    const dots = `${'.'.repeat(200_000)}x`;
    expect(inTime('the grade', () => reward({ kind: 'exact', expected: dots }, dots.slice(0, 10_000)))).toBe(0);
    const marks = `a${'\u0300\u0316'.repeat(200_000)}`;
    expect(inTime('the grade', () => reward({ kind: 'exact', expected: 'a' }, marks))).toBe(0);
  });

  it.each<GraderSpec>([
    { kind: 'exact', expected: `${'so '.repeat(5_000)}42` },
    { kind: 'contains', expected: '42' },
    { kind: 'regex', pattern: '\\b42$' },
    { kind: 'number', expected: 42 },
    { kind: 'choice', choices: ['41', '42'], expected: '42' },
  ])('grades the whole of a long answer: %o', spec => {
    expect(reward(spec, `${'so '.repeat(5_000)}42`)).toBe(1);
  });

  it('gives no reward if a long answer takes too much time or memory', () => {
    const [answer, expected] = ['a'.repeat(8_000_000), 'a'.repeat(1_000)];
    expect(() => grade({ kind: 'contains', expected }, answer)).toThrow('The grader (contains) takes too long');
    const choice: GraderSpec = { kind: 'choice', choices: [expected, 'b'], expected };
    expect(() => grade(choice, answer)).toThrow('The grader (choice) takes too long');
    expect(() => grade({ kind: 'regex', pattern: '^(a|b)*c' }, 'ab'.repeat(5_000_000))).toThrow('takes too long');
  });

  it('limits the length of texts and the number of choices', () => {
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

  it('reports invalid specs when it reads them', () => {
    const usable = (spec: unknown) => graderSpec.safeParse(spec).success;
    expect(usable({ kind: 'regex', pattern: 'a+' })).toBe(true);
    expect(usable({ kind: 'regex', pattern: '(' })).toBe(false);
    expect(usable({ kind: 'choice', choices: ['a', 'b'], expected: 'a' })).toBe(true);
    expect(usable({ kind: 'choice', choices: ['a', 'b'], expected: 'c' })).toBe(false);
    expect(usable({ kind: 'word_share', letter: '7' })).toBe(false);
    for (const kind of ['exact', 'contains']) expect(usable({ kind, expected: ' \n' })).toBe(false);
    expect(usable({ kind: 'choice', choices: ['a', ' '], expected: 'a' })).toBe(false);
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

  it('have different kinds of graders, and one needs a secret', () => {
    const kinds = new Set(sampleManifests.flatMap(({ tasks }) => tasks.map(task => task.grader.kind)));
    expect(kinds.size).toBeGreaterThanOrEqual(3);
    expect(sampleManifests.flatMap(({ tasks }) => secretNames(tasks.map(readTask)))).toEqual(['QUIZ_API_KEY']);
  });
});
