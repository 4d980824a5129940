/** What `regrade` and `tasks` leave out and report, and the errors that stop `regrade`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes, Interruption } from '../../src/commands/exit.ts';
import { answering } from '../answering.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { endlessGrader } from '../rollouts/endless-grader.ts';
import { hostileServer } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

type Rows = readonly { readonly trajectory_id: string }[];

/** A dataset with these trajectories, whose model said yes. */
async function cliWith(rows: Rows, more: Parameters<typeof answering>[0] = {}) {
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([]),
      listTrainingRuns: () => pageOf([]),
      listDatasets: () => pageOf([{ dataset_id: 'ds_1', dataset_name: 'd' }]),
      listTrajectories: () => pageOf(rows),
      getTrajectory: ({ trajectory_id }) => ({
        ...rows.find(row => row.trajectory_id === trajectory_id),
        steps: [{ step_index: 0, messages: [{ role: 'assistant', content: 'yes' }] }],
      }),
      ...more,
    }),
  );
  return cliOn({ baseUrl: url, apiKey: 'key' });
}

const completed = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ trajectory_id: `traj_${index}`, dataset_name: 'd', task_id: `t${index}` },
    ...{ status: 'completed', reward: 1, ...more },
  }));

it('counts the reasons why a judge returned no reward (A1)', async () => {
  const choices = ['REWARD: 1/10', 'REWARD: 1/10', 'REWARD: 0', 'Good.\nREWARD: 1'].map(content => ({
    ...{ message: { content }, finish_reason: content === 'REWARD: 0' ? 'length' : 'stop' },
  }));
  const cli = await cliWith(completed(4), { createChatCompletion: () => ({ choices: [choices.shift()] }) });
  const { code, out, notes } = await cli('regrade', ['d', '--judge', 'm', '--rubric', 'x', '--json']);
  const { trajectories, ...summary } = JSON.parse(out) as { trajectories: readonly { explanation: string }[] };
  expect(summary).toMatchObject({ graded: 1, not_gradable: 3, new_mean: 1 });
  // What the judge said instead (out33 B4).
  const said = trajectories.map(({ explanation }) => explanation).sort();
  expect(said).toEqual(['Good.', 'REWARD: 0', 'REWARD: 1/10', 'REWARD: 1/10']);
  expect(notes).toContain(
    "3 rollouts could not be graded: the judge's last line is not a reward from 0 to 1 (2), the judge's answer cannot be used: cut off at the token limit (1).",
  );
  expect(code).toBe(exitCodes.failed);
});

it.each([
  ['7', '0..1'],
  ['0', '0..1'],
  ['-1', '-1..1'],
])('refuses a threshold that every reward passes or fails: %s of %s (out31 B2)', async (passAt, range) => {
  const cli = await cliWith(completed(2));
  const flags = ['--with', 'contains yes', '--pass-at', passAt, '--reward-range', range];
  const { code, notes } = await cli('regrade', ['d', ...flags]);
  const [low, high] = range.split('..');
  expect(notes).toContain(`--pass-at takes a number above ${low}, and at most ${high}`);
  expect(code).toBe(exitCodes.usage);
});

it.each([
  [1, exitCodes.usage, '--pass-at takes a number above 0, and at most 1.'],
  [3, exitCodes.done, 'passed 100%'],
])('refuses one of tasks that no reward can reach; the rewards are %d (attack37 C5)', async (reward, code, words) => {
  const cli = await cliWith(completed(2, { reward }));
  const outcome = await cli('tasks', ['d', '--pass-at', '2']);
  expect(outcome).toMatchObject({ code, notes: expect.stringContaining(words) });
});

it('shows the threshold next to the agreement, even if all rewards are passes and fails (out31 B2)', async () => {
  const outcome = await (await cliWith(completed(2)))('regrade', ['d', '--with', 'contains yes']);
  const out = expect.stringContaining('agreement\t100% of 2 on passing at 1.00\n');
  expect(outcome).toMatchObject({ code: exitCodes.done, out });
});

it('stops at once if the grader cannot be started, and prints no mean (out31 C8)', async () => {
  let read = 0;
  const cli = await cliWith(completed(40), {
    getTrajectory: ({ trajectory_id }) => {
      read += 1;
      return { trajectory_id, status: 'completed', steps: [] };
    },
  });
  const { code, notes, out } = await cli('regrade', ['d', '--command', 'no-such-program']);
  expect([code, out]).toEqual([exitCodes.failed, '']);
  expect(notes).toContain('no-such-program was not found');
  expect(read).toBeLessThan(40);
  expect((await cli('regrade', ['d', '--with', 'exact'])).out).toContain(
    'mean\tunknown: no rollout has both a reward before and one now\n',
  );
});

