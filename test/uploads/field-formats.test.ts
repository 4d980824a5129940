/** Files of other programs, in their own formats. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rewardByLog } from '../../src/local/server/uploaded-trajectory.ts';
import { foreignRecord } from '../../src/uploads/field-formats.ts';
import { type FileTrajectory, Reading, trajectoriesIn } from '../../src/uploads/foreign-files.ts';

const user = { role: 'user', content: 'hi' };
const assistantMessage = (content: unknown) => ({ role: 'assistant', content });
const only = (fields: object) => foreignRecord(fields as Record<string, unknown>)?.trajectories[0];

/** A task named by the prompt. */
const hasTask = { task_id: expect.stringMatching(/^[\da-f]{8}$/) as string };

const failedSteps = [{ messages: [], has_error: true }];

it.each([
  [
    'of a request that was not sent',
    { response: null, error: { code: 'rate', message: 'too fast' } },
    'rate: too fast',
  ],
  [
    'of a request that was refused',
    { response: { status_code: 400, body: { error: { type: 'invalid', message: 'no model' } } }, error: null },
    'invalid: no model',
  ],
])('the result %s of an OpenAI batch is a trajectory with its error', (_, result, error) => {
  expect(only({ id: 'b', custom_id: 'c', ...result })).toEqual({ task_id: 'c', error, steps: failedSteps });
});

it.each([
  [
    { type: 'errored', error: { type: 'error', error: { type: 'invalid_request_error', message: 'no model' } } },
    'invalid_request_error: no model',
  ],
  [{ type: 'expired' }, 'expired'],
])('the result %j of an Anthropic batch is a trajectory with its error', (result, error) => {
  expect(only({ custom_id: 'c', result })).toEqual({ task_id: 'c', error, steps: failedSteps });
});

