/** Lists of training runs with measured values, and the requests they take. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { answering } from '../answering.ts';
import { busyWorld } from '../busy-world.ts';
import { type Behaviour, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

async function busyCli() {
  const server = await hostileServer(answering(busyWorld().answers));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  /** The requests for curves since the last call, by the end of their paths. */
  let before = 0;
  const curves = () => {
    const paths = server.requests.slice(before).map(({ url }) => url.split('?')[0]?.split('/').at(-1));
    before = server.requests.length;
    return {
      heldOut: paths.filter(path => path === 'held-out-reward-by-step').length,
      trainer: paths.filter(path => path === 'trainer-reward-by-step').length,
    };
  };
  return { cli, curves };
}

const bench = ['--benchmark', 'bench_1'];
const cells = (out: string): string[][] =>
  out
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'));

it('a table has the same columns as the screen', async () => {
  const { cli, curves } = await busyCli();
  const { out } = await cli('list', ['training', ...bench], { columns: 240 });
  const [head = '', first = ''] = out.split('\n');
  // The interval belongs to the last reward, not to the best one.
  expect(head).toMatch(/HELD-OUT +95% CI .*BEST +BEST STEP.*TOOK/);
  for (const title of ['TRAINER  ', 'LEARNING_RATE']) expect(head).not.toContain(title);
  expect(first).toMatch(/ 0\.\d{3} .* 0\.\d+\.\.0\.\d+/);
  expect(curves()).toEqual({ heldOut: 25, trainer: 0 });
  // Those that have ended were read once.
  await cli('list', ['training', ...bench, '--status', 'succeeded'], { columns: 240 });
  expect(curves()).toEqual({ heldOut: 0, trainer: 0 });
});

