/** Queries about runs: their keys are touched by the actions, and they are polled until the runs have ended. */
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { endpoints } from '../../src/contract/endpoints.ts';
import { notePage } from '../../src/contract/lists.ts';
import { emptyCurve } from '../../src/contract/trainer-curve.ts';
import { checkpointList, checkpointQuery, lastCheckpoint, lastDeployable } from '../../src/queries/checkpoints.ts';
import {
  deploymentList,
  deploymentQuery,
  deploymentSummaryQuery,
  promote,
  startDeployment,
  undeploy,
  unpromote,
} from '../../src/queries/deployments.ts';
import {
  cancelRun,
  deleteRun,
  evalProgressQuery,
  evalRunQuery,
  partOfRun,
  runWithSentOptions,
  startEvaluation,
} from '../../src/queries/evaluations.ts';
import { shareWhole } from '../../src/queries/live-query.ts';
import { everyRun, runsOfBenchmark } from '../../src/queries/run-lists.ts';
import { runResultsQuery } from '../../src/queries/run-results.ts';
import {
  cancelTraining,
  deleteTraining,
  everyTrainingRun,
  observeTraining,
  startTraining,
  stepRewardList,
  trainingProgressQuery,
  trainingRunQuery,
  trainingRunsOf,
} from '../../src/queries/training.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../src/queries/training-curves.ts';
import { trajectoriesOfRun } from '../../src/queries/trajectories.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { rememberedAt } from '../../src/store/seen.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';
import { trainerCurveOf } from '../trainer-curve.ts';

it.each([
  [
    'training',
    [startTraining, cancelTraining, deleteTraining],
    [
      everyTrainingRun,
      trainingRunsOf('r1'),
      trainingRunQuery('r1'),
      trainingProgressQuery('r1'),
      checkpointList('r1', false),
      checkpointQuery('r1', 1),
      trainerRewardsQuery('r1', false),
      heldOutRewardsQuery('r1', false),
      stepRewardList('r1', 1),
    ],
  ],
  [
    'evaluations',
    [startEvaluation, cancelRun, deleteRun],
    [everyRun, runsOfBenchmark('r1'), evalRunQuery('r1'), evalProgressQuery('r1'), runResultsQuery('r1', false)],
  ],
  [
    'deployments',
    [startDeployment, promote, unpromote, undeploy],
    [deploymentList, deploymentQuery('r1'), deploymentSummaryQuery],
  ],
])('reads everything known about %s again after any action on it', (name, actions, queries) => {
  for (const { touches } of actions) expect(touches).toContainEqual([name]);
  const keys = queries.map(({ key }) => JSON.stringify(key));
  expect(keys.filter(key => key.startsWith(`["${name}",`))).toEqual(keys);
  expect(new Set(keys).size).toBe(keys.length);
});

it('keeps lists under keys that the next version finds', () => {
  const lists = [everyTrainingRun, trainingRunsOf('b1'), everyRun, runsOfBenchmark('b1')];
  expect(lists.map(({ key }) => key)).toEqual([
    ['training', 'runs'],
    ['training', 'runs', 'b1'],
    ['evaluations', 'runs'],
    ['evaluations', 'runs', 'b1'],
  ]);
  const activities = (...rows: { readonly status: string }[]) =>
    lists.map(({ activity }) => (activity as ((data: typeof rows) => unknown) | undefined)?.(rows));
  expect(activities({ status: 'completed' }, { status: 'running' })).toEqual(Array(4).fill('running'));
  expect([activities({ status: 'completed' }), activities()]).toEqual(Array(2).fill(Array(4).fill('open')));
});

