/** Completed resources are read at most once more, even after the cache has dropped the answer. */
import { QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { HeldOutReward } from '../../src/contract/training.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { fetchOnce } from '../../src/queries/live-query.ts';
import { readRunRewards } from '../../src/queries/run-extent.ts';
import { countsBeside, intervalBeside } from '../../src/queries/run-mean.ts';
import { observationOf } from '../../src/queries/run-results.ts';
import type { Observation } from '../../src/queries/statuses/known-resource.ts';
import { heldOutRewardsQuery } from '../../src/queries/training-curves.ts';
import { stateOf } from '../../src/resources/line-state.ts';
import { roundsQuery } from '../../src/resources/rotation.ts';
import { watchedOf } from '../../src/resources/watch.ts';
import type { Workbench } from '../../src/workbench/workbench.ts';
import { type Answers, pageOf, scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const ended = '2026-03-04T05:06:07Z';

/** An end that an earlier session saw at this time. */
const endedAt = (at: number) => ({ seenAt: at, endedAt: at });

/** A workbench, with a list with curves on screen, on a service whose lists are empty. */
function atList(answers: Answers) {
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([]),
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    ...answers,
  });
  const workbench = newWorkbench({ service: async () => scripted.service });
  const show = (name: string): void => {
    const observer = new QueryObserver(workbench.cache, { queryKey: [name], queryFn: () => 0 });
    onTestFinished(observer.subscribe(() => {}));
  };
  onTestFinished(() => workbench.close());
  show('progress');
  return { scripted, workbench, show };
}

/** Stops the clock, and returns a function that does the reads due a minute later. */
function reading(workbench: Workbench): () => Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const round = roundsQuery(workbench, { counted: false, atHome: false });
  return async () => {
    vi.setSystemTime(Date.now() + 60_000);
    await fetchOnce(workbench, round);
  };
}

it('reads the curve of a completed run once, its missing progress in Watch, and nothing else seen before', async () => {
  const record = { display_name: 'old', status: 'succeeded', completed_at: ended };
  const { scripted, workbench, show } = atList({
    getTrainingRun: ({ training_run_id }) => ({ ...record, training_run_id }),
    getTrainingProgress: ({ training_run_id }) => ({ ...record, training_run_id, completed_steps: 40 }),
    getHeldOutRewards: () => ({ held_out_rewards: [] }),
  });
  const { cache, statuses } = workbench;
  const known = { status: 'succeeded', startedAt: ended, endTime: ended };
  const event = { kind: 'training', label: 'old', ...endedAt(Date.parse(ended)) };
  statuses.recall([
    { ...event, id: 'trn_1', ...known, done: 39 },
    // A list has shown its end.
    { ...event, id: 'trn_3', ...known },
  ]);
  statuses.report([{ kind: 'training', id: 'trn_2', label: 'older', ...known }], { askedAt: 1, at: 1 });
  const round = roundsQuery(workbench, { counted: false, atHome: false });
  const readRounds = async () => {
    for (const _ of [1, 2, 3]) {
      await fetchOnce(workbench, round);
      cache.removeQueries({ type: 'inactive' });
    }
  };
  await readRounds();
  expect(scripted.asked('getTrainingProgress')).toBe(0);
  show('watch');
  await readRounds();
  expect(statuses.get({ kind: 'training', id: 'trn_3' })?.done).toBe(40);
  expect([scripted.asked('getTrainingProgress', 'trn_3'), scripted.asked('getTrainingProgress')]).toEqual([1, 1]);
  for (const id of ['trn_1', 'trn_2', 'trn_3']) expect(scripted.asked('getHeldOutRewards', id)).toBe(1);
  expect(scripted.asked('getTrainingRun')).toBe(0);
});

