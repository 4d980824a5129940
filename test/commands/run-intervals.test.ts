/** The interval of a run’s mean: the same in every command, and absent if it would be wrong. */
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { answering } from '../answering.ts';
import { type Answers, pageOf } from '../queries/scripted-service.ts';
import { randomRuns } from '../random-runs.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

interface Limits {
  readonly low: number;
  readonly high: number;
}

interface Got {
  readonly interval: Limits | null;
  readonly interval_condition: string | null;
}

/** Rewards 0 and 1 in turn, each of its own task. */
const alternating = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ task_id: `${at}`, trajectory_id: `${at}`, reward: at % 2 }));

const have = ['whole', 'uneven', 'some missing', 'running'];

it('is the same in get, list, JSON and a report, for any rewards (A1, A3, B3)', async () => {
  const { runs, answers } = randomRuns(3);
  const server = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const listed = await cli('list', ['runs', '--all', '--json', '--wide']);
  const rows = JSON.parse(listed.out) as { eval_run_id: string; certainty?: { interval?: Limits } }[];
  const csv = (await cli('list', ['runs', '--all', '--format', 'csv', '--columns', 'id,95% ci'])).out;
  const intervals = new Map<string, Limits | null>();
  for (const { record, shape } of runs) {
    const id = record.eval_run_id;
    const got = JSON.parse((await cli('get', ['run', id, '--json'])).out) as Got;
    // A list has no room for a condition.
    const interval = got.interval_condition === null ? got.interval : null;
    expect(got.interval_condition !== null).toBe(shape === 'neither status nor total');
    expect([shape, interval !== null]).toEqual([shape, have.includes(shape)]);
    expect(rows.find(row => row.eval_run_id === id)?.certainty?.interval).toEqual(interval ?? undefined);
    const cell = csv.split('\r\n').find(line => line.startsWith(`${id},`));
    expect(cell).toBe(`${id},${interval ? `${interval.low}..${interval.high}` : ''}`);
    intervals.set(id, interval);
  }
  // The words of a few, because a report reads every trajectory.
  for (const { record } of runs.slice(0, 8)) {
    const id = record.eval_run_id;
    const said = (text: string) => /95% CI [\d.e-]+ to [\d.e-]+ over [^;,|\n]*\w/.exec(text)?.[0];
    const words = said((await cli('get', ['run', id])).out);
    if (intervals.get(id)) expect(words).toBeDefined();
    const report = (await cli('report', [id, '--format', 'markdown', '--output', '-'])).out;
    const all = report.match(/95% CI [\d.e-]+ to [\d.e-]+ over [^;,|\n]*\w/g) ?? [];
    expect(new Set(all)).toEqual(new Set(words === undefined ? [] : [words]));
  }
});

it('is computed once for a completed run, whichever command read its rewards', async () => {
  const { runs, answers } = randomRuns(1);
  const server = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const ended = runs.filter(({ record }) => record.status === 'completed').map(({ record }) => record.eval_run_id);
  const reads = () => server.requests.flatMap(({ url = '' }) => /([^/]+)\/trajectory-rewards/.exec(url)?.[1] ?? []);
  await cli('compare', ended.slice(0, 2));
  for (const id of ended.slice(2)) await cli('get', ['run', id]);
  const before = reads().length;
  expect(new Set(reads())).toEqual(new Set(ended));
  const list = ['runs', '--status', 'completed', '--columns', 'run,mean,95% ci'];
  const intervals = async () => (await cli('list', list)).out.split('\n').filter(line => /\.\./.test(line));
  const narrow = await intervals();
  expect(narrow).toHaveLength(3);
  expect(reads()).toHaveLength(before);
  // Another range of rewards is another interval.
  expect((await cli('config', ['set', 'compare.rewardRange', '0..2'])).code).toBe(0);
  const wide = await intervals();
  expect(wide).toHaveLength(4);
  expect(wide).not.toContain(narrow[0]);
});