it.each([
  ['checkpoints', 'running', (ended: boolean) => checkpointList('r1', ended).activity?.([])],
  ['rewards of the trainer', 'running', (ended: boolean) => trainerRewardsQuery('r1', ended, 0).activity(undefined)],
  ['rewards on held-out tasks', 'building', (ended: boolean) => heldOutRewardsQuery('r1', ended).activity(undefined)],
  ['results', 'running', (ended: boolean) => runResultsQuery('r1', ended, { scored: 0 }).activity(undefined)],
  ['trajectories', 'running', (ended: boolean) => trajectoriesOfRun('r1', ended).activity?.([])],
])('polls the %s of a run as %s until it has ended', (_, before, activity) => {
  expect([activity(false), activity(true)]).toEqual([before, 'settled']);
});

it('reads the held-out rewards of a completed run again, rarely, while a round is incomplete', () => {
  const round = { step: 1, held_out_reward: 0.5, expected_samples: 4 };
  const { activity } = heldOutRewardsQuery('r1', true);
  expect(activity([round, { ...round, round_completed: false }])).toBe('open');
  expect(activity([round, { ...round, completed_samples: 3 }])).toBe('open');
  expect(activity([round, { ...round, completed_samples: 3, failed_samples: 1 }])).toBe('settled');
  // The last round may be late: the waits grow.
  expect(heldOutRewardsQuery('r1', true, () => false).activity([round])).toBe('settling');
});

it('polls the curve and the results of a run less often while they are complete', () => {
  const curve = trainerCurveOf([1, 2].map(step => ({ step, trainer_reward: 0.5 })));
  const rewards = [0.5, null, 0.25].map((reward, index) => ({ trajectory_id: `t${index}`, reward }));
  const of = { status: 'running', total: undefined, certainty: undefined };
  const results = { ...of, rewards, unreadable: 0, snapshots: [], unreadSnapshots: 0, statisticsError: undefined };
  const known = [undefined, null, 1, 2, 3];
  expect(known.map(done => runResultsQuery('r1', false, { scored: done }).activity(results))).toEqual([
    ...['running', 'running', 'open', 'open', 'running'],
  ]);
  // Progress counts the steps of the curve: with as many of them, it has nothing new.
  expect(known.map(done => trainerRewardsQuery('r1', false, done).activity(curve))).toEqual([
    ...['running', 'running', 'open', 'settled', 'running'],
  ]);
});

it('allows for missing last rewards in the curve of a completed run', () => {
  const curve = trainerCurveOf([1, 2].map(step => ({ step, trainer_reward: 0.5 })));
  const activities = [1, 2, 3].map(done => trainerRewardsQuery('r1', true, done).activity(curve));
  expect(activities).toEqual(['settled', 'settled', 'settling']);
});

it('reads a long curve less often: usually 20,000 points per second', () => {
  const { leastMs } = trainerRewardsQuery('r1', false);
  const lengths = [undefined, 0, 20_000, 1_000_000];
  const curves = lengths.map(length => length && { ...emptyCurve, steps: new Float64Array(length) });
  expect(curves.map(curve => leastMs?.(curve || undefined))).toEqual([0, 0, 1_000, 50_000]);
});

it.each([
  ['a run', evalRunQuery('r1').activity],
  ['its progress', evalProgressQuery('r1').activity],
  ['a training run', trainingRunQuery('r1').activity],
  ['its progress', trainingProgressQuery('r1').activity],
] as readonly (readonly [string, (data: { status: string }) => unknown])[])(
  'polls %s until it has ended',
  (_, activity) => {
    expect([activity({ status: 'running' }), activity({ status: 'completed' })]).toEqual(['running', 'settled']);
  },
);

it.each([
  ['running', null, undefined],
  ['succeeded', 'succeeded', expect.any(Number)],
])('keeps only an end from an earlier status if an answer has none: %s', async (before, status, remembered_at) => {
  const memory = RememberedStore.inMemory('test');
  memory.see([observeTraining({ training_run_id: 'r1', bench_id: 'b1', status: before })], Date.now());
  const refuse = () => {
    throw new CapabilityMissingError('No such path.', {});
  };
  const answers = {
    getTrainingRun: refuse,
    listTrainingRuns: refuse,
    listBenchmarks: () => ({ items: [], has_more: false, next_cursor: null }),
    getTrainingProgress: () => ({ completed_steps: 2 }),
  };
  const service = fakeService(answers, { capabilities: new Capabilities() });
  const run = await trainingRunQuery('r1').read({ service, memory, signal: new AbortController().signal });
  expect(run).toMatchObject({ training_run_id: 'r1', status, completed_steps: 2 });
  expect(rememberedAt(run)).toEqual(remembered_at);
});

