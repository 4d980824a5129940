/** `watch --since last`: what ended since the last look, with time and reason, until it is dismissed. */
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const endedAt = new Date(Date.now() - 60_000).toISOString();
const createdAt = new Date(Date.parse(endedAt) - 3_600_000).toISOString();

/** A benchmark with two training runs; both have ended once `over` says so, one of them badly. */
async function trainings() {
  const state = { over: false };
  const record = (id: string) => ({
    training_run_id: id,
    bench_id: 'b1',
    display_name: id,
    status: state.over ? (id === 'trn_bad' ? 'failed' : 'succeeded') : 'running',
    created_at: createdAt,
    completed_at: state.over ? endedAt : null,
    failure: state.over && id === 'trn_bad' ? { message: 'out of memory' } : null,
  });
  const { url } = await hostileServer((response, request) => {
    const { pathname } = new URL(request.url, 'http://s');
    if (pathname === '/api/v1/benchmarks')
      return json({ items: [{ bench_id: 'b1', label: 'b1' }], has_more: false })(response, request);
    if (pathname === '/api/v1/train/b1/runs')
      return json({ items: ['trn_bad', 'trn_good'].map(record) })(response, request);
    return json({}, 404)(response, request);
  });
  return { state, cli: cliOn({ baseUrl: url, apiKey }) };
}

it('prints each end with its time and reason, and fails if one is bad', async () => {
  const { state, cli } = await trainings();
  const before = await cli('watch', ['--since', 'last']);
  expect([before.code, before.out]).toEqual([0, '']);
  expect(before.notes).toContain('Nothing is known to have ended, failed or stalled since you last looked.');
  state.over = true;
  const { code, out, notes } = await cli('watch', ['--since', 'last']);
  expect(code).toBe(1);
  // There was no look before.
  expect(notes).toContain('1 failed, 1 ended.');
  expect(out.trim().split('\n').sort()).toEqual([
    `${endedAt}  trn_bad  failed, after 1h, out of memory`,
    `${endedAt}  trn_good  succeeded, after 1h`,
  ]);
  // Nobody has dismissed it.
  const again = await cli('watch', ['--since', 'last', '--json']);
  const events = again.out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(again.code).toBe(1);
  expect(events).toContainEqual(
    expect.objectContaining({
      id: 'trn_bad',
      event: 'failed',
      at: endedAt,
      at_is_exact: true,
      reason: 'out of memory',
    }),
  );
});

it('names deployments of one slug by the deployed run and step (B5)', async () => {
  const runs = ['shop1', 'shop2'];
  const state = { status: 'DEPLOYING' };
  const run = (name = '') => ({ training_run_id: `trn_${name}`, bench_id: 'b1', display_name: name });
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'b1' }]),
      listTrainingRuns: () => runs.map(run),
      getTrainingRun: ({ training_run_id }) => run(training_run_id?.replace('trn_', '')),
      listCheckpoints: ({ training_run_id }) => [{ checkpoint_id: `ckpt_${training_run_id}`, step_index: 60 }],
      listDeployments: () =>
        runs.map(name => ({
          ...{ deployment_id: `dep_${name}`, model_slug: 'shop-prod', status: state.status, created_at: createdAt },
          ...{ checkpoint_id: `ckpt_trn_${name}`, checkpoint_step: 60, completed_at: endedAt },
        })),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey });
  for (const name of runs) expect((await cli('deploy', [`${name}@60`, '--slug', 'shop-prod', '-n'])).code).toBe(0);
  await cli('watch', ['--since', 'last']);
  state.status = 'DEPLOYED';
  const { out } = await cli('watch', ['--since', 'last']);
  for (const name of runs) expect(out).toContain(`  shop-prod (${name} step 60)  deployed`);
});

it('reads the last numbers of completed runs until it has them all (out27 A1, C2)', async () => {
  const state = { over: false, upTo: 10, reads: 0 };
  const record = () => ({
    ...{ training_run_id: 'trn_1', bench_id: 'b1', display_name: 'nightly', created_at: createdAt },
    ...(state.over ? { status: 'succeeded', completed_at: endedAt } : { status: 'running' }),
  });
  const curve = () =>
    [10, 20].map(step => ({ step, held_out_reward: step / 40, completed_samples: 100, expected_samples: 100 }));
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'b1' }]),
      listTrainingRuns: () => [record()],
      getTrainingProgress: () => ({ ...record(), completed_steps: 20, total_steps: 20 }),
      getHeldOutRewards: () => {
        state.reads += 1;
        return { held_out_rewards: curve().filter(({ step }) => step <= state.upTo) };
      },
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey });
  const look = async () => (await cli('watch', ['--since', 'last'])).out;
  await look();
  state.over = true;
  expect(await look()).toMatch(/ held-out 0\.250\? at step 10, .*a newer one may follow; 20 of 20 steps/);
  state.upTo = 20;
  const last = await look();
  expect(last).toMatch(/ held-out 0\.500 at step 20, .*; 20 of 20 steps/);
  expect(last).not.toContain('may follow');
  expect(state.reads).toBe(2);
  expect(await look()).toBe(last);
  expect(state.reads).toBe(2);
});

