/** The pace in Watch: only from data that was read. */
import { expect, it, onTestFinished } from 'vitest';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { observeTraining, trainingProgressQuery } from '../../src/queries/training.ts';
import { alarmsIn, judge, readingOf } from '../../src/resources/alarms.ts';
import { resourceOfKind } from '../../src/resources/catalogue.ts';
import { numbersOf } from '../../src/resources/inbox.ts';
import { describeWaiting, stateOf, stateText } from '../../src/resources/line-state.ts';
import { noteAlarms, type WatchedResource, watchedLine, watchedOf, watchLines } from '../../src/resources/watch.ts';
import { describeReason, watchColumns } from '../../src/ui/views/watch-columns.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

function world() {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = 1_000_000;
  const ref = { kind: 'training', id: 'trn_1', label: 'sweep', startedAt: new Date(at).toISOString() } as const;
  const paceAt = (now: number): string | undefined => watchedOf(workbench, now)[0]?.pace;
  /** An answer with the steps, as in the progress. */
  const steps = (done: number, time: number): void => {
    workbench.statuses.report([{ ...ref, status: 'running', done, total: 400 }], {
      askedAt: time,
      at: time,
      by: 'progress',
    });
    workbench.remembered.recordProgress(ref.id, done, time);
  };
  /** An answer of the list, without the steps. */
  const listed = (time: number, status = 'running'): void =>
    void workbench.statuses.report([{ ...ref, status }], { askedAt: time, at: time, by: 'list' });
  return { at, paceAt, steps, listed };
}

it('does not call it a silence of the steps if a list keeps saying "running" (W1)', () => {
  const { at, paceAt, steps, listed } = world();
  for (let step = 0; step <= 10; step += 1) steps(step, at + step * 2_000);
  const read = at + 20_000;
  expect(paceAt(read)).toMatch(/^2 s\/step {2}ETA/);
  listed(read + 94_000);
  expect(paceAt(read + 94_000)).toBe('2 s/step  ETA 13m  read 1m ago');
  steps(50, read + 100_000);
  expect(paceAt(read + 100_000)).not.toContain('no new step');
});

it('counts at least the steps whose held-out reward was read (out34 C2)', () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const measured = heldOutMeans([{ step: 1_020, held_out_reward: 0.4, completed_samples: 128 }]);
  const run = { kind: 'training', id: 'trn_1', label: 'sweep', status: 'running', done: 990, total: 2_000, measured };
  workbench.statuses.report([run], { askedAt: 1, at: 1, by: 'progress' });
  expect(watchedOf(workbench, 2)[0]?.done).toBe(1_020);
});

it('calls it a silence from that read if steps were read and did not change (W1)', () => {
  const { at, paceAt, steps } = world();
  for (let step = 0; step <= 10; step += 1) steps(step, at + step * 2_000);
  steps(10, at + 114_000);
  expect(paceAt(at + 114_000)).toBe('no new step for 1m 34s');
  expect(paceAt(at + 150_000)).toBe('no new step for 1m 34s  read 36s ago');
});

it('has no pace for steps that were never read, and shows a waiting run as queued (W1, W11)', () => {
  const { at, paceAt, listed } = world();
  listed(at);
  expect(paceAt(at + 1)).toBe('steps not read yet');
  listed(at, 'pending');
  expect(paceAt(at + 98_000)).toBe('queued 1m 38s');
});

it('knows the end of an upload exactly, as this program ran it', async () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const upload = new TrajectoryUpload('job', '/nowhere/at/all.jsonl', 'mine');
  workbench.jobs.add(upload);
  await upload.run(workbench.service);
  const [line] = watchLines(workbench);
  expect(line && stateOf(line, Date.now()).text).toMatch(/^failed \d+s ago/);
});

const hourMs = 60 * 60_000;

