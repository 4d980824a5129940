/** Reading is lenient: documented fields are read, others do no harm. */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseExactly } from '../../src/base/exact-json.ts';
import * as benchmarks from '../../src/contract/benchmarks.ts';
import { page, readWith, rows } from '../../src/contract/common.ts';
import { dataset } from '../../src/contract/datasets.ts';
import { deployment } from '../../src/contract/deployments.ts';
import { errorEnvelope, failure, inferenceErrorEnvelope } from '../../src/contract/errors.ts';
import * as evaluations from '../../src/contract/evaluations.ts';
import { chatChunk, chatCompletion } from '../../src/contract/inference.ts';
import { cursorAfter, describePartlyRead, hasMoreAfter, unreadableIn } from '../../src/contract/lists.ts';
import { messageContent } from '../../src/contract/message-content.ts';
import { supportedModel } from '../../src/contract/models.ts';
import { cannotBeCopied } from '../../src/contract/proto-field.ts';
import { secret } from '../../src/contract/secrets.ts';
import { type MaybeStatus, withStatus } from '../../src/contract/status.ts';
import * as training from '../../src/contract/training.ts';
import * as trajectories from '../../src/contract/trajectories.ts';

const runFailure = { type: 'api_error', code: 'out_of_memory', message: 'it grew', context: { node: 3 } };

