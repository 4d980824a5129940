/** Tools of tasks: the calls in a text, their rewards, and the record of a rollout with them. */
import { describe, expect, it } from 'vitest';
import { rolloutRecord } from '../../../src/local/engine/rollouts.ts';
import { gradeAnswer } from '../../../src/local/engine/worker-rollouts.ts';
import { episode } from '../../../src/local/model/episode.ts';
import { callTool, toolSpec } from '../../../src/local/model/tools.ts';

const tools = {
  store: { hammer: 'four' },
  calculator: true,
  max_steps: 3,
  rewards: { 'look up hammer': 0.2, 'times three four': 0.3 },
};
const turns = [{ role: 'user', content: 'how much are three hammers?' }];
const grader = { kind: 'exact', expected: 'twelve' } as const;

/** A rollout in which the model says these texts. */
function rollout(...texts: string[]) {
  const rounds = episode(turns, tools);
  rounds.next();
  for (const text of texts) {
    const said = { text, tokens: [], prompt_tokens: 5, completion_tokens: 3, finish_reason: 'stop' } as const;
    const round = rounds.next(said);
    if (!round.done) continue;
    const result = gradeAnswer({ order: { task_id: 'a', sample: 0, grader, tools }, ...round.value, latency_ms: 1 });
    return { result, record: rolloutRecord(turns, result) };
  }
  throw new Error('The rollout has not ended');
}

describe('the output of a model', () => {
  it.each([
    ['look up hammer', 'hammer: four', false],
    ['Look up  HAMMER', 'hammer: four', false],
    ['look up spoon', 'there is no spoon in the store', true],
    ['look up constructor', 'there is no constructor in the store', true],
    ['look up', 'look up what?', true],
    ['times three four', 'twelve', false],
    ['plus 19 20', '39', false],
    ['minus two 5', '-3', false],
    ['times three', 'times needs two numbers', true],
    ['times three many', 'times needs two numbers', true],
  ])('contains calls: %s', (said, text, is_error) => {
    expect(callTool(tools, said)).toMatchObject({ text, is_error });
  });

  it.each(['twelve', '', 'look at the hammer', 'constructor one two'])('contains no call: %j', said => {
    expect(callTool(tools, said)).toBeUndefined();
  });

  it('calls only tools of the task', () => {
    expect(callTool({ calculator: true }, 'look up hammer')).toBeUndefined();
    expect(callTool({ store: {} }, 'plus one two')).toBeUndefined();
  });
});

describe('a rollout with tools', () => {
  it('gets the reward of each call once, and the rest for its answer', () => {
    const { result, record } = rollout('look up hammer', 'times three four', 'twelve');
    expect(result).toMatchObject({ reward: 1, step_rewards: [0.2, 0.3, 0.5], error: null });
    expect(record.steps.map(step => step.reward)).toEqual([0.2, 0.3, 0.5]);
    expect(rollout('look up hammer', 'look up hammer', 'twelve').result.reward).toBe(0.7);
    expect(rollout('twelve').result.reward).toBe(0.5);
  });

  it('is recorded in steps: calls, results, errors and finish reasons', () => {
    const { record } = rollout('look up spoon', 'twelve');
    expect(record.steps).toMatchObject([
      {
        step_index: 0,
        has_error: true,
        messages: [
          { message_id: 0, role: 'user' },
          {
            role: 'assistant',
            finish_reason: 'tool_calls',
            tool_calls: [{ id: 'call_0', function: { name: 'look_up' } }],
          },
          { role: 'tool', tool_call_id: 'call_0', tool_response: 'there is no spoon in the store', is_error: true },
        ],
      },
      {
        step_index: 1,
        has_error: false,
        messages: [{ message_id: 3, role: 'assistant', content: 'twelve' }, { role: 'grader' }],
      },
    ]);
    expect(record.details).toBe(JSON.stringify({ grader }));
    expect(record).not.toHaveProperty('termination_reason');
  });

  it('ends with its last step if the model never answers, and keeps the rewards of its calls', () => {
    const { result, record } = rollout('look up hammer', 'look up spoon', 'look up spoon');
    expect(result).toMatchObject({ answer: null, reward: 0.2, error: null, explanation: 'no answer after 3 calls' });
    expect(record).toMatchObject({ termination_reason: 'MAX_STEPS', error: null });
    expect(record.steps).toHaveLength(3);
  });
});

it('refuses rewards for calls that exceed 1 in total', () => {
  expect(toolSpec.safeParse({ rewards: { 'look up a': 0.6, 'look up b': 0.6 } }).success).toBe(false);
});
