/** What has ended is read at most once more, also once the cache has dropped the answer. */
import { QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished } from 'vitest';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { fetchOnce } from '../../src/queries/live-query.ts';
import { kinds } from '../../src/resources/catalogue.ts';
import { following } from '../../src/resources/rotation.ts';
import { Workbench } from '../../src/workbench/workbench.ts';
import { eventually } from '../eventually.ts';
import { pageOf, scriptedService } from '../queries/scripted-service.ts';

const ended = '2026-03-04T05:06:07Z';

it('reads the curve of an ended run once, and nothing else that an earlier start has seen', async () => {
  const record = { training_run_id: 'trn_1', display_name: 'old', status: 'succeeded', completed_at: ended };
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([]),
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    getTrainingRun: () => record,
    getTrainingProgress: () => record,
    getHeldOutRewards: () => ({ held_out_rewards: [] }),
  });
  const workbench = new Workbench({ kinds, service: async () => scripted.service, profile: 'test' });
  const { cache, statuses } = workbench;
  // Watch and a list with curves are on screen.
  const stops = ['watch', 'progress'].map(name =>
    new QueryObserver(cache, { queryKey: [name], queryFn: () => 0 }).subscribe(() => {}),
  );
  onTestFinished(() => {
    for (const stop of stops) stop();
    workbench.close();
  });
  const known = { status: 'succeeded', startedAt: ended, endTime: ended };
  statuses.recallEnded([{ kind: 'training', id: 'trn_1', label: 'old', at: Date.parse(ended), ended: known }]);
  statuses.report([{ kind: 'training', id: 'trn_2', label: 'older', ...known }], { askedAt: 1, at: 1 });
  const round = following(workbench, false);
  for (const _ of [1, 2, 3]) {
    await fetchOnce(workbench, round);
    cache.removeQueries({ type: 'inactive' });
  }
  expect(scripted.asked('getHeldOutRewards', 'trn_1')).toBe(1);
  expect(scripted.asked('getHeldOutRewards', 'trn_2')).toBe(1);
  expect(scripted.asked('getTrainingRun')).toBe(0);
  expect(scripted.asked('getTrainingProgress')).toBe(0);
});

it('reads the curve of an ended run again until its rounds are complete', async () => {
  const part = { step: 40, held_out_reward: 0.95, expected_samples: 112, completed_samples: 5, round_completed: false };
  let held_out_rewards = [part];
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([]),
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    getHeldOutRewards: () => ({ held_out_rewards }),
  });
  const poll = { focusedMs: 1, visibleMs: 0 };
  const workbench = new Workbench({ kinds, service: async () => scripted.service, profile: 'test', poll });
  const { cache, statuses } = workbench;
  // A list with curves is on screen.
  const stop = new QueryObserver(cache, { queryKey: ['progress'], queryFn: () => 0 }).subscribe(() => {});
  onTestFinished(() => {
    stop();
    workbench.close();
  });
  // An earlier start has seen its end, with a part of the round.
  const known = { status: 'succeeded', startedAt: ended, endTime: ended, measured: heldOutMeans([part]) };
  statuses.recallEnded([{ kind: 'training', id: 'trn_1', label: 'old', at: Date.parse(ended), ended: known }]);
  const round = following(workbench, false);
  const lastOf = () => statuses.get({ kind: 'training', id: 'trn_1' })?.measured?.last.reward;
  await fetchOnce(workbench, round);
  expect([scripted.asked('getHeldOutRewards', 'trn_1'), lastOf()]).toEqual([1, 0.95]);
  held_out_rewards = [{ ...part, held_out_reward: 0.671, completed_samples: 112, round_completed: true }];
  await eventually(async () => {
    await fetchOnce(workbench, round);
    expect(lastOf()).toBe(0.671);
  });
  const asked = scripted.asked('getHeldOutRewards', 'trn_1');
  for (const _ of [1, 2, 3]) await fetchOnce(workbench, round);
  expect(scripted.asked('getHeldOutRewards', 'trn_1')).toBe(asked);
});