/** Each resource with every field of the document or gaps.md, and its required fields. */
const resources: Record<string, { schema: z.ZodMiniType; full: Record<string, unknown>; identity: string[] }> = {
  benchmarkRuntime: {
    schema: benchmarks.benchmarkRuntime,
    full: {
      organization_id: 'org',
      runtime_id: 'rt_1',
      image_ref: 'img',
      dockerfile_uri: 'gs://x',
      content_hash: 'abc',
      provider: 'p',
      blueprint_id: 'bp',
      build_status: 'ready',
      created_at: '2026-01-02T03:04:05.678901+00:00',
    },
    identity: ['runtime_id'],
  },
  benchmark: {
    schema: benchmarks.benchmark,
    full: {
      bench_id: 'b1',
      organization_id: 'org',
      label: 't-words',
      created_at: 'x',
      updated_at: 'y',
      description: '',
      visibility: 'private',
      family: 'style',
      eval_run_count: 0,
    },
    identity: ['bench_id'],
  },
  benchmarkImage: {
    schema: benchmarks.benchmarkImage,
    full: { task_id: 't', provider: 'p', provider_ref: 'r', dockerfile_uri: 'd', build_status: 'building' },
    identity: ['task_id'],
  },
  readiness: {
    schema: benchmarks.readiness,
    full: { ready: false, missing_secret_names: ['TOKEN'], unready_task_image_counts: { pending: 3, failed: 1 } },
    identity: ['ready'],
  },
  uploadUrl: {
    schema: benchmarks.uploadUrl,
    full: { path: 'a', url: 'https://s/a?x', headers: { 'content-type': 'text/plain' } },
    identity: ['path', 'url'],
  },
  startEvalResult: {
    schema: evaluations.startEvalResult,
    full: {
      bench_id: 'b',
      eval_run_id: 'e',
      pipeline_run_id: 'p',
      display_name: 'd',
      execution_id: 'x',
      pipeline_name: 'n',
      experiment_name: 'm',
    },
    identity: ['eval_run_id'],
  },
  evalRun: {
    schema: evaluations.evalRun,
    full: {
      eval_run_id: 'e',
      bench_id: 'b',
      display_name: 'd',
      base_model_slug: 'acme/small',
      status: 'running',
      parent_checkpoint_id: 'c',
      training_run_id: 't',
      step: 3,
      reward_mean: 0,
      created_at: 'x',
      failure: runFailure,
    },
    identity: ['eval_run_id'],
  },
  evalProgress: {
    schema: evaluations.evalProgress,
    full: {
      eval_run_id: 'e',
      status: 'running',
      failure: runFailure,
      terminal_rollouts: 3,
      total_rollouts: 8,
      live: { waiting_rollouts: 1, provisional_reward_mean: 0.5, final_reward_mean: null },
    },
    identity: [],
  },
  rolloutSnapshot: {
    schema: evaluations.rolloutSnapshot,
    full: {
      eval_run_id: 'e',
      xid: 'x',
      stage: 'sample',
      knob_name: 'latency',
      unit: 'ms',
      sample_count: 2,
      created_at: 'x',
      samples: [1, 2.5],
    },
    identity: [],
  },
  trajectoryReward: {
    schema: evaluations.trajectoryReward,
    full: { reward: 0, trajectory_id: 't', task_id: 'k' },
    identity: [],
  },
  trajectory: {
    schema: trajectories.trajectory,
    full: {
      trajectory_id: 't',
      organization_id: 'o',
      source: 's',
      created_at: 'x',
      dataset_id: 'd',
      dataset_name: 'n',
      dataset_source: 's',
      dataset_gcs_prefix: 'g',
      trace_id: 'tr',
      model_id: 'm',
      model_association_source: 'a',
      model_association_metadata: { a: 1 },
      status: 'completed',
      reward: 0.25,
      num_steps: 1,
      gcs_blob_uri: 'gs://x',
      error: '',
      steps: [
        {
          step_index: 0,
          reward: 1,
          has_error: true,
          messages: [
            {
              message_id: 1,
              role: 'assistant',
              content: 'c',
              tool_calls: '[]',
              tool_response: '',
              reasoning: 'r',
              finish_reason: 'stop',
              prompt_tokens: 3,
              completion_tokens: 4,
            },
          ],
        },
      ],
    },
    identity: ['trajectory_id'],
  },
  uploadedTrajectory: {
    schema: trajectories.uploadedTrajectory,
    full: {
      request_index: 0,
      status: 'uploaded',
      conversation_id: 'c',
      trace_id: 't',
      trajectory_id: 't',
      model_id: 'm',
      model_association_source: 'a',
      failure: { code: 'c', message: 'm', item_index: 0, context: {} },
    },
    identity: [],
  },
  uploadTrajectoriesResult: {
    schema: trajectories.uploadTrajectoriesResult,
    full: { uploaded: 1, skipped: 1, failures: [{ code: 'c' }], message: 'm', partial_success: true, trajectories: [] },
    identity: [],
  },
  logRewardResult: {
    schema: trajectories.logRewardResult,
    full: { ok: true, trajectory_id: 't', status: 'x' },
    identity: [],
  },
  dataset: {
    schema: dataset,
    full: {
      dataset_id: 'd',
      organization_id: 'o',
      dataset_name: 'n',
      created_at: 'x',
      display_name: 'd',
      source: 's',
      gcs_prefix: 'g',
      updated_at: 'y',
    },
    identity: ['dataset_id'],
  },
  secret: {
    schema: secret,
    full: { secret_id: 's', name: 'TOKEN', byte_length: 7, description: '', created_at: 'x', updated_at: 'y' },
    identity: ['secret_id'],
  },
  deployment: {
    schema: deployment,
    full: {
      deployment_id: 'd',
      model_slug: 'words-1',
      model_slug_id: 'ms',
      status: 'MERGING',
      role: 'test',
      is_active: false,
      created_at: 'x',
      model_id: 'm',
      playground_endpoint_url: 'https://p',
      base_model_slug: 'acme/small',
      checkpoint_step: 40,
      output_speed: 'turbo',
      expected_concurrency: 'low',
      merge_xid: 'm',
      deploy_xid: 'd',
      created_by: 'me@example.com',
      completed_at: 'x',
      updated_at: 'y',
      failure: runFailure,
    },
    identity: ['deployment_id'],
  },
  trainingProgress: {
    schema: training.trainingProgress,
    full: { training_run_id: 't', status: 'cancel_signaled', completed_steps: 0, failure: runFailure, total_steps: 40 },
    identity: [],
  },
  trainingRun: {
    schema: training.trainingRun,
    full: {
      training_run_id: 't',
      pipeline_run_id: 'p',
      display_name: 'd',
      status: 'pending',
      bench_id: 'b',
      base_model_slug: 'acme/small',
      options: { num_steps: 4 },
      created_by: 'me',
      created_at: 'x',
      failure: runFailure,
      has_training_execution: true,
    },
    identity: ['training_run_id'],
  },
  checkpoint: {
    schema: training.checkpoint,
    full: { checkpoint_id: 'c', step_index: 4, created_at: 'x' },
    identity: ['checkpoint_id'],
  },
  trainerReward: { schema: training.trainerReward, full: { step: 1, trainer_reward: 0.5 }, identity: ['step'] },
  heldOutReward: {
    schema: training.heldOutReward,
    full: { step: 1, held_out_reward: 0.5, expected_samples: 8, completed_samples: 7, failed_samples: 1 },
    identity: ['step'],
  },
  supportedModel: {
    schema: supportedModel,
    full: { model_slug: 'acme/small', model_name: 'Small', pricing: { input: 0.1, output: 0.2, cached_input: 0 } },
    identity: ['model_slug'],
  },
  chatCompletion: {
    schema: chatCompletion,
    full: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
    identity: ['choices'],
  },
  chatChunk: {
    schema: chatChunk,
    full: { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: null },
    identity: [],
  },
  failure: { schema: failure, full: { code: 'c', message: 'm', item_index: 4, context: { a: 1 } }, identity: [] },
};