it('covers the rewards so far of a running run without a mean in its record', async () => {
  const run = { eval_run_id: 'evr_1', bench_id: 'b', status: 'running', reward_mean: null, total_rollouts: 21 };
  const answers: Answers = {
    listBenchmarks: () => pageOf([{ bench_id: 'b', label: 'words' }]),
    listEvalRuns: () => pageOf([run]),
    getTrajectoryRewards: () => ({ trajectory_rewards: alternating(20) }),
  };
  const server = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const columns = ['runs', '--format', 'csv', '--columns', 'mean,n,95% ci'];
  expect((await cli('list', columns)).out.split('\r\n')[1]).toMatch(/^0\.5,20,0\.2\d+\.\.0\.7\d+$/);
});

it('is absent from a list that reads no rewards, with the counts read before, and from JSON', async () => {
  const [half, none] = [0, 1].map(index => ({
    ...{ eval_run_id: `evr_${index}`, display_name: `run ${index}`, bench_id: 'b', status: 'completed' },
    reward_mean: index === 0 ? 0.5 : null,
  }));
  const rewards = [0, 1].map(reward => ({ trajectory_id: `t${reward}`, task_id: `task${reward}`, reward }));
  const answers: Answers = {
    listBenchmarks: () => pageOf([{ bench_id: 'b', label: 'words' }]),
    listEvalRuns: () => pageOf([half, none]),
    getEvalRun: ({ eval_run_id }) => (eval_run_id === 'evr_0' ? half : none),
    getEvalProgress: ({ eval_run_id }) => ({
      eval_run_id,
      status: 'completed',
      terminal_rollouts: 3,
      total_rollouts: 3,
    }),
    getTrajectoryRewards: ({ eval_run_id }) => ({ trajectory_rewards: eval_run_id === 'evr_0' ? rewards : [] }),
  };
  const server = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const cells = async () => (await cli('list', ['runs', '--format', 'csv', '--columns', 'mean,n,total'])).out;
  expect(await cells()).toBe('mean,n,total\r\n0.5,,\r\n,,\r\n');
  expect((await cli('get', ['run', 'evr_1'])).out).toMatch(/^mean +none, 0 of 3$/m);
  await cli('get', ['run', 'evr_0']);
  expect(await cells()).toBe('mean,n,total\r\n0.5,2,3\r\n,0,3\r\n');
  expect((await cli('list', ['runs'], { columns: 60 })).out).toMatch(/0\.500 n=2\D[\s\S]*none/);
  expect((await cli('list', ['runs', '--json'])).out).not.toContain('certainty');
});

it('is the same in watch and get, if no status answer has the mean', async () => {
  const record = { eval_run_id: 'evr_1', display_name: 'one', bench_id: 'b', status: 'completed', reward_mean: null };
  const answers: Answers = {
    getEvalRun: () => record,
    getEvalProgress: () => ({ ...record, terminal_rollouts: 21, total_rollouts: 21 }),
    getTrajectoryRewards: () => ({ trajectory_rewards: alternating(20) }),
  };
  const server = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out } = await cli('watch', ['evr_1']);
  expect(out).toMatch(/completed, 21 of 21, mean 0\.500 over 20 rewards \(95% CI .*\), 1 without a reward$/m);
});

