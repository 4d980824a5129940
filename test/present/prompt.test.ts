import { expect, it } from 'vitest';
import { promptOf } from '../../src/present/prompt.ts';
import { textsOf } from '../../src/present/rollout-texts.ts';
import { questionOf } from '../../src/present/task-groups.ts';

const trajectoryOf = (...messages: readonly (readonly [role: string, content: unknown])[]) => ({
  steps: [{ messages: messages.map(([role, content]) => ({ role, content })) }],
});

it('is everything sent before the first answer', () => {
  const steps = trajectoryOf(
    ['system', 'be brief'],
    ['developer', 'in English'],
    ['user', 'tea?'],
    ['user', [{ type: 'text', text: 'or ' }, 'milk?']],
    ['assistant', 'tea'],
    ['user', 'why?'],
  );
  expect(promptOf(steps)).toEqual({
    system: 'be brief\n\nin English',
    turns: [{ role: 'user', content: 'tea?' }],
    question: 'or milk?',
    leftOut: [],
    isBegun: false,
  });
});

it('may have its messages in several steps, and no system message', () => {
  expect(
    promptOf({ steps: [...trajectoryOf(['user', 'tea?']).steps, ...trajectoryOf(['assistant', 'a']).steps] }),
  ).toEqual({
    system: '',
    turns: [],
    question: 'tea?',
    leftOut: [],
    isBegun: false,
  });
});

it('names what is not text', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aaaa' } };
  const call = { type: 'tool_use', id: 'a', name: 'look', input: {} };
  expect(
    promptOf(
      trajectoryOf(['user', [{ type: 'text', text: 'what is ' }, image, { type: 'text', text: 'this?' }, call]]),
    ),
  ).toEqual({
    system: '',
    turns: [],
    question: 'what is this?',
    leftOut: [expect.stringContaining('png'), 'tool call'],
    isBegun: false,
  });
  expect(promptOf(trajectoryOf(['user', [image]]))).toBeUndefined();
});

it('is undefined without a user message before the answer', () => {
  for (const each of [
    {},
    trajectoryOf(),
    trajectoryOf(['system', 'x']),
    trajectoryOf(['user', '']),
    trajectoryOf(['assistant', 'a'], ['user', 'b']),
  ])
    expect(promptOf(each)).toBeUndefined();
});

it('ends before the first sampled answer, and has other answers as examples (attack34 A3)', () => {
  const [asked, example, question] = [
    ['user', 'cats?'],
    ['assistant', 'Cats sleep.'],
    ['user', 'dogs?'],
  ] as const;
  const { steps } = trajectoryOf(asked, example, question);
  for (const sampled of [{ completion_tokens: 2 }, { finish_reason: 'stop' }]) {
    const answer = { role: 'assistant', content: 'Dogs bark.', ...sampled };
    const trajectory = { steps: [{ messages: [...(steps[0]?.messages ?? []), answer] }] };
    expect(promptOf(trajectory)).toMatchObject({
      turns: [
        { role: 'user', content: 'cats?' },
        { role: 'assistant', content: 'Cats sleep.' },
      ],
      question: 'dogs?',
      isBegun: false,
    });
    expect(questionOf(trajectory)).toBe('cats?\nCats sleep.\ndogs?');
    expect(textsOf(trajectory)).toEqual({ question: 'dogs?', answer: 'Dogs bark.' });
  }
  // An agent that calls tools in one step, whose last message alone has a finish reason (attack35 B6).
  const call = { role: 'assistant', content: '', tool_calls: '[{"name":"look","arguments":"{}"}]' };
  const agent = [{ role: 'user', content: 'cats?' }, call, { role: 'tool', content: 'none' }];
  const last = { role: 'assistant', content: 'None.', finish_reason: 'stop' };
  expect(promptOf({ steps: [{ messages: [...agent, last] }] })).toMatchObject({
    question: 'cats?',
    turns: [],
  });
  // The first answer of a conversation in several steps.
  const later = { messages: [{ role: 'assistant', content: 'Dogs bark.', finish_reason: 'stop' }] };
  expect(
    promptOf({ steps: [...trajectoryOf(asked, example).steps, ...trajectoryOf(question).steps, later] }),
  ).toMatchObject({ question: 'cats?', turns: [] });
  // An answer that the prompt begins.
  const begun = [...(trajectoryOf(asked, ['assistant', 'Cats']).steps[0]?.messages ?? []), last];
  expect(promptOf({ steps: [{ messages: begun }] })).toMatchObject({ question: 'cats?', isBegun: true });
});