describe.each(Object.entries(resources))('%s', (_, { schema, full, identity }) => {
  const bare = Object.fromEntries(identity.map(name => [name, full[name]]));

  it('keeps every field of the document, and unknown fields', () => {
    const more = { ...full, later: { generation: [1] } };
    expect(schema.parse(more)).toEqual(more);
  });

  it('is read with nothing but its id', () => {
    expect(schema.parse(bare)).toEqual(bare);
  });

  it('is read with null for everything but its id', () => {
    const nulls = { ...Object.fromEntries(Object.keys(full).map(name => [name, null])), ...bare };
    expect(schema.parse(nulls)).toEqual(nulls);
  });

  it.each(identity)('is not read without %s', name => {
    expect(schema.safeParse({ ...full, [name]: undefined }).success).toBe(false);
  });
});

it.each([
  ['evaluation', evaluations.evalRun, { eval_run_id: 'e' }],
  ['training run', training.trainingRun, { training_run_id: 't' }],
  ['deployment', deployment, { deployment_id: 'd' }],
  ['trajectory', trajectories.trajectory, { trajectory_id: 't' }],
] as const)('an unknown status of an %s is kept', (_, schema, identity) => {
  expect(schema.parse({ ...identity, status: 'Hibernating ❄' })).toMatchObject({ status: 'Hibernating ❄' });
});

describe('both names of a pair are read', () => {
  it.each([
    [benchmarks.benchmark, { bench_id: 'b', name: 'n' }, { label: 'n' }],
    [benchmarks.benchmark, { bench_id: 'b', name: 'n', label: 'l' }, { label: 'l' }],
    [benchmarks.benchmark, { bench_id: 'b', name: 'n', label: null }, { label: 'n' }],
    [
      evaluations.evalRun,
      { eval_run_id: 'e', model_slug: 'm', checkpoint_id: 'c' },
      { base_model_slug: 'm', parent_checkpoint_id: 'c' },
    ],
    [training.trainingRun, { training_run_id: 't', model_slug: 'm' }, { base_model_slug: 'm' }],
    [supportedModel, { base_model_slug: 'm', pricing: { cached_input: null } }, { model_slug: 'm' }],
    [benchmarks.ingestResult, { bench_id: 'b', name: 'n', failed_tasks: [], warnings: null }, { label: 'n' }],
  ])('%#', (schema, given, expected) => {
    expect(schema.parse(given)).toEqual({ ...given, ...expected });
  });
});

