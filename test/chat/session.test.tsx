/** Chat sessions: streaming, interruptions, saving, and continuing off screen. */

import { render } from 'ink-testing-library';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { answersAt } from '../../src/chat/choices.ts';
import type { Turn } from '../../src/chat/conversation.ts';
import { chatOf, exportedChat, forgetChat, savedChat, savedTalk, trajectoriesOf } from '../../src/chat/saved.ts';
import { ChatSession } from '../../src/chat/session.ts';
import type { ChatEvent, ChatRequest } from '../../src/service/chat.ts';
import { WorkbenchProvider } from '../../src/ui/data/workbench.tsx';
import { useChatSession, useSavedChat } from '../../src/ui/views/chat/use-saved-chat.ts';
import type { Service } from '../../src/workbench/workbench.ts';
import { eventually } from '../eventually.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const settings = { model: 'model-a', system: '' };
const question = (content: string): Turn => ({ role: 'user', content, reasoning: '' });

/** A service whose answers come when the test says so. */
function talkingService() {
  const events: PromiseWithResolvers<ChatEvent | 'end'>[] = [Promise.withResolvers()];
  const next = (): PromiseWithResolvers<ChatEvent | 'end'> => events.at(-1) ?? Promise.withResolvers();
  async function* stream(request: ChatRequest): AsyncGenerator<ChatEvent> {
    requests.push(request);
    for (let index = 0; ; index += 1) {
      const event = await events[index]?.promise;
      if (event === undefined || event === 'end') return;
      yield event;
    }
  }
  const requests: ChatRequest[] = [];
  const push = (event: ChatEvent | 'end'): void => {
    const current = next();
    events.push(Promise.withResolvers());
    current.resolve(event);
  };
  return {
    service: { chat: { stream } } as unknown as Service,
    requests,
    says: (content: string) => push({ kind: 'delta', index: 0, content } as ChatEvent),
    thinks: (reasoning: string) => push({ kind: 'delta', index: 0, reasoning } as ChatEvent),
    tells: push,
    ends: () => push('end'),
    breaksOff: () => next().reject(new Error('The answer broke off before its end.')),
  };
}

const forget = (): void => {};

function ShownService({ talk }: { readonly talk: ChatSession }) {
  useSavedChat({ id: 'c1', settings }, useChatSession(talk, forget), undefined);
  return null;
}

function opened({ keepsChats = true } = {}) {
  const fake = talkingService();
  const workbench = newWorkbench({ service: async () => fake.service, keepsChats });
  const talk = new ChatSession(workbench);
  const view = render(
    <WorkbenchProvider workbench={workbench}>
      <ShownService talk={talk} />
    </WorkbenchProvider>,
  );
  const answer = () => talk.conversation.turns.at(-1);
  const kept = () =>
    workbench.remembered.chats().map(({ id }) => workbench.remembered.chat(id)?.talk as { turns: unknown[] });
  return { ...fake, workbench, talk, view, answer, kept };
}

