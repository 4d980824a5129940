/** More items than a call can have arguments. */
import { expect, it } from 'vitest';
import { maxOf, minOf, pushAll } from '../../src/base/many.ts';

const many = Array.from({ length: 300_000 }, (_, index) => index);

it('appends any number of items, and finds the largest and smallest', () => {
  const list = [-1];
  pushAll(list, many);
  expect([list.length, list[1], list.at(-1)]).toEqual([300_001, 0, 299_999]);
  expect([maxOf(many), minOf(many)]).toEqual([299_999, 0]);
});

it('returns the given value as the largest and smallest of an empty list', () => {
  expect([maxOf([], 3), minOf([], 3), maxOf([1], 3), minOf([5], 3)]).toEqual([3, 3, 3, 3]);
  expect([maxOf([]), minOf([])]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
});
