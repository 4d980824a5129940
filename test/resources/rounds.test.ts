/** A round reads many queries: whether it makes progress, and when it stops. */
import { QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { everyRun } from '../../src/queries/run-lists.ts';
import { roundsQuery } from '../../src/resources/rotation.ts';
import { NotFoundError, ServerError } from '../../src/service/errors.ts';
import { type Answers, pageOf, scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const ids = Array.from({ length: 10 }, (_, index) => `evr_${index}`);

/** A service with many runs, which are pinned by default. `onProgress` is called with each answer to a round. */
function world(
  onProgress: (stop: AbortController) => void,
  { pinned = ids, more = {} as Answers, focusedMs = 2, visibleMs = 0 } = {},
) {
  const answers: Answers = {
    listBenchmarks: () => pageOf([]),
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    getEvalProgress: ({ evalRunId = '' }) => ({ eval_run_id: evalRunId, status: 'running', total_rollouts: 4 }),
    ...more,
  };
  const { service, asked, requests } = scriptedService(answers);
  const poll = { focusedMs, visibleMs };
  const workbench = newWorkbench({ service: async () => service, poll });
  onTestFinished(() => workbench.close());
  for (const id of pinned) workbench.pins.toggle({ kind: 'run', id, label: id });
  const stop = new AbortController();
  const progressed = vi.fn(() => onProgress(stop));
  const context: QueryContext = { service, signal: stop.signal, memory: workbench.remembered, progressed };
  return { workbench, context, asked, requests, progressed };
}

it('reports each answer, and requests nothing more once it is cancelled', async () => {
  const whole = world(() => {});
  await roundsQuery(whole.workbench, { counted: false, atHome: false }).read(whole.context);
  expect(whole.asked('getEvalProgress')).toBe(ids.length);
  expect(whole.progressed.mock.calls.length).toBeGreaterThanOrEqual(ids.length);
  const stopped = world(stop => stopped.asked('getEvalProgress') > 0 && stop.abort());
  await expect(roundsQuery(stopped.workbench, { counted: false, atHome: false }).read(stopped.context)).rejects.toThrow(
    'aborted',
  );
  await new Promise(setImmediate);
  expect(stopped.asked('getEvalProgress')).toBeLessThan(ids.length / 2);
});

it('fails if nothing answers, but the next one does not wait as long as one endpoint asked (B23)', async () => {
  const down = () => {
    throw new ServerError('Down until noon.', { status: 503, retryAfterMs: 3_600_000 });
  };
  const { workbench, context } = world(() => {}, { more: { getEvalProgress: down, getEvalRun: down } });
  const failed = roundsQuery(workbench, { counted: false, atHome: false }).read(context);
  await expect(failed).rejects.toMatchObject({ message: 'Down until noon.', status: 503, retryAfterMs: undefined });
});

it('keeps failing until something answers, even if nothing is due yet', async () => {
  let isDown = true;
  const more: Answers = {
    getEvalProgress: ({ evalRunId = '' }) => {
      if (isDown) throw new ServerError('Down.', { status: 503 });
      return { eval_run_id: evalRunId, status: 'running', total_rollouts: 4 };
    },
    getTrajectoryRewards: () => ({ trajectory_rewards: [] }),
  };
  const { workbench, context, asked } = world(() => {}, { pinned: ['evr_0'], more, focusedMs: 60_000 });
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  await expect(rounds.read(context)).rejects.toThrow('Down.');
  await expect(rounds.read(context)).rejects.toThrow('Down.');
  expect(asked('getEvalProgress')).toBe(2);
  isDown = false;
  await rounds.read(context);
});

it('reads the checkpoints of a training run that stands still once, until a new step arrives', async () => {
  let completed_steps = 27;
  const more: Answers = {
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
    listTrainingRuns: () => [
      { training_run_id: 'trn_1', bench_id: 'bench_1', status: 'running', created_at: '2026-01-01' },
    ],
    getTrainingProgress: () => ({ status: 'running', completed_steps }),
    listCheckpoints: () => [],
  };
  const { workbench, context, asked } = world(() => {}, { pinned: [], more });
  const rounds = roundsQuery(workbench, { counted: true, atHome: false });
  await rounds.read(context);
  expect(asked('listCheckpoints')).toBe(0);
  const still = world(() => {}, { pinned: [], more });
  still.workbench.remembered.recordProgress('trn_1', 27, Date.now() - 100_000);
  const ofStill = roundsQuery(still.workbench, { counted: true, atHome: false });
  for (let round = 0; round < 4; round += 1) await ofStill.read(still.context);
  expect(still.asked('listCheckpoints')).toBe(1);
  const other = world(() => {}, { pinned: [], more });
  for (const steps of [26, 27]) other.workbench.remembered.recordProgress('trn_1', steps);
  completed_steps = 28;
  await roundsQuery(other.workbench, { counted: true, atHome: false }).read(other.context);
  await roundsQuery(other.workbench, { counted: true, atHome: false }).read(other.context);
  expect(other.asked('listCheckpoints')).toBe(0);
});

it('reads a held-out curve in each turn while a round is due, even without further steps (A1)', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let completed_steps = 0;
  let steps = [0];
  const record = { training_run_id: 'trn_1', bench_id: 'bench_1', status: 'running', options: { held_out_every: 5 } };
  const more: Answers = {
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
    listTrainingRuns: () => [record],
    getTrainingRun: () => record,
    getTrainingProgress: () => ({ status: 'running', completed_steps, total_steps: 60 }),
    getHeldOutRewards: () => ({ held_out_rewards: steps.map(step => ({ step, held_out_reward: step / 60 })) }),
  };
  const { workbench, context, asked } = world(() => {}, { pinned: [], more, focusedMs: 2_000, visibleMs: 10_000 });
  const observer = new QueryObserver(workbench.cache, { queryKey: ['watch'], queryFn: () => 0 });
  onTestFinished(observer.subscribe(() => {}));
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  const readsIn = async (count: number): Promise<number> => {
    const before = asked('getHeldOutRewards');
    for (let round = 0; round < count; round += 1) {
      vi.setSystemTime(Date.now() + 6_000);
      await rounds.read(context);
    }
    return asked('getHeldOutRewards') - before;
  };
  await readsIn(3);
  completed_steps = 4;
  expect(await readsIn(4)).toBe(0);
  completed_steps = 5;
  await readsIn(1);
  expect(await readsIn(4)).toBe(4);
  steps = [0, 5];
  await readsIn(1);
  expect(await readsIn(4)).toBe(0);
});

it('continues without a curve that does not end, and does not request it again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const more: Answers = {
    getTrainingProgress: () => ({ status: 'running', completed_steps: 27 }),
    getHeldOutRewards: () => new Promise(() => {}),
  };
  const poll = { focusedMs: 60_000, visibleMs: 60_000 };
  const { workbench, context, asked } = world(() => {}, { pinned: [], more, ...poll });
  const observer = new QueryObserver(workbench.cache, { queryKey: ['watch'], queryFn: () => 0 });
  onTestFinished(observer.subscribe(() => {}));
  const running = { kind: 'training', id: 'trn_1', status: 'running', startedAt: '2026-01-01' };
  workbench.statuses.report([running], { askedAt: Date.now(), at: Date.now() });
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  for (let round = 0; round < 2; round += 1) {
    const isOver = rounds.read(context);
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(10_000);
    await isOver;
    expect(asked('getHeldOutRewards')).toBe(1);
  }
});