describe('a rollout of verifiers', () => {
  const tool = { role: 'tool', tool_call_id: 'a', content: '4' };
  const rollout = {
    example_id: 7,
    task: 'maths',
    prompt: [user],
    completion: [assistantMessage('let me see'), tool, assistantMessage('4')],
    reward: 0.5,
    correct_answer: 1,
    answer: '4',
    is_truncated: true,
    trajectory: [{ tokens: [1, 2] }],
  };

  it('has its reward, its reward functions, its finish reason, and a step for each answer', () => {
    expect(only(rollout)).toEqual({
      task_id: 'maths/7',
      reward: 0.5,
      termination_reason: 'TRUNCATION',
      metrics: { correct_answer: 1 },
      metadata: { answer: '4' },
      steps: [{ messages: [user, assistantMessage('let me see'), tool] }, { messages: [assistantMessage('4')] }],
    });
  });

  it('keeps the stop condition of a truncated one, with token counts', () => {
    const token_usage = { input_tokens: 900, output_tokens: 120 };
    expect(only({ ...rollout, stop_condition: 'max_turns', token_usage })).toMatchObject({
      termination_reason: 'TRUNCATION',
      completion_tokens: 120,
      metadata: { answer: '4', stop_condition: 'max_turns', token_usage },
    });
    expect(only({ ...rollout, stop_condition: 'max_turns', is_truncated: false })).toMatchObject({
      termination_reason: 'max_turns',
      metadata: { answer: '4' },
    });
  });

  it('belongs to the task of its prompt if it has no id', () => {
    const { example_id: _, ...without } = rollout;
    const taskOf = (prompt: string) => (only({ ...without, prompt }) as { task_id: string }).task_id;
    expect(taskOf('2+2')).toMatch(/^maths\/[\da-f]{8}$/);
    expect(taskOf('2+2')).toBe(taskOf('2+2'));
    expect(taskOf('3+3')).not.toBe(taskOf('2+2'));
  });

  it('parses tool calls written as texts, and keeps a text that is not a call', () => {
    const call = { id: 'a', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
    const fields = (tool_calls: unknown) => ({
      prompt: [user],
      completion: [{ ...assistantMessage(''), tool_calls }, tool],
      reward: 1,
    });
    const calls = [call, 'cut {', '7'];
    const texts = [JSON.stringify(call), 'cut {', '7'];
    expect(only(fields(texts))).toEqual(only(fields(calls)));
    expect(only(fields(calls))).toMatchObject({ steps: [{ messages: [user, { tool_calls: calls }, tool] }] });
  });

  it('names what is left out, and reads texts as messages', () => {
    expect(foreignRecord(rollout)?.leftOut).toEqual(['trajectory']);
    expect(only({ prompt: 'hi', completion: 'ho', reward: 0, task: 'maths', example_id: 1 })).toEqual({
      ...{ reward: 0, task_id: 'maths/1' },
      steps: [{ messages: [user, assistantMessage('ho')] }],
    });
  });

  it.each([
    ['0.5', '0.5'],
    [true, true],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['yes', 'yes'],
    [
      [1, 0],
      [1, 0],
    ],
    ['', ''],
  ])('with the reward %j, which is not a number, has none, and keeps it in its metadata', (reward, kept) => {
    for (const fields of [
      { prompt: [user], completion: [assistantMessage('ho')], reward },
      { prompt: 'hi', completion: 'ho', reward },
    ]) {
      const read = foreignRecord(fields);
      expect(read?.trajectories).toEqual([
        {
          ...hasTask,
          metadata: { unread_rewards: { reward: kept } },
          steps: [{ messages: [user, assistantMessage('ho')] }],
        },
      ]);
      expect(read?.unreadRewards).toBe(1);
    }
  });

  it('with such a reward keeps metadata that is a text', () => {
    expect(only({ messages: [user], reward: 'n/a', metadata: 'run 7' })).toEqual({
      metadata: { metadata: 'run 7', unread_rewards: { reward: 'n/a' } },
      steps: [{ messages: [user] }],
    });
  });

  it.each([null, Number.NaN])('with the reward %s has none', reward => {
    const read = foreignRecord({ prompt: [user], completion: [assistantMessage('ho')], reward });
    expect(read?.trajectories).toEqual([{ ...hasTask, steps: [{ messages: [user, assistantMessage('ho')] }] }]);
    expect(read?.unreadRewards).toBe(0);
  });

  it.each([[[]], [''], [null]])(
    'that failed has its prompt, its error and its reward: the completion is %j',
    completion => {
      const steps = [{ messages: [user] }];
      expect(only({ prompt: [user], completion, reward: 0, error: 'TimeoutError' })).toEqual({
        ...{ ...hasTask, reward: 0, error: 'TimeoutError', steps },
      });
      expect(only({ prompt: [user], completion, reward: null, stop_condition: 'has_error' })).toEqual({
        ...{ ...hasTask, termination_reason: 'has_error', steps },
      });
      expect(only({ prompt: 'hi', completion, reward: 0 })).toEqual({ ...hasTask, reward: 0, steps });
    },
  );

  it('is not every record with a prompt and a completion', () => {
    expect(foreignRecord({ prompt: 'a', completion: 'b' })).toBeUndefined();
  });
});

const sample = {
  id: 'add-1',
  epoch: 2,
  input: 'add',
  target: '4',
  messages: [
    { id: 'm1', role: 'user', source: 'input', content: 'attachment://ab12' },
    {
      role: 'assistant',
      content: [{ type: 'reasoning', reasoning: 'sum' }],
      tool_calls: [{ id: 'c1', function: 'add', arguments: { x: 1 } }],
    },
    { role: 'tool', tool_call_id: 'c1', function: 'add', content: '', error: { type: 'timeout', message: 'too slow' } },
    { role: 'assistant', content: '4' },
  ],
  output: { choices: [{ stop_reason: 'stop' }] },
  scores: {
    match: { value: 'C', explanation: 'it is 4' },
    parts: { value: { a: 0.5, b: 'I' } },
    odd: { value: 'maybe' },
  },
  limit: { type: 'time', limit: 5 },
  model_usage: { m: { input_tokens: 63, output_tokens: 2 }, judge: { output_tokens: 90 } },
  attachments: { ab12: 'what is 1 + 3?' },
  events: [{ event: 'sample_init' }],
  store: {},
};
const log = { version: 2, status: 'success', eval: { task: 'adding', model: 'm' } };

it('reads an Inspect log: scores with explanations, calls, errors, limits, attachments', () => {
  const read = foreignRecord({ ...log, samples: [sample] });
  expect(read).toMatchObject({ format: 'an Inspect log', leftOut: ['events'], unreadRewards: 1 });
  expect(read?.trajectories[0]).toMatchObject({
    task_id: 'add-1',
    model_id: 'm',
    // Those of the model, not those of the judge.
    completion_tokens: 2,
    termination_reason: 'TIMEOUT',
    rewards: [
      { name: 'match', value: 1, explanation: 'it is 4' },
      { name: 'parts.a', value: 0.5, weight: 0 },
      { name: 'parts.b', value: 0, weight: 0 },
    ],
    metadata: { target: '4', task: 'adding', epoch: 2, unread_rewards: { odd: 'maybe' } },
    steps: [
      {
        messages: [
          { role: 'user', content: 'what is 1 + 3?' },
          {
            content: [{ type: 'thinking', thinking: 'sum' }],
            tool_calls: [{ id: 'c1', function: { name: 'add', arguments: '{"x":1}' } }],
          },
          { role: 'tool', name: 'add', content: 'too slow', is_error: true },
        ],
      },
      { messages: [{ role: 'assistant', content: '4', finish_reason: 'stop' }] },
    ],
  });
});

it.each([
  ['C', 1],
  ['P', 0.5],
  ['N', 0],
  ['yes', 1],
  ['No', 0],
  ['TRUE', 1],
  ['false', 0],
  [true, 1],
  ['0.25', 0.25],
])('reads the score %j like Inspect', (value, number) => {
  expect(only({ ...log, samples: [{ id: 1, messages: [user], scores: { match: { value } } }] })).toMatchObject({
    rewards: [{ name: 'match', value: number }],
  });
});

it('reads the tool errors of Inspect, and the answer that a scorer with an explanation extracted', () => {
  const error = { type: 'output_limit', message: 'over 10 MiB' };
  const messages = [user, { role: 'tool', content: 'cut', error }, { role: 'tool', content: 'fine', error: null }];
  const scores = { match: { value: 'I', answer: '5', explanation: 'it is 4' }, other: { value: 'C', answer: '4' } };
  const [read] = foreignRecord({ ...log, samples: [{ id: 1, messages, scores }] })?.trajectories ?? [];
  expect(read?.['steps']).toEqual([
    { messages: [user, { role: 'tool', content: 'cut', is_error: true, error }, { role: 'tool', content: 'fine' }] },
  ]);
  expect(read?.['rewards']).toMatchObject([{ explanation: 'answered 5\nit is 4' }, { explanation: 'answered 4' }]);
});

it('repeats neither an error that is the result of a tool, nor the model that the log names', () => {
  const error = { type: 'timeout', message: 'too slow' };
  const messages = [
    { role: 'assistant', content: 'a', model: log.eval.model },
    { role: 'assistant', content: 'b', model: 'other' },
    { role: 'tool', content: '', error },
  ];
  const [read] = foreignRecord({ ...log, samples: [{ id: 1, messages }] })?.trajectories ?? [];
  expect(read?.['steps']).toEqual([
    { messages: [{ role: 'assistant', content: 'a' }] },
    {
      messages: [
        { role: 'assistant', content: 'b', model: 'other' },
        { role: 'tool', content: 'too slow', is_error: true, error: { type: 'timeout' } },
      ],
    },
  ]);
});

it.each([
  [
    'ShareGPT',
    {
      conversations: [
        { from: 'human', value: 'hi' },
        { from: 'gpt', value: 'ho' },
      ],
    },
    [user, assistantMessage('ho')],
  ],
  ['an OpenAI conversation', { messages: [user, assistantMessage('ho')] }, [user, assistantMessage('ho')]],
  [
    'an OpenAI batch result',
    { custom_id: 'a', response: { body: { choices: [{ message: assistantMessage('ho'), finish_reason: 'stop' }] } } },
    [{ ...assistantMessage('ho'), finish_reason: 'stop' }],
  ],
  ['Anthropic messages', { system: 'be kind', messages: [user] }, [{ role: 'system', content: 'be kind' }, user]],
  [
    'Anthropic messages',
    { messages: [user, assistantMessage([{ type: 'tool_use', id: 't', name: 'f', input: {} }])] },
    [user, assistantMessage([{ type: 'tool_use', id: 't', name: 'f', input: {} }])],
  ],
  [
    'an Anthropic batch result',
    {
      custom_id: 'a',
      result: {
        type: 'succeeded',
        message: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'ho' }] },
      },
    },
    [assistantMessage([{ type: 'text', text: 'ho' }])],
  ],
])('reads %s', (format, fields, messages) => {
  const read = foreignRecord(fields);
  expect(read?.format).toContain(format);
  expect(read?.trajectories).toHaveLength(1);
  expect(read?.trajectories[0]?.['steps']).toEqual([{ messages }]);
});