/** A training run with reads of its status, each a number of minutes after it was created. */
function readsOf(...reads: readonly (readonly [status: string, minutes: number])[]): string | undefined {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const created = Date.now() - 3 * hourMs;
  for (const [status, minutes] of reads) {
    const at = created + minutes * 60_000;
    const endTime = status === 'succeeded' ? new Date(at).toISOString() : undefined;
    const said = { kind: 'training', id: 'trn_1', status, startedAt: new Date(created).toISOString(), endTime };
    workbench.statuses.report([said], { askedAt: at, at });
  }
  const [line] = watchedOf(workbench);
  return line && stateOf(line, Date.now()).text;
}

it('excludes time in the queue from the duration, and shows a limit if nobody saw how long it was', () => {
  expect(readsOf(['running', 1], ['succeeded', 120])).toBe('succeeded 1h ago, took 2h');
  expect(readsOf(['pending', 59], ['pending', 60], ['running', 60.5], ['succeeded', 120])).toBe(
    'succeeded 1h ago, took 59m 30s',
  );
  expect(readsOf(['pending', 1], ['running', 60], ['succeeded', 120])).toBe('succeeded 1h ago, took up to 2h');
});

it('puts failures first, then running, waiting and completed lines, and pins before the others', () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = Date.now();
  const report = (id: string, status: string, more: object = {}): void =>
    void workbench.statuses.report([{ kind: 'training', id, label: id, status, ...more }], { askedAt: at, at });
  const heldOut = [0.7, 0.3, 0.3, 0.3, 0.3].map((held_out_reward, step) => ({
    step,
    held_out_reward,
    completed_samples: 128,
  }));
  for (const id of ['ended', 'pinned ended', 'failed', 'runs', 'pinned', 'alarm', 'ended alarm']) report(id, 'running');
  // The last round is at the last step.
  for (const id of ['alarm', 'ended alarm'])
    report(id, 'running', { measured: heldOutMeans(heldOut), done: 4, total: 4 });
  report('waits', 'pending');
  for (const id of ['ended', 'pinned ended', 'ended alarm']) report(id, 'succeeded');
  report('failed', 'failed');
  for (const id of ['pinned ended', 'pinned']) workbench.pins.toggle({ kind: 'training', id, label: id });
  expect(watchedOf(workbench).map(({ id }) => id)).toEqual([
    ...['alarm', 'ended alarm', 'failed', 'pinned', 'runs', 'waits', 'pinned ended', 'ended'],
  ]);
});

it('keeps runs that started together in one order, whichever was read first', () => {
  const startedAt = new Date().toISOString();
  const orderOf = (...ids: string[]): string[] => {
    const { service } = scriptedService({});
    const workbench = newWorkbench({ service: async () => service });
    onTestFinished(() => workbench.close());
    const at = Date.now();
    for (const id of ids)
      workbench.statuses.report([{ kind: 'training', id, label: id, status: 'running', startedAt }], {
        askedAt: at,
        at,
      });
    return watchedOf(workbench).map(({ id }) => id);
  };
  expect(orderOf('b', 'c', 'a')).toEqual(['a', 'b', 'c']);
});

it('shows the word for its status at every width, as a cancelled run is not a completed one', () => {
  const now = Date.now();
  const shown = (kind: string, status: string, alarms: WatchedResource['alarms'] = []) => {
    const state = stateOf(
      {
        ...watchedLine({ kind, id: 'one' }, 'tea'),
        status,
        alarms,
        endedAt: now,
        endTime: new Date(now - 120_000).toISOString(),
      },
      now,
    );
    return [state.text, stateText(state, 'short'), state.look];
  };
  const ended = (words: string, look: string) => [words, words, look];
  expect(shown('deployment', 'DEPLOYED')).toEqual(ended('deployed 2m ago', 'success'));
  expect(shown('run', 'completed')).toEqual(ended('completed 2m ago', 'success'));
  expect(shown('run', 'cancelled')).toEqual(ended('cancelled 2m ago', 'stopped'));
  expect(shown('training', 'succeeded')).toEqual(ended('succeeded 2m ago', 'success'));
  const drop = [{ kind: 'held-out drop', words: 'held-out fell' }] as const;
  expect(shown('training', 'succeeded', drop).slice(1)).toEqual(['succeeded 2m ago', 'alarm']);
});

