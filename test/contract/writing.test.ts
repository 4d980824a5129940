/** Building a request is strict: within the document's bounds, and without unknown fields. */
import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { createUploadBody } from '../../src/contract/benchmarks.ts';
import { listQuery } from '../../src/contract/common.ts';
import { deploymentListQuery, startDeploymentBody } from '../../src/contract/deployments.ts';
import { startEvalBody } from '../../src/contract/evaluations.ts';
import { chatCompletionBody } from '../../src/contract/inference.ts';
import { createSecretBody } from '../../src/contract/secrets.ts';
import { startTrainingBody } from '../../src/contract/training.ts';
import {
  completeTrajectoryBody,
  logRewardBody,
  trajectoryListQuery,
  trajectoryQuery,
  uploadTrajectoriesBody,
} from '../../src/contract/trajectories.ts';

const file = { path: 'a', content_type: 'text/plain', size_bytes: 0 };
const question = { model: 'm', messages: [{ role: 'user', content: '' }] };
const slug = { checkpoint_id: 'c', role: 'test' };

const bodies: Record<string, { schema: z.ZodMiniType; good: object[]; bad: object[] }> = {
  listQuery: {
    schema: listQuery,
    good: [{}, { limit: 1 }, { limit: 200, order: 'asc' }, { cursor: null, sort: null, search: null }, { search: '' }],
    bad: [{ limit: 0 }, { limit: 201 }, { limit: 1.5 }, { limit: '5' }, { order: 'up' }, { cursor: 7 }],
  },
  trajectoryListQuery: {
    schema: trajectoryListQuery,
    good: [{ eval_run_id: 'e', limit: 5 }, { training_run_id: 't' }, { dataset_name: 'd' }],
    bad: [{ limit: 201 }, { eval_run_id: 1 }],
  },
  deploymentListQuery: {
    schema: deploymentListQuery,
    good: [{ status: 'DEPLOYED' }],
    bad: [{ status: 1 }, { limit: 0 }],
  },
  trajectoryQuery: { schema: trajectoryQuery, good: [{}, { include_steps: false }], bad: [{ include_steps: 'no' }] },
  createUploadBody: {
    schema: createUploadBody,
    good: [{ files: [file] }, { files: [file, file], bench_id: 'b' }],
    bad: [
      {},
      { files: [] },
      { files: [{ ...file, size_bytes: -1 }] },
      { files: [{ ...file, path: '' }] },
      { files: [{ ...file, mode: 1 }] },
    ],
  },
  startEvalBody: {
    schema: startEvalBody,
    good: [{ display_name: 'x' }, { display_name: 'x'.repeat(256), model_slug: 'a/b', checkpoint_id: 'c' }],
    bad: [{}, { display_name: '' }, { display_name: 'x'.repeat(257) }, { display_name: 7 }],
  },
  startTrainingBody: {
    schema: startTrainingBody,
    good: [
      { bench_id: 'b' },
      { bench_id: 'b', base_model_slug: 'm', options: { num_steps: 4 }, parent_checkpoint_id: 'c', display_name: 'd' },
    ],
    bad: [{}, { bench_id: '' }, { bench_id: 'b', display_name: '' }, { bench_id: 'b', display_name: 'x'.repeat(257) }],
  },
  uploadTrajectoriesBody: {
    schema: uploadTrajectoriesBody,
    good: [{ dataset: 'd', trajectories: [{ anything: 1 }] }],
    bad: [{ trajectories: [] }, { dataset: '', trajectories: [] }, { dataset: 'd', trajectories: ['x'] }],
  },
  logRewardBody: {
    schema: logRewardBody,
    good: [
      { reward_id: 'r', name: 'n', value: 0 },
      { reward_id: 'r', name: 'n', value: -1.5, explanation: '', weight: 0 },
    ],
    bad: [
      { name: 'n', value: 0 },
      { reward_id: 'r', name: 'n' },
      { reward_id: 'r', name: 'n', value: Number.NaN },
      { reward_id: 'r', name: 'n', value: null },
    ],
  },
  completeTrajectoryBody: {
    schema: completeTrajectoryBody,
    good: [{}, { termination_reason: 'ENV_DONE' }, { termination_reason: 'MISSING_SUBMIT' }],
    bad: [{ termination_reason: 'BORED' }],
  },
  startDeploymentBody: {
    schema: startDeploymentBody,
    good: [
      { ...slug, model_slug: 'Words_1-a' },
      { ...slug, model_slug: 'x'.repeat(32), role: 'production' },
    ],
    bad: [
      { ...slug, model_slug: '' },
      { ...slug, model_slug: 'a b' },
      { ...slug, model_slug: 'a/b' },
      { ...slug, model_slug: 'x'.repeat(33) },
      { ...slug, model_slug: 'a', role: 'live' },
    ],
  },
  createSecretBody: {
    schema: createSecretBody,
    good: [
      { name: 'TOKEN', value: 'x' },
      { name: 'TOKEN', value: ' \n', description: '' },
    ],
    bad: [{ name: 'TOKEN' }, { name: '', value: 'x' }, { name: 'TOKEN', value: '' }],
  },
  chatCompletionBody: {
    schema: chatCompletionBody,
    // The document gives no bounds, so the service judges.
    good: [question, { ...question, stream: true, temperature: -1, max_tokens: 1, top_p: 0 }],
    bad: [
      { model: 'm' },
      { ...question, model: '' },
      { ...question, messages: [] },
      { ...question, messages: [{ role: '', content: 'x' }] },
      { ...question, messages: [{ role: 'user' }] },
      { ...question, max_tokens: 0 },
      { ...question, max_tokens: 1.5 },
    ],
  },
};

describe.each(Object.entries(bodies))('%s', (_, { schema, good, bad }) => {
  it.each(good)('accepts %j', body => {
    expect(schema.parse(body)).toEqual(body);
  });

  it.each(bad)('refuses %j', body => {
    expect(schema.safeParse(body).success).toBe(false);
  });

  it('refuses an unknown field', () => {
    expect(schema.safeParse({ ...good[0], lable: 'x' }).success).toBe(false);
  });
});