describe('a dump of a trainer or a script (B14)', () => {
  const steps = [{ messages: [user, assistantMessage('ho')] }];

  it('has an input and an output, or a prompt and a completion, with a score, a step and a task', () => {
    const more = { gts: '4', acc: 1 };
    expect(only({ input: 'hi', output: 'ho', score: 1, step: 3, task_id: 7, ...more })).toEqual({
      ...{ reward: 1, policy_step: 3, task_id: '7', steps, ...more },
    });
    expect(only({ prompt: 'hi', completion: 'ho', score: 0.5, id: 'q1' })).toEqual({
      reward: 0.5,
      task_id: 'q1',
      steps,
    });
    expect(only({ prompt: 'hi', completion: 'ho', reward: 1, task_id: 'a', score: 9, input: 'x' })).toEqual({
      ...{ reward: 1, task_id: 'a', score: 9, input: 'x', steps },
    });
    const samples = [0, 1].map(score => only({ input: 'hi', output: String(score), score }));
    expect(new Set(samples.map(each => each?.['task_id'])).size).toBe(1);
  });

  it('has messages with a score, a task and an id of its own', async () => {
    const fields = {
      id: 'r0',
      task: 'task-0',
      messages: [user, assistantMessage('ho')],
      score: 0.5,
      error: 'TimeoutError',
    };
    expect(only(fields)).toEqual({ trace_id: 'r0', task_id: 'task-0', reward: 0.5, error: 'TimeoutError', steps });
    expect((await readFileOf(JSON.stringify(fields))).sent).toMatchObject([{ value: { reward: 0.5, steps } }]);
  });

  it.each(['score', 'reward'])('with a %s has a step, and the task of its prompt if none is named (out34 B5)', name => {
    const note = 'Rollouts with the same prompt are one task, where no task is named.';
    const asked = (text: string) => ({ role: 'user', content: text });
    const kinds: readonly ((prompt: string, answer: string) => object)[] = [
      (prompt, completion) => ({ prompt, completion }),
      (prompt, answer) => ({ prompt: [asked(prompt)], completion: [assistantMessage(answer)] }),
      (prompt, answer) => ({ prompt: [asked(prompt)], completion: answer }),
      (prompt, answer) => ({ messages: [asked(prompt), assistantMessage(answer)] }),
    ];
    for (const kind of kinds) {
      const read = (prompt: string, answer: string) =>
        foreignRecord({ ...kind(prompt, answer), [name]: 1, step: 10, advantage: 0.7 });
      const taskOf = (prompt: string, answer: string) => read(prompt, answer)?.trajectories[0]?.['task_id'];
      expect(read('2+2', '4')).toMatchObject({
        note,
        trajectories: [{ ...hasTask, reward: 1, policy_step: 10, advantage: 0.7 }],
      });
      expect(taskOf('2+2', '5')).toBe(taskOf('2+2', '4'));
      expect(taskOf('3+3', '5')).not.toBe(taskOf('2+2', '5'));
      const named = foreignRecord({ ...kind('2+2', '4'), [name]: 1, id: 'q1' });
      expect(named).toMatchObject({ note: undefined, trajectories: [{ task_id: 'q1' }] });
    }
    expect(foreignRecord({ prompt: 'a', completion: 'b', reward: 1, example_id: 3 })?.format).toContain('verifiers');
  });

  it('is not a trajectory of the contract, nor a record without a numeric score', () => {
    expect(only({ trajectory_id: 't', messages: [user], score: 1 })).toBeUndefined();
    expect(only({ task_id: 'a', messages: [user], reward: 1 })).toBeUndefined();
    expect(only({ input: 'hi', output: 'ho', score: 'good' })).toBeUndefined();
  });
});

