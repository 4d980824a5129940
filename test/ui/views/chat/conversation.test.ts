import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  type ConversationAction,
  conversationReducer,
  emptyConversation,
  messagesOf,
  tokensPerSecond,
} from '../../../../src/chat/conversation.ts';
import { NetworkError } from '../../../../src/service/errors.ts';
import { Router } from '../../../../src/ui/keys/key-router.ts';
import { createConversationLayout, openingLines } from '../../../../src/ui/views/chat/conversation-lines.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

/** The lines of a conversation in one column. */
const linesOf = (conversation: Conversation, width: number, layout = createConversationLayout(theme)) =>
  layout([{ conversation, width }]).flatMap(({ cells }) => cells[0] ?? []);
const play = (...actions: ConversationAction[]): Conversation => actions.reduce(conversationReducer, emptyConversation);
const ask: ConversationAction = { kind: 'ask', text: 'tea?', model: 'm' };
const text = (content: string): ConversationAction => ({ kind: 'text', content, reasoning: '', firstMs: 5 });
const error: Error = new NetworkError('The stream broke off', { requestId: 'req_9' });

const theme = createTheme('terminal');

it('names an image in an answer instead of printing its bytes (out33 B3)', () => {
  const url = `data:image/png;base64,${'aB3/'.repeat(36_864)}`;
  const part = JSON.stringify({ type: 'image_url', image_url: { url } });
  const shown = linesOf(play(ask, text(`A map.${part} ![x](${url})`)), 200).map(line => line.text);
  expect(shown.join('\n')).toContain('A map.{"type":"image_url","image_url":{"url":"[image png 108 KB]"}}');
  expect(shown.join('\n')).not.toContain('aB3/');
});

describe('conversationReducer', () => {
  it('collects the stream and ends with its counts', () => {
    const talk = play(ask, text('te'), text('a'), {
      kind: 'end',
      stats: { model: 'm', completionTokens: 10, firstMs: 5, totalMs: 1005 },
    });
    expect(talk.answering).toBe(false);
    expect(talk.turns.at(-1)).toMatchObject({ role: 'assistant', content: 'tea', stats: { model: 'm' } });
    expect(tokensPerSecond(talk.turns.at(-1)?.stats ?? { model: '' })).toBe(10);
    // An answer in one chunk has no rate.
    expect(tokensPerSecond({ model: 'm', completionTokens: 32, firstMs: 113, totalMs: 114 })).toBeUndefined();
  });

  it('keeps the text so far when the answer breaks off or is stopped', () => {
    expect(play(ask, text('te'), { kind: 'fail', error }).turns.at(-1)).toMatchObject({
      content: 'te',
      error: { message: 'The stream broke off', requestId: 'req_9' },
    });
    const stopped = play(ask, text('te'), { kind: 'cancel' }, text('late'));
    expect(stopped.turns.at(-1)).toMatchObject({ content: 'te', cancelled: true });
    expect(stopped.answering).toBe(false);
  });

  it('asks again', () => {
    const done = play(ask, text('a'), { kind: 'end', stats: { model: 'm', totalMs: 0 } });
    const again = conversationReducer(done, { kind: 'ask-again', model: 'n' });
    expect(again.turns.map(turn => turn.content)).toEqual(['tea?', '']);
    expect(conversationReducer(emptyConversation, { kind: 'ask-again', model: 'n' })).toBe(emptyConversation);
  });

  it('sends the system prompt and the messages, without missing answers', () => {
    const failed = play(ask, { kind: 'fail', error }, { kind: 'ask', text: 'more?', model: 'm' });
    expect(messagesOf(failed.turns, ' be brief ')).toEqual([
      { role: 'system', content: ' be brief ' },
      { role: 'user', content: 'tea?' },
      { role: 'user', content: 'more?' },
    ]);
  });
});

