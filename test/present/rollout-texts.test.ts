import { expect, it } from 'vitest';
import { sampleOf, targetOf, textsOf } from '../../src/present/rollout-texts.ts';

const messageOf = (role: string, content: string) => ({ role, content });
const stepsOf = (...messages: object[]) => [{ step_index: 0, messages }];

it('has the first line of the last answer, and of the first user message', () => {
  const steps = stepsOf(
    messageOf('system', 'be brief'),
    messageOf('user', '\n  what is 2 + 2?\nThink first.'),
    messageOf('assistant', 'let me see'),
    messageOf('user', 'go on'),
    messageOf('assistant', '\n\n 4 \nThat is all.'),
    messageOf('grader', 'right'),
  );
  expect(textsOf({ steps })).toEqual({ question: 'what is 2 + 2?', answer: '4' });
  expect(textsOf({ steps: [] })).toEqual({ question: '', answer: '' });
  expect(textsOf({ steps: null })).toBeUndefined();
  expect(textsOf({ steps: stepsOf(messageOf('assistant', 'x'.repeat(1_000))) })?.answer).toHaveLength(240);
});

it('has the answer after the thoughts in it, and none if it was cut off within them', () => {
  const answerIn = (content: string) => textsOf({ steps: stepsOf(messageOf('assistant', content)) })?.answer;
  expect(answerIn('<think>\nI add.\n</think>\n\nIt is 4.')).toBe('It is 4.');
  expect(answerIn('I add.\n</think>\n\nIt is 4.')).toBe('It is 4.');
  expect(answerIn('<think>\nI add')).toBe('');
});

it('names an image instead of having its bytes (out33 C6)', () => {
  const image = `data:image/png;base64,${'aB3/'.repeat(1_024)}`;
  const steps = stepsOf(messageOf('user', `see ![x](${image}) here`), messageOf('assistant', `![y](${image})`));
  expect(textsOf({ steps })).toEqual({
    question: 'see ![x]([image png 3 KB]) here',
    answer: '![y]([image png 3 KB])',
  });
});

it('has the expected answer and the sample, if the record has them', () => {
  expect(targetOf({ grader: { kind: 'exact', expected: 'nine' }, target: 'ten' })).toBe('nine');
  expect([targetOf({ target: 42 }), targetOf({ gts: '8' })]).toEqual([42, '8']);
  // As in files of Inspect and verifiers.
  expect([targetOf({ metadata: { target: '4' } }), targetOf({ metadata: { answer: '5' } })]).toEqual(['4', '5']);
  expect(targetOf({ answer: 'of the model' })).toBeUndefined();
  expect([targetOf({ grader: 'nine' }), targetOf({ target: ['a'] }), targetOf({})]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([sampleOf({ sample: 3 }), sampleOf({ sample: {} }), sampleOf({})]).toEqual([3, undefined, undefined]);
});
