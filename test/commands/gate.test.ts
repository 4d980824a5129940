/** README's gate: compares a checkpoint with a baseline; the exit code is the verdict. */
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { startService, type TestService } from '../local/server/running.ts';
import { hostileServer, json, refusal, text } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

let service: TestService;
let cli: ReturnType<typeof cliOn>;
const model = 'benchtop/tutor-base';

beforeAll(async () => {
  service = await startService();
  cli = cliOn({ ...service, home: service.folder });
  await service.readyBenchmark('t-words');
  const options = ['-o', 'num_steps=3', '-o', 'train_batch_size=2', '-o', 'samples_per_instance=2'];
  expect((await cli('train', ['t-words', '-m', model, '--name', 'first', ...options, '-w'])).code).toBe(0);
});
afterAll(() => service.end());

const evaluate = async (name: string, ...more: string[]): Promise<string> =>
  (await cli('evaluate', ['t-words', '-m', model, '--name', name, ...more, '--wait', '--field', 'id'])).out.trim();

it('compares two runs task by task, as text and as JSON, and fails below a bound', async () => {
  const base = await evaluate('base');
  const fresh = await evaluate('new', '--checkpoint', 'first@latest');
  const { code, out } = await cli('compare', ['base', 'new', '--json']);
  expect(code).toBe(exitCodes.done);
  const { difference, interval, n, wins, losses, ties, ...runs } = JSON.parse(out);
  expect(runs).toMatchObject({ base: { eval_run_id: base, tasks: 28 }, new: { eval_run_id: fresh, tasks: 28 } });
  expect(difference).toBeCloseTo(runs.new.mean - runs.base.mean, 10);
  expect([n, wins + losses + ties]).toEqual([28, 28]);
  expect(interval.low).toBeLessThanOrEqual(difference);
  expect(interval.high).toBeGreaterThanOrEqual(difference);
  expect(interval.confidence).toBe(0.95);

  const text = (await cli('compare', [base, fresh])).out;
  expect(text).toMatch(
    /^base\t0\.?\d* over 28 tasks, base \(evr_\w+\), \S+\nnew\t.*\ndifference\t.* over 28 tasks in both\n95% CI\t.*\nverdict\t/,
  );
  const below = await cli('compare', [base, fresh, '--fail-below', String(interval.low - 0.001), '--field', 'passed']);
  expect([below.code, below.out]).toEqual([exitCodes.done, 'true\n']);
  const above = await cli('compare', [base, fresh, '--fail-below', String(interval.low + 0.001), '--json']);
  expect(above.code).toBe(exitCodes.failed);
  expect(JSON.parse(above.out)).toMatchObject({ passed: false });
  expect(JSON.parse(above.notes.split('\n').at(-1) ?? '').note).toMatch(
    /^Undecided whether the difference is at least/,
  );
});

it.each([
  [['base', 'nothing'], exitCodes.notFound, /no .*run nothing/],
  [['base'], exitCodes.usage, /Usage: benchtop compare BASE NEW/],
  [['base', 'base', '--confidence', '2'], exitCodes.usage, /between 0 and 1/],
  [['base', 'base', '--fail-below', 'x'], exitCodes.usage, /--fail-below takes a number, not x/],
  [['base', 'new', '--fail-below', '5'], exitCodes.usage, /from -1 to 1 for rewards of 0\.\.1: 5 never passes\./],
  [['base', 'new', '--fail-below', '-5'], exitCodes.usage, /rewards of 0\.\.1: -5 never fails a run\./],
  [
    ['base', 'new', '--fail-below', '2.5', '--reward-range', '-1..1'],
    exitCodes.usage,
    /from -2 to 2 for rewards of -1\.\.1: 2\.5 never/,
  ],
])('explains what is wrong with %j', async (args, code, words) => {
  const outcome = await cli('compare', args);
  expect(outcome).toMatchObject({ code, out: '' });
  expect(outcome.notes).toMatch(words);
});

it('takes any bound within the range of the rewards', async () => {
  const { code, out } = await cli('compare', ['base', 'new', '--fail-below', '5', '--reward-range', '0..10', '--json']);
  expect([code, JSON.parse(out).gate]).toEqual([exitCodes.failed, 'failed']);
});

it('export writes the trajectories of a run with their steps, which upload reads back', async () => {
  const file = join(testFolder(), 'rollouts.jsonl');
  expect(await cli('export', ['run', 'base', '--output', file])).toMatchObject({ code: exitCodes.done, out: '' });
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  expect(lines).toHaveLength(28);
  const [first] = lines.map(line => JSON.parse(line));
  expect(first.steps[0].messages.length).toBeGreaterThan(1);
  expect((await cli('export', ['base', '-o', file])).notes).toContain('already exists. Nothing was written');
  const one = await cli('export', [first.trajectory_id, '--output', '-']);
  expect(JSON.parse(one.out)).toEqual(first);
  const uploaded = await cli('upload', [file, '--dataset', 'again', '--json']);
  expect(JSON.parse(uploaded.out).trajectories).toHaveLength(28);
  expect(uploaded.code).toBe(exitCodes.done);
});

it.each([2, 3])('refuses a reward outside the given range in any of %d runs', async count => {
  const words = ['evr_1', 'evr_2', 'evr_3'].slice(0, count);
  const { url } = await hostileServer((response, request) => {
    const [id = ''] = /evr_\d/.exec(request.url) ?? [];
    const reward = id === words.at(-1) ? 2 : 1;
    const run = { eval_run_id: id, bench_id: 'b1', status: 'completed', total_rollouts: 1 };
    const trajectory_rewards = [{ reward, task_id: 't1', trajectory_id: 'j1' }];
    return json(request.url.endsWith('rewards') ? { trajectory_rewards } : run)(response, request);
  });
  const outcome = await cliOn({ baseUrl: url, apiKey: 'key' })('compare', [...words, '--reward-range', '0..1']);
  expect(outcome).toMatchObject({ code: exitCodes.usage, out: '' });
  expect(outcome.notes).toContain('A reward for t1 is 2, outside --reward-range 0..1.');
});

