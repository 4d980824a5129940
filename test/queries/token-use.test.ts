/** Token counts of earlier rollouts: from the newest run on the same benchmark and model that reports them. */
import { expect, it } from 'vitest';
import { evaluationUseQuery, readTokenUse } from '../../src/queries/token-use.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, notFound, scriptedService } from './scripted-service.ts';

const run = (id: string, base_model_slug: string) => ({
  ...{ training_run_id: id, display_name: `named ${id}`, bench_id: 'b', base_model_slug, status: 'completed' },
  options: { num_steps: 4 },
});
const rollout = (reward: number, completion_tokens?: number, prompt_tokens?: number) => ({
  ...{ reward, completion_tokens, prompt_tokens },
});

async function used(more: Answers = {}) {
  const scripted = scriptedService({
    listTrainingRuns: () => [run('large', 'l'), run('silent', 'm'), run('told', 'm'), run('older', 'm')],
    getTrainerRewards: () => ({ trainer_rewards: [{ step: 3 }, { step: 4 }] }),
    getStepTrajectoryRewards: ({ training_run_id, step }) => ({
      trajectory_rewards:
        training_run_id === 'silent' ? [rollout(1)] : [rollout(1, 100, 30), rollout(0, 300, 50), rollout(Number(step))],
    }),
    ...more,
  });
  const { signal } = new AbortController();
  const use = await readTokenUse('b', 'm', {
    service: scripted.service,
    signal,
    memory: RememberedStore.inMemory('test'),
  });
  return { use, ...scripted };
}

it('is the mean of the last step, over the rollouts that report it', async () => {
  const { use, asked } = await used();
  expect(use).toEqual({ tokens: { input: 40, output: 200 }, step: 4, name: 'named told' });
  expect([asked('getStepTrajectoryRewards', 'large'), asked('getStepTrajectoryRewards', 'older')]).toEqual([0, 0]);
});

it('is unknown without a step, or if the service offers none', async () => {
  expect((await used({ getTrainerRewards: () => ({ trainer_rewards: [] }) })).use).toEqual({});
  expect((await used({ listTrainingRuns: () => [run('large', 'l')] })).use).toEqual({});
  const gone = await used({ getStepTrajectoryRewards: ({ training_run_id = '' }) => notFound(training_run_id) });
  expect(gone.use).toEqual({});
});

it('comes for evaluations from the newest one that reports it, or from a training run, beside the tasks', async () => {
  const evaluation = (id: string, base_model_slug = 'm') => ({
    ...{ eval_run_id: id, display_name: `named ${id}`, bench_id: 'b', base_model_slug, status: 'completed' },
  });
  const snapshot = (knob_name: string, samples: readonly number[], stage = 'rollout') => ({
    stage,
    knob_name,
    samples,
  });
  const read = async (more: Answers = {}) => {
    const { service, asked } = scriptedService({
      countTasks: () => ({ task_count: 12 }),
      listEvalRuns: () => [evaluation('large', 'l'), evaluation('silent'), evaluation('told'), evaluation('older')],
      getRolloutStatistics: ({ eval_run_id }) => ({
        snapshots:
          eval_run_id === 'silent'
            ? [snapshot('reward', [1])]
            : [
                snapshot('completion_tokens', [100, 300]),
                snapshot('completion_tokens', [200]),
                snapshot('completion_tokens', [9_000], 'message'),
                snapshot('prompt_tokens', [40]),
              ],
      }),
      ...more,
    });
    const { signal } = new AbortController();
    const context = { service, signal, memory: RememberedStore.inMemory('test') };
    return { use: await evaluationUseQuery('b', 'm').read(context), asked };
  };
  const { use, asked } = await read();
  expect(use).toEqual({ task_count: 12, tokens: { input: 40, output: 200 }, name: 'named told' });
  expect([asked('getRolloutStatistics', 'large'), asked('getRolloutStatistics', 'older')]).toEqual([0, 0]);
  const trained = await read({
    getRolloutStatistics: ({ eval_run_id = '' }) => notFound(eval_run_id),
    listTrainingRuns: () => [run('told', 'm')],
    getTrainerRewards: () => ({ trainer_rewards: [{ step: 4 }] }),
    getStepTrajectoryRewards: () => ({ trajectory_rewards: [rollout(1, 100, 30)] }),
  });
  expect(trained.use).toMatchObject({ task_count: 12, tokens: { input: 30, output: 100 }, step: 4 });
  const unread = await read({ listEvalRuns: () => notFound('b') });
  expect(unread.use).toEqual({ task_count: 12 });
});