it('counts the failed rollouts of an evaluation whose progress does not, a few times in all', async () => {
  let terminal_rollouts = 19;
  const more: Answers = {
    getEvalRun: () => ({ eval_run_id: 'evr_0', status: 'running', created_at: '2026-01-01' }),
    getEvalProgress: () => ({ eval_run_id: 'evr_0', status: 'running', terminal_rollouts, total_rollouts: 60 }),
    listTrajectories: () =>
      pageOf(
        Array.from({ length: terminal_rollouts }, (_, index) => ({
          ...{ trajectory_id: `traj_${index}`, eval_run_id: 'evr_0' },
          ...(index % 2 ? { status: 'failed' } : { status: 'completed', reward: 1 }),
        })),
      ),
  };
  const { workbench, context, asked } = world(() => {}, { pinned: ['evr_0'], more });
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  await rounds.read(context);
  expect(asked('listTrajectories')).toBe(0);
  for (; terminal_rollouts <= 40; terminal_rollouts += 1) {
    await rounds.read(context);
    await new Promise(setImmediate);
  }
  expect(workbench.inbox.list().map(({ what }) => what)).toContain('failed rollouts');
  expect(asked('listTrajectories')).toBeGreaterThan(0);
  expect(asked('listTrajectories')).toBeLessThanOrEqual(5);
});

it('does not read records as often as a list on screen, if the service has no progress', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const run = { eval_run_id: 'evr_0', bench_id: 'bench_1', status: 'running' };
  const getEvalProgress = () => {
    throw new NotFoundError('There is no such path.', { status: 404, mayLackPath: true });
  };
  const { workbench, context, asked } = world(() => {}, {
    pinned: [],
    more: { getEvalRun: () => run, getEvalProgress },
  });
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  for (let round = 0; round < 20; round += 1) {
    vi.setSystemTime(Date.now() + 5_000);
    const at = Date.now();
    workbench.statuses.report([{ kind: 'run', id: 'evr_0', status: 'running' }], { askedAt: at, at, by: 'list' });
    workbench.lists.of(everyRun).see({}, [run]);
    await rounds.read(context);
  }
  expect(asked('getEvalProgress')).toBeLessThanOrEqual(3);
  expect(asked('getEvalRun')).toBeLessThanOrEqual(3);
});