it.each(['succeeded', 'running'])(
  'reads the curve of a run with the status %s again until each round is complete',
  async status => {
    const part = {
      step: 40,
      held_out_reward: 0.95,
      expected_samples: 112,
      completed_samples: 5,
      round_completed: false,
    };
    const whole = { ...part, held_out_reward: 0.671, completed_samples: 112, round_completed: true };
    const record = { training_run_id: 'trn_1', status, created_at: ended, completed_steps: 40, total_steps: 50 };
    let held_out_rewards = [part];
    const { scripted, workbench } = atList({
      getTrainingRun: () => record,
      getTrainingProgress: () => record,
      getHeldOutRewards: () => ({ held_out_rewards }),
    });
    const { statuses } = workbench;
    // An earlier start has seen a part of the round.
    const known = { status, startedAt: ended, done: 40, measured: heldOutMeans([part]) };
    const run = { kind: 'training', id: 'trn_1', label: 'old' };
    if (status === 'running') workbench.pins.toggle(run);
    if (status === 'running') statuses.report([{ ...run, ...known }], { askedAt: 1, at: 1 });
    else statuses.recall([{ ...run, ...endedAt(Date.parse(ended)), ...known, endTime: ended }]);
    const read = reading(workbench);
    const readLater = async () => {
      await read();
      return [scripted.asked('getHeldOutRewards', 'trn_1'), statuses.get(run)?.measured?.last.reward];
    };
    expect(await readLater()).toEqual([1, 0.95]);
    expect(await readLater()).toEqual([2, 0.95]);
    held_out_rewards = [whole];
    expect(await readLater()).toEqual([3, 0.671]);
    expect(await readLater()).toEqual([3, 0.671]);
  },
);

it.each([
  { name: 'has the round of the last step', early: [], late: { held_out_reward: 0.7 } },
  {
    name: 'has the mean of a round whose samples are complete',
    early: [{ step: 40, held_out_reward: null, expected_samples: 112, completed_samples: 112, failed_samples: 0 }],
    late: { held_out_reward: 0.7 },
  },
  {
    name: 'has the last round, which failed',
    early: [],
    late: { held_out_reward: null, expected_samples: 112, completed_samples: 0, failed_samples: 112 },
  },
])('reads the curve of a run that just ended again until it $name', async ({ early, late }) => {
  const now = new Date().toISOString();
  const record = { training_run_id: 'trn_1', status: 'succeeded', created_at: ended, completed_at: now };
  const round = { held_out_reward: 0.7, completed_samples: 112 };
  const before = [
    { ...round, step: 30 },
    { ...round, step: 35 },
  ];
  let held_out_rewards: HeldOutReward[] = [...before, ...early];
  const { scripted, workbench } = atList({
    getTrainingRun: () => record,
    getTrainingProgress: () => ({ ...record, completed_steps: 40 }),
    getHeldOutRewards: () => ({ held_out_rewards }),
  });
  const run = { kind: 'training', id: 'trn_1', label: 'new' };
  const known = { status: 'succeeded', startedAt: ended, endTime: now, done: 40 };
  workbench.statuses.recall([{ ...run, ...endedAt(Date.parse(now)), ...known }]);
  const read = reading(workbench);
  const readLater = async () => {
    await read();
    const last = workbench.statuses.get(run)?.measured?.last;
    return [scripted.asked('getHeldOutRewards', 'trn_1'), (last?.failedSince ?? last)?.step];
  };
  expect(await readLater()).toEqual([1, 35]);
  held_out_rewards = [...before, { ...round, ...late, step: 40 }];
  expect(await readLater()).toEqual([2, 40]);
  expect(await readLater()).toEqual([2, 40]);
});

it('reads the failed rollouts of a completed evaluation once for its line in Watch, marked by an alarm of the inbox until then', async () => {
  const run = { kind: 'run', id: 'evr_1', label: 'tutor' };
  const live = { scored_rollouts: 14, failed_rollouts: 26, final_reward_mean: 0.9 };
  const progress = { status: 'completed', total_rollouts: 40, terminal_rollouts: 40, live };
  const { scripted, workbench, show } = atList({ getEvalProgress: () => progress });
  const { cache, statuses, inbox } = workbench;
  const words = '26 of 40 rollouts failed (65%), more than 20%';
  // An earlier start has seen it end in a list, which has no number of failed rollouts.
  const known = { status: 'completed', startedAt: ended, endTime: ended, done: 40, total: 40, mean: 0.9, graded: 14 };
  statuses.recall([{ ...run, ...endedAt(Date.parse(ended)), ...known }]);
  const line = () =>
    watchedOf(workbench).map(row => [stateOf(row, Date.now()).word, ...row.alarms.map(each => each.words)]);
  expect(line()).toEqual([['completed']]);
  inbox.raise('failed rollouts', statuses.get(run) as never, Date.parse(ended), { alarm: words });
  expect(line()).toEqual([['ALARM', words]]);
  inbox.dismissAll(run);
  const round = roundsQuery(workbench, { counted: false, atHome: false });
  await fetchOnce(workbench, round);
  expect([scripted.asked('getEvalProgress'), line()]).toEqual([0, [['completed']]]);
  show('watch');
  for (const _ of [1, 2]) {
    await fetchOnce(workbench, round);
    cache.removeQueries({ type: 'inactive' });
  }
  expect([scripted.asked('getEvalProgress'), line()]).toEqual([1, [['ALARM', words]]]);
});

