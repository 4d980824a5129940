/** The record of an evaluation counts its rewards the same way, however the run ended. */
import { expect, it } from 'vitest';
import type { Call, ServiceContext } from '../../../src/local/server/handlers.ts';
import { evaluationArea } from '../../../src/local/server/routes/evaluations.ts';
import { newEvaluation, storesInMemory } from '../store/memory.ts';

function world() {
  const { stores, organizationId } = storesInMemory();
  const { benchmarks, evaluations } = stores;
  const tasks = ['a', 'b', 'c', 'd'].map(name => ({ name, input_messages: [{ role: 'user', content: name }] }));
  const bench_id = benchmarks.ingest(organizationId, { name: 'b', tasks });
  const { eval_run_id } = evaluations.create(organizationId, { ...newEvaluation, bench_id, total_rollouts: 4 });
  const service = { ...stores, engine: { wake: () => {}, problemOf: () => null } } as unknown as ServiceContext;
  const call = { organizationId, params: { bench_id, eval_run_id } } as unknown as Call;
  const answer = (name: 'listEvalRuns' | 'getEvalRun' | 'getEvalProgress') =>
    evaluationArea.routes[name]?.(service, call as never);
  const record = (task_id: string, reward: number | null) =>
    evaluations.record(eval_run_id, [
      {
        task_id,
        sample: 0,
        reward,
        error: reward === null ? 'it failed' : null,
        steps: [],
        latency_ms: 1,
        completion_tokens: 1,
      },
    ]);
  evaluations.setStatus(eval_run_id, 'running');
  return { evaluations, eval_run_id, record, answer };
}

it('has the mean and number of its rewards once it is cancelled, and no more rollouts', () => {
  const { evaluations, eval_run_id, record, answer } = world();
  record('a', 1);
  record('b', 0.5);
  record('c', null);
  expect(answer('getEvalRun')).toMatchObject({ reward_mean: null, reward_count: null, total_rollouts: 4 });
  evaluations.setStatus(eval_run_id, 'cancelled');
  const said = { status: 'cancelled', reward_mean: 0.75, reward_count: 2, total_rollouts: 4 };
  expect(answer('getEvalRun')).toMatchObject(said);
  expect(answer('listEvalRuns')).toMatchObject([said]);
  expect(answer('getEvalProgress')).toMatchObject({
    terminal_rollouts: 3,
    total_rollouts: 4,
    live: { scored_rollouts: 2, failed_rollouts: 1, cancelled_rollouts: 1, final_reward_mean: 0.75 },
  });
});

it('has no mean without a reward', () => {
  const { evaluations, eval_run_id, answer } = world();
  evaluations.setStatus(eval_run_id, 'cancelled');
  expect(answer('listEvalRuns')).toMatchObject([{ reward_mean: null, reward_count: 0, total_rollouts: 4 }]);
});
