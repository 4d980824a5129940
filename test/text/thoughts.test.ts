import { expect, it } from 'vitest';
import { splitThoughts, withoutThoughts } from '../../src/text/thoughts.ts';
import { inTime } from '../in-time.ts';

it.each([
  ['<think>a</think>b', 'a', 'b', 'in <think>'],
  [' \n<thinking>\na\n</thinking>\nb', '\na\n', '\nb', 'in <thinking>'],
  ['<think>a</thinking>', 'a</thinking>', '', 'in <think> without an end'],
  ['a\n  </think>b', 'a', 'b', 'up to </think>'],
])('splits %j', (text, thoughts, answer, tags) => {
  expect(splitThoughts(text)).toEqual({ thoughts, answer, tags });
});

it.each(['', 'an answer', 'end it with </think>, then', '`<think>\n</think>` is a tag', 'a <think>b</think>'])(
  'leaves %j as it is',
  text => {
    expect(splitThoughts(text)).toBeUndefined();
    expect(withoutThoughts(text)).toBe(text);
  },
);

it('reads a text once', () => {
  const text = `${' \n'.repeat(300_000)}x`;
  expect(inTime('the split', () => splitThoughts(text))).toBeUndefined();
});