describe('an answer', () => {
  it('is saved with its question from the start, and marked incomplete until it ends', async () => {
    const { talk, says, ends, answer, kept } = opened();
    talk.send('what is tea?', settings);
    says('a leaf');
    await eventually(() => expect(answer()?.content).toBe('a leaf'));
    expect(kept()[0]?.turns).toMatchObject([{ content: 'what is tea?' }, { content: '', cancelled: true }]);
    ends();
    await eventually(() => expect(kept()[0]?.turns.at(-1)).toMatchObject({ content: 'a leaf', stats: {} }));
    expect(kept()[0]?.turns.at(-1)).not.toHaveProperty('cancelled');
    expect(talk.conversation.answering).toBe(false);
  });

  it('is requested with the settings of the user, and shows its reasoning first', async () => {
    const { talk, thinks, ends, answer, requests } = opened();
    talk.send('what is tea?', { ...settings, max_tokens: 7 });
    thinks('leaves');
    thinks('?');
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(answer()).toMatchObject({ content: '', reasoning: 'leaves?' });
    talk.send('and milk?', settings);
    await eventually(() => expect(requests).toHaveLength(2));
    expect(requests.map(request => 'max_tokens' in request && request.max_tokens)).toEqual([7, false]);
    talk.cancel();
  });

  it('names its model if that is not the one that was asked', async () => {
    const { talk, tells, says, ends, answer } = opened();
    talk.send('what is tea?', settings);
    tells({ kind: 'model', model: 'other' });
    await eventually(() => expect(answer()).toMatchObject({ answeredBy: 'other', stats: { model: 'model-a' } }));
    says('a leaf');
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(answer()).toMatchObject({ content: 'a leaf', answeredBy: 'other' });
  });

  it('names no other model if a deployment asked by id answers', async () => {
    const { talk, tells, says, ends, answer } = opened();
    talk.send('and milk?', settings);
    tells({ kind: 'model', model: 'model-a' });
    says('no');
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(answer()).not.toHaveProperty('answeredBy');
  });

  it('has the token counts and times of its stream, of the first choice only', async () => {
    let at = 10_000;
    const now = vi.spyOn(Date, 'now').mockImplementation(() => at);
    onTestFinished(() => now.mockRestore());
    const { talk, says, tells, ends, answer, requests } = opened();
    talk.send('what is tea?', { ...settings, system: 'be brief', temperature: 0.5, top_p: 0.9 });
    const parameters = { temperature: 0.5, top_p: 0.9 };
    expect(answer()?.stats).toEqual({ model: 'model-a', parameters, system: 'be brief', at });
    await eventually(() => expect(requests).toHaveLength(1));
    tells({ kind: 'delta', index: 1, content: 'another choice' });
    at = 10_300;
    says('a ');
    await eventually(() => expect(answer()?.content).toBe('a '));
    at = 11_000;
    says('leaf');
    tells({ kind: 'finish', index: 0, reason: 'length' });
    tells({ kind: 'usage', usage: { prompt_tokens: 3, completion_tokens: 2 } });
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(answer()?.content).toBe('a leaf');
    expect(answer()?.stats).toEqual({
      model: 'model-a',
      parameters,
      system: 'be brief',
      at: 10_000,
      finishReason: 'length',
      promptTokens: 3,
      completionTokens: 2,
      firstMs: 300,
      totalMs: 1_000,
    });
    expect(requests).toEqual([
      {
        model: 'model-a',
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'what is tea?' },
        ],
        temperature: 0.5,
        top_p: 0.9,
      },
    ]);
  });

  it('keeps a refusal, tool calls and the number of left out choices (B13)', async () => {
    const { talk, says, tells, ends, answer, kept } = opened();
    talk.send('what is tea?', settings);
    says('Well.');
    tells({ kind: 'delta', index: 0, refusal: 'I will ' });
    tells({ kind: 'delta', index: 0, refusal: 'not.' });
    tells({ kind: 'call', index: 0, call: 0, name: 'look', input: '{"q":' });
    tells({ kind: 'call', index: 0, call: 0, name: '', input: '1}' });
    tells({ kind: 'delta', index: 1, content: 'another choice' });
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    const calls = [{ name: 'look', input: '{"q":1}' }];
    const whole = { content: 'Well.', refusal: 'I will not.', calls, leftOut: 1 };
    expect(answer()).toMatchObject(whole);
    expect(kept()[0]?.turns.at(-1)).toMatchObject(whole);
    const chat = { id: 'c1', settings, turns: talk.conversation.turns };
    expect(chatOf('c1', savedTalk(chat))).toEqual(chat);
    expect(exportedChat(chat).branches[0]?.turns.at(-1)).toMatchObject(whole);
    expect(trajectoriesOf(chat, '')[0]?.item['messages']).toEqual([
      { role: 'user', content: 'what is tea?' },
      {
        ...{ role: 'assistant', content: 'Well.', refusal: 'I will not.' },
        tool_calls: [{ function: { name: 'look', arguments: '{"q":1}' } }],
      },
    ]);
  });

  it('with only a refusal is sent with the next question, and can be compared (B13)', async () => {
    const { talk, tells, ends, answer, requests } = opened();
    talk.send('what is tea?', settings);
    tells({ kind: 'delta', index: 0, refusal: 'I will not.' });
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    const other = { ...question('x'), role: 'assistant', stats: { model: 'model-b', totalMs: 1 } } as const;
    expect(answersAt([question('a'), answer() ?? question('')], [question('a'), other], 1)).toHaveProperty('models');
    talk.send('and milk?', settings);
    await eventually(() => expect(requests).toHaveLength(2));
    expect(requests[1]?.messages).toEqual([
      { role: 'user', content: 'what is tea?' },
      { role: 'assistant', content: 'I will not.' },
      { role: 'user', content: 'and milk?' },
    ]);
    talk.cancel();
  });

  it('is requested once at a time, and again only after a question', async () => {
    const { talk, says, ends, answer, requests } = opened();
    talk.regenerate(settings);
    expect(talk.conversation.turns).toEqual([]);
    talk.send('what is tea?', settings);
    talk.send('and milk?', settings);
    talk.regenerate(settings);
    expect(talk.conversation.turns).toHaveLength(2);
    says('a leaf');
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    talk.regenerate({ ...settings, model: 'model-b' });
    await eventually(() => expect(requests).toHaveLength(2));
    expect(requests[1]).toEqual({ ...requests[0], model: 'model-b' });
    await eventually(() => expect(answer()).toMatchObject({ content: 'a leaf', stats: { model: 'model-b' } }));
    expect(talk.conversation.turns).toHaveLength(2);
  });

  it.each([
    ['clear', 'late'],
    ['open', 'late'],
    ['cancel', 'late'],
    ['clear', 'end'],
    ['open', 'end'],
    ['cancel', 'end'],
  ] as const)('in flight is dropped when the user says %s: %s', async (way, what) => {
    const { talk, says, ends, workbench } = opened();
    const stream = vi.spyOn((await workbench.service()).chat, 'stream');
    talk.send('what is tea?', settings);
    await eventually(() => expect(stream).toHaveBeenCalledTimes(1));
    const settled = vi.fn();
    talk.save = settled;
    const drawn = vi.fn();
    talk.subscribe(drawn);
    if (way === 'open') talk.open([]);
    else talk[way]();
    expect(stream.mock.lastCall?.[1]?.signal?.aborted).toBe(true);
    expect([drawn.mock.calls.length, settled.mock.calls.length]).toEqual([1, way === 'cancel' ? 1 : 0]);
    const before = talk.conversation;
    if (what === 'late') says(what);
    else ends();
    for (const _ of [1, 2, 3]) await new Promise(setImmediate);
    expect(talk.conversation).toBe(before);
  });

  it('that was stopped adds nothing to the next one, whatever still arrives', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { talk, says, ends, answer, requests, workbench } = opened();
    talk.send('what is tea?', settings);
    await eventually(() => expect(requests).toHaveLength(1));
    talk.cancel();
    // The next question is answered by another stream.
    const next = talkingService();
    vi.spyOn((await workbench.service()).chat, 'stream').mockImplementation(next.service.chat.stream);
    talk.send('and milk?', settings);
    await eventually(() => expect(next.requests).toHaveLength(1));
    says('a leaf');
    for (const _ of [1, 2, 3]) await new Promise(setImmediate);
    vi.advanceTimersByTime(1_000);
    next.says('no');
    next.ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(answer()?.content).toBe('no');
    ends();
  });

  it('without text is redrawn only when it is stopped', () => {
    const { talk } = opened();
    talk.send('what is tea?', settings);
    const drawn = vi.fn();
    talk.subscribe(drawn);
    talk.cancel();
    expect(drawn).toHaveBeenCalledTimes(1);
  });

  it('that breaks off is kept with its text so far, and marked', async () => {
    const { talk, says, breaksOff, answer, kept } = opened();
    talk.send('what is tea?', settings);
    says('a le');
    await eventually(() => expect(answer()?.content).toBe('a le'));
    breaksOff();
    await eventually(() => expect(answer()?.error?.message).toContain('broke off'));
    expect(answer()?.content).toBe('a le');
    expect(kept()[0]?.turns.at(-1)).toMatchObject({
      content: 'a le',
      error: { message: expect.stringContaining('broke') },
    });
  });

  it('continues and is saved while its view is hidden', async () => {
    const { talk, says, ends, answer, kept, view, workbench } = opened();
    talk.send('what is tea?', settings);
    says('a leaf');
    view.unmount();
    expect(workbench.unfinishedWork()).toEqual(['The answer from model-a in the chat']);
    says(' of a plant');
    ends();
    await eventually(() => expect(kept()[0]?.turns.at(-1)).toMatchObject({ content: 'a leaf of a plant' }));
    expect(answer()?.cancelled).toBeUndefined();
    expect(workbench.unfinishedWork()).toEqual([]);
  });

  it('is saved as stopped every few seconds, in case the program is killed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { talk, says, workbench, kept } = opened();
    const stream = vi.spyOn((await workbench.service()).chat, 'stream');
    const saves = vi.spyOn(workbench.remembered, 'saveChat');
    talk.send('what is tea?', settings);
    await eventually(() => expect(stream).toHaveBeenCalledTimes(1));
    says('a leaf');
    await eventually(() => {
      vi.advanceTimersByTime(5_000);
      expect(kept()[0]?.turns.at(-1)).toMatchObject({ content: 'a leaf', cancelled: true });
    });
    // Without any more text, there is nothing more to save.
    const before = saves.mock.calls.length;
    vi.advanceTimersByTime(20_000);
    expect(saves.mock.calls.length).toBe(before);
    talk.cancel();
  });

  it('is saved as stopped, with its text so far, when the program exits', async () => {
    const { talk, says, answer, view, workbench, kept } = opened();
    talk.send('what is tea?', settings);
    says('a leaf');
    await eventually(() => expect(answer()?.content).toBe('a leaf'));
    view.unmount();
    const store = workbench.remembered;
    let atClose: unknown;
    const close = store.close.bind(store);
    store.close = () => {
      atClose = kept()[0]?.turns.at(-1);
      close();
    };
    workbench.close();
    await workbench.closed;
    expect(atClose).toMatchObject({ content: 'a leaf', cancelled: true });
  });

  it('is not saved if the user turned saving off', async () => {
    const { talk, says, ends, kept } = opened({ keepsChats: false });
    talk.send('what is tea?', settings);
    says('a leaf');
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(kept()).toEqual([]);
  });
});