it('shows when a run ended and how long it took, and at least when, so that they are not confused', () => {
  const now = Date.now();
  const time = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString();
  const drop = [{ kind: 'held-out drop', words: 'held-out fell' }] as const;
  for (const kind of ['run', 'training', 'deployment'])
    for (const alarms of [[], drop]) {
      const status = kind === 'deployment' ? 'DEPLOYED' : 'completed';
      const times = { startedAt: time(65), endTime: time(5), endedAt: now };
      const state = stateOf({ ...watchedLine({ kind, id: 'one' }, 'tea'), status, alarms, ...times }, now);
      expect(state.short).toBe(`${status.toLowerCase()} 5m ago, 1h`);
      expect(state.shortest).toBe(`${status.toLowerCase()} 5m ago`);
    }
});

it('shows when it saw the end of a run with an impossible end time', () => {
  for (const endTime of ['1970-01-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
    const { service } = scriptedService({});
    const workbench = newWorkbench({ service: async () => service });
    onTestFinished(() => workbench.close());
    const at = Date.now() - 2 * hourMs;
    const run = { kind: 'training', id: 'trn_1', startedAt: new Date(at - hourMs).toISOString() };
    workbench.statuses.report([{ ...run, status: 'running' }], { askedAt: at - 1, at: at - 1 });
    workbench.statuses.report([{ ...run, status: 'failed', endTime }], { askedAt: at, at });
    const [line] = watchedOf(workbench);
    expect(line && stateOf(line, Date.now()).text).toBe('failed, seen 2h ago');
  }
});

it('marks the held-out rewards of a running run from the step at which a newer round is due (A1)', () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = Date.now();
  const areOld = (steps: readonly number[], done: number) => {
    const measured = heldOutMeans(steps.map(step => ({ step, held_out_reward: 0.7, completed_samples: 128 })));
    const run = observeTraining({ training_run_id: 'trn_1', status: 'running', options: { held_out_every: 5 } });
    workbench.statuses.report([{ ...run, done, measured }], { askedAt: at, at });
    const { last, best } = watchedOf(workbench, at)[0]?.measured ?? {};
    return [last?.isOld ?? false, best?.isOld ?? false];
  };
  expect(areOld([10, 20], 29)).toEqual([false, false]);
  expect(areOld([10, 20], 30)).toEqual([true, true]);
  // With a single round, the options have the spacing.
  expect(areOld([0], 4)).toEqual([false, false]);
  expect(areOld([0], 5)).toEqual([true, true]);
});

it('marks the mean of an evaluation whose rollouts have progressed since it was read, after a minute', () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = Date.now();
  const report = (done: number, askedAt: number, failed?: number) =>
    workbench.statuses.report(
      [{ kind: 'run', id: 'evr_1', status: 'running', done, total: 40, mean: 0.5, graded: 7, failed }],
      { askedAt, at: askedAt },
    );
  report(7, at - 1);
  const known = workbench.statuses.get({ kind: 'run', id: 'evr_1' });
  const query = known && resourceOfKind('run')?.watch?.soFar?.(known);
  if (!query) throw new Error('no read');
  workbench.cache.setQueryData(query.key, {}, { updatedAt: at });
  const { text } =
    watchColumns({ room: 200, range: [0, 1], spark: () => '' }).find(({ id }) => id === 'held-out') ?? {};
  const shownAt = (now: number) => {
    const [line] = watchedOf(workbench, now);
    return line && text?.(line);
  };
  expect(shownAt(at + 90_000)).toBe('0.500 n=7/40');
  report(24, at + 20_000);
  expect([30_000, 90_000].map(later => shownAt(at + later))).toEqual(['0.500 n=7/40', '0.500? n=7/40']);
  // Also beside an alarm in the inbox.
  report(24, at + 21_000, 24);
  noteAlarms(workbench, at + 90_000);
  const [alarm] = workbench.inbox.list();
  expect(alarm && numbersOf(alarm)).toBe('mean 0.500? n=7/40; 24 of 40');
});

