import { expect, it } from 'vitest';
import { promptOf } from '../../src/present/prompt.ts';

const trajectoryOf = (...messages: readonly (readonly [role: string, content: unknown])[]) => ({
  steps: [{ messages: messages.map(([role, content]) => ({ role, content })) }],
});

it('is what was sent before the first answer', () => {
  const steps = trajectoryOf(
    ['system', 'be brief'],
    ['developer', 'in English'],
    ['user', 'tea?'],
    ['user', [{ type: 'text', text: 'or ' }, 'milk?']],
    ['assistant', 'tea'],
    ['user', 'why?'],
  );
  expect(promptOf(steps)).toEqual({ system: 'be brief\n\nin English', questions: ['tea?', 'or milk?'], leftOut: [] });
});

it('may have its messages in several steps, and no system message', () => {
  expect(
    promptOf({ steps: [...trajectoryOf(['user', 'tea?']).steps, ...trajectoryOf(['assistant', 'a']).steps] }),
  ).toEqual({
    system: '',
    questions: ['tea?'],
    leftOut: [],
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
    questions: ['what is this?'],
    leftOut: [expect.stringContaining('png'), 'tool call'],
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