/** An ended run in Watch, with the rewards that some command has read of it. */
async function withRewards(...first: readonly number[]) {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let rewards = first;
  const { scripted, workbench, show } = atList({
    getEvalRun: () => ({ eval_run_id: 'evr_1', status: 'completed', options: { evaluation_samples_per_task: 1 } }),
    getEvalProgress: () => ({ status: 'completed', total_rollouts: 8, terminal_rollouts: 8 }),
    getTrajectoryRewards: () => ({
      trajectory_rewards: rewards.map((reward, index) => ({
        reward,
        trajectory_id: `t${index}`,
        task_id: `task ${index}`,
      })),
    }),
  });
  const { statuses, remembered: memory } = workbench;
  const run = { kind: 'run', id: 'evr_1', label: 'tutor' };
  const extent = { status: 'completed', total: 8, recorded: { mean: undefined, graded: undefined } };
  const context = { service: scripted.service, signal: new AbortController().signal, memory };
  const { certainty } = await readRunRewards(run.id, context, extent);
  const at = Date.now();
  statuses.recall([{ ...run, ...endedAt(at), status: 'completed', total: 8, done: 8, endTime: ended }]);
  const report = (observation: Observation): void => void statuses.report([observation], { askedAt: at, at });
  report(observationOf(run.id, certainty));
  show('watch');
  const round = roundsQuery(workbench, { counted: false, atHome: false });
  const shown = () => ({ mean: undefined, graded: undefined, total: undefined, ...statuses.get(run) });
  const intervalOf = () => intervalBeside(shown(), [0, 1]);
  const readLater = async () => {
    vi.setSystemTime(Date.now() + 60_000);
    await fetchOnce(workbench, round);
    const { graded } = countsBeside(shown());
    return [scripted.asked('getTrajectoryRewards'), shown().mean, graded, intervalOf() !== undefined];
  };
  const grade = (...next: readonly number[]): void => {
    rewards = next;
  };
  return { readLater, intervalOf, report, run, grade };
}

it('reads the rewards of a completed run again at growing intervals, for some minutes, if some may be late', async () => {
  const { readLater, grade } = await withRewards(0, 0.25, 0.5);
  expect(await readLater()).toEqual([2, 0.25, 3, true]);
  expect(await readLater()).toEqual([3, 0.25, 3, true]);
  grade(0, 0.25, 0.5, 0.75);
  expect(await readLater()).toEqual([3, 0.25, 3, true]);
  expect(await readLater()).toEqual([4, 0.375, 4, true]);
  for (let minute = 0; minute < 20; minute++) await readLater();
  expect(await readLater()).toEqual([5, 0.375, 4, true]);
});

it('reads the interval again, once, if the mean is newer, and shows none until then', async () => {
  const { readLater, intervalOf, report, run, grade } = await withRewards(
    ...[1, 2, 3, 4, 5, 6, 7, 8].map(each => each / 8),
  );
  expect(await readLater()).toEqual([1, 0.5625, 8, true]);
  for (const [asked, mean] of [
    [2, 0.25],
    [3, 0.75],
  ] as const) {
    grade(...Array<number>(8).fill(mean));
    report({ ...run, mean });
    expect(intervalOf()).toBeUndefined();
    expect(await readLater()).toEqual([asked, mean, 8, true]);
    expect((await readLater())[0]).toBe(asked);
  }
});

it('does not wait for held-out rewards of a service that offers none, and keeps earlier ones', async () => {
  const { workbench } = atList({});
  const { statuses } = workbench;
  const run = { kind: 'training', label: 'new', status: 'running', seenAt: 0 };
  const measured = heldOutMeans([{ held_out_reward: 0.5, completed_samples: 4, step: 5 }]);
  statuses.recall([
    { ...run, id: 'trn_1' },
    { ...run, id: 'trn_2', measured },
  ]);
  for (const id of ['trn_1', 'trn_2', 'trn_3'])
    await expect(fetchOnce(workbench, heldOutRewardsQuery(id, false))).rejects.toThrow('does not report held-out');
  expect(statuses.all().map(known => known.measured)).toEqual([null, measured]);
});