it('counts a rollout with a reward as done, even if the progress is older', () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = Date.now();
  const run = { kind: 'run', id: 'evr_1', status: 'running', total: 60 };
  const seen = (more: object) => {
    workbench.statuses.report([{ ...run, ...more }], { askedAt: at, at });
    return watchedOf(workbench)[0]?.done;
  };
  expect([seen({}), seen({ done: 43 }), seen({ mean: 0.5, graded: 44 }), seen({ done: 50 })]).toEqual([
    undefined,
    43,
    44,
    50,
  ]);
});

it('shows how long there was no step, even beside a checkpoint, and which alarm it is', () => {
  const standing = { kind: 'silent', forMs: 55 * 60_000, atLeast: false, checkpointMs: 60 * 60_000 } as const;
  const line = { ...watchedLine({ kind: 'training', id: 'trn_1' }, ''), status: 'running', standing };
  expect(stateOf(line, 0)).toMatchObject({
    text: 'no new step for 55m, last checkpoint 1h ago',
    short: 'no step 55m',
    look: 'running',
  });
  const drop = { kind: 'held-out drop', step: 1, value: 0, limit: 1, words: 'below its best' } as const;
  expect(stateOf({ ...line, standing: { kind: 'unknown' }, alarms: [drop] }, 0)).toMatchObject({
    text: 'ALARM drop, running',
    short: 'ALARM drop',
  });
  const ended = { ...line, status: 'succeeded', alarms: [drop] };
  expect(stateOf(ended, 0)).toMatchObject({ text: 'ALARM drop, succeeded', reasons: ['below its best'] });
});

it('starts the status of a waiting run with the reason of the service, without a pace, in alarm too (A2)', () => {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = Date.now();
  for (const step of [1, 2, 3, 4]) workbench.remembered.recordProgress('trn_1', step, at - (5 - step) * 1_000);
  const run = { training_run_id: 'trn_1', status: 'running', completed_steps: 4, total_steps: 40 };
  const lineOf = (waits_because: string | null | undefined) => {
    const seen = trainingProgressQuery('trn_1').observes?.({ ...run, waits_because });
    workbench.statuses.report(seen ? [seen] : [], { askedAt: at, at });
    const [line] = watchedOf(workbench, at);
    if (!line) throw new Error('no line');
    return line;
  };
  const full = 'The disk is full';
  const waiting = lineOf(full);
  expect(stateOf(waiting, at)).toEqual({ word: 'waiting', text: `waits: ${full}`, short: 'waits', look: 'waiting' });
  expect([waiting.pace, waiting.rate, describeReason(waiting)]).toEqual(['', '', `waits: ${full}`]);
  const reading = readingOf({ ...waiting, waits: full }, workbench.remembered.progress.of('trn_1'), at + 600_000);
  const alarms = alarmsIn(judge(reading, { ...workbench.alarmsFor(undefined), silentMs: 60_000 }, [0, 1]));
  expect(alarms.map(({ words }) => words)).toEqual([`waits: ${full}; no new step for more than 1m`]);
  expect(stateOf({ ...waiting, alarms }, at)).toMatchObject({ short: 'ALARM waits', look: 'alarm' });
  expect(stateOf({ ...waiting, alarms }, at).text).toBe(`waits: ${full}, ALARM stall 10m`);
  // A service that does not report it with the progress does not end the wait; one that reports none does.
  expect(stateOf(lineOf(undefined), at).word).toBe('waiting');
  // The summary counts it apart from the runs that go on.
  const running = { ...waiting, waits: undefined };
  expect([
    describeWaiting([running]),
    describeWaiting([waiting]),
    describeWaiting([running, waiting, { ...running, gone: true }]),
  ]).toEqual(['', '1 waiting', '1 running, 1 waiting']);
  expect(stateOf(lineOf(null), at).text).toBe('running, ETA 36s');
});