describe('without a history (out29 A4)', () => {
  it('does not report all clear if the state folder cannot be created', async () => {
    const { cli } = await trainings();
    const home = testFolder();
    writeFileSync(join(home, 'file'), '');
    const { code, notes } = await cli('watch', ['--since', 'last'], {
      environment: { XDG_STATE_HOME: join(home, 'file') },
    });
    expect(code).toBe(6);
    expect(notes).toMatch(/^History is kept only while the program runs: .* not known what has ended since/);
  });

  it('does not report all clear if the state folder is full', async () => {
    const { state, cli } = await trainings();
    const environment = { XDG_STATE_HOME: testFolder() };
    const look = () => cli('watch', ['--since', 'last'], { environment });
    expect((await look()).code).toBe(0);
    const [path = ''] = globSync(join(environment.XDG_STATE_HOME, '**/remembered.db'));
    const database = new DatabaseSync(path);
    for (const table of ['seen', 'events'])
      database.exec(
        `create trigger no_${table} before insert on ${table} begin select raise(abort, 'disk is full'); end`,
      );
    database.close();
    state.over = true;
    const { code, notes } = await look();
    expect(code).toBe(6);
    expect(notes).toMatch(/^History cannot be saved: disk is full\. So it is not known what has ended since/);
  });
});

/** A running training run, and events that an earlier look saved. */
async function remembering(alarms: object = {}) {
  const run = { training_run_id: 'trn_good', bench_id: 'b1', display_name: 'trn_good', status: 'running' };
  const server = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'b1', label: 'b1' }]),
      listTrainingRuns: () => [run],
      getTrainingRun: () => run,
    }),
  );
  const home = testFolder();
  const folder = join(home, '.config', 'benchtop');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ alarms }), { mode: 0o600 });
  const cli = cliOn({ baseUrl: server.url, apiKey, home });
  const environment = { XDG_STATE_HOME: testFolder() };
  const look = () => cli('watch', ['--since', 'last'], { environment });
  expect((await look()).code).toBe(0);
  const put = (what: string, detail: object): void => {
    const [path = ''] = globSync(join(environment.XDG_STATE_HOME, '**/remembered.db'));
    const database = new DatabaseSync(path);
    database
      .prepare(
        `insert or replace into events (profile, kind, id, what, label, at, exact, detail, dismissed)
        select profile, 'training', 'trn_good', ?, 'trn_good', ?, 0, ?, 0 from seen limit 1`,
      )
      .run(what, Date.now(), JSON.stringify(detail));
    database.close();
  };
  return { server, look, put };
}

it('exits with 8 only for an alarm that is active and still on (out34 B6)', async () => {
  const { look, put } = await remembering();
  // This range is not set.
  put('held-out range', { alarm: 'held-out 0.1 is outside 0.2..0.9' });
  const off = await look();
  expect([off.code, off.out]).toEqual([0, expect.stringContaining('held-out 0.1 is outside')]);
  put('held-out drop', { alarm: 'held-out fell', overAtStep: 5 });
  const over = await look();
  expect([over.code, over.out]).toEqual([0, expect.stringContaining('over at step 5')]);
  put('held-out drop', { alarm: 'held-out fell' });
  expect((await look()).code).toBe(8);
});

it('exits with 1 or 8 even if an alarm is on a benchmark that was deleted (rev38 A4)', async () => {
  const { server, look, put } = await remembering({ benchmarks: { 'shop-*': { failedPercent: 20 } } });
  const reads = () => server.requests.filter(({ url }) => /benchmarks\/b9$/.test(url)).length;
  put('held-out drop', { alarm: 'held-out fell', parent: 'b9' });
  put('held-out range', { alarm: 'held-out 0.1 is outside 0.2..0.9', parent: 'b9' });
  expect([(await look()).code, reads()]).toEqual([8, 1]);
  put('end', { status: 'failed', done: 1 });
  expect([(await look()).code, reads()]).toEqual([1, 1]);
});

it('covers everything', async () => {
  const { cli } = await trainings();
  const { code, notes } = await cli('watch', ['trn_bad', '--since', 'last']);
  expect([code, notes]).toEqual([2, expect.stringContaining('--since covers everything')]);
});