it('reads the reward, the score, the model and the task of a ShareGPT conversation like other formats (attack31 A5)', () => {
  const conversations = [
    { from: 'human', value: 'hi' },
    { from: 'gpt', value: 'ho' },
  ];
  const steps = [{ messages: [user, assistantMessage('ho')] }];
  expect(only({ id: 'x1', conversations, reward: 0.7, score: 9, model: 'm', task_id: 4, lang: 'en' })).toEqual({
    ...{ conversation_id: 'x1', task_id: '4', model_id: 'm', reward: 0.7, metadata: { score: 9, lang: 'en' }, steps },
  });
  expect(only({ conversations, score: 0.5 })).toEqual({ reward: 0.5, steps });
  expect(foreignRecord({ conversations, reward: 'good' })).toMatchObject({
    unreadRewards: 1,
    trajectories: [{ metadata: { unread_rewards: { reward: 'good' } } }],
  });
  expect(only({ id: 'x1', conversations, lang: 'en' })).toEqual({
    conversation_id: 'x1',
    metadata: { lang: 'en' },
    steps,
  });
});

it('reads the score if the reward is null (attack31 C1)', () => {
  const steps = [{ messages: [user, assistantMessage('ho')] }];
  const scored = { reward: null, score: 0.5 };
  expect(only({ prompt: 'hi', completion: 'ho', task_id: 'a', ...scored })).toEqual({
    reward: 0.5,
    task_id: 'a',
    steps,
  });
  expect(only({ messages: [user, assistantMessage('ho')], ...scored })).toEqual({ ...hasTask, reward: 0.5, steps });
});

it('reads a rollout of verifiers with its own task (attack31 C1)', () => {
  const rollout = { prompt: [user], completion: [assistantMessage('ho')], reward: 1, example_id: 7, task: 'maths' };
  expect(only({ ...rollout, task_id: 'a' })).toEqual({
    ...{ task_id: 'a', reward: 1, metadata: { example_id: 7, task: 'maths' } },
    steps: [{ messages: [user, assistantMessage('ho')] }],
  });
});

describe("Anthropic's stop reason and tokens", () => {
  const usage = { input_tokens: 20, output_tokens: 5 };
  const tokens = { prompt_tokens: 20, completion_tokens: 5 };

  it.each([
    ['max_tokens', 'length'],
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'refusal'],
  ])('%s of messages and of a response is the finish reason %s', (stop_reason, finish_reason) => {
    const end = { finish_reason, ...tokens };
    const ho = [{ type: 'text', text: 'ho' }];
    expect(only({ messages: [user, assistantMessage('ho'), user], stop_reason, usage })).toEqual({
      steps: [{ messages: [user, { ...assistantMessage('ho'), ...end }, user] }],
    });
    expect(only({ type: 'message', role: 'assistant', content: ho, stop_reason, usage })).toEqual({
      steps: [{ messages: [{ ...assistantMessage(ho), ...end }] }],
    });
  });

  it('stay among the other fields if they are unknown, or without an answer', () => {
    const more = { ...usage, cache_read_input_tokens: 7 };
    expect(
      only({ system: 'be kind', messages: [assistantMessage('ho')], stop_reason: 'pause_turn', usage: more }),
    ).toEqual({
      stop_reason: 'pause_turn',
      usage: { cache_read_input_tokens: 7 },
      steps: [
        {
          messages: [
            { role: 'system', content: 'be kind' },
            { ...assistantMessage('ho'), ...tokens },
          ],
        },
      ],
    });
    const unanswered = { stop_reason: 'max_tokens', usage };
    expect(only({ messages: [user], ...unanswered })).toEqual({ ...unanswered, steps: [{ messages: [user] }] });
  });

  it('are read before an upload too', async () => {
    const line = JSON.stringify({ messages: [user, assistantMessage('ho')], stop_reason: 'max_tokens' });
    const { sent } = await readFileOf(line);
    expect(sent).toMatchObject([{ value: { steps: [{ messages: [{}, { finish_reason: 'length' }] }] } }]);
  });
});