it('is kept for a list after get (B4)', async () => {
  const { answers } = randomRuns(1);
  const record = { eval_run_id: 'evr_fail', bench_id: 'bench_1', status: 'failed', reward_mean: null };
  const rewards = Array.from({ length: 20 }, (_, at) => ({ task_id: `${at}`, trajectory_id: `${at}`, reward: 1 }));
  const server = await hostileServer(
    answering({
      ...answers,
      listEvalRuns: () => [record],
      getEvalRun: () => record,
      getEvalProgress: () => ({ eval_run_id: 'evr_fail', status: 'failed' }),
      getTrajectoryRewards: () => ({ trajectory_rewards: rewards }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const list = async () => (await cli('list', ['runs', '--columns', 'id,mean,n,95% ci'])).out.split('\n')[1];
  expect(await list()).toBe('evr_fail\t1\t20\t');
  expect((await cli('get', ['run', 'evr_fail'])).out).toContain('1.00 over 20 rewards');
  expect(await list()).toBe('evr_fail\t1\t20\t');
});

/** A completed run of 40 tasks, whose rewards and record may change. */
async function gradedRun(rewardAt: (index: number) => number) {
  const graded = { rewardAt };
  const rewards = () =>
    Array.from({ length: 40 }, (_, at) => ({ task_id: `${at}`, trajectory_id: `${at}`, reward: graded.rewardAt(at) }));
  const record = () => ({
    ...{ eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed', total_rollouts: 40 },
    reward_mean: rewards().reduce((sum, { reward }) => sum + reward, 0) / 40,
  });
  const { answers } = randomRuns(1);
  const answer = answering({
    ...answers,
    listEvalRuns: () => [record(), { ...record(), eval_run_id: 'evr_2' }],
    getEvalRun: record,
    getTrajectoryRewards: () => ({ trajectory_rewards: rewards() }),
  });
  const down = json({ error: { type: 'api_error', message: 'down' } }, 500);
  const server = await hostileServer((response, request) =>
    (request.url.includes('evr_2/trajectory-rewards') ? down : answer)(response, request),
  );
  return { graded, cli: cliOn({ baseUrl: server.url, apiKey: 'key' }) };
}

it('is computed again after the run is graded again, and missing only for the row whose rewards fail', async () => {
  const { graded, cli } = await gradedRun(at => at % 2);
  const list = () => cli('list', ['runs', '--columns', 'id,mean,95% ci', '--format', 'csv']);
  const first = await list();
  expect(first.out).toMatch(/^evr_1,0\.5,0\.3\d+\.\.0\.6\d+$/m);
  expect(first.out).toMatch(/^evr_2,0\.5,$/m);
  expect(first.notes).toMatch(/95% CI could not be read for 1 row \(evr_2\): /);
  graded.rewardAt = () => 0.6;
  expect((await list()).out).toMatch(/^evr_1,0\.6\d*,0\.5\d+\.\.0\.6\d+$/m);
  graded.rewardAt = at => (at % 2 === 0 ? 0.6 : 1.6);
  expect((await list()).out).toMatch(/^evr_1,1\.1\d*,$/m);
});

it.each([403, 500])('is missing with a note if the progress of a run answers %i, and computed later', async code => {
  const { answers } = randomRuns(1);
  const record = (eval_run_id: string, status: string) => ({
    ...{ eval_run_id, bench_id: 'bench_1', status, reward_mean: 0.5, reward_count: 20 },
  });
  const records = ['completed', 'cancelled', 'running'].map(status => record(`evr_${status}`, status));
  const answer = answering({
    ...answers,
    listEvalRuns: () => records,
    getEvalRun: ({ eval_run_id }) => records.find(each => each.eval_run_id === eval_run_id),
    getEvalProgress: ({ eval_run_id }) => ({
      ...{ eval_run_id, status: String(eval_run_id).slice('evr_'.length), total_rollouts: 21 },
    }),
    getTrajectoryRewards: () => ({ trajectory_rewards: alternating(20) }),
  });
  const refused = json(
    { error: { type: code === 403 ? 'permission_error' : 'api_error', message: 'no entry' } },
    code,
    { 'retry-after': '3600' },
  );
  let isRefused = true;
  const server = await hostileServer((response, request) =>
    (isRefused && request.url.endsWith('/progress') ? refused : answer)(response, request),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const list = () => cli('list', ['runs', '--columns', 'id,95% ci', '--format', 'csv']);
  const first = await list();
  expect(first.out).not.toContain('..');
  expect(first.notes).toMatch(/^95% CI could not be read for 3 rows \(.*\): no entry/m);
  isRefused = false;
  const second = await list();
  expect(second.out.match(/\.\./g)).toHaveLength(3);
  expect(second.notes).toBe('');
});

/** Commands on a service with these answers, and how often each run's rewards were read. */
async function countingReads(answers: Answers) {
  const server = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const reads = () => server.requests.flatMap(({ url = '' }) => /([^/]+)\/trajectory-rewards/.exec(url)?.[1] ?? []);
  return { cli, reads };
}

const rewardsOf = (...values: number[]) => ({
  trajectory_rewards: values.map((reward, index) => ({
    ...{ trajectory_id: `tr_${index}`, task_id: `t${index}`, reward },
  })),
});

it('takes one read of the rewards in get, even without a record of the run', async () => {
  const { cli, reads } = await countingReads({ getTrajectoryRewards: () => rewardsOf(0.5, 0.5) });
  const { out } = await cli('get', ['run', 'er_1']);
  expect(out).toMatch(/^mean so far +0\.500 over 2 rewards$/m);
  expect(reads()).toEqual(['er_1']);
});

it('takes one read of the rewards of each run in list, whatever it shows', async () => {
  const row = (id: string, status: string | null, reward_mean: number | null) => ({
    ...{ eval_run_id: id, bench_id: 'b1', status, reward_mean, created_at: '2026-01-01T00:00:00Z' },
  });
  const { cli, reads } = await countingReads({
    listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'words' }]),
    getBenchmark: () => ({ bench_id: 'b1', label: 'words' }),
    listEvalRuns: () => [row('base', 'completed', 0.5), row('failed', 'failed', null), row('open', null, 0.5)],
    getTrajectoryRewards: () => rewardsOf(0.25, 0.75),
  });
  const list = ['runs', '--benchmark', 'b1', '--baseline', 'base', '--wide', '--format', 'csv'];
  expect((await cli('list', list)).code).toBe(0);
  expect(reads().toSorted()).toEqual(['base', 'failed', 'open']);
});

it('is not read again to look for a start with a lost response, with the range of the settings', async () => {
  const failed = { eval_run_id: 'r', bench_id: 'b1', status: 'failed', reward_mean: null, total_rollouts: 2 };
  const { cli, reads } = await countingReads({
    listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'words' }]),
    getBenchmark: () => ({ bench_id: 'b1', label: 'words' }),
    listEvalRuns: () => [failed],
    getTrajectoryRewards: () => rewardsOf(0.5, 0.75),
    startEval: () => (response: ServerResponse) => response.destroy(),
  });
  expect((await cli('config', ['set', 'compare.rewardRange', '0..2'])).code).toBe(0);
  await cli('list', ['runs', '--benchmark', 'b1']);
  const { code, notes } = await cli('evaluate', ['b1', '--model', 'm', '--name', 'x']);
  expect([code, notes]).toEqual([exitCodes.endUnseen, expect.stringContaining('benchtop list runs shows')]);
  expect(reads()).toEqual(['r']);
});

it('is the same in list after get has read a failed run', async () => {
  const failed = { eval_run_id: 'r', bench_id: 'b1', status: 'failed', reward_mean: null, total_rollouts: 4 };
  let values = [0.9, 0.9];
  const { cli } = await countingReads({
    listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'words' }]),
    getBenchmark: () => ({ bench_id: 'b1', label: 'words' }),
    listEvalRuns: () => [failed],
    getEvalRun: () => failed,
    getTrajectoryRewards: () => rewardsOf(...values),
  });
  const list = async () =>
    (await cli('list', ['runs', '--benchmark', 'b1', '--format', 'csv', '--columns', 'mean,n'])).out.split('\r\n')[1];
  expect(await list()).toBe('0.9,2');
  values = [0.1, 0.1, 0.1, 0.1];
  expect((await cli('get', ['r'])).out).toMatch(/^mean +0\.100 over 4 rewards$/m);
  expect(await list()).toBe('0.1,4');
});
