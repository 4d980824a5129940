import { expect, it } from 'vitest';
import type { Turn } from '../../../../src/chat/conversation.ts';
import { ChatSession } from '../../../../src/chat/session.ts';
import { chatText } from '../../../../src/ui/views/chat/chat-text.ts';
import { newWorkbench } from '../../../workbench/new-workbench.ts';

it('has refusals, tool calls and left out choices (B13)', () => {
  const workbench = newWorkbench({ service: () => Promise.reject(new Error('none')) });
  const session = new ChatSession(workbench);
  const extras = { refusal: 'I will not.', calls: [{ name: 'look', input: '' }], leftOut: 1 };
  session.open([{ role: 'assistant', content: '', reasoning: '', ...extras, stats: { model: 'a', totalMs: 0 } }]);
  const settings = { model: 'a', system: '' };
  const text = chatText({
    ...{ settings, sides: [{ session, settings }], choiceAt: () => undefined },
    ...{ compared: undefined, counts: undefined },
  });
  workbench.close();
  expect(text.trimEnd().split('\n\n')).toEqual([
    ...['# a', '## a', 'refusal: I will not.', 'calls the tool look', '1 other choice was left out'],
    'complete after 0ms',
  ]);
});

it('reads as a conversation, with both answers, their numbers and the choice', () => {
  const workbench = newWorkbench({ service: () => Promise.reject(new Error('none')) });
  const question: Turn = { role: 'user', content: 'tea?', reasoning: '' };
  const answer = (model: string, content: string, more: Partial<Turn> = {}): Turn => ({
    ...{ role: 'assistant', content, reasoning: '' },
    ...{ stats: { model, parameters: { temperature: 0 }, completionTokens: 2, totalMs: 1_500 } },
    ...more,
  });
  const sideOf = (model: string, ...turns: Turn[]) => {
    const session = new ChatSession(workbench);
    session.open(turns);
    return { session, settings: { model, system: '' } };
  };
  const text = chatText({
    settings: { model: 'a', secondModel: 'b', system: 'be brief' },
    sides: [
      sideOf('a', question, answer('a', 'a\u001b[2J leaf')),
      sideOf('b', question, answer('b', '', { cancelled: true, answeredBy: 'other/b' })),
    ],
    choiceAt: index => (index === 1 ? { pair: 'p', better: 'left', models: ['a', 'b'], at: 1 } : undefined),
    compared: ['a', 'other/b'],
    counts: { left: 1, right: 0, equal: 0, 'both bad': 0 },
  });
  workbench.close();
  expect(text).not.toContain('\u001b');
  const numbers = 'temperature 0, 2 output tokens, complete after 1.5s';
  expect(text.replace(/a.*leaf/, 'a leaf').split('\n\n')).toEqual([
    ...['# a and b', '## system', 'be brief', '## you', 'tea?'],
    ...['## a', 'a leaf', `${numbers}; chosen as better`],
    ...['## b', 'answered by other/b', '(no text)', '(the answer is incomplete)', `${numbers}; the other is better`],
    '## all saved conversations of these models',
    'a better 1, other/b better 0, equal 0 (n=1), single-look exact sign test: p = 1.0\n',
  ]);
});

it('has each system prompt before its answers, not the current one (A1)', () => {
  const workbench = newWorkbench({ service: () => Promise.reject(new Error('none')) });
  const asked = (content: string): Turn => ({ role: 'user', content, reasoning: '' });
  const said = (content: string, system: string): Turn => ({
    ...asked(content),
    role: 'assistant',
    stats: { model: 'a', system, totalMs: 0 },
  });
  const settings = { model: 'a', system: 'You are a pirate.' };
  const sideOf = (...turns: Turn[]) => {
    const session = new ChatSession(workbench);
    session.open(turns);
    return { session, settings };
  };
  const before = [asked('1'), said('one', ''), asked('2'), said('two', 'be brief'), asked('3')];
  const text = chatText({
    settings,
    sides: [sideOf(...before, said('left', '')), sideOf(...before, said('right', 'be long'))],
    ...{ choiceAt: () => undefined, compared: undefined, counts: undefined },
  });
  workbench.close();
  const took = 'complete after 0ms';
  expect(text.trimEnd().split('\n\n')).toEqual([
    ...['# a and a', '## you', '1', '## a', 'one', took, '## a', 'one', took, '## system', 'be brief', '## you', '2'],
    ...['## a', 'two', took, '## a', 'two', took, '## system', 'none', '## you', '3', '## a', 'left', took],
    ...['## system', 'be long', '## a', 'right', took],
  ]);
});