it('warns that a conversation would be lost if it cannot be saved, until one of its answers is', async () => {
  const { workbench, talk, says, ends, kept } = opened();
  const full = vi.spyOn(workbench.remembered, 'saveChat').mockReturnValue(false);
  const answered = async (): Promise<void> => {
    talk.send('what is tea?', settings);
    says('a leaf');
    ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
  };
  await answered();
  expect(workbench.unfinishedWork()).toEqual(['The conversation "what is tea?", which could not be saved']);
  full.mockRestore();
  await answered();
  expect([workbench.unfinishedWork(), kept().length]).toEqual([[], 1]);
});

it('does not save a forgotten conversation at exit, even if saving failed before', async () => {
  const { workbench, talk, says, ends, kept } = opened();
  const full = vi.spyOn(workbench.remembered, 'saveChat').mockReturnValue(false);
  talk.send('what is tea?', settings);
  says('a leaf');
  ends();
  await eventually(() => expect(full).toHaveBeenCalled());
  const [{ id }] = full.mock.lastCall ?? [{ id: '' }];
  forgetChat(workbench, id);
  full.mockRestore();
  expect(workbench.unfinishedWork()).toEqual([]);
  for (const { stop } of workbench.unfinished.values()) stop?.();
  expect(kept()).toEqual([]);
});