it('says that rewards outside the range have no interval', async () => {
  const cli = await cliWith(completed(6, { reward: 0.5 }));
  const grader = ['d', '--command', `${process.execPath} -e console.log(7)`];
  const { out } = await cli('regrade', grader);
  expect(out).toContain('outside the range\t6 rollouts, not from 0 to 1: no interval\n');
  expect(out).not.toContain('95% CI\t+');
  expect((await cli('regrade', [...grader, '--reward-range', '0..10'])).out).not.toContain('outside');
});

it('fails if some rollouts are unreadable, like tasks and failures (attack31 B1)', async () => {
  const rows = [...completed(2), { status: 'completed', reward: 1 }];
  const cli = await cliWith(completed(2), { listTrajectories: () => pageOf(rows) });
  for (const [command, args] of [
    ['tasks', []],
    ['failures', []],
    ['regrade', ['--with', 'contains yes']],
  ] as const) {
    const { code, notes } = await cli(command, ['d', ...args, '--json']);
    expect([command, code]).toEqual([command, exitCodes.failed]);
    expect(notes).toContain('could not be read');
  }
});

const statuses = [
  { status: 'completed' },
  { status: 'error' },
  { status: 'FAILED' },
  { status: 'completed', error: 'ToolError' },
  { status: 'running' },
  { status: 'queued' },
  // Not a status that is known: it has a reward, so it is graded.
  { status: 'scored' },
];
it.each([
  ['the list', (row: object) => row],
  ['each rollout', (row: object) => ({ ...row, status: undefined, error: undefined })],
])('leaves out failed and running rollouts, counted separately, by %s (B2)', async (_, listed) => {
  const rows = completed(statuses.length).map((row, index) => ({ ...row, ...statuses[index] }));
  const cli = await cliWith(rows, { listTrajectories: () => pageOf(rows.map(listed)) });
  const { out, code } = await cli('regrade', ['d', '--with', 'contains no', '--json']);
  expect(JSON.parse(out)).toMatchObject({ rollouts: 7, graded: 2, failed: 3, running: 2, passes_lost: 2, mean: 1 });
  expect(code).toBe(exitCodes.done);
  expect((await cli('regrade', ['d', '--with', 'contains no'])).out).toContain(
    'regraded\t2 of 7 rollouts\nfailed\t3, not graded\nrunning\t2, not graded\n',
  );
});

it.each([
  ['SIGTERM', exitCodes.terminated],
  ['SIGHUP', exitCodes.hungUp],
])('stops its graders and their children on %s (B4)', async (_, exitCode) => {
  const stop = new AbortController();
  let stopsOnSignals = false;
  const { line, ended } = await endlessGrader(() => stopsOnSignals && stop.abort(new Interruption(exitCode)));
  const cli = await cliWith(completed(1));
  const { code } = await cli('regrade', ['d', '--command', line], {
    signal: stop.signal,
    onStopOnSignals: () => {
      stopsOnSignals = true;
    },
  });
  await ended;
  expect(code).toBe(exitCode);
});

it('counts partial rewards that change without a pass or a fail, and says what agreement measures (out30 A2)', async () => {
  const rows = completed(6).map((row, index) => ({ ...row, reward: index < 4 ? 0.9 : 0 }));
  const cli = await cliWith(rows);
  const regraded = (...flags: string[]) => cli('regrade', ['d', '--with', 'exact another', ...flags]);
  const { out } = await regraded();
  expect(out).toContain('passes\t0 lost, 0 gained (reward at least 1.00)\n');
  expect(out).toContain('rewards changed\t4 of 6 (4 lower), by 0.900 on average\n');
  expect(out).toContain('agreement\t100% of 6 on passing at 1.00\n');
  const changes = { changed: 4, lower: 4, mean_absolute_change: expect.closeTo(0.9) };
  expect(JSON.parse((await regraded('--json')).out)).toMatchObject({ agreement: 1, ...changes });
});

it('gives no interval for rollouts without a task, which may share one (B7)', async () => {
  const rows = completed(12, { reward: 0.5 });
  const graded = async (task_id: string | undefined) => {
    const cli = await cliWith(rows.map((row, index) => (index < 3 ? { ...row, task_id } : row)));
    const { out } = await cli('regrade', ['d', '--with', 'contains yes', '--pass-at', '0.6', '--json']);
    return { text: (await cli('regrade', ['d', '--with', 'contains yes'])).out, record: JSON.parse(out) };
  };
  const named = await graded('t3');
  expect(named.record).toMatchObject({ tasks: 9, without_task: 0, interval: { high: expect.any(Number) } });
  for (const task_id of [undefined, '']) {
    const { record, text } = await graded(task_id);
    expect(record).toMatchObject({ tasks: 9, without_task: 3, difference: 0.5, interval: null, kappa_interval: null });
    expect(text).toContain('mean\t0.500 before, 1.00 now, over 9 tasks and 3 rollouts without a task\n');
    expect(text).toContain('no interval\t3 rollouts have no task: several may belong to one\n');
  }
});

