import { describe, expect, it } from 'vitest';
import { pairKey } from '../../src/chat/choices.ts';
import type { Turn } from '../../src/chat/conversation.ts';
import {
  chatOf,
  endsIncomplete,
  exportedChat,
  savedChoices,
  savedTalk,
  titleOf,
  trajectoriesOf,
  withSaved,
} from '../../src/chat/saved.ts';

const turns: readonly Turn[] = [
  { role: 'user', content: '  what is\n tea? ', reasoning: '' },
  {
    role: 'assistant',
    content: 'a drink',
    reasoning: 'leaves',
    stats: { model: 'm', completionTokens: 2, totalMs: 1 },
  },
  { role: 'user', content: 'and?', reasoning: '' },
  { role: 'assistant', content: '', reasoning: '', cancelled: true },
];
const settings = { model: 'tutor', system: 'be brief', temperature: 0.5 };

describe('a saved conversation', () => {
  it('reads back as written', () => {
    expect(chatOf('c1', JSON.parse(JSON.stringify({ settings, turns })))).toEqual({ id: 'c1', settings, turns });
  });

  it('merges branches of another screen (B2)', () => {
    const own = { id: 'c1', settings, turns };
    const other = { ...own, turns: turns.slice(0, 1) };
    const more = { settings, turns: [{ ...turns[0], content: 'else?' } as Turn] };
    expect(withSaved(own, { ...other, others: [more], branch: 1 })).toEqual({ ...own, others: [more], branch: 0 });
    expect(withSaved(own, undefined)).toBe(own);
  });

  it('reads back refusals, tool calls and left out choices, and skips those of another shape (B13)', () => {
    const read = (extras: object) => chatOf('c1', { settings, turns: [{ ...turns[1], ...extras }] })?.turns[0];
    const extras = { answeredBy: 'other', refusal: 'no', calls: [{ name: 'look', input: '{}' }], leftOut: 2 };
    expect(read(extras)).toEqual({ ...turns[1], ...extras });
    for (const wrong of [
      { answeredBy: 1 },
      { refusal: 3 },
      { calls: 'none' },
      { calls: [{ name: 'look' }] },
      { leftOut: '2' },
      { stats: { model: 'm', system: 1 } },
    ])
      expect(read(wrong)).toBeUndefined();
  });

  it('is marked as ending with a partial answer, by either model', () => {
    const whole = turns.slice(0, 2);
    const brokenOff: readonly Turn[] = [
      ...whole.slice(0, 1),
      { role: 'assistant', content: 'a', reasoning: '', error: { message: 'lost' } },
    ];
    expect([turns, brokenOff, whole, []].map(each => endsIncomplete({ turns: each }))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(endsIncomplete({ turns: whole, secondTurns: brokenOff })).toBe(true);
  });

  it('reads back the answers of the second model', () => {
    const secondTurns = turns.slice(0, 2);
    const both = { ...settings, secondModel: 'other' };
    expect(chatOf('c1', JSON.parse(JSON.stringify({ settings: both, turns, secondTurns })))?.secondTurns).toEqual(
      secondTurns,
    );
    expect(chatOf('c1', { settings, turns, secondTurns: 'nothing that can be read' })).toBeUndefined();
  });

  it('reads back choices, the last one first, and skips those of another shape', () => {
    const choice = { pair: 'p', better: 'left', models: ['tutor', 'other'], at: 1 };
    const wrong = ['none', { ...choice, better: 'upper' }, { ...choice, models: ['tutor'] }];
    const saved = [choice, { ...choice, at: 2 }, ...wrong].map(each => ({ conversation: 'c1', choice: each }));
    expect(savedChoices({ choices: () => saved })).toEqual([2, 1].map(at => ({ ...choice, at, conversation: 'c1' })));
  });

  it('reads back its other branches', () => {
    const others = [{ settings, turns: turns.slice(0, 2) }];
    const chat = { settings, turns, others, branch: 1 };
    const read = (changes: object = {}) => chatOf('c1', JSON.parse(JSON.stringify({ ...savedTalk(chat), ...changes })));
    expect(read()).toEqual({ id: 'c1', ...chat });
    const wrong = [{ others: [{}] }, { others: 3 }, { branch: 2 }, { branch: -1 }, { branch: 0.5 }];
    expect(wrong.map(read)).toEqual(wrong.map(() => undefined));
    // Nothing more is written of a conversation without them, so that it stays unchanged on disk.
    expect(Object.keys(JSON.parse(JSON.stringify(savedTalk({ settings, turns, others: [] }))))).toEqual([
      'settings',
      'turns',
    ]);
  });

  it('is skipped if something else is in its place', () => {
    const turn = { role: 'user', content: '', reasoning: '' };
    const wrongTurns = [
      null,
      { ...turn, role: 'system' },
      { ...turn, content: 3 },
      { ...turn, content: undefined },
      { ...turn, reasoning: undefined },
      { role: 'tool', content: 3, reasoning: '' },
    ];
    const wrong = wrongTurns.flatMap(each => [
      { settings, turns: [turn, each] },
      { settings, turns: [turn], secondTurns: [each] },
    ]);
    const { model, system } = settings;
    for (const talk of [
      null,
      3,
      {},
      { settings },
      { turns },
      { settings: { model }, turns },
      { settings: { system }, turns },
      ...wrong,
    ]) {
      expect(chatOf('c1', talk)).toBeUndefined();
    }
    expect(chatOf('c1', { settings, turns: [turn] })).toEqual({ id: 'c1', settings, turns: [turn] });
  });

  it('is named after its first question', () => {
    expect(titleOf(turns)).toBe('what is tea?');
    expect(titleOf([])).toBe('');
  });

  it('becomes a trajectory with the system prompt and the model that answered', () => {
    const chat = { id: 'c1', settings, turns };
    const [half, ...others] = trajectoriesOf(chat, 'tea-1');
    expect(others).toEqual([]);
    expect(half).toEqual({
      model: 'tutor',
      item: {
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        conversation_id: 'c1',
        task_id: 'tea-1',
        status: 'completed',
        model_slug: 'm',
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: turns[0]?.content },
          { role: 'assistant', content: 'a drink', reasoning: 'leaves' },
        ],
        metadata: { parameters: { temperature: 0.5 }, left_out: 1 },
      },
      notes: ['saved under m, which gave the last answer', 'left out, with its question: 1 incomplete or empty answer'],
    });
    const [again] = trajectoriesOf(chat, 'tea-1');
    const [withoutTask] = trajectoriesOf(chat, '');
    expect(again?.item['trace_id']).toBe(half?.item['trace_id']);
    expect(withoutTask?.item).not.toHaveProperty('task_id');
    expect(withoutTask?.item['trace_id']).not.toBe(half?.item['trace_id']);
  });

  describe('as a trajectory', () => {
    const asked = (content: string): Turn => ({ role: 'user', content, reasoning: '' });
    const said = (content: string, more: Partial<Turn> = {}): Turn => ({
      ...{ role: 'assistant', content, reasoning: '', stats: { model: 'm', finishReason: 'stop', totalMs: 1 } },
      ...more,
    });
    const saved = (...all: Turn[]) =>
      trajectoriesOf({ id: 'c1', settings: { model: 'm', system: '' }, turns: all }, '').map(({ item, notes }) => ({
        ...item,
        notes,
      }));

    it.each([
      ['stop', 'completed'],
      ['refusal', 'completed'],
      ['max_tokens', 'failed'],
      ['content_filter', 'failed'],
      ['error', 'failed'],
    ])('takes its status from the finish reason of the last answer: %s, %s', (finishReason, status) => {
      const [item] = saved(asked('1'), said('half of it', { stats: { model: 'm', finishReason, totalMs: 1 } }));
      expect(item).toMatchObject({ status });
    });

    it('keeps reasoning, refusals, tool calls, finish reasons and the models that answered', () => {
      const cut = { model: 'm', finishReason: 'length', totalMs: 1 };
      const calls = [{ name: 'look', input: '{"q":1}' }];
      const [item] = saved(
        ...[asked('1'), said('42', { reasoning: 'hard' }), asked('2'), said('', { calls, refusal: 'no' })],
        ...[asked('3'), said('by another', { answeredBy: 'x' }), asked('4'), said('half of it', { stats: cut })],
      );
      expect(item).toMatchObject({ status: 'failed', model_slug: 'm' });
      expect(item).toHaveProperty('notes', ['saved as failed, because the last answer was cut off']);
      expect(item).toHaveProperty('messages', [
        { role: 'user', content: '1' },
        { role: 'assistant', content: '42', reasoning: 'hard', finish_reason: 'stop' },
        { role: 'user', content: '2' },
        {
          ...{ role: 'assistant', content: '', refusal: 'no', finish_reason: 'stop' },
          tool_calls: [{ function: { name: 'look', arguments: '{"q":1}' } }],
        },
        { role: 'user', content: '3' },
        { role: 'assistant', content: 'by another', finish_reason: 'stop', model: 'x' },
        { role: 'user', content: '4' },
        { role: 'assistant', content: 'half of it', finish_reason: 'length' },
      ]);
    });

    it('has the system prompt and the parameters of each answer, not the current ones (A1)', () => {
      const sentWith = (system: string, temperature?: number) => ({
        stats: { model: 'm', system, parameters: temperature === undefined ? {} : { temperature }, totalMs: 1 },
      });
      const now = { model: 'm', system: 'You are a pirate.', temperature: 0.1 };
      const savedNow = (...all: Turn[]) => trajectoriesOf({ id: 'c1', settings: now, turns: all }, '')[0];
      const first = [asked('1'), said('a', sentWith(''))];
      expect(savedNow(...first)).toMatchObject({
        item: { messages: [{ content: '1' }, { content: 'a' }], metadata: { parameters: {} } },
        notes: [],
      });
      const changed = 'the system prompt was changed: each version is stored before the first question sent with it';
      expect(savedNow(...first, asked('2'), said('b', sentWith('be brief')))?.notes).toEqual([changed]);
      const more = [asked('2'), said('b', sentWith('be brief', 0.5)), asked('3'), said('c', sentWith('be brief'))];
      const all = savedNow(...first, ...more, asked('4'), said('d', sentWith(' ')));
      expect(all?.item).toHaveProperty('messages', [
        ...[
          { role: 'user', content: '1' },
          { role: 'assistant', content: 'a' },
        ],
        { role: 'system', content: 'be brief' },
        ...[
          { role: 'user', content: '2' },
          { role: 'assistant', content: 'b', parameters: { temperature: 0.5 } },
        ],
        ...[
          { role: 'user', content: '3' },
          { role: 'assistant', content: 'c' },
        ],
        { role: 'system', content: '' },
        ...[
          { role: 'user', content: '4' },
          { role: 'assistant', content: 'd' },
        ],
      ]);
      expect(all?.item).toHaveProperty('metadata.parameters', {});
      expect(all?.notes).toEqual([
        changed,
        'the parameters were changed: answers made with different parameters are stored with their own',
      ]);
    });

    it('leaves out stopped, interrupted and empty answers, with their questions', () => {
      const [item] = saved(
        ...[asked('1'), said('half', { error: { message: 'lost' } }), asked('2'), said('whole')],
        ...[asked('3'), said(''), asked('4'), said('', { cancelled: true })],
      );
      expect(item).toMatchObject({
        status: 'completed',
        messages: [{ content: '2' }, { content: 'whole' }],
        metadata: { left_out: 3 },
        notes: ['left out, with their questions: 3 incomplete or empty answers'],
      });
      expect(saved(asked('1'), said('half', { cancelled: true }))).toEqual([]);
      // One whose end never came, however it was kept.
      expect(saved(asked('1'), said('half', { stats: { model: 'm', firstMs: 1 } }))).toEqual([]);
    });
  });

  describe('with a second model', () => {
    const both = { ...settings, secondModel: 'other' };
    const left = turns.slice(0, 2);
    const right: readonly Turn[] = [
      ...turns.slice(0, 1),
      { role: 'assistant', content: 'a meal', reasoning: '', stats: { model: 'other', totalMs: 1 } },
    ];
    const choice = { pair: pairKey(left, right, 1), better: 'right', models: ['m', 'other'], at: 0 } as const;
    const pair = { id: 'c1', settings: both, turns: left, secondTurns: right, branch: 1, choices: [choice] };

    it('becomes two trajectories, each with how it was chosen', () => {
      const halves = trajectoriesOf(pair, '');
      const metadata = (other: string, better: string) => ({
        ...{ parameters: { temperature: 0.5 }, branch: 2, compared_with: other },
        choices: [{ question: 1, better }],
      });
      expect(halves.map(({ model, item }) => [model, item['model_slug'], item['metadata']])).toEqual([
        ['tutor', 'm', metadata('other', 'other')],
        ['other', 'other', metadata('m', 'this')],
      ]);
      expect(new Set(halves.map(({ item }) => item['conversation_id']))).toEqual(new Set(['c1']));
      expect(new Set(halves.map(({ item }) => item['trace_id'])).size).toBe(2);
    });

    it('becomes one while the second model has only the turns of the first', () => {
      expect(trajectoriesOf({ ...pair, secondTurns: left }, '').map(({ model }) => model)).toEqual(['tutor']);
    });

    it('numbers the questions of a choice as each trajectory has them, and names the model without an answer', () => {
      const lost: Turn = { role: 'assistant', content: '', reasoning: '', error: { message: 'lost' } };
      const led = (answer: Turn, rest: readonly Turn[]) => [{ ...left[0], content: 'first?' } as Turn, answer, ...rest];
      const [one, other] = [
        led(lost, left),
        led({ ...lost, error: undefined, content: 'yes', stats: { model: 'other', totalMs: 1 } }, right),
      ];
      const choices = [{ ...choice, pair: pairKey(one, other, 3) }];
      const halves = trajectoriesOf({ ...pair, turns: one, secondTurns: other, choices }, '');
      const made = (better: string, question: number) => ({ choices: [{ question, better }] });
      expect(halves.map(({ item }) => item['metadata'])).toMatchObject([made('other', 1), made('this', 2)]);
      const stopped = right.map(turn => (turn.role === 'assistant' ? { ...turn, cancelled: true } : turn));
      const [only, ...others] = trajectoriesOf({ ...pair, secondTurns: stopped }, '');
      expect([only?.model, only?.notes.at(0), others]).toEqual([
        ...['tutor', 'other gave no complete answer, and is not saved', []],
      ]);
    });

    it('is exported with every branch, its settings and its choices', () => {
      const others = [{ settings, turns }];
      expect(exportedChat({ ...pair, others })).toEqual({
        conversation_id: 'c1',
        current_branch: 2,
        branches: [
          { settings, turns },
          {
            settings: both,
            turns: left,
            second_turns: right,
            choices: [{ question: 1, better: 'right', models: ['m', 'other'], chosen_at: '1970-01-01T00:00:00.000Z' }],
          },
        ],
      });
    });
  });
});

it('stores no answer of a prompt as that of a model', () => {
  const turns = [
    { role: 'user', content: 'milk?', reasoning: '' },
    { role: 'assistant', content: 'Milk is white.', reasoning: '', isExample: true },
  ] as const;
  expect(trajectoriesOf({ id: 'a', settings: { model: 'm', system: '' }, turns }, '')).toEqual([]);
});