describe('lists', () => {
  const list = page(benchmarks.benchmark);
  const row = { bench_id: 'b1' };

  it.each<[string, unknown, object]>([
    ['an envelope', { items: [row], has_more: true, next_cursor: 'c' }, { has_more: true, next_cursor: 'c' }],
    [
      'an envelope with more in it',
      { items: [row], has_more: false, next_cursor: null, total: 1 },
      { has_more: false, next_cursor: null },
    ],
    ['an envelope that says little', { items: [row] }, { has_more: false, next_cursor: null }],
    ['a cursor alone', { items: [row], next_cursor: 'c' }, { has_more: true, next_cursor: 'c' }],
    ['a cursor of nothing', { items: [row], has_more: false, next_cursor: 'c' }, { has_more: false, next_cursor: 'c' }],
    ['a bare array', [row], { has_more: false, next_cursor: null }],
  ])('%s', (_, body, expected) => {
    const read = list.parse(body);
    expect(read).toEqual({ items: [row], dropped: 0, ...expected });
    expect(cursorAfter(read.items)).toBe(read.has_more ? read.next_cursor : null);
  });

  it.each([
    ['an empty page', { items: [], has_more: true, next_cursor: 'c' }],
    ['an empty page without a cursor', { items: [], has_more: true, next_cursor: null }],
    ['an empty cursor', { items: [row], has_more: true, next_cursor: '' }],
    ['an empty cursor alone', { items: [row], next_cursor: '' }],
  ])('end at %s', (_, body) => {
    const read = list.parse(body);
    expect(read).toMatchObject({ items: body.items, has_more: false });
    expect([cursorAfter(read.items), hasMoreAfter(read.items)]).toEqual([null, false]);
  });

  it('do not end at a page without readable rows, or at a page with rows but without a cursor', () => {
    expect(list.parse({ items: [null], has_more: true, next_cursor: 'c' }).has_more).toBe(true);
    expect(list.parse({ items: [row], has_more: true, next_cursor: null }).has_more).toBe(true);
  });

  it('count an unreadable row, which hides no other', () => {
    const body = { items: [row, null, { bench_id: null }, 'x', { bench_id: 'b2' }], has_more: false };
    expect(list.parse(body)).toMatchObject({ items: [row, { bench_id: 'b2' }], dropped: 3 });
    expect(rows(benchmarks.benchmark).parse(body.items)).toEqual([row, { bench_id: 'b2' }]);
  });

  it.each([null, 'x', 7, {}, { items: 'x' }, { items: {} }])('cannot be read from %j', body => {
    expect(list.safeParse(body).success).toBe(false);
  });
});

describe('a value of another type than in the document', () => {
  const { items, dropped } = page(evaluations.evalRun).parse([
    { eval_run_id: 7, step: '12', reward_mean: '0.5', display_name: true, failure: 'out of memory', options: 'none' },
    { eval_run_id: 'b', reward_mean: 'much' },
  ]);

  it('is converted to the intended type', () => {
    expect(items).toEqual([
      {
        eval_run_id: '7',
        step: 12,
        reward_mean: 0.5,
        display_name: 'true',
        failure: { message: 'out of memory' },
        options: { value: 'none' },
        status: 'failed',
      },
    ]);
  });

  it('is dropped and counted if it cannot be converted', () => {
    expect(dropped).toBe(1);
  });
});

describe('a run without a status', () => {
  const at = '2026-01-01T00:00:00Z';

  it.each([
    [{ completed_at: at, created_at: at }, undefined],
    [{ failure: {} }, 'failed'],
    [{ status: 'hibernating', completed_at: at }, 'hibernating'],
  ])('gets none that the service did not send: %j', (run, status) => {
    expect(evaluations.evalRun.parse({ eval_run_id: 'e', ...run }).status ?? undefined).toBe(status);
    expect(withStatus(run as MaybeStatus).status).toBe(status);
  });
});

