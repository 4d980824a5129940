/** Which models can answer the prompt of a rollout, on services with more or fewer endpoints. */
import { expect, it } from 'vitest';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { answerersOf } from '../../src/resources/answerers.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, notFound, pageOf, scriptedService } from '../queries/scripted-service.ts';

const base_model_slug = 'acme/small';
const deployment = (checkpoint_id: string, model_slug: string, is_active = true) => ({
  ...{ deployment_id: `dep_${model_slug}`, checkpoint_id, model_slug, is_active },
  ...{ status: 'DEPLOYED', base_model_slug },
});
const checkpoints = [2, 4, 6].map(step_index => ({ checkpoint_id: `ckpt_${step_index}`, step_index }));

async function answerers(trajectory: Partial<Trajectory>, answers: Answers) {
  const { service } = scriptedService(answers);
  const memory = RememberedStore.inMemory('test');
  const context = { service, signal: AbortSignal.timeout(10_000), memory };
  return answerersOf({ trajectory_id: 'trj_1', ...trajectory }, context);
}

const knownAnswers: Answers = {
  getEvalRun: () => ({
    eval_run_id: 'evr_1',
    status: 'completed',
    base_model_slug,
    parent_checkpoint_id: 'ckpt_4',
    training_run_id: 'trn_1',
  }),
  getTrainingRun: () => ({ training_run_id: 'trn_1', status: 'succeeded', base_model_slug }),
  listCheckpoints: () => checkpoints,
  listDeployments: () => pageOf([deployment('ckpt_2', 'early'), deployment('ckpt_4', 'middle', false)]),
};

it('are the base model and the evaluated checkpoint if it is deployed, under a name that answers', async () => {
  expect(await answerers({ eval_run_id: 'evr_1' }, knownAnswers)).toEqual({
    base: base_model_slug,
    checkpoint: 'dep_middle',
    training: 'trn_1',
    words: 'acme/small is its base model. dep_middle is the checkpoint at step 4.',
  });
});

it('are the checkpoint committed at the step of a rollout in training', async () => {
  const of = (policy_step: number) => answerers({ training_run_id: 'trn_1', policy_step }, knownAnswers);
  expect(await of(3)).toMatchObject({ base: base_model_slug, checkpoint: 'early', training: 'trn_1' });
  expect(await of(5)).toMatchObject({ checkpoint: 'dep_middle' });
});

it('say that a checkpoint is not deployed, what to do, and which others of its model are', async () => {
  const { checkpoint, words } = await answerers({ training_run_id: 'trn_1' }, knownAnswers);
  expect(checkpoint).toBe('early');
  expect(words).toBe(
    'acme/small is its base model. The checkpoint at step 6 is not deployed, so it cannot answer: deploy it from its training run first. early is another deployment of the same base model.',
  );
});

it('are only the base model if the service lists neither deployments nor checkpoints', async () => {
  const { getEvalRun = () => notFound('evr_1') } = knownAnswers;
  expect(
    await answerers(
      { eval_run_id: 'evr_1' },
      { getEvalRun, getTrainingProgress: () => notFound('trn_1'), listBenchmarks: () => pageOf([]) },
    ),
  ).toEqual({
    base: base_model_slug,
    checkpoint: undefined,
    training: 'trn_1',
    words:
      'acme/small is its base model. It is not known whether the checkpoint ckpt_4 is deployed: the deployments could not be read: This service does not list deployments.',
  });
});

it('are found on a later page of deployments (attack34 B8)', async () => {
  const others = Array.from({ length: 25 }, (_, at) => deployment('ckpt_other', `other-${at}`));
  const pages = [others, [deployment('ckpt_4', 'middle')]];
  const listDeployments: Answers['listDeployments'] = (_, query) =>
    query?.['cursor'] === 'next'
      ? pageOf(pages[1] ?? [])
      : { ...pageOf(pages[0] ?? []), has_more: true, next_cursor: 'next' };
  expect(await answerers({ eval_run_id: 'evr_1' }, { ...knownAnswers, listDeployments })).toMatchObject({
    checkpoint: 'middle',
    words: 'acme/small is its base model. middle is the checkpoint at step 4.',
  });
});

it('are unknown for an uploaded trajectory', async () => {
  expect(await answerers({}, knownAnswers)).toEqual({
    base: undefined,
    checkpoint: undefined,
    training: undefined,
    words: 'Its base model is unknown.',
  });
});