it('reads a completed run again until its held-out rounds are complete, and says how many samples its mean has', async () => {
  const round = {
    step: 40,
    held_out_reward: 0.95,
    expected_samples: 112,
    completed_samples: 5,
    round_completed: false,
  };
  // The best one may be a round that is not the newest.
  const before = { ...round, step: 35, held_out_reward: 0.4, completed_samples: 50 };
  const whole = { completed_samples: 112, round_completed: true };
  let held_out_rewards = [before, round];
  const server = await hostileServer(
    answering({
      ...busyWorld().answers,
      listTrainingRuns: () => [
        { training_run_id: 'trn_1', bench_id: 'bench_1', status: 'succeeded', options: { num_steps: 40 } },
      ],
      getHeldOutRewards: () => ({ held_out_rewards }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const columns = ['--columns', 'held-out,samples,expected,best,best-step'];
  const listed = async () => cells((await cli('list', ['training', ...bench, ...columns])).out)[1];
  expect(await listed()).toEqual(['0.95', '5', '112', '0.4', '35']);
  const { out } = await cli('list', ['training', ...bench], { columns: 200 });
  expect(out).toContain('0.950 n=5');
  held_out_rewards = [before, { ...round, ...whole, held_out_reward: 0.671 }];
  expect(await listed()).toEqual(['0.671', '112', '112', '0.671', '40']);
  held_out_rewards = [
    { ...before, ...whole, held_out_reward: 0.8 },
    { ...round, ...whole, held_out_reward: 0.671 },
  ];
  expect(await listed()).toEqual(['0.671', '112', '112', '0.8', '35']);
  const count = () => server.requests.filter(({ url }) => url.includes('held-out')).length;
  const asked = count();
  expect(await listed()).toEqual(['0.671', '112', '112', '0.8', '35']);
  expect(count()).toBe(asked);
});

it.each([
  { without: 'the round of the last step', counts: { completed_samples: 112 }, completed_at: true, early: [] },
  {
    without: 'the mean of the last round',
    counts: { completed_samples: 112 },
    completed_at: true,
    early: [{ step: 40, held_out_reward: null, expected_samples: 112, completed_samples: 112, failed_samples: 0 }],
  },
  { without: 'counts of samples', counts: {}, completed_at: true, early: [] },
  { without: 'counts or the time of its end', counts: {}, completed_at: false, early: [] },
])('reads a curve without $without again until an hour after the run ended', async example => {
  const { counts, completed_at, early } = example;
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const ended = new Date().toISOString();
  const row = { held_out_reward: 0.7, ...counts };
  const before = [
    { ...row, step: 30 },
    { ...row, step: 35 },
  ];
  let held_out_rewards: object[] = [...before, ...early];
  const server = await hostileServer(
    answering({
      ...busyWorld().answers,
      listTrainingRuns: () => [
        {
          ...{ training_run_id: 'trn_1', bench_id: 'bench_1', status: 'succeeded', options: { num_steps: 40 } },
          ...(completed_at && { completed_at: ended }),
        },
      ],
      getHeldOutRewards: () => ({ held_out_rewards }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const listed = async () => {
    const { out } = await cli('list', ['training', ...bench, '--columns', 'held-out,best-step']);
    return [...(cells(out)[1] ?? []), server.requests.filter(({ url }) => url.includes('held-out')).length];
  };
  expect(await listed()).toEqual(['0.7', '35', 1]);
  held_out_rewards = [...before, { ...row, step: 40, held_out_reward: 0.8 }];
  expect(await listed()).toEqual(['0.8', '40', 2]);
  const again = 'completed_samples' in counts ? 0 : 1;
  expect(await listed()).toEqual(['0.8', '40', 2 + again]);
  vi.setSystemTime(Date.now() + 61 * 60_000);
  expect(await listed()).toEqual(['0.8', '40', 2 + 2 * again]);
  expect(await listed()).toEqual(['0.8', '40', 2 + 2 * again]);
});

it('says once why a list on a terminal waits for values', async () => {
  const isAsked = Promise.withResolvers<void>();
  const isSent = Promise.withResolvers<void>();
  const answer = answering(busyWorld().answers);
  const { url } = await hostileServer(async (response, request) => {
    if (request.url.includes('held-out')) {
      isAsked.resolve();
      await isSent.promise;
    }
    return answer(response, request);
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const said: string[] = [];
  const onNote = (text: string) => void said.push(text);
  const read = cliOn({ baseUrl: url, apiKey: 'key' })('list', ['training', ...bench], { columns: 240, onNote });
  await isAsked.promise;
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(said).toEqual([expect.stringMatching(/^Reading HELD-OUT, .* of 25 rows: a list without them/)]);
  vi.useRealTimers();
  isSent.resolve();
  expect((await read).code).toBe(0);
});

it('filters and sorts by measured values and by options', async () => {
  const { cli, curves } = await busyCli();
  // All have the same learning rate, which no column shows.
  const filter = ['--filter', 'lr<2e-4 heldout<0.5', '--sort', 'heldout', '--columns', 'name,held-out,learning_rate'];
  const { out, notes } = await cli('list', ['training', ...bench, ...filter]);
  const [head, ...rows] = cells(out);
  expect(notes).toBe('');
  expect(head).toEqual(['TRAINING RUN', 'HELD-OUT', 'LEARNING_RATE']);
  expect(rows.length).toBeGreaterThan(2);
  const rewards = rows.map(([, reward]) => Number(reward));
  expect(rewards).toEqual(rewards.toSorted((one, other) => one - other));
  for (const [, reward, rate] of rows) {
    expect(Number(reward)).toBeLessThan(0.5);
    expect(Number(rate)).toBeLessThan(2e-4);
  }
  expect(curves()).toEqual({ heldOut: 25, trainer: 0 });
});

it('sorts as on screen: lost samples count as the lowest', async () => {
  const rewards: Record<string, readonly [reward: number, completed: number]> = {
    few: [0.95, 10],
    whole: [0.7, 100],
    low: [0.6, 100],
  };
  const server = await hostileServer(
    answering({
      ...busyWorld().answers,
      listTrainingRuns: () =>
        Object.keys(rewards).map(id => ({ training_run_id: id, bench_id: 'bench_1', status: 'succeeded' })),
      getHeldOutRewards: ({ training_run_id = '' }) => {
        const [held_out_reward, completed_samples] = rewards[training_run_id] ?? [];
        return { held_out_rewards: [{ step: 9, held_out_reward, completed_samples, expected_samples: 100 }] };
      },
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out, notes } = await cli('list', ['training', ...bench, '--sort', 'held-out', '--reverse', '--ids']);
  expect(out).toBe('whole\nlow\nfew\n');
  expect(notes).toContain('Sorted by HELD-OUT, missing rewards as the lowest.');
});

it('sends no extra requests if no measured value is wanted', async () => {
  const { cli, curves } = await busyCli();
  for (const flags of [['--ids'], ['--json'], ['--columns', 'name,status'], ['--filter', 'failed', '--ids']])
    expect((await cli('list', ['training', ...bench, ...flags])).code).toBe(0);
  expect(curves()).toEqual({ heldOut: 0, trainer: 0 });
});

it('JSON includes measured values with --wide, and CSV has the same columns for any rows', async () => {
  const { cli, curves } = await busyCli();
  const { out } = await cli('list', ['training', ...bench, '--json', '--wide', '--limit', '3']);
  const [row] = JSON.parse(out) as [Record<string, unknown>];
  expect(row['trainer_reward']).toEqual(expect.any(Number));
  expect(curves()).toEqual({ heldOut: 3, trainer: 3 });
  const { held_out } = JSON.parse((await cli('get', ['training', row['training_run_id'] as string, '--json'])).out);
  expect(held_out.last).toMatchObject({ reward: expect.any(Number), samples: expect.any(Number), may_change: false });
  expect(row['held_out']).toEqual(held_out);
  const csv = async (...flags: string[]) =>
    (await cli('list', ['training', ...flags, '--format', 'csv'])).out.split('\n')[0];
  const head = await csv(...bench);
  expect(head).toContain('held-out');
  expect(head).toContain('95% ci');
  expect(head).not.toContain('learning_rate');
  expect(await csv('--filter', 'nothing-is-called-so')).toBe(head);
  expect(await csv('--wide', '--limit', '30')).toContain('learning_rate');
});

it('reads at most 500 rows to filter, and says so', async () => {
  const { answers } = busyWorld();
  const rows = Array.from({ length: 600 }, (_, index) => ({ training_run_id: `trn_x${index}`, status: 'running' }));
  const server = await hostileServer(
    answering({
      ...answers,
      listTrainingRuns: () => rows,
      getHeldOutRewards: () => ({ held_out_rewards: [{ step: 1, held_out_reward: 0.5, completed_samples: 8 }] }),
      getTrainingProgress: () => ({ completed_steps: 1, total_steps: 2 }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out, notes } = await cli('list', ['training', ...bench, '--filter', 'heldout>0.1', '--ids', '--all']);
  expect(out.trimEnd().split('\n')).toHaveLength(500);
  expect(notes).toContain('HELD-OUT: read for the first 500 rows, not for 100 further rows');
});

it('finds a run by name without the progress of other runs', async () => {
  const { answers } = busyWorld();
  const rows = ['one', 'two'].map(name => ({ training_run_id: `trn_${name}`, display_name: name, status: 'running' }));
  const server = await hostileServer(answering({ ...answers, listTrainingRuns: () => rows }));
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  await cli('get', ['training', 'two']);
  const asked = server.requests.flatMap(({ url = '' }) => /([^/]+)\/progress/.exec(url)?.[1] ?? []);
  expect(new Set(asked)).toEqual(new Set(['trn_two']));
});

it('refuses an unknown status, and lists the known ones', async () => {
  const { cli } = await busyCli();
  const { code, out, notes } = await cli('list', ['training', ...bench, '--filter', 'status:nonexistent']);
  expect([code, out]).toEqual([2, '']);
  expect(notes).toContain('There is no status nonexistent. Statuses: ');
  expect(notes).toContain('cancelled');
  const unknown = await cli('list', ['training', ...bench, '--filter', 'momentum>1']);
  expect(unknown.notes).toContain('There is no column momentum');
});

it.each([
  [
    'a minute ago',
    60_000,
    '0.500?',
    /held-out reward {2}0\.500\? at step 5, from 8 samples, .*; a newer one may follow$/m,
  ],
  ['an hour ago', 3_600_000, '0.500', /held-out reward {2}0\.500 at step 5, from 8 samples, [^;]*$/m],
])(
  'says for a run that succeeded %s without its last round whether the round may still arrive',
  async (_, ms, cell, words) => {
    const row = {
      ...{ training_run_id: 'trn_1', bench_id: 'bench_1', status: 'succeeded', total_steps: 8 },
      ...{ created_at: '2026-01-01T00:00:00Z', completed_at: new Date(Date.now() - ms).toISOString() },
    };
    const server = await hostileServer(
      answering({
        ...busyWorld().answers,
        listTrainingRuns: () => [row],
        getTrainingRun: () => row,
        getTrainingProgress: () => ({ status: 'succeeded', completed_steps: 8, total_steps: 8 }),
        getTrainerRewards: () => ({ trainer_rewards: [] }),
        getHeldOutRewards: () => ({ held_out_rewards: [{ step: 5, held_out_reward: 0.5, completed_samples: 8 }] }),
      }),
    );
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const { out } = await cli('list', ['training', ...bench], { columns: 200 });
    expect(out.split('\n')[1]).toContain(` ${cell} `);
    expect((await cli('get', ['training', 'trn_1'])).out).toMatch(words);
  },
);

it('lists evaluation runs with their difference to a baseline', async () => {
  const { answers } = busyWorld();
  const run = (id: string, reward_mean: number) => ({
    ...{ eval_run_id: id, bench_id: 'bench_1', display_name: `run ${id}`, status: 'completed', reward_mean },
    ...{ reward_count: 20, total_rollouts: 20 },
  });
  const rows = [run('evr_a', 0.45), run('evr_b', 0.945)];
  let least = 0.9;
  const server = await hostileServer(
    answering({
      ...answers,
      listEvalRuns: () => rows,
      getEvalRun: ({ eval_run_id }) => rows.find(row => row.eval_run_id === eval_run_id),
      getTrajectoryRewards: ({ eval_run_id }) => ({
        trajectory_rewards: Array.from({ length: 20 }, (_, index) => ({
          ...{ task_id: `task ${index}`, trajectory_id: `traj_${eval_run_id}_${index}` },
          reward: eval_run_id === 'evr_a' ? (index % 10) / 10 : (index % 10) / 100 + least,
        })),
      }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const rewards = () => server.requests.filter(({ url }) => url.includes('trajectory-rewards')).length;
  // Without the column, or without room for it, no reward is read.
  for (const flags of [['--ids'], ['--json'], ['--columns', 'run,mean']])
    await cli('list', ['runs', ...bench, ...flags]);
  const narrow = await cli('list', ['runs', ...bench], { columns: 50 });
  expect(narrow.out).not.toContain('95% CI');
  expect(rewards()).toBe(0);
  const plain = await cli('list', ['runs', ...bench], { columns: 200 });
  expect(plain.out).not.toContain('VS BASE');
  expect(plain.out).toMatch(/MEAN +95% CI/);
  expect(rewards()).toBe(2);
  const again = await cli('list', ['runs', ...bench, '--sort', 'interval', '--filter', 'interval>0.5', '--ids']);
  expect(again.out).toBe('evr_b\n');
  // Those of ended runs were read once.
  expect(rewards()).toBe(2);
  const table = await cli('list', ['runs', ...bench, '--baseline', 'run evr_a'], { columns: 200 });
  expect(table.out).toMatch(/run evr_a .* baseline/);
  expect(table.out).toMatch(/run evr_b .* \+0\.495 +\+0\.\d+\.\.\+0\.\d+/);
  expect(rewards()).toBe(4);
  // The difference of completed runs was read once too, until one of them is graded again.
  expect((await cli('list', ['runs', ...bench, '--baseline', 'evr_a'], { columns: 200 })).out).toBe(table.out);
  expect(rewards()).toBe(4);
  least = 0.8;
  rows[1] = run('evr_b', 0.845);
  const graded = await cli('list', ['runs', ...bench, '--baseline', 'evr_a'], { columns: 200 });
  expect(graded.out).toMatch(/run evr_b .* \+0\.395 +\+0\.\d+\.\.\+0\.\d+/);
  expect(rewards()).toBe(6);
  expect((await cli('list', ['training', ...bench, '--baseline', 'evr_a'])).notes).toContain('--baseline is not for');
});

it('lists failed rollouts of evaluations with listed rollouts, and filters by their number', async () => {
  const rows = ['evr_lost', 'evr_whole'].map(eval_run_id => ({
    ...{ eval_run_id, bench_id: 'bench_1', status: 'completed', reward_mean: 0.5, total_rollouts: 4 },
  }));
  const rollouts = (id: string | undefined) =>
    Array.from({ length: 4 }, (_, index) => ({
      ...{ trajectory_id: `${id}_${index}`, task_id: `t${index}`, eval_run_id: id },
      ...(index < 2 || id === 'evr_whole' ? { status: 'completed', reward: index % 2 } : { status: 'failed' }),
    }));
  const server = await hostileServer(
    answering({
      ...busyWorld().answers,
      listEvalRuns: () => rows,
      getTrajectoryRewards: ({ eval_run_id }) => ({
        trajectory_rewards: rollouts(eval_run_id).filter(({ status }) => status === 'completed'),
      }),
      // The other run has all its rewards, so its rollouts are not asked for.
      listTrajectories: () => ({ items: rollouts('evr_lost'), has_more: false }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out } = await cli('list', ['runs', ...bench, '--columns', 'id,failed']);
  expect(cells(out).slice(1)).toEqual([
    ['evr_lost', '2'],
    ['evr_whole', '0'],
  ]);
  expect((await cli('list', ['runs', ...bench, '--filter', 'failed>0', '--ids'])).out).toBe('evr_lost\n');
});

it('filters by failed rollouts of evaluations that run, that failed, and whose total is unknown', async () => {
  const rollouts = [
    { status: 'completed', reward: 1 },
    { status: 'failed', reward: null },
    { status: 'failed', reward: null },
  ].map((rollout, index) => ({ ...rollout, trajectory_id: `traj_${index}`, task_id: `t${index}` }));
  const runs = [
    { eval_run_id: 'evr_running', bench_id: 'bench_1', status: 'running', total_rollouts: 4 },
    { eval_run_id: 'evr_failed', bench_id: 'bench_1', status: 'failed', total_rollouts: 4 },
    { eval_run_id: 'evr_done', bench_id: 'bench_1', status: 'completed', reward_mean: 1 },
  ];
  const server = await hostileServer(
    answering({
      ...busyWorld().answers,
      listEvalRuns: () => runs,
      getEvalRun: ({ eval_run_id }) => runs.find(run => run.eval_run_id === eval_run_id),
      getEvalProgress: ({ eval_run_id }) => {
        if (eval_run_id !== 'evr_running') throw new Error('404');
        return { status: 'running', terminal_rollouts: 3, total_rollouts: 4, live: { failed_rollouts: 3 } };
      },
      getTrajectoryRewards: () => ({ trajectory_rewards: rollouts.slice(0, 1) }),
      listTrajectories: () => ({ items: rollouts, has_more: false }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out } = await cli('list', ['runs', ...bench, '--filter', 'failed>0', '--columns', 'id,failed']);
  expect(cells(out).slice(1)).toEqual([
    ['evr_running', '3'],
    ['evr_failed', '2'],
    ['evr_done', '2'],
  ]);
});

/** A service whose runs have a mean, and whose rewards are answered by the script, by run. */
async function meanCli(rewardsOf: (id: string) => Behaviour) {
  const rows = ['evr_a', 'evr_b', 'evr_c', 'evr_d', 'evr_e'].map(eval_run_id => ({
    ...{ eval_run_id, bench_id: 'bench_1', status: 'completed', reward_mean: 0.5, reward_count: 2, total_rollouts: 2 },
  }));
  const others = answering({ ...busyWorld().answers, listEvalRuns: () => rows });
  const server = await hostileServer((response, request) => {
    const id = /(evr_.)\/trajectory-rewards/.exec(request.url)?.[1];
    return (id === undefined ? others : rewardsOf(id))(response, request);
  });
  const asked = () => server.requests.flatMap(({ url }) => /(evr_.)\/trajectory-rewards/.exec(url)?.[1] ?? []);
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  return { asked, list: (...flags: string[]) => cli('list', ['runs', ...bench, ...flags]) };
}

const rewards = json({
  trajectory_rewards: [0.2, 0.8].map((reward, at) => ({ task_id: `task ${at}`, trajectory_id: `traj_${at}`, reward })),
});

it('reads rewards only for printed rows (B1)', async () => {
  const { asked, list } = await meanCli(() => rewards);
  await list('--limit', '3');
  expect(asked()).toEqual(['evr_a', 'evr_b', 'evr_c']);
});

it.each([429, 503, 403])(
  'prints rows at once without a column that is refused with %i, and stops asking (B1)',
  async status => {
    const error = { type: 'dependency_error', code: 'x', message: 'Not now.' };
    const { asked, list } = await meanCli(() => json({ error }, status, { 'retry-after': '3600' }));
    const { code, out, notes } = await list();
    expect([code, cells(out).length]).toEqual([0, 6]);
    expect(notes.match(/could not be read for 5 rows \(.* and 2 more\): .*Not now/g)).toHaveLength(1);
    // Each at most once: none is sent after the first refusal.
    expect(asked().length).toBeLessThan(5);
  },
);

it('leaves out the value of the one row that fails (B1)', async () => {
  const { list } = await meanCli(id => (id === 'evr_b' ? json({ error: { message: 'Broken.' } }, 500) : rewards));
  const { out, notes } = await list('--columns', 'id,interval');
  expect(cells(out).map(([, interval]) => interval !== '')).toEqual([true, true, false, true, true, true]);
  expect(notes).toContain('95% CI could not be read for 1 row (evr_b): ');
});

it('keeps and remembers what was read before everything is refused (N7)', async () => {
  const error = { type: 'rate_limit_error', code: 'rate_limited', message: 'Not now.' };
  let isLimited = true;
  const { asked, list } = await meanCli((id): Behaviour => {
    if (id !== 'evr_e' || !isLimited) return rewards;
    return json({ error }, 429, { 'retry-after': '1' });
  });
  const intervals = async () => {
    const { code, out, notes } = await list('--columns', 'id,interval');
    expect(code).toBe(0);
    return { notes, shown: cells(out).filter(([, interval]) => interval?.includes('..')).length };
  };
  const { notes, shown } = await intervals();
  expect(shown).toBeGreaterThan(0);
  expect(notes).toContain(`95% CI could not be read for ${5 - shown} row`);
  isLimited = false;
  const before = asked().length;
  expect(await intervals()).toEqual({ notes: '', shown: 5 });
  expect(asked().length - before).toBe(5 - shown);
});

it('sorts an unread row last, but does not filter it out (N7)', async () => {
  const { list } = await meanCli(id => (id === 'evr_b' ? json({ error: { message: 'Broken.' } }, 422) : rewards));
  for (const flags of [[], ['--reverse']]) {
    const { code, out, notes } = await list('--sort', 'interval', '--ids', ...flags);
    expect([code, out.trim().split('\n').at(-1)]).toEqual([0, 'evr_b']);
    expect(notes).toMatch(/95% CI could not be read for 1 row \(evr_b\): .*Rows without the value come last/);
  }
  const { code, out } = await list('--sort', 'interval', '--filter', 'interval>0', '--ids');
  expect([code, out]).toEqual([2, '']);
});

/** A run with two checkpoints; the first one was evaluated. */
async function checkpointCli(more: Parameters<typeof answering>[0] = {}) {
  const server = await hostileServer(
    answering({
      ...busyWorld().answers,
      listCheckpoints: () => [2, 4].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step })),
      getHeldOutRewards: () => ({
        held_out_rewards: [2, 4, 6].map(step => ({ step, held_out_reward: 1 - step / 10, completed_samples: 128 })),
      }),
      listEvalRuns: () => [
        {
          ...{ eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed', parent_checkpoint_id: 'ckpt_2' },
          ...{ reward_mean: 0.25, reward_count: 128, total_rollouts: 128, created_at: '2026-01-01T00:00:00Z' },
        },
      ],
      getTrajectoryRewards: () => ({
        trajectory_rewards: Array.from({ length: 128 }, (_, at) => ({
          ...{ task_id: `task ${at % 32}`, trajectory_id: `traj_${at}`, reward: at % 4 === 0 ? 1 : 0 },
        })),
      }),
      ...more,
    }),
  );
  return { cli: cliOn({ baseUrl: server.url, apiKey: 'key' }), requests: server.requests };
}

it('a table of checkpoints has the held-out rewards, the best one and the evaluations, as on screen', async () => {
  const { cli, requests } = await checkpointCli();
  const list = ['checkpoints', '--training', 'trn_0000001'];
  const { out, notes } = await cli('list', list, { columns: 200 });
  expect(notes).toBe('');
  const [head = '', ...rows] = out.trimEnd().split('\n');
  expect(head).toMatch(/CHECKPOINT +ID +HELD-OUT +BEST +95% CI +EVALUATED +EVAL 95% CI +RUNS/);
  expect(rows.find(row => row.includes('step 2'))).toMatch(
    /0\.800 +best +0\.\d+\.\.0\.\d+ +0\.250 +0\.\d+\.\.0\.\d+ +1/,
  );
  expect(rows.find(row => row.includes('step 4'))).toMatch(/0\.600 +0\.\d+\.\.0\.\d+$|0\.600 +0\.\d+\.\.0\.\d+ /);
  const { out: found } = await cli('list', [...list, '--filter', 'heldout<0.7', '--ids']);
  expect(found).toBe('ckpt_4\n');
  // The ids alone take no measurement.
  const before = requests.length;
  await cli('list', [...list, '--ids']);
  expect(requests.slice(before).filter(({ url }) => /held-out|evals/.test(url ?? ''))).toEqual([]);
});

it('a table of checkpoints shows their deployments, read once and only if wanted', async () => {
  const deployed = (id: string, slug: string, role: string, status = 'DEPLOYED') => {
    const is_active = role === 'production';
    return { deployment_id: id, checkpoint_id: 'ckpt_4', model_slug: slug, role, status, is_active };
  };
  const listDeployments = () => [
    deployed('dep_1', 'tried', 'test'),
    deployed('dep_2', 'words', 'production'),
    deployed('dep_3', 'broken', 'test', 'FAILED'),
  ];
  const { cli, requests } = await checkpointCli({ listDeployments });
  const asked = () => requests.filter(({ url }) => url.startsWith('/api/v1/deploy')).length;
  const list = ['checkpoints', '--training', 'trn_0000001'];
  await cli('list', [...list, '--columns', 'step,id']);
  expect(asked()).toBe(0);
  const { out, notes } = await cli('list', [...list, '--columns', 'step,deployed'], { columns: 200 });
  expect([notes, asked()]).toEqual(['', 1]);
  expect(out).toMatch(/^CHECKPOINT +DEPLOYED/);
  expect(out).toMatch(/^step 4 +production: words; tried *$/m);
  expect((await cli('list', [...list, '--filter', 'deployed:words', '--ids'])).out).toBe('ckpt_4\n');
  expect((await cli('list', list, { columns: 200 })).out).toContain('DEPLOYED');
});

it('get of a training run shows the last and the best held-out reward', async () => {
  const { cli } = await checkpointCli();
  const { out } = await cli('get', ['training', 'trn_0000001']);
  expect(out).toMatch(/held-out reward +0\.400 at step 6/);
  expect(out).toMatch(/best held-out +0\.800 at step 2, .*overstates it/s);
  const { out: json } = await cli('get', ['training', 'trn_0000001', '--json']);
  const interval = { low: expect.any(Number), high: expect.any(Number), confidence: 0.95 };
  const point = { interval, samples: 128, expected: 128, split: null, may_change: false };
  const [last, best] = [
    { ...point, step: 6, reward: 0.4 },
    { ...point, step: 2, reward: 0.8 },
  ];
  const held_out = { last, best, failed_rounds: 0 };
  expect(JSON.parse(json).held_out).toEqual(held_out);
  const field = ['training', 'trn_0000001', '--field', 'held_out.best.reward'];
  expect((await cli('get', field)).out).toBe('0.8\n');
  const ofList = async (...flags: string[]) => (await cli('list', ['training', '--limit', '1', ...flags])).out;
  expect(await ofList('--field', 'held_out.best.reward')).toBe('0.8\n');
  expect(await ofList('--wide', '--field', 'held_out.best.reward')).toBe('0.8\n');
  expect(await ofList('--field', 'held_out.best.rewards')).toBe('');
  const ofSteps = ['checkpoints', '--training', 'trn_0000001', '--field', 'held_out.reward'];
  expect((await cli('list', ofSteps)).out.split('\n')).toContain('0.8');
  const wide = await cli('list', ['checkpoints', '--training', 'trn_0000001', '--json', '--wide']);
  expect(JSON.parse(wide.out)).toContainEqual(expect.objectContaining({ step_index: 2, held_out: best }));
});

it('reads texts of rollouts only for a column or a filter that needs them', async () => {
  const steps = (id: string) => [{ step_index: 0, messages: [{ role: 'assistant', content: `said by ${id}\nmore` }] }];
  const row = (trajectory_id: string) => ({
    trajectory_id,
    task_id: 'task',
    status: 'completed',
    sample: 2,
    target: 'x',
  });
  const server = await hostileServer(
    answering({
      listTrajectories: () => ({ items: [row('traj_1'), row('traj_2')], has_more: false, next_cursor: null }),
      getTrajectory: ({ trajectory_id = '' }) => ({ ...row(trajectory_id), steps: steps(trajectory_id) }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const list = async (...flags: string[]) => {
    const before = server.requests.length;
    const { out } = await cli('list', ['trajectories', ...flags]);
    return { out, requests: server.requests.length - before };
  };
  expect((await list('--wide')).requests).toBe(1);
  const { out, notes } = await cli('list', ['trajectories', '--columns', 'id,tokens']);
  expect([out, notes]).toEqual([
    'ID\tTOKENS\ntraj_1\t\ntraj_2\t\n',
    expect.stringContaining('TOKENS is not in this list: '),
  ]);
  const named = { out: 'ID\tSAMPLE\tTARGET\tANSWER\ntraj_2\t2\tx\tsaid by traj_2\n', requests: 3 };
  expect(await list('--columns', 'id,sample,target,answer', '--filter', 'answer:traj_2')).toEqual(named);
});

it.each([
  ['first', ['odd', 'usual']],
  ['middle', ['usual', 'odd', 'usual']],
  ['last', ['usual', 'odd']],
])('accepts a status that only a row on the %s page has, and refuses one that no page has', async (_, statuses) => {
  const listTrajectories: Behaviour = (response, request) => {
    const page = Number(new URL(request.url, 'http://service').searchParams.get('cursor') ?? 0);
    const items = [{ trajectory_id: `traj_${page}`, task_id: 'task', status: statuses[page] }];
    const has_more = page + 1 < statuses.length;
    return json({ items, has_more, next_cursor: has_more ? String(page + 1) : null })(response, request);
  };
  const { url } = await hostileServer(listTrajectories);
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  const list = (filter: string) => cli('list', ['trajectories', '--ids', '--all', '--filter', filter]);
  expect(await list('status:odd nothing-is-called-so')).toMatchObject({ code: 0, notes: 'No trajectories match.' });
  const { code, notes } = await list('status:nonexistent');
  expect(code).toBe(2);
  // Known are those of every page, not only of the last one.
  for (const status of statuses)
    expect(notes).toMatch(new RegExp(`There is no status nonexistent\\. Statuses: .*${status}`));
});

it.each([
  ['first', [true, false]],
  ['last', [false, true]],
])('filters and sorts by a value that only rows on the %s page have', async (_, pages) => {
  const listTrajectories: Behaviour = (response, request) => {
    const page = Number(new URL(request.url, 'http://service').searchParams.get('cursor') ?? 0);
    const value = pages[page] === true ? { completion_tokens: 20 } : {};
    const items = [1, 2].map(each => ({ trajectory_id: `traj_${page}_${each}`, task_id: 'task', ...value }));
    const has_more = page + 1 < pages.length;
    return json({ items, has_more, next_cursor: has_more ? String(page + 1) : null })(response, request);
  };
  const { url } = await hostileServer(listTrajectories);
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  const ids = async (...flags: string[]) => {
    const { code, out } = await cli('list', ['trajectories', '--ids', ...flags]);
    return [code, out.trim().split('\n')];
  };
  const at = pages.indexOf(true);
  const withValue = [`traj_${at}_1`, `traj_${at}_2`];
  const without = [`traj_${1 - at}_1`, `traj_${1 - at}_2`];
  expect(await ids('--filter', 'tokens>15')).toEqual([0, withValue]);
  expect(await ids('--filter', 'tokens!=20')).toEqual([0, without]);
  // A limit changes how many are printed, not whether they can be (attack26 B1).
  expect(await ids('--filter', 'tokens!=20', '--limit', '1')).toEqual([0, without.slice(0, 1)]);
  expect(await ids('--sort', 'tokens')).toEqual([0, [...withValue, ...without]]);
});

it('accepts a field that only rows outside the filter have', async () => {
  const rows = [
    { deployment_id: 'dep_1', status: 'DEPLOYED', custom: 'value' },
    { deployment_id: 'dep_2', status: 'FAILED' },
  ];
  const { url } = await hostileServer(json({ items: rows, has_more: false, next_cursor: null }));
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  const list = (name: string, ...flags: string[]) => cli('list', ['deployments', '--columns', `id,${name}`, ...flags]);
  expect(await list('custom', '--filter', 'dep_2')).toMatchObject({ code: 0, out: 'ID\tcustom\ndep_2\t\n' });
  expect((await list('custon', '--filter', 'dep_2')).code).toBe(2);
});

it('reads the progress of few of 60 completed runs if the service lacks it (attack35 B1)', async () => {
  const ids = Array.from({ length: 60 }, (_, at) => `evr_${at}`);
  const runOf = (eval_run_id?: string) => ({ eval_run_id, bench_id: 'bench_1', status: 'completed', reward_mean: 1 });
  const { getEvalProgress: _, ...answers } = busyWorld().answers;
  const server = await hostileServer(
    answering({
      ...answers,
      listEvalRuns: () => ids.map(runOf),
      getEvalRun: ({ eval_run_id }) => runOf(eval_run_id),
      getTrajectoryRewards: () => ({ trajectory_rewards: [{ trajectory_id: 't1', task_id: 't1', reward: 1 }] }),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out } = await cli('list', ['runs', ...bench, '--all', '--columns', 'id,95% ci']);
  expect(cells(out)).toHaveLength(61);
  const asked = server.requests.filter(({ url }) => url.endsWith('/progress')).length;
  expect(asked).toBeGreaterThan(1);
  // The second refusal is enough, but others are in flight.
  expect(asked).toBeLessThanOrEqual(10);
});