describe('lists in any wrapping', () => {
  const point = { step: 1, trainer_reward: 0.5 };
  const image = { task_id: 't' };

  it.each([
    [training.trainingEndpoints.getTrainerRewards.response, 'trainer_rewards', point],
    [training.trainingEndpoints.getHeldOutRewards.response, 'held_out_rewards', point],
    [training.trainingEndpoints.getStepTrajectoryRewards.response, 'trajectory_rewards', { reward: 1 }],
    [evaluations.trajectoryRewards, 'trajectory_rewards', { reward: 1 }],
    [evaluations.rolloutStatistics, 'snapshots', { samples: [1] }],
    [benchmarks.benchmarkImages, 'images', image],
  ] as readonly [z.ZodMiniType, string, object][])('%#', (schema, name, row) => {
    for (const body of [[row], { items: [row] }, { [name]: [row] }, { [name]: { items: [row] } }]) {
      expect(schema.parse(body)).toMatchObject({ [name]: [row] });
    }
  });
});

it('keeps content as it was sent, and joins it into one text where needed', () => {
  const parts = [{ type: 'text', text: 'one' }, 'two', { type: 'input_text', text: 'three' }];
  expect(trajectories.message.parse({ content: parts }).content).toEqual(parts);
  expect(messageContent(parts)).toBe('onetwothree');
  expect(messageContent([{ type: 'image_url', image_url: { url: 'x' } }])).toBe(
    '{"type":"image_url","image_url":{"url":"x"}}',
  );
  expect(messageContent([])).toBe('[]');
});

it('serialises texts of a message that came as values', () => {
  const calls = [{ id: 'c', function: { name: 'look' } }];
  const read = trajectories.message.parse({
    role: 'tool',
    content: ['a', { b: 1 }],
    tool_calls: calls,
    tool_response: null,
    reasoning: 'r',
  });
  expect(read).toEqual({
    role: 'tool',
    content: ['a', { b: 1 }],
    tool_calls: JSON.stringify(calls),
    tool_response: null,
    reasoning: 'r',
  });
});

it('reads a chunk of a stream as a list of choices', () => {
  expect(chatChunk.safeParse({ choices: 'x' }).success).toBe(false);
});

it('does not read a missing reward as zero', () => {
  const list = evaluations.trajectoryRewards.parse({
    eval_run_id: 'e',
    trajectory_rewards: [
      { trajectory_id: 'a', reward: 0 },
      { trajectory_id: 'b', reward: null },
      { trajectory_id: 'c' },
    ],
  });
  expect(list.trajectory_rewards.map(({ reward }) => reward)).toEqual([0, null, undefined]);
});

describe('error envelopes', () => {
  it('of the service', () => {
    const body = {
      error: {
        type: 'quota_error',
        code: 'x',
        message: 'm',
        param: null,
        doc_url: 'd',
        context: { failures: [] },
        hint: 'h',
      },
    };
    expect(errorEnvelope.parse(body)).toEqual(body);
    expect(errorEnvelope.safeParse({ error: 'text' }).success).toBe(false);
  });

  it('of inference', () => {
    const body = { error: { message: 'm', type: 't', param: null, code: 429 } };
    expect(inferenceErrorEnvelope.parse(body)).toEqual(body);
    expect(inferenceErrorEnvelope.safeParse({ detail: 'x' }).success).toBe(false);
  });
});