it('recognises the Inspect log of a run that ended before its first sample', () => {
  const log = { version: 2, status: 'error', eval: { task: 'popularity' }, plan: { name: 'plan', steps: [] } };
  expect(foreignRecord(log)).toMatchObject({ format: 'an Inspect log', trajectories: [] });
  expect(foreignRecord({ eval: log.eval, messages: [] })?.format).not.toBe('an Inspect log');
});

it('leaves trajectories of the contract unchanged, and recognises unknown formats', () => {
  expect(foreignRecord({ trajectory_id: 'traj_1', messages: [user] })).toBeUndefined();
  expect(
    foreignRecord({ steps: [{ messages: [user] }], prompt: [user], completion: [user], reward: 1 }),
  ).toBeUndefined();
  expect(foreignRecord({ a: 1 })).toBeUndefined();
});

/** A ZIP file of these entries, every second one deflated. */
function zipped(...all: readonly Readonly<Record<string, unknown>>[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [index, [name, value]] of all.flatMap(Object.entries<unknown>).entries()) {
    const whole = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    const packed = index % 2 === 0 ? whole : deflateRawSync(whole);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(index % 2 === 0 ? 0 : 8, 4);
    common.writeUInt32LE(crc32(whole), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(whole.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), common, place, Buffer.from(name)]));
    files.push(local);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...files, central, end]);
}

async function readFileOf(content: Buffer | string, score?: string) {
  const path = join(mkdtempSync(join(tmpdir(), 'formats-')), 'file');
  writeFileSync(path, content);
  const file = await open(path);
  onTestFinished(() => file.close());
  const reading = new Reading(score);
  const all: FileTrajectory[] = [];
  for await (const each of trajectoriesIn(file, reading)) all.push(each);
  const sent: FileTrajectory[] = [];
  const sending = new Reading(score);
  for await (const each of trajectoriesIn(file, sending, true)) sent.push(each);
  return { sent, sending, all, notes: reading.notes, missing: reading.missingRewards };
}