describe('a second model that is removed while it answers', () => {
  function Both({
    id,
    talk,
    second,
  }: {
    readonly id: string;
    readonly talk: ChatSession;
    readonly second?: ChatSession;
  }) {
    useSavedChat({ id, settings }, talk, second);
    return null;
  }

  it('stops, and the conversation is saved without it', async () => {
    const first = talkingService();
    const other = talkingService();
    const workbench = newWorkbench({ service: async () => first.service });
    const talk = new ChatSession(workbench);
    const second = new ChatSession({
      ...workbench,
      service: async () => other.service,
      remembered: workbench.remembered,
    });
    const shown = (id: string, both: boolean) => (
      <WorkbenchProvider workbench={workbench}>
        <Both id={id} talk={talk} {...(both && { second })} />
      </WorkbenchProvider>
    );
    const view = render(shown('c1', true));
    const kept = () => workbench.remembered.chats().map(({ id, title }) => ({ id, title }));
    const talks = () => workbench.remembered.chats().map(({ id }) => workbench.remembered.chat(id)?.talk as object);
    talk.send('the first question', settings);
    second.send('the first question', settings);
    first.says('an answer');
    first.ends();
    await eventually(() => expect(talk.conversation.answering).toBe(false));
    expect(talks()).toMatchObject([{ secondTurns: [{}, { cancelled: true }] }]);
    view.rerender(shown('c1', false));
    expect(talks()[0]).not.toHaveProperty('secondTurns');
    expect(second.conversation.answering).toBe(false);
    const asked = [{ id: 'c1', title: 'the first question' }];
    await eventually(() => expect(kept()).toEqual(asked));
    talk.clear();
    view.rerender(shown('c2', false));
    talk.send('another question', settings);
    other.says('late');
    other.ends();
    await eventually(() => expect(talk.conversation.answering).toBe(true));
    talk.cancel();
    await eventually(() => expect(kept()).toHaveLength(2));
    expect(kept()).toEqual(expect.arrayContaining([...asked, { id: 'c2', title: 'another question' }]));
  });
});