it('keeps __proto__ in an answer as an ordinary field', () => {
  const read = benchmarks.benchmark.parse(JSON.parse('{"bench_id": "b", "__proto__": {"polluted": true}}'));
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect((read as unknown as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('a field called __proto__ (X11)', () => {
  const row = '{"bench_id":"b","__proto__":{"status":"forged"},"nested":[{"__proto__":1}]}';

  it.each<[string, z.ZodMiniType, string]>([
    ['an object', z.looseObject({}), row],
    ['a record', z.record(z.string(), z.unknown()), row],
    ['an object with other names', benchmarks.benchmark, row],
    ['an array of objects', z.array(z.looseObject({})), `[${row},${row}]`],
    ['a record in an object', z.looseObject({ context: z.record(z.string(), z.unknown()) }), `{"context":${row}}`],
    ['rows', rows(benchmarks.benchmark), `[${row}]`],
  ])('stays data in %s', (_, schema, text) => {
    const read = readWith(schema, JSON.parse(text));
    expect(read.success && JSON.parse(JSON.stringify(read.data))).toEqual(JSON.parse(text));
    expect(JSON.stringify(read.data).split('"__proto__"')).toHaveLength(text.split('"__proto__"').length);
    expect(read.success && Reflect.get(Object(read.data), 'status')).toBeUndefined();
  });

  it('stays in its row if other rows are left out', () => {
    const read = readWith(page(benchmarks.benchmark), JSON.parse(`[{"__proto__":1},{"bench_id":"a"},${row}]`));
    expect(read.success && read.data.items.map(item => Object.hasOwn(item, '__proto__'))).toEqual([false, true]);
  });

  it('is found at any depth', () => {
    const nested = (inner: string): unknown => JSON.parse(`${'[{"a":'.repeat(50_000)}${inner}${'}]'.repeat(50_000)}`);
    expect(cannotBeCopied(nested('{"__proto__":1}'))).toBe(true);
    expect(cannotBeCopied(nested('"__proto__"'))).toBe(false);
    expect(cannotBeCopied([{ a: parseExactly('[12345678901234567890]') }])).toBe(true);
  });
});

describe('a row with an unreadable optional field', () => {
  const model = { model_slug: 'm', pricing: { input: 1, cached_input: 'none' } };

  it('is read without the field, which is kept as it was sent', () => {
    const [row] = rows(supportedModel).parse([model]);
    expect(row).toEqual({
      model_slug: 'm',
      pricing: { input: 1 },
      unreadable_fields: { 'pricing.cached_input': 'none' },
    });
    expect(describePartlyRead([{}, row ?? {}])).toBe('1 row shown without unreadable fields: pricing.cached_input');
    expect(unreadableIn(rows(supportedModel).parse([model]))).toBe(0);
  });

  it('is read the same way as a single record', () => {
    rows(deployment);
    const { data } = readWith(deployment, { deployment_id: 'd', is_active: 'yes', role: 'test' });
    expect(data).toEqual({ deployment_id: 'd', role: 'test', unreadable_fields: { is_active: 'yes' } });
  });

  it.each<[string, z.ZodMiniType, object]>([
    ['reward', evaluations.trajectoryReward, { reward: 'n/a', trajectory_id: 't' }],
    ['mean', evaluations.evalRun, { eval_run_id: 'e', reward_mean: 'n/a' }],
    ['held-out mean', training.heldOutReward, { step: 1, held_out_reward: true }],
    ['sample count', training.heldOutReward, { step: 1, held_out_reward: 1, failed_samples: 'few' }],
    ['end of a round', training.heldOutReward, { step: 1, held_out_reward: 1, round_completed: 'no' }],
    ['step', training.checkpoint, { checkpoint_id: 'c', step_index: 'last' }],
    ['sample', evaluations.rolloutSnapshot, { samples: [1, 'x'] }],
    ['failure', training.trainingRun, { training_run_id: 'r', failure: 5 }],
    ['list of messages', trajectories.step, { step_index: 1, messages: 5 }],
    ['id', deployment, { deployment_id: null }],
  ])('is left out if its %s is unreadable', (_, schema, row) => {
    expect(unreadableIn(rows(schema).parse([row]))).toBe(1);
  });
});