describe('a file', () => {
  it('of Inspect is read as a ZIP file, and a damaged sample is named', async () => {
    const { sent, all, notes } = await readFileOf(
      zipped({
        'header.json': log,
        'samples/add-1_epoch_1.json': { ...sample, epoch: 1 },
        'samples/add-1_epoch_2.json': sample,
        'summaries.json': [],
        'samples/x_epoch_1.json': '{',
      }),
    );
    expect(sent).toEqual(all);
    expect(all).toMatchObject([
      { value: { task_id: 'add-1', model_id: 'm', metadata: { epoch: 1 } } },
      { value: { task_id: 'add-1', metadata: { epoch: 2 } } },
      { place: 'samples/x_epoch_1.json', error: expect.stringContaining('JSON') },
    ]);
    expect(notes).toEqual([
      'Read 2 trajectories from an Inspect log (.eval).',
      'The reward is the score match. Others can be chosen with --score: parts.a, parts.b, odd.',
      'Left out: events.',
      '2 rewards are not numbers, and kept only in the metadata, as unread_rewards.',
    ]);
  });

  it('of Inspect with summaries has each sample read once, even if the first scorer gave no score (attack35)', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'formats-')), 'file');
    const readsOf = async (count: number): Promise<number> => {
      const named = Array.from(
        { length: count },
        (_, at) => [`samples/${at}.json`, { ...sample, scores: {} }] as const,
      );
      const summaries = named.map(([, { scores }]) => ({ scores }));
      writeFileSync(path, zipped({ 'header.json': log, ...Object.fromEntries(named), 'summaries.json': summaries }));
      const file = await open(path);
      const read = vi.spyOn(file, 'read');
      for await (const each of trajectoriesIn(file, new Reading())) expect(each.error).toBeUndefined();
      await file.close();
      return read.mock.calls.length;
    };
    const readsOfEntry = 2;
    expect((await readsOf(150)) - (await readsOf(50))).toBe(100 * readsOfEntry);
  });

  it.each<[string, (all: readonly object[]) => Readonly<Record<string, unknown>>]>([
    ['summaries', all => ({ 'summaries.json': all })],
    [
      'a journal',
      all => ({ '_journal/summaries/1.json': all.slice(0, 99), '_journal/summaries/2.json': all.slice(99) }),
    ],
    ['damaged summaries', () => ({ 'summaries.json': '[{' })],
    ['summaries of some samples', all => ({ 'summaries.json': all.slice(0, 100) })],
    ['no summaries', () => ({})],
  ])('of Inspect with %s has the reward of the first scorer, even if a single sample has it', async (_, summaries) => {
    const more = { results: { scores: [{ name: 'grade', scorer: 'grade' }] } };
    const [tokens, grade] = [{ tokens: { value: 60 } }, { grade: { value: 'C' } }];
    const all = Array.from({ length: 250 }, (__, at) => ({
      ...sample,
      scores: { ...tokens, ...(at === 127 && grade) },
    }));
    const samples = Object.fromEntries(all.map((each, at) => [`samples/${at}.json`, each]));
    const { all: read } = await readFileOf(
      zipped({ 'header.json': { ...log, ...more }, ...samples, ...summaries(all) }),
    );
    expect(read.flatMap(({ value }, at) => (rewardByLog(value ?? {}) === 1 ? [at] : []))).toEqual([127]);
  });

  it.each(['a log', 'a ZIP file'])(
    'of Inspect says how a run without samples or a failed run ended: %s',
    async form => {
      const failed = { ...log, status: 'error', error: { message: 'The model is gone.', traceback: 'long' } };
      const notesOf = async (samples: readonly object[]) => {
        const inZip = samples.map((each, index) => [`samples/${index}.json`, each] as const);
        const text = JSON.stringify({ ...failed, samples });
        const file = form === 'a log' ? text : zipped({ 'header.json': failed, ...Object.fromEntries(inZip) });
        return (await readFileOf(file)).notes;
      };
      expect(await notesOf([])).toContain('The run of adding has the status error and no samples: The model is gone.');
      expect(await notesOf([sample])).toContain('The run of adding has the status error: The model is gone.');
    },
  );

  it.each(['a log', 'a ZIP file'])('of Inspect with Python’s NaN lacks only that score: %s', async form => {
    const scores = (value: string) =>
      `{"id": "a", "messages": [{"role": "user", "content": "NaN \\" NaN"}], "scores": {"s": {"value": ${value}}, "t": {"value": 1}}}`;
    const whole = JSON.stringify(log);
    const { all, notes } = await readFileOf(
      form === 'a log'
        ? `{"eval": ${JSON.stringify(log.eval)}, "samples": [${scores('NaN')}, ${scores('-Infinity')}]}`
        : zipped({ 'header.json': whole, 'samples/a_1.json': scores('NaN'), 'samples/a_2.json': scores('-Infinity') }),
    );
    const rewards = [{ name: 't', value: 1 }];
    expect(all).toMatchObject([
      { value: { rewards, steps: [{ messages: [{ content: 'NaN " NaN' }] }] } },
      { value: { rewards, metadata: { unread_rewards: { s: '-Infinity' } } } },
    ]);
    expect(notes).toContain('Missing: 2 numbers that are NaN or infinite, which JSON cannot represent.');
    expect(notes).toContain('1 reward is not a number, and kept only in the metadata, as unread_rewards.');
  });

  it('of trajectories with a number that JSON cannot hold is read without it, with a note', async () => {
    const line = (reward: string) => `{"messages": [{"role": "user", "content": "hi"}], "reward": ${reward}}\n`;
    const { all, notes } = await readFileOf(line('1e999, "metadata": {"note": ""}') + line('1e100') + line('"NaN"'));
    expect(all).toMatchObject([
      { value: { reward: null, metadata: { note: '' } } },
      { value: { reward: 1e100 } },
      { value: { metadata: { unread_rewards: { reward: 'NaN' } } } },
    ]);
    expect(notes).toContain('Missing: 1 number that is NaN or infinite, which JSON cannot represent.');
  });

  it('of trajectories with a reward above 2^53 is sent with it, but not read exactly (attack33 B1)', async () => {
    const rewards = '[{"name": "x", "value": 12345678901234567891}, {"name": "y", "value": 1}]';
    const file = `{"messages": [{"role": "user", "content": "hi"}], "rewards": ${rewards}}`;
    const { all, notes, missing, sending } = await readFileOf(file);
    expect(all.map(({ value }) => rewardByLog(value ?? {}))).toEqual([1]);
    expect(notes).toEqual(['Not counted: 1 reward that is not a number, beyond 2^53, or without a name.']);
    expect([missing, sending.missingRewards]).toEqual([1, 0]);
  });

  it.each([
    ['reward', 0],
    ['score', 1],
  ])('of trajectories with a %s above 2^53 says that it is not the reward', async (name, missed) => {
    const { all, notes, missing, sending } = await readFileOf(
      `{"messages": [{"role": "user", "content": "hi"}], "${name}": 12345678901234567891}`,
    );
    expect(JSON.stringify(all[0]?.value)).toContain('"unread_rewards":{"reward":12345678901234567891}');
    expect(all[0]?.value).not.toHaveProperty(name);
    expect(notes).toContain('1 reward is not a number, and kept only in the metadata, as unread_rewards.');
    // A service takes a reward as it is, but no score.
    expect([missing, sending.missingRewards]).toEqual([1, missed]);
  });

  describe.each(['a log', 'a ZIP file'])('of Inspect with several scores (attack31 A4): %s', form => {
    const read = async (scores: object, score?: string) => {
      const samples = [
        { id: 1, messages: [user] },
        { id: 2, messages: [user], scores },
      ].map(each => ({ epoch: 1, ...each }));
      const inZip = Object.fromEntries(samples.map((each, index) => [`samples/${index}.json`, each]));
      const text = JSON.stringify({ ...log, samples });
      const { all, ...more } = await readFileOf(
        form === 'a log' ? text : zipped({ 'header.json': log, ...inZip }),
        score,
      );
      const last = all[1]?.value;
      return { reward: rewardByLog(last ?? {}), ...more };
    };
    const scores = { match: { value: 'I' }, stats: { value: { tokens: 532, ok: true } } };

    it('has the reward of the first scorer, not of counters beside it', async () => {
      const { reward, notes, missing } = await read(scores);
      expect(reward).toBe(0);
      expect(notes).toContain(
        'The reward is the score match. Others can be chosen with --score: stats.tokens, stats.ok.',
      );
      expect(missing).toBe(0);
    });

    it('has the chosen reward', async () => {
      const { reward, notes } = await read(scores, 'stats.ok');
      expect(reward).toBe(1);
      expect(notes).toContain(
        'The reward is the score stats.ok. Others can be chosen with --score: match, stats.tokens.',
      );
    });

    it('has none if the first scorer gives several, or lacks the chosen one', async () => {
      const of = { stats: scores.stats };
      expect(await read(of)).toMatchObject({ reward: null, missing: 1 });
      expect((await read(of)).notes).toContain(
        'No score is the reward: the first scorer gives several. Choose with --score: stats.tokens, stats.ok.',
      );
      const wrong = await read(scores, 'grade');
      expect(wrong).toMatchObject({ reward: null, missing: 1 });
      expect(wrong.notes).toContain('There is no score grade. Choose with --score: match, stats.tokens, stats.ok.');
    });

    it('does not mention a single score, and reads it as before', async () => {
      const { notes, reward } = await read({ match: { value: 'P' } });
      expect([reward, notes.length]).toEqual([0.5, 1]);
    });
  });

  describe.each(['a log', 'a ZIP file'])(
    'of Inspect whose first scorer skips the first sample (attack33 A4): %s',
    form => {
      const read = async (
        first: string,
        more: object = {},
        second = '{"grade": {"value": "C"}, "tokens": {"value": 532}}',
      ) => {
        const whole = JSON.stringify({ ...log, ...more });
        const samples = [first, second].map(
          (scores, at) => `{"id": ${at + 1}, "epoch": 1, "messages": ${JSON.stringify([user])}, "scores": ${scores}}`,
        );
        const file =
          form === 'a log'
            ? `${whole.slice(0, -1)}, "samples": [${samples.join()}]}`
            : zipped({ 'header.json': whole, 'samples/1.json': samples[0], 'samples/2.json': samples[1] });
        const { all, notes } = await readFileOf(file);
        return { rewards: all.map(({ value }) => rewardByLog(value ?? {})), notes };
      };
      const right = {
        rewards: [null, 1],
        notes: expect.arrayContaining(['The reward is the score grade. Others can be chosen with --score: tokens.']),
      };

      it.each(['NaN', 'null'])('the score has the value %s', async value => {
        expect(await read(`{"grade": {"value": ${value}}, "tokens": {"value": 60}}`)).toMatchObject(right);
      });

      it.each([
        { results: { scores: [{ name: 'grade', scorer: 'grade' }] } },
        { eval: { ...log.eval, scorers: [{ name: 'checks/grade' }, { name: 'tokens' }] } },
      ])('only the log names the scorer', async more => {
        expect(await read('{"tokens": {"value": 60}}', more)).toMatchObject(right);
      });

      it('the scorer gives a named value, or the log names one that no sample has (attack34 B2)', async () => {
        const results = (scorer: string) => ({ results: { scores: [{ name: scorer, scorer }] } });
        const rubric = JSON.stringify({ grade: { value: { ok: 1 } } });
        const named = await read('{"tokens": {"value": 60}}', results('grade'), rubric);
        expect(named.rewards).toEqual([null, 1]);
        const renamed = await read('{"grade": {"value": 0}, "tokens": {"value": 60}}', results('rubric'));
        expect(renamed.rewards).toEqual([0, 1]);
      });
    },
  );

  it('of Inspect with a changed byte or another length is not read (attack31 A14)', async () => {
    const entries = { 'header.json': log, 'samples/a.json': { ...sample, id: 'a' }, 'samples/b.json': sample };
    const whole = zipped(entries);
    const bytes = Buffer.from(whole);
    bytes.write('B', bytes.lastIndexOf('"id":"add-1"') + 6);
    const longer = Buffer.from(whole);
    const field = longer.lastIndexOf('samples/b.json') - 46 + 24;
    longer.writeUInt32LE(longer.readUInt32LE(field) + 1, field);
    for (const file of [bytes, longer])
      expect((await readFileOf(file)).all).toMatchObject([
        { value: { task_id: 'a' } },
        { place: 'samples/b.json', error: 'samples/b.json is damaged' },
      ]);
  });

  it('of Inspect with duplicate entries has the last ones (attack31 A14)', async () => {
    const first = { 'header.json': { ...log, status: 'started' }, 'samples/a.json': sample };
    const { all, notes } = await readFileOf(
      zipped(first, { 'header.json': log, 'samples/a.json': { ...sample, id: 'b' } }),
    );
    expect(all).toMatchObject([{ value: { task_id: 'b' } }]);
    expect(notes).not.toContain('The run of adding has the status started.');
  });

  it('that is cut off says so', async () => {
    const whole = zipped({ 'header.json': log });
    await expect(readFileOf(whole.subarray(0, whole.length - 30))).rejects.toThrow('cut off');
    for (const [at, value] of [
      [12, 2 ** 31],
      [16, 2 ** 32 - 1],
    ] as const) {
      const large = Buffer.from(whole);
      large.writeUInt32LE(value, large.length - 22 + at);
      await expect(readFileOf(large)).rejects.toThrow('more than 4 GB');
    }
  });

  it('of Inspect is read as a ZIP file even with the longest comment', async () => {
    const long = { ...sample, note: 'x'.repeat(70_000) };
    const whole = zipped({ 'samples/add-1_epoch_1.json': long, 'header.json': log });
    for (const comment of [0, 65_535]) {
      const { all } = await readFileOf(Buffer.concat([whole, Buffer.alloc(comment)]));
      expect(all).toHaveLength(1);
    }
  });

  it('of messages is sent to the service unchanged, and is readable all the same', async () => {
    const { sent, all } = await readFileOf(`${JSON.stringify({ messages: [user, assistantMessage('ho')] })}\nx\n`);
    expect(sent).toMatchObject([{ value: { messages: [user, assistantMessage('ho')] } }, { place: 'line 2' }]);
    expect(all).toMatchObject([{ value: { steps: [{}] } }, { place: 'line 2' }]);
  });

  describe('with different kinds of records (attack31 A3)', () => {
    const messages = [user, assistantMessage('ho')];
    const textOf = (records: readonly object[]) => records.map(each => JSON.stringify(each)).join('\n');

    it('is converted record by record, and no score, system prompt or stop reason is lost', async () => {
      const more = [{}, { score: 1 }, { system: 'be kind' }, { stop_reason: 'max_tokens' }];
      const { sent, all } = await readFileOf(textOf(more.map(each => ({ messages, ...each }))));
      expect(sent.map(({ value }) => value)).toEqual([{ messages }, ...all.slice(1).map(({ value }) => value)]);
      expect(all[1]?.value).toMatchObject({ reward: 1 });
      expect(all[2]?.value).toMatchObject({
        steps: [{ messages: [{ role: 'system', content: 'be kind' }, ...messages] }],
      });
    });

    it('is converted as before after a first record in the contract’s format, and recognised as sent', async () => {
      const { sent, all } = await readFileOf(textOf([{ messages, score: 1 }, { messages }]));
      expect(sent).toEqual(all);
      expect(sent[1]?.value).toEqual({ steps: [{ messages }] });
    });
  });

  it('names each trajectory by its place in the file (attack31 B5)', async () => {
    const choices = [{ message: assistantMessage('a') }, { message: assistantMessage('b') }];
    const { all } = await readFileOf(`x\n\n${JSON.stringify({ choices })}\n${JSON.stringify({ messages: [user] })}`);
    expect(all.map(({ place }) => place)).toEqual(['line 1', 'line 3, rollout 1', 'line 3, rollout 2', 'line 4']);
  });

  it.each([
    ['NaN', `{"prompt":"hi","completion":"ho","reward":NaN}`, 1],
    ['NaN', `{"messages":[{"role":"user","content":"hi"}],"reward":NaN}`, 1],
    ['NaN', `{"steps":[{"messages":[{"role":"user","content":"hi"}]}],"reward":NaN}`, 1],
    ['without names', `{"messages":[{"role":"user","content":"hi"}],"rewards":[1,0]}`, 2],
    ['without names', `{"messages":[{"role":"user","content":"hi"}],"rewards":{"a":1}}`, 1],
    ['lists', `{"messages":[{"role":"user","content":"hi"}],"score":[1,0]}`, 1],
    ['infinite', `{"prompt":"hi","completion":"ho","reward":1e999}`, 1],
    ['null', `{"messages":[{"role":"user","content":"hi"}],"reward":null,"rewards":[1]}`, 0],
    ['of the contract', `{"steps":[{"messages":[]}],"rewards":[{"name":"a","value":1}]}`, 0],
  ])('with rewards that are %s says how many do not count: %s (attack31 C2)', async (_, text, count) => {
    const { missing, notes } = await readFileOf(text);
    expect(missing).toBe(count);
    if (count > 0) expect(notes.join('\n')).toMatch(/^Not counted: |rewards? (is|are) not/m);
  });
});