it('names the run in each of its parts', () => {
  expect(partOfRun('r1')).toMatchObject({ kind: 'run', id: 'r1' });
});

it('uses the name that the service gave to a run, or the requested one', () => {
  const started = (display_name?: string) =>
    startEvaluation.starts?.({ eval_run_id: 'r1', display_name }, { bench_id: 'b1', display_name: 'asked' }).label;
  expect([started('given'), started()]).toEqual(['given', 'asked']);
});

it('uses the benchmark that the service names for a run, or the requested one', () => {
  const answer = { eval_run_id: 'r1', bench_id: 'b2' };
  const asked = { bench_id: 'b1', display_name: 'asked' };
  expect(startEvaluation.starts?.(answer, asked)).toMatchObject({ parent: 'b2', record: { bench_id: 'b2' } });
  expect(startEvaluation.starts?.({ eval_run_id: 'r1' }, asked)).toMatchObject({ parent: 'b1' });
  const request = { params: { bench_id: 'b1' }, body: { display_name: 'asked', options: {} } };
  expect(runWithSentOptions('startEval', request, answer)).toMatchObject({ parent: 'b2', record: { bench_id: 'b2' } });
  expect(runWithSentOptions('startEval', request, { eval_run_id: 'r1' })).toMatchObject({ parent: 'b1' });
});

it('deletes a training run by id', async () => {
  const deleted: unknown[] = [];
  const service = fakeService({ deleteTrainingRun: ({ params }) => deleted.push(params) });
  await deleteTraining(service, { training_run_id: 'r1' });
  expect(deleted).toEqual([{ training_run_id: 'r1' }]);
});

it('picks the newest deployable checkpoint as the last one', async () => {
  const notes: string[] = [];
  const of = (...checkpoints: (boolean | undefined)[]) => {
    const listed = checkpoints.map((is_deployable, index) => ({
      checkpoint_id: `c${index}`,
      step_index: index,
      is_deployable,
    }));
    return lastDeployable(fakeService({ listCheckpoints: () => listed }), 'r1', note => notes.push(note));
  };
  expect(await of(true, undefined, false)).toMatchObject({ checkpoint_id: 'c1' });
  expect(await of(false, true)).toMatchObject({ checkpoint_id: 'c1' });
  expect(notes).toEqual(['The newest checkpoint, step 2, cannot be deployed: using step 1 instead.']);
  await expect(of(false)).rejects.toThrow('none of its checkpoints');
  await expect(of()).rejects.toThrow('no committed checkpoint yet');
});

it.each([
  ['not be read', { items: [{ checkpoint_id: 'c0' }, { step_index: 1 }] }, '1 checkpoint could not be read'],
  ['not be asked for', { items: [{ checkpoint_id: 'c0' }], has_more: true }, 'gives no way to read them'],
])('does not know the newest checkpoint if others could %s', async (_, answer, why) => {
  const listed = z.parse(endpoints.listCheckpoints.response, answer);
  const service = fakeService({ listCheckpoints: () => listed });
  await expect(lastDeployable(service, 'r1', () => {})).rejects.toThrow(why);
  await expect(lastCheckpoint(service, 'r1')).rejects.toThrow(why);
});

it('replaces an equal list with more unreadable rows', () => {
  const [whole, cut] = [[{ checkpoint_id: 'c0' }], [{ checkpoint_id: 'c0' }]];
  expect(shareWhole(whole, cut)).toBe(whole);
  notePage(cut, { dropped: 0, cursor: null, hasMore: true });
  expect(shareWhole(whole, cut)).toBe(cut);
});