describe('createTalkLayout', () => {
  it('shows no control characters, and the error with its request id', () => {
    const talk = play(ask, text('\u001b[2Jboo\u202e'), { kind: 'fail', error });
    const lines = linesOf(talk, 40).map(line => line.text);
    expect(lines.join('\n')).not.toMatch(/[\u001b\u202e]/);
    expect(lines).toContain('  boo');
    expect(lines.join(' ')).toContain('req_9');
  });

  it('marks only incomplete answers', () => {
    const shown = (action: ConversationAction): string[] =>
      linesOf(play(ask, text('half'), action), 60).map(line => line.text);
    expect(shown({ kind: 'fail', error })).toContain('  interrupted: the answer is incomplete');
    expect(shown({ kind: 'cancel' })).toContain('  stopped: the answer is incomplete');
    expect(shown({ kind: 'open', turns: play(ask, text('half')).turns })).toContain(
      '  interrupted: the answer is incomplete',
    );
    expect(shown({ kind: 'end', stats: { model: 'm', totalMs: 1 } }).join()).not.toContain('incomplete');
  });

  it('shows which model answered, a refusal under its heading, tool calls, and that choices were left out (B13)', () => {
    const extras = {
      answeredBy: 'x\u001b[2J/y',
      refusal: 'I will\u001b[2J not.',
      calls: [{ name: 'look', input: '{"q":1}' }],
      leftOut: 2,
    };
    const talk = play(
      ask,
      { kind: 'text', content: '', reasoning: '', extras, firstMs: 5 },
      {
        kind: 'end',
        stats: { model: 'm', totalMs: 9, finishReason: 'content_filter' },
      },
    );
    const lines = linesOf(talk, 70);
    expect(lines.map(line => line.text)).toEqual([
      ...[
        'you',
        '  tea?',
        '',
        'm',
        '  answered by x/y',
        '  refusal',
        '  I will not.',
        '  calls the tool look with {"q":1}',
      ],
      ...[
        '  2 other choices were left out',
        expect.stringContaining('complete after 9ms'),
        '  answer, or part of it',
        '',
      ],
    ]);
    expect(lines.filter(({ kind }) => kind === 'refusal')).toHaveLength(2);
  });

  it('shows below an answer its settings and its cost', () => {
    const times = { firstMs: 500, totalMs: 1500 };
    const note = (asked: ConversationAction, stats: object): string | undefined =>
      linesOf(play(asked, text('a'), { kind: 'end', stats: { model: 'm', ...stats } }), 200).at(-2)?.text;
    const counts = { promptTokens: 7, completionTokens: 10, finishReason: 'length' };
    expect(note({ ...ask, parameters: { temperature: 0, max_tokens: 10 } }, { ...times, ...counts })).toBe(
      '  temperature 0, limit 10, 7 input tokens, 10 output tokens, 10 tokens/s, first text after 500ms, complete after 1.5s, stopped at the token limit',
    );
    expect(note(ask, { ...times, finishReason: 'max_tokens' })).toContain('stopped at the token limit');
    // Without usage, and with the parameters of the service.
    expect(note({ ...ask, parameters: {} }, times)).toBe(
      '  default parameters, first text after 500ms, complete after 1.5s',
    );
    // Saved by an older version.
    expect(note(ask, times)).toBe('  first text after 500ms, complete after 1.5s');
  });

  it('puts the turns of two conversations side by side, at the same height', () => {
    const end: ConversationAction = { kind: 'end', stats: { model: 'm', totalMs: 0 } };
    const short = play(ask, text('a'), end, ask);
    const long = play(ask, text('one two three four five six seven'), end, ask);
    const rows = createConversationLayout(theme)([
      { conversation: short, width: 20 },
      { conversation: long, width: 14 },
    ]);
    const shown = rows.map(({ cells }) => cells.map(cell => cell?.text));
    const [second] = rows.flatMap(({ cells }, index) => (cells[0]?.kind === 'user' && index > 0 ? [index] : []));
    expect(shown[second ?? 0]).toEqual(['you', 'you']);
    expect(shown.slice(0, second)).toContainEqual([undefined, '  complete']);
    // A place is in the same turn at any width.
    expect(rows[second ?? 0]?.place).toBe(2);
    expect(rows.map(({ place }) => place)).toEqual(rows.map(({ place }) => place).toSorted((one, two) => one - two));
  });

  it('shows an answer as Markdown, and a question as typed', () => {
    const question: ConversationAction = { kind: 'ask', text: 'in **bold**?', model: 'm' };
    const talk = play(question, text('# Tea\n\n- **green**\n- black'), {
      kind: 'end',
      stats: { model: 'm', totalMs: 0 },
    });
    const lines = linesOf(talk, 60);
    const shown = lines.map(line => line.text.trimEnd());
    expect(shown).toEqual([
      'you',
      '  in **bold**?',
      '',
      'm',
      '  Tea',
      '',
      '  • green',
      '  • black',
      '  first text after 5ms, complete after 0ms',
      '',
    ]);
    expect(lines.find(line => line.text.includes('green'))?.styled).toContain(theme.styles.strong('green'));
  });

  it('marks each line of reasoning, which would look like the answer without colours', () => {
    const bar = theme.glyphs.vertical;
    const talk = play(ask, { kind: 'text', content: 'answer 8', reasoning: 'first\nsecond', firstMs: 5 });
    const lines = linesOf(talk, 40).map(({ text: line }) => line.trimEnd());
    expect(lines.slice(4, 7)).toEqual([`  ${bar} first`, `  ${bar} second`, '  answer 8']);
  });

  it('shows thoughts in the text as reasoning, while they arrive too', () => {
    const kindsOf = (...pieces: readonly string[]) =>
      linesOf(play(ask, ...pieces.map(text)), 40).map(({ kind, text: shown }) => [kind, shown.trim()].join(' '));
    expect(kindsOf('<think>\nI ad', 'd.')).toContain('reasoning │ I add.');
    const whole = kindsOf('<think>\nI add.\n</think>\n\n', 'It is 4.');
    expect(whole).toEqual(expect.arrayContaining(['reasoning │ I add.', 'text It is 4.']));
    expect(whole.join()).not.toContain('think>');
  });

  it('shows the end of long reasoning while the answer arrives, and all of it afterwards', () => {
    const reasoning = `start\n${'a\n'.repeat(200_000)}`;
    const talk = play(ask, { kind: 'text', content: 'end', reasoning, firstMs: 5 });
    const streamed = linesOf(talk, 60);
    expect(streamed.length).toBeLessThan(20_000);
    expect(streamed.map(each => each.text)).toContain('  380000 characters of reasoning before this will be shown');
    expect(streamed.map(each => each.text.trim())).toContain('end');
    const whole = linesOf({ ...talk, answering: false }, 60);
    expect(whole.filter(({ kind }) => kind === 'reasoning')).toHaveLength(200_002);
    expect(whole.some(({ text }) => text.endsWith(' start'))).toBe(true);
  });

  it('lays out a finished turn once', () => {
    const layout = createConversationLayout(theme);
    const talk = play(ask, text('a'), { kind: 'end', stats: { model: 'm', totalMs: 0 } });
    const [first, again] = [linesOf(talk, 40, layout), linesOf(talk, 40, layout)];
    expect(again[1]).toBe(first[1]);
  });
});

describe('openingLines', () => {
  const { keyOf } = new Router({ overrides: {}, readOnly: false });
  const words = (model: string, loaded: boolean, known?: Error) =>
    openingLines({ model, loaded, error: known }, 200, keyOf)
      .map(line => line.text.trim())
      .join(' ');

  it('name who would answer and what to press, or why there is no answer', () => {
    expect(words('tutor', true)).toContain('No messages with tutor yet.');
    expect(words('', false)).toContain('Loading the models');
    expect(words('', true)).toContain('lists no models. ctrl-o also accepts');
    expect(words('', false, error)).toContain('could not be listed: The stream broke off');
  });
});