it('reads the task and the result of an agent on SWE-bench', () => {
  const messages = [user, assistantMessage('done')];
  expect(only({ messages, instance_id: 'django-1', resolved: true })).toEqual({
    ...{ task_id: 'django-1', rewards: [{ name: 'resolved', value: 1 }] },
    steps: [{ messages }],
  });
  const unclear = { task_id: 'django-1', resolved: 'partly' };
  expect(only({ messages, instance_id: 'django-1', resolved: 'partly' })).toMatchObject(unclear);
});

it('reads the results of τ-bench', () => {
  const traj = [user, assistantMessage('done')];
  expect(only({ task_id: 3, reward: 1, traj, trial: 2, info: { a: 1 } })).toEqual({
    ...{ task_id: '3', reward: 1, sample: 2, info: { a: 1 } },
    steps: [{ messages: traj }],
  });
  const info = { error: 'timed out' };
  expect(only({ task_id: 3, reward: 0, traj: [], trial: 0, info })).toEqual({
    ...{ task_id: '3', reward: 0, sample: 0, info, error: 'timed out' },
    steps: [{ messages: [], has_error: true }],
  });
  expect(foreignRecord({ task_id: 3, traj: [1] })).toBeUndefined();
  expect(foreignRecord({ task_id: 3, reward: 0, traj: [], steps: [] })).toBeUndefined();
});