it('compares failed runs, and says so', async () => {
  const time = '2026-01-01T00:00:00Z';
  const run = { eval_run_id: 'evr_1', bench_id: 'b', status: 'failed', created_at: time };
  const trajectory_rewards = [0, 1].map(reward => ({ reward, task_id: `t${reward}`, trajectory_id: `j${reward}` }));
  const server = await hostileServer((response, request) =>
    json(request.url.endsWith('rewards') ? { eval_run_id: 'evr_1', trajectory_rewards } : run)(response, request),
  );
  const { code, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('compare', ['evr_1', 'evr_1']);
  expect(code).toBe(exitCodes.done);
  expect(notes).toContain('evr_1 ended as failed: rewards may be missing.');
});

it('prints notes on one line for runs whose ids have line breaks', async () => {
  const eval_run_id = 'evr_1\nbenchtop: passed';
  const server = await hostileServer((response, request) => {
    const answer = request.url.endsWith('rewards') ? { trajectory_rewards: [] } : { status: 'failed' };
    return json({ eval_run_id, bench_id: 'b', ...answer })(response, request);
  });
  const { notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('compare', [eval_run_id, eval_run_id]);
  expect(notes).toContain('evr_1 benchtop: passed ended as failed: rewards may be missing.');
  expect(notes).not.toMatch(/^benchtop: passed/m);
});

it('export leaves no file if a trajectory of it cannot be read', async () => {
  let reads = 0;
  const server = await hostileServer((response, request) => {
    const isTrajectory = request.url.includes('/trajectories/traj_1');
    if (isTrajectory) reads += 1;
    const first = isTrajectory && reads === 1;
    return (first ? json({ trajectory_id: 'traj_1', status: 'completed' }) : refusal(404, 'not_found_error', 'gone'))(
      response,
      request,
    );
  });
  const folder = testFolder();
  const broken = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code } = await broken('export', ['traj_1', '-o', join(folder, 'half.jsonl')]);
  expect([code, reads]).toEqual([exitCodes.notFound, 2]);
  expect(readdirSync(folder)).toEqual([]);
});

it('export skips a trajectory without a reader, names it, and fails', async () => {
  const deep = `{"trajectory_id":"traj_2","deep":${'['.repeat(3_000)}${']'.repeat(3_000)}}`;
  const items = ['traj_1', 'traj_2', 'traj_3'].map(trajectory_id => ({ trajectory_id, status: 'completed' }));
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0] ?? '';
    const own = items.find(({ trajectory_id }) => path.endsWith(trajectory_id));
    if (own?.trajectory_id === 'traj_2')
      return text(deep, 200, { 'content-type': 'application/json' })(response, request);
    const run = { eval_run_id: 'evr_1', bench_id: 'b', status: 'completed' };
    return json(own ?? (path.endsWith('/evr_1') ? run : { items, has_more: false }))(response, request);
  });
  const file = join(testFolder(), 'most.jsonl');
  const most = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code, notes } = await most('export', ['evr_1', '-o', file]);
  expect(readFileSync(file, 'utf8').match(/traj_\d/g)).toEqual(['traj_1', 'traj_3']);
  expect(notes).toContain(
    'Left out: traj_2: The response to GET /api/v1/trajectories/traj_2 is nested deeper than 1000 levels',
  );
  expect(notes).toContain(`2 trajectories in ${file}; 1 left out`);
  expect(code).toBe(exitCodes.failed);
  const alone = await most('export', ['traj_2', '-o', join(testFolder(), 'none.jsonl')]);
  expect([alone.code, alone.notes]).toEqual([exitCodes.failed, expect.stringContaining('nested deeper than')]);
});

/** The steps of README's workflow that begin with `run:`. */
function workflowScript(): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, workflow = ''] = /## A gate in CI.*?```yaml\n(.*?)```/s.exec(readme) ?? [];
  const [, script = ''] = /run: \|\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  return script.replaceAll(/^ {10}/gm, '');
}

it('runs the workflow of README, which a missed bound stops', async () => {
  const script = workflowScript();
  expect(script).toContain('--fail-below 0');
  const folder = testFolder();
  const program = join(folder, 'benchtop');
  const tsx = new URL('../../node_modules/.bin/tsx', import.meta.url).pathname;
  writeFileSync(program, `#!/bin/sh\nexec ${tsx} ${new URL('../../src/main.ts', import.meta.url).pathname} "$@"\n`);
  chmodSync(program, 0o755);
  const run = (text: string): Promise<{ code: number; output: string }> =>
    new Promise(resolve => {
      const env = {
        PATH: `${folder}:${process.env['PATH']}`,
        HOME: service.folder,
        BENCHTOP_BASE_URL: service.baseUrl,
        BENCHTOP_API_KEY: service.apiKey,
        BASE: 'base',
      };
      execFile('bash', ['-eo', 'pipefail', '-c', text], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: `${stdout}${stderr}` }),
      );
    });
  const [passes, stops] = [
    await run(script.replace('--fail-below 0', '--fail-below -1')),
    await run(script.replace('--fail-below 0', '--fail-below 1')),
  ];
  expect(passes).toMatchObject({ code: 0, output: expect.stringMatching(/difference\t.*wins/s) });
  expect(stops).toMatchObject({ code: 1, output: expect.stringContaining('Too low. The difference is between') });
});