it('says that rollouts name no task, instead of an empty table (B5)', async () => {
  const nameless = completed(3, { task_id: undefined });
  const { out, notes } = await (await cliWith(nameless))('tasks', ['d']);
  expect([out, notes]).toEqual(['', '3 rollouts without a task not grouped.']);
  expect(await (await cliWith([]))('tasks', ['d'])).toMatchObject({ out: '', notes: 'There are no rollouts.' });
});

it('prints how a task developed over the steps of training, for some tasks if wanted (B1)', async () => {
  const rows = completed(40).map((row, step) => ({
    ...row,
    task_id: 'a',
    policy_step: step,
    reward: step < 20 ? 0 : 1,
  }));
  const cli = await cliWith(rows);
  const { out, notes } = await cli('tasks', ['d'], { columns: 100 });
  expect(out).toMatch(/FIRST +LAST +CHANGE +BY STEP/);
  expect(out).toMatch(/ 0 +1\.00 +\+1\.00 +▁▁▁▁▁▁██████ /);
  expect(notes).toContain('These rollouts are from 40 training steps, 0 to 39, and so from different models.');
  expect(notes).toContain('--steps selects some of these steps');
  const late = await cli('tasks', ['d', '--steps', '30..', '--json']);
  expect(JSON.parse(late.out)).toMatchObject({
    pass: [{ k: 1, pass_at_k: 1 }, { k: 2 }, { k: 4 }, { k: 8 }, { k: 10 }],
    tasks: [{ rollouts: 10, by_step: [{ step: 30, mean: 1, rewards: [1] }, ...Array(9).fill({ mean: 1 })] }],
  });
  expect((await cli('tasks', ['d', '--steps', '39', '--json'])).out).not.toContain('by_step');
  expect((await cli('tasks', ['d', '--steps', '60..50'])).code).toBe(exitCodes.usage);
  expect((await cli('tasks', ['d', '--steps', '99'])).notes).toContain('There are no rollouts in steps 99.');
  // Likewise how they ended (out34 B8).
  const ends = await cli('failures', ['d']);
  expect(ends.notes).toContain('These rollouts are from 40 training steps, 0 to 39, and so from different models.');
  expect(ends.notes).toContain('--steps selects some of these steps');
  expect(JSON.parse((await cli('failures', ['d', '--steps', '30..', '--json'])).out)).toMatchObject({ rollouts: 10 });
  expect((await cli('failures', ['d', '--steps', '60..50'])).code).toBe(exitCodes.usage);
  expect((await cli('report', ['d', '--format', 'md'])).out).toContain('These rollouts are from 40 training steps');
});

it('reads how only the rollouts of the chosen steps ended (rev38 A6)', async () => {
  const rows = completed(20).map((row, step) => ({ ...row, policy_step: step }));
  const read: unknown[] = [];
  const cli = await cliWith(rows, {
    listTrajectories: () =>
      pageOf(rows.map((row, step) => ({ ...row, status: undefined, policy_step: step === 4 ? undefined : step }))),
    getTrajectory: ({ trajectory_id }) => {
      read.push(trajectory_id);
      return trajectory_id === 'traj_7' ? {} : { ...rows.find(row => row.trajectory_id === trajectory_id), steps: [] };
    },
  });
  const { code, out } = await cli('failures', ['d', '--steps', '3..4', '--json']);
  expect([code, JSON.parse(out)]).toEqual([exitCodes.done, expect.objectContaining({ rollouts: 2 })]);
  expect(read.sort()).toEqual(['traj_3', 'traj_4']);
  expect((await cli('failures', ['d', '--steps', '7..8', '--json'])).code).toBe(exitCodes.failed);
});

it('prints a large trajectory in chunks', async () => {
  const content = 'a line of a long response\n'.repeat(2_000);
  const steps = Array.from({ length: 30 }, (_, step_index) => ({ step_index, messages: [{ role: 'tool', content }] }));
  const [row] = completed(1);
  const cli = await cliWith(completed(1), { getTrajectory: () => ({ ...row, steps }) });
  const path = join(testFolder(), 'long.jsonl');
  writeFileSync(path, `${JSON.stringify({ steps })}\n`);
  const printed = [
    ['get', 'traj_0'],
    ['get', 'traj_0', '--json'],
    ['export', 'traj_0'],
    ['read', path],
    ['read', path, '--json'],
  ];
  for (const [command = '', ...args] of printed) {
    const lengths: number[] = [];
    const { out } = await cli(command, args, { onPrint: text => lengths.push(text.length) });
    expect([command, ...args, out.length > 1e6, Math.max(...lengths) < 2e5]).toEqual([command, ...args, true, true]);
    if (args.includes('--json')) expect(JSON.parse(out)).toMatchObject({ steps });
  }
});