describe('an opened conversation', () => {
  it('does not overwrite the previous one', async () => {
    const { talk, says, ends, kept } = opened();
    talk.send('what is tea?', settings);
    says('a leaf');
    ends();
    await eventually(() => expect(kept()).toHaveLength(1));
    talk.open([{ role: 'user', content: 'another one', reasoning: '' }]);
    talk.clear();
    expect(kept()[0]?.turns.at(0)).toMatchObject({ content: 'what is tea?' });
  });
});

it('lists conversations without reading them, and does not open an unreadable one', () => {
  const { remembered } = opened().workbench;
  const turns = [{ role: 'user', content: 'what is tea?', reasoning: '' }];
  const about = { model: 'acme/small', isIncomplete: true };
  remembered.saveChat({ id: 'c1', title: 'damaged', ...about, talk: { turns: 'elsewhere' } }, 1_000);
  remembered.saveChat({ id: 'c2', title: 'what is tea?', ...about, talk: { settings, turns } }, 2_000);
  expect(remembered.chats()).toEqual([
    { id: 'c2', title: 'what is tea?', ...about, at: 2_000 },
    { id: 'c1', title: 'damaged', ...about, at: 1_000 },
  ]);
  expect(savedChat(remembered, 'c1')).toBeUndefined();
  expect(savedChat(remembered, 'c2')).toEqual({ id: 'c2', settings, turns, at: 2_000 });
});
