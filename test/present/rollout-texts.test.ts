import { expect, it } from 'vitest';
import { sampleOf, targetOf, textsOf } from '../../src/present/rollout-texts.ts';

const said = (role: string, content: string) => ({ role, content });
const stepsOf = (...messages: object[]) => [{ step_index: 0, messages }];

it('has the first line of the last answer, and of what the user asked before the first', () => {
  const steps = stepsOf(
    said('system', 'be brief'),
    said('user', '\n  what is 2 + 2?\nThink first.'),
    said('assistant', 'let me see'),
    said('user', 'go on'),
    said('assistant', '\n\n 4 \nThat is all.'),
    said('grader', 'right'),
  );
  expect(textsOf({ steps })).toEqual({ question: 'what is 2 + 2?', answer: '4' });
  expect(textsOf({ steps: [] })).toEqual({ question: '', answer: '' });
  expect(textsOf({ steps: null })).toBeUndefined();
  expect(textsOf({ steps: stepsOf(said('assistant', 'x'.repeat(1_000))) })?.answer).toHaveLength(240);
});

it('has what the task expects, and the sample, where the record says so', () => {
  expect(targetOf({ grader: { kind: 'exact', expected: 'nine' }, target: 'ten' })).toBe('nine');
  expect(targetOf({ target: 42 })).toBe(42);
  expect([targetOf({ grader: 'nine' }), targetOf({ target: ['a'] }), targetOf({})]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([sampleOf({ sample: 3 }), sampleOf({ sample: {} }), sampleOf({})]).toEqual([3, undefined, undefined]);
});
