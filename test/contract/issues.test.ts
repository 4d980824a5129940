/** Schema errors in words. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { describeIssues, firstPath, pathOf } from '../../src/contract/issues.ts';

const filled = z.string().check(z.minLength(1));
const schema = z.strictObject({
  name: filled,
  short: z.optional(z.string().check(z.minLength(3), z.maxLength(5))),
  size: z.optional(z.number().check(z.gte(1), z.lte(200))),
  count: z.optional(z.int()),
  on: z.optional(z.boolean()),
  order: z.optional(z.enum(['asc', 'desc'])),
  tags: z.optional(z.array(z.strictObject({ key: filled })).check(z.minLength(1), z.maxLength(2))),
  free: z.optional(z.record(z.string(), z.unknown())),
  exact: z.optional(z.string().check(z.regex(/^a$/))),
  when: z.optional(z.date()),
  either: z.optional(z.union([z.number(), z.strictObject({ at: z.number() }), z.array(z.string())])),
});

const wrong = (value: unknown) => schema.safeParse(value).error?.issues ?? [];

describe('the description of', () => {
  it.each<[value: unknown, words: string, path?: string | undefined]>([
    [{}, 'name is missing', 'name'],
    [{ name: '' }, 'name must not be empty', 'name'],
    [{ name: 7 }, 'name must be text', 'name'],
    [{ name: null }, 'name must be text', 'name'],
    [{ name: undefined }, 'name is missing', 'name'],
    [{ name: 'a', short: '' }, 'short must have a length of at least 3', 'short'],
    [{ name: 'a', short: 'abcdef' }, 'short must have a length of at most 5', 'short'],
    [{ name: 'a', size: 0 }, 'size must be at least 1', 'size'],
    [{ name: 'a', size: 201 }, 'size must be at most 200', 'size'],
    [{ name: 'a', size: '5' }, 'size must be a number', 'size'],
    [{ name: 'a', count: 1.5 }, 'count must be a whole number', 'count'],
    [{ name: 'a', on: 'yes' }, 'on must be true or false', 'on'],
    [{ name: 'a', order: 'up' }, 'order must be one of asc, desc', 'order'],
    [{ name: 'a', tags: {} }, 'tags must be a list', 'tags'],
    [{ name: 'a', tags: [] }, 'tags must have a length of at least 1', 'tags'],
    [{ name: 'a', tags: [1] }, 'tags[0] must be an object', 'tags[0]'],
    [{ name: 'a', tags: [{ key: 'k' }, {}] }, 'tags[1].key is missing', 'tags[1].key'],
    [{ name: 'a', tags: [{ key: 'k', x: 1, y: 2 }] }, 'unknown field in tags[0]: x, y', 'tags[0]'],
    [{ name: 'a', free: 'x' }, 'free must be an object', 'free'],
    [{ name: 'a', exact: 'b' }, 'exact has the wrong form', 'exact'],
    [{ name: 'a', when: 'now' }, 'when must be date', 'when'],
    [{ name: 'a', lable: 1 }, 'unknown field: lable', 'lable'],
    ['text', 'the whole must be an object', undefined],
    // Of several forms, the one that the value came closest to.
    [{ name: 'a', either: { at: 'x' } }, 'either.at must be a number', 'either.at'],
    [{ name: 'a', either: [1] }, 'either[0] must be text', 'either[0]'],
    [{ name: 'a', either: true }, 'either has the wrong form', 'either'],
    [
      { name: '', size: 0, count: 'x', on: 1, order: 2 },
      'name must not be empty; size must be at least 1; count must be a number; and 2 more',
      'name',
    ],
  ])('%j', (value, words, path) => {
    expect(describeIssues(wrong(value), value)).toBe(words);
    expect(firstPath(wrong(value))).toBe(path);
  });

  it('a missing field includes names that all objects inherit', () => {
    const read = z.object({ toString: z.string() }).safeParse({});
    expect(describeIssues(read.error?.issues ?? [], {})).toBe('toString is missing');
  });

  it('no issues is empty, and several are cut to a limit', () => {
    const value = { name: '', size: 0, on: 1 };
    expect([describeIssues([], {}), firstPath([])]).toEqual(['', undefined]);
    expect(describeIssues(wrong(value), value)).not.toContain('more');
    expect(describeIssues(wrong(value), value, 1)).toBe('name must not be empty; and 2 more');
  });

  it('a value never contains it, as it may be a secret', () => {
    const value = { name: 'a', order: 'hunter2', short: 'hunter2', size: 'hunter2' };
    expect(describeIssues(wrong(value), value)).not.toContain('hunter2');
  });
});

it('a path is written as in code', () => {
  expect([[], ['a'], ['a', 0, 'b'], [0, 1], ['a', 'b', 3]].map(pathOf)).toEqual([
    '',
    'a',
    'a[0].b',
    '[0][1]',
    'a.b[3]',
  ]);
});
