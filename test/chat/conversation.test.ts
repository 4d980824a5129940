/** The state of a conversation after each event. */
import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  type ConversationAction,
  conversationReducer,
  emptyConversation,
  messagesOf,
  type Turn,
  tokensPerSecond,
} from '../../src/chat/conversation.ts';
import { NetworkError } from '../../src/service/errors.ts';

const following = (...actions: readonly ConversationAction[]): Conversation =>
  actions.reduce(conversationReducer, emptyConversation);
const ask: ConversationAction = { kind: 'ask', text: 'tea?', model: 'm' };
const says = (content: string, firstMs?: number, reasoning = ''): ConversationAction => ({
  kind: 'text',
  content,
  reasoning,
  firstMs,
});
const end: ConversationAction = { kind: 'end', stats: { model: 'm', totalMs: 9, completionTokens: 2 } };
const question: Turn = { role: 'user', content: 'tea?', reasoning: '' };
const open: Turn = { role: 'assistant', content: '', reasoning: '', stats: { model: 'm' } };

describe('a conversation', () => {
  it('waits for the answer to a question', () => {
    expect(following(ask)).toEqual({ turns: [question, open], answering: true });
  });

  it('shows the answer as it streams, and the time of its first token', () => {
    const stats = { model: 'm', firstMs: 3 };
    const answer = { ...open, content: 'a leaf', reasoning: 'hm', stats };
    expect(following(ask, says('a ', 3, 'h'), says('leaf', 5, 'm'))).toEqual({
      turns: [question, answer],
      answering: true,
    });
    const whole = { ...answer, stats: { ...stats, totalMs: 9, completionTokens: 2 } };
    expect(following(ask, says('a ', 3, 'h'), says('leaf', 5, 'm'), end)).toEqual({
      turns: [question, whole],
      answering: false,
    });
  });

  it('ignores text that comes after the end, or without a question', () => {
    const ended = following(ask, end);
    for (const action of [says('late'), { kind: 'cancel' }] as const)
      expect(conversationReducer(ended, action)).toBe(ended);
    for (const action of [end, says('early'), { kind: 'fail', error: new Error('x') }] as const)
      expect(conversationReducer(emptyConversation, action)).toBe(emptyConversation);
    const asked: Conversation = { turns: [question], answering: true };
    expect(conversationReducer(asked, says('no answer is open'))).toBe(asked);
  });

  it('says why an answer stopped', () => {
    expect(following(ask, says('a '), { kind: 'cancel' })).toMatchObject({
      turns: [question, { content: 'a ', cancelled: true }],
      answering: false,
    });
    const failed = (error: Error) => following(ask, { kind: 'fail', error });
    expect(failed(new Error('lost'))).toMatchObject({
      turns: [question, { error: { message: 'lost' } }],
      answering: false,
    });
    expect(failed(new Error('lost')).turns.at(-1)?.error?.requestId).toBeUndefined();
    expect(failed(new NetworkError('lost', { requestId: 'req_1' })).turns.at(-1)?.error).toEqual({
      message: 'lost',
      requestId: 'req_1',
    });
  });

  it('asks again without its last answer', () => {
    const again: ConversationAction = { kind: 'ask-again', model: 'n' };
    const reopened = { ...open, stats: { model: 'n' } };
    expect(following(ask, end, again)).toEqual({ turns: [question, reopened], answering: true });
    const unanswered = following({ kind: 'open', turns: [question] });
    expect(conversationReducer(unanswered, again)).toEqual({ turns: [question, reopened], answering: true });
    expect(conversationReducer(emptyConversation, again)).toBe(emptyConversation);
  });

  it('can be opened and cleared', () => {
    const second = following(ask, end, ask);
    expect(conversationReducer(second, { kind: 'open', turns: [question] })).toEqual({
      turns: [question],
      answering: false,
    });
    expect(conversationReducer(second, { kind: 'clear' })).toBe(emptyConversation);
  });
});

it('sends the system prompt if there is one, and no missing answers', () => {
  const turns = [question, open, question, { ...open, content: 'a leaf', reasoning: 'hm' }];
  const said = [
    { role: 'user', content: 'tea?' },
    { role: 'user', content: 'tea?' },
    { role: 'assistant', content: 'a leaf' },
  ];
  expect(messagesOf(turns, ' \n')).toEqual(said);
  expect(messagesOf(turns, ' be brief ')).toEqual([{ role: 'system', content: ' be brief ' }, ...said]);
  expect(messagesOf([{ ...question, content: '' }], '')).toEqual([{ role: 'user', content: '' }]);
});

it('measures the rate from the first token, over a time long enough to measure', () => {
  const stats = { model: 'm', completionTokens: 30, firstMs: 1_000, totalMs: 4_000 };
  expect(tokensPerSecond(stats)).toBe(10);
  expect([1_200, 1_199].map(totalMs => tokensPerSecond({ ...stats, totalMs }))).toEqual([150, undefined]);
  for (const missing of ['completionTokens', 'firstMs', 'totalMs'])
    expect(tokensPerSecond({ ...stats, [missing]: undefined })).toBeUndefined();
});

it('sends no bytes of an image that a model made', () => {
  const content = `a cat: data:image/png;base64,${'iVBORw0KGgo'.repeat(40)}`;
  expect(messagesOf([question, { ...open, content }], '').at(-1)?.content).toBe('a cat: [image png 330 B]');
});
