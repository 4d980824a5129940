/** Watch shows the mean so far of an evaluation even if no status answer of the service has it. */
import { QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { fetchOnce } from '../../src/queries/live-query.ts';
import { roundsQuery } from '../../src/resources/rotation.ts';
import { watchedOf } from '../../src/resources/watch.ts';
import { pageOf, scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

/** A run of ten rollouts in Watch. @param live other fields of its progress */
function watching(live?: object) {
  const run = { done: 0, status: 'running', graded: 0 };
  const record = () => ({ eval_run_id: 'evr_1', bench_id: 'b', status: run.status, reward_mean: null });
  const { service, asked } = scriptedService({
    listBenchmarks: () => pageOf([]),
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    getEvalRun: record,
    getEvalProgress: () => ({ ...record(), terminal_rollouts: run.done, total_rollouts: 10, ...(live && { live }) }),
    getTrajectoryRewards: () => ({
      trajectory_rewards: Array.from({ length: run.graded }, (_, index) => {
        return { trajectory_id: `r${index}`, task_id: `t${index}`, reward: index % 2 };
      }),
    }),
    listTrajectories: () => pageOf([]),
  });
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const observer = new QueryObserver(workbench.cache, { queryKey: ['watch'], queryFn: () => 0 });
  onTestFinished(observer.subscribe(() => {}));
  workbench.statuses.report([{ kind: 'run', id: 'evr_1', label: 'one', status: 'running' }], {
    askedAt: Date.now(),
    at: Date.now(),
  });
  const round = roundsQuery(workbench, { counted: false, atHome: false });
  /** Two rounds: the second one makes the reads that the first one finds necessary. */
  const pass = async (): Promise<unknown[]> => {
    for (const _ of [1, 2]) {
      vi.setSystemTime(Date.now() + 60_000);
      await fetchOnce(workbench, round);
    }
    const [{ mean, graded, status } = {}] = watchedOf(workbench);
    return [status, mean, graded, asked('getTrajectoryRewards')];
  };
  return { run, pass };
}

it('reads rewards as rollouts end, once per progress, and all of them after the end', async () => {
  const { run, pass } = watching();
  expect(await pass()).toEqual(['running', undefined, undefined, 0]);
  [run.done, run.graded] = [4, 3];
  expect(await pass()).toEqual(['running', 1 / 3, 3, 1]);
  expect(await pass()).toEqual(['running', 1 / 3, 3, 1]);
  [run.done, run.graded] = [8, 6];
  expect(await pass()).toEqual(['running', 0.5, 6, 2]);
  [run.done, run.graded, run.status] = [10, 9, 'completed'];
  await pass();
  expect((await pass()).slice(0, 3)).toEqual(['completed', 4 / 9, 9]);
});

it('reads none if the progress has the mean', async () => {
  const { run, pass } = watching({ provisional_reward_mean: 0.7, scored_rollouts: 4 });
  [run.done, run.graded] = [4, 4];
  expect(await pass()).toEqual(['running', 0.7, 4, 0]);
});