it('waits for the lists while nothing is known to run, and reads what they name', async () => {
  const runs = ids.map(training_run_id => ({ training_run_id, bench_id: 'bench_1', status: 'running' }));
  const more: Answers = {
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
    listTrainingRuns: () => runs,
    getTrainingProgress: () => ({ status: 'running', completed_steps: 1 }),
  };
  const whole = world(() => {}, { pinned: [], more });
  await roundsQuery(whole.workbench, { counted: true, atHome: false }).read(whole.context);
  expect(whole.asked('getTrainingProgress')).toBe(ids.length);
  const stopped = world(stop => stop.abort(), { pinned: [], more });
  await expect(roundsQuery(stopped.workbench, { counted: true, atHome: false }).read(stopped.context)).rejects.toThrow(
    'aborted',
  );
  expect(stopped.asked('getTrainingProgress')).toBe(0);
});

it('reads what rows on screen lack before curves that only alarms need', async () => {
  const { workbench, context, requests } = world(() => {}, {
    pinned: [],
    more: {
      getTrainingProgress: () => ({ status: 'running', completed_steps: 20, total_steps: 100 }),
      getHeldOutRewards: () => ({ held_out_rewards: [{ step: 20, held_out_reward: 0.5 }] }),
      getTrajectoryRewards: () => ({ trajectory_rewards: [{ trajectory_id: 'one', task_id: 'one', reward: 1 }] }),
    },
  });
  const read = { askedAt: Date.now(), at: Date.now() };
  const active = Array.from({ length: 33 }, (_, index) => ({
    kind: 'training',
    id: `trn_${index}`,
    status: 'running',
  }));
  workbench.statuses.report(active, read);
  const run = { eval_run_id: 'evr_0', bench_id: 'bench_1', status: 'completed', reward_mean: 1 };
  workbench.lists.of(everyRun).see({}, [run]);
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  for (let round = 0; round < 10; round += 1) await rounds.read(context);
  const details = requests.filter(request => /^get(HeldOutRewards|TrajectoryRewards) /.test(request));
  expect(details.length).toBeGreaterThan(10);
  // A few are sent at once.
  expect(details.slice(0, 4)).toContain('getTrajectoryRewards evr_0');
});

it('reads the progress of listed runs that ended early, a few per round, and once', async () => {
  const { workbench, context, asked } = world(() => {}, {
    pinned: [],
    more: {
      getTrainingProgress: ({ trainingRunId: id = '' }) => ({
        training_run_id: id,
        status: 'failed',
        completed_steps: 4,
      }),
      getHeldOutRewards: () => ({ held_out_rewards: [] }),
    },
  });
  const observer = new QueryObserver(workbench.cache, { queryKey: ['progress'], queryFn: () => 0 });
  onTestFinished(observer.subscribe(() => {}));
  const early = Array.from({ length: 25 }, (_, index) => ({ kind: 'training', id: `trn_${index}`, status: 'failed' }));
  const whole = { kind: 'training', id: 'trn_whole', status: 'succeeded' };
  workbench.statuses.report([...early, whole], { askedAt: Date.now(), at: Date.now() });
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  await rounds.read(context);
  expect(asked('getTrainingProgress')).toBeLessThanOrEqual(10);
  for (let round = 0; round < 20; round += 1) await rounds.read(context);
  expect(asked('getTrainingProgress')).toBe(25);
  expect(workbench.statuses.get({ kind: 'training', id: 'trn_24' })?.done).toBe(4);
});

it('reads the progress of a run again that ended early while it was followed', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const run = { status: 'running', completed_steps: 4, total_steps: 9 };
  const { workbench, context, asked } = world(() => {}, {
    pinned: [],
    more: { getTrainingProgress: () => ({ ...run }) },
  });
  const { cache, statuses } = workbench;
  const observer = new QueryObserver(cache, { queryKey: ['progress'], queryFn: () => 0 });
  onTestFinished(observer.subscribe(() => {}));
  const listed = { kind: 'training', id: 'trn_1' };
  const report = (more: object): void =>
    void statuses.report([{ ...listed, ...more }], { askedAt: Date.now(), at: Date.now() });
  report({ status: 'running' });
  const rounds = roundsQuery(workbench, { counted: false, atHome: false });
  await rounds.read(context);
  expect(statuses.get(listed)?.done).toBe(4);
  vi.setSystemTime(Date.now() + 60_000);
  Object.assign(run, { status: 'failed', completed_steps: 6 });
  // The list has the end, with its time, but not the progress.
  report({ status: 'failed', endTime: new Date().toISOString() });
  expect(statuses.get(listed)?.done).toBeUndefined();
  const before = asked('getTrainingProgress');
  for (let round = 0; round < 3; round += 1) await rounds.read(context);
  expect(statuses.get(listed)?.done).toBe(6);
  expect(asked('getTrainingProgress')).toBe(before + 1);
});
