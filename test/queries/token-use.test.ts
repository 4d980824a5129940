/** The tokens of earlier rollouts: of the newest run on the same benchmark and model that reports them. */
import { expect, it } from 'vitest';
import { readTokenUse } from '../../src/queries/token-use.ts';
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

it('is unknown without a step, or if the service does not offer them', async () => {
  expect((await used({ getTrainerRewards: () => ({ trainer_rewards: [] }) })).use).toEqual({});
  expect((await used({ listTrainingRuns: () => [run('large', 'l')] })).use).toEqual({});
  const gone = await used({ getStepTrajectoryRewards: ({ training_run_id = '' }) => notFound(training_run_id) });
  expect(gone.use).toEqual({});
});
