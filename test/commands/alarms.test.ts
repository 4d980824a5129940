/** Alarms on the command line, for watched and past runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { setClockBehind } from '../../src/text/time.ts';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const createdAt = '2026-01-02T03:00:00.000Z';
const savedAt = '2026-01-02T03:30:00.000Z';

/** A training run of `kernel-cuda` whose held-out rewards are given; it has ended as `end` after `left` answers. */
async function trained(
  rewards: readonly number[],
  left = 0,
  end = 'succeeded',
  trainer_rewards: object[] = [],
  completed_at: string | null = null,
) {
  const state = { left };
  const status = () => (state.left > 0 ? 'running' : end);
  const record = () => ({
    training_run_id: 'trn_1',
    bench_id: 'b1',
    display_name: 'sweep',
    status: status(),
    created_at: createdAt,
    completed_at: status() === 'running' ? null : completed_at,
  });
  const held_out_rewards = rewards.map((held_out_reward, index) => ({
    step: (index + 1) * 10,
    held_out_reward,
    completed_samples: 128,
  }));
  const answers: Record<string, () => unknown> = {
    '/api/v1/benchmarks': () => ({ items: [{ bench_id: 'b1', label: 'kernel-cuda' }], has_more: false }),
    '/api/v1/train/b1/runs': () => ({ items: [record()] }),
    '/api/v1/train/trn_1': record,
    '/api/v1/train/trn_1/progress': () => {
      state.left -= 1;
      return { training_run_id: 'trn_1', status: status(), completed_steps: 100 - state.left, total_steps: 100 };
    },
    '/api/v1/train/trn_1/step/held-out-reward-by-step': () => ({ held_out_rewards }),
    '/api/v1/train/trn_1/step/trainer-reward-by-step': () => ({ trainer_rewards }),
    '/api/v1/train/trn_1/checkpoints': () => ({
      items: [{ checkpoint_id: 'ckpt_1', step_index: 40, created_at: savedAt }],
    }),
  };
  const { url } = await hostileServer((response, request) => {
    const answer = answers[new URL(request.url, 'http://s').pathname];
    return answer ? json(answer() as object)(response, request) : json({}, 404)(response, request);
  });
  return (alarms: object = {}) => cliWithAlarms(url, alarms);
}

function cliWithAlarms(baseUrl: string, alarms: object) {
  const home = testFolder();
  const folder = join(home, '.config', 'benchtop');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ alarms }), { mode: 0o600 });
  return cliOn({ baseUrl, apiKey, home });
}

const drop = [0.3, 0.7, 0.3, 0.3, 0.3, 0.3];
const dropMessage = 'held-out 0.300 is below its best 0.700 at step 20 by more than the 95% intervals, 4 in a row';

it('doctor recommends the audit for a run without an alarm whose reward rises only in training', async () => {
  const rises = Array.from({ length: 60 }, (_, index) => ({ step: index + 1, trainer_reward: index / 60 }));
  const run = await trained([0.7, 0.7, 0.7, 0.5, 0.5, 0.5], 0, 'succeeded', rises);
  const { code, out } = await run()('doctor', ['--alarms', 'sweep']);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^No alarm\.\nBut from step 10 to 60 the trainer's reward rose by .* 0\.700 to 0\.500.*--audit\.\n/,
  );
});

it('doctor says which alarms a past run would have raised, with step, time, value and limit', async () => {
  const run = await trained([...drop, 0.69]);
  const { code, out } = await run()('doctor', ['--alarms', 'sweep']);
  expect(code).toBe(8);
  expect(out.split('\n')).toEqual([
    '1 alarm:',
    `  step 40, by ${savedAt}: ${dropMessage.replace('95% intervals, 4', '99.7% intervals, 2')}; over at step 70`,
    'Not checked: missing steps, because this machine has not watched the run.',
    'Not checked: failed rollouts, because the service does not count them.',
    'Alarms: no new step for 10 times the usual time per step, and for at least 5m; 4 held-out rewards in a row below the best, or fewer far below; more than 20% of the rollouts failed.',
    '',
  ]);
  const fewer = run({ benchmarks: { 'kernel-*': { belowBest: 2, silentPaces: 0, failedPercent: 0 } } });
  const asJson = await fewer('doctor', ['--alarms', 'sweep', '--json']);
  expect(JSON.parse(asJson.out)).toMatchObject({
    kind: 'training',
    id: 'trn_1',
    alarms: [{ kind: 'held-out drop', step: 30, at: savedAt, value: 0.3, limit: 0.7, over_at_step: 70 }],
    unjudged: [],
  });
  const none = await run({ belowBest: 0 })('doctor', ['--alarms', 'sweep']);
  expect([none.code, none.out.split('\n')[0]]).toEqual([0, 'No alarm.']);
});

it('watch prints an alarm, and has its own exit code if the alarm holds at the end', async () => {
  const held = await (await trained(drop, 1))()('watch', ['sweep']);
  expect([held.code, held.notes]).toEqual([8, `sweep: alarm: ${dropMessage}`]);
  const sound = await (await trained(drop, 1))({ belowBest: 0 })('watch', ['sweep']);
  expect([sound.code, sound.notes]).toEqual([0, '']);
  // A run that has recovered is no longer in alarm (A3).
  for (const more of [[], ['--alarm']]) {
    const recovered = await (await trained([0.7, 0.1, 0.9, 0.92], 1))()('watch', ['sweep', ...more]);
    expect([recovered.code, recovered.notes]).toEqual([0, '']);
  }
});

it('watch prints when a run ended, if the service reports it (C3)', async () => {
  const endedAt = '2026-01-02T04:05:06.000Z';
  const { code, out } = await (await trained([0.5], 0, 'failed', [], endedAt))()('watch', ['sweep', '--json']);
  expect([code, JSON.parse(out)]).toMatchObject([1, { at: endedAt, status: 'failed' }]);
});

it.each([
  ['20m behind', 20, undefined],
  ['right, and its run stalled', 0, 'no new step for more than 5m, after 30 s/step'],
])('watch measures the age of checkpoints by the clock of the service: %s', async (_, behind, words) => {
  onTestFinished(() => setClockBehind(0));
  const saved = (minutes: number) => new Date(Date.now() - (minutes + 20) * 60_000).toISOString();
  const items = [40, 50].map(step => ({
    ...{ checkpoint_id: `ckpt_${step}`, step_index: step, created_at: saved((50 - step) / 2) },
  }));
  const run = { training_run_id: 'trn_1', bench_id: 'b1', display_name: 'sweep', created_at: saved(25) };
  let left = 2;
  const { url } = await hostileServer((response, request) => {
    const path = new URL(request.url, 'http://s').pathname;
    if (path.endsWith('/progress')) left -= 1;
    const status = left > 0 ? 'running' : 'succeeded';
    const date = new Date(Date.now() - behind * 60_000).toUTCString();
    if (path.endsWith('/checkpoints')) return json({ items }, 200, { date })(response, request);
    const isRun = path.endsWith('/trn_1') || path.endsWith('/progress');
    const answer = { ...run, status, completed_steps: 50, total_steps: 100 };
    return isRun ? json(answer)(response, request) : json({}, 404)(response, request);
  });
  const { notes } = await cliOn({ baseUrl: url, apiKey })('watch', ['trn_1']);
  expect(notes.split('\n').find(note => note.includes('alarm'))).toBe(words && `sweep: alarm: ${words}`);
});

it('watch --alarm of a failed run says so, and exits as without --alarm', async () => {
  const { code, out, notes } = await (await trained(drop, 0, 'failed'))()('watch', ['sweep', '--alarm']);
  expect(code).toBe(exitCodes.failed);
  expect(out).toContain('failed');
  expect(notes).toContain(`sweep: alarm: ${dropMessage}`);
});

it('watch --alarm stops at the first alarm, even if the run continues', async () => {
  const { code, notes } = await (await trained(drop, 1_000_000))()('watch', ['sweep', '--alarm']);
  expect(code).toBe(8);
  expect(notes).toContain(`sweep: alarm: ${dropMessage}`);
});

it.each([
  [26, exitCodes.alarm, 'tutor: alarm: 26 of 40 rollouts failed (65%), more than 20%'],
  [8, exitCodes.done, undefined],
])(
  'evaluate --wait exits with an alarm that holds at the end: %i failed of 40',
  async (failed_rollouts, ends, words) => {
    const run = { eval_run_id: 'evr_1', bench_id: 'b1', display_name: 'tutor', status: 'completed' };
    const live = { scored_rollouts: 40 - failed_rollouts, failed_rollouts, final_reward_mean: 0.9 };
    const { url } = await hostileServer((response, request) => {
      const path = new URL(request.url, 'http://s').pathname;
      if (path.endsWith('/b1')) return json({ bench_id: 'b1', label: 'words' })(response, request);
      if (path.endsWith('/progress'))
        return json({ ...run, total_rollouts: 40, terminal_rollouts: 40, live })(response, request);
      const isRun = request.method === 'POST' || path.endsWith('/evr_1');
      return isRun ? json(run)(response, request) : json({}, 404)(response, request);
    });
    const cli = cliOn({ baseUrl: url, apiKey });
    const { code, out, notes } = await cli('evaluate', ['b1', '-m', 'acme/m', '--name', 'tutor', '--wait']);
    expect([code, out]).toEqual([ends, 'evr_1\n']);
    expect(notes.split('\n').find(note => note.includes('alarm'))).toBe(words);
  },
);

/** An evaluation of 40 rollouts whose progress does not count the failed ones. @param listed the rollouts of the list */
async function uncounted(listed: readonly object[] | undefined, rewards: number | undefined, more: object = {}) {
  const run = { eval_run_id: 'evr_1', bench_id: 'b1', display_name: 'tutor', status: 'completed', ...more };
  const asked: string[] = [];
  const { url } = await hostileServer((response, request) => {
    const path = new URL(request.url, 'http://s').pathname;
    asked.push(path);
    const answers: Record<string, unknown> = {
      '/api/v1/eval/evr_1': run,
      '/api/v1/eval/evr_1/progress': {
        ...run,
        ...(rewards !== undefined && { total_rollouts: 40, terminal_rollouts: 40 }),
      },
      '/api/v1/eval/evr_1/trajectory-rewards': {
        trajectory_rewards: Array.from({ length: rewards ?? 5 }, (_, index) => ({
          ...{ trajectory_id: `traj_${index}`, task_id: `t${index}`, reward: 1 },
        })),
      },
      ...(listed && { '/api/v1/trajectories': { items: listed, has_more: false } }),
    };
    const answer = answers[path];
    return answer ? json(answer)(response, request) : json({}, 404)(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  return { cli, url, lists: () => asked.filter(path => path === '/api/v1/trajectories').length };
}

const rollout = (index: number) => ({ trajectory_id: `traj_${index}`, task_id: `t${index}`, eval_run_id: 'evr_1' });
const mixed = (failed: number) =>
  Array.from({ length: 40 }, (_, index) =>
    index < 40 - failed
      ? { ...rollout(index), status: 'completed', reward: 1 }
      : { ...rollout(index), status: 'failed' },
  );

it.each([
  [
    'lists 18 of 40 rollouts as failed',
    mixed(18),
    22,
    exitCodes.alarm,
    '18 of 40 rollouts failed (45%), more than 20%',
  ],
  ['lists 4 of 40 rollouts as failed', mixed(4), 36, exitCodes.done, undefined],
])(
  'counts failed rollouts itself if the progress lacks them: the service %s',
  async (_, listed, rewards, ends, words) => {
    const { cli, lists } = await uncounted(listed, rewards);
    for (const alarm of [[], ['--alarm']]) {
      const watched = await cli('watch', ['evr_1', ...alarm]);
      expect(watched.code).toBe(ends);
      expect(watched.notes.includes(`alarm: ${words}`)).toBe(words !== undefined);
      expect(watched.notes).not.toContain('not checked');
    }
    expect(lists()).toBeLessThanOrEqual(4);
    const past = await cli('doctor', ['--alarms', 'evr_1']);
    expect(past.code).toBe(ends);
    expect(past.out).toContain(words ?? 'No alarm.');
  },
);

it.each([
  ['lists no rollouts', undefined, undefined],
  ['lists those with a reward', mixed(29).slice(0, 11), undefined],
  ['lists two of five as failed', mixed(16).toSpliced(0, 13), '16 of 40 rollouts failed (40%), more than 20%'],
])(
  'does not count missing rewards as failed rollouts while they may be late: the service %s of 40',
  async (_, listed, certain) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const unjudged = 'not checked: failed rollouts';
    const missing = `29 of 40 rollouts failed or have no reward (72.5%), more than 20%`;
    // The clock of the service may be slow, so an early end does not tell.
    for (const minutes of [0, 120, undefined]) {
      const times = { created_at: ago(180), completed_at: minutes === undefined ? null : ago(minutes) };
      const { cli } = await uncounted(listed, 11, times);
      const watched = await cli('watch', ['evr_1', '--alarm']);
      expect(watched.code).toBe(certain ? exitCodes.alarm : exitCodes.endUnseen);
      expect(watched.notes).toContain(certain ?? unjudged);
      const past = await cli('doctor', ['--alarms', 'evr_1']);
      expect(past.out).toContain(certain ?? 'Not checked: failed rollouts');
      vi.setSystemTime(Date.now() + 70 * 60_000);
      const later = await cli('watch', ['evr_1']);
      expect([later.code, later.notes]).toEqual([exitCodes.alarm, expect.stringContaining(missing)]);
      expect((await cli('doctor', ['--alarms', 'evr_1'])).out).toContain(missing);
    }
  },
);

it('watch says that failed rollouts were not checked, and --alarm does not exit with 0', async () => {
  const { cli } = await uncounted(undefined, undefined);
  const words = 'not checked: failed rollouts, because their number is unknown.';
  const watched = await cli('watch', ['evr_1']);
  expect([watched.code, watched.notes]).toEqual([exitCodes.done, expect.stringContaining(words)]);
  const alarmed = await cli('watch', ['evr_1', '--alarm']);
  expect([alarmed.code, alarmed.notes]).toEqual([exitCodes.endUnseen, expect.stringContaining(words)]);
});

it('computes the mean of a completed evaluation from its rewards if the record has none', async () => {
  const outside = 'mean 1.00 is outside 0..0.5';
  const { url } = await uncounted(undefined, 40);
  const cli = cliWithAlarms(url, { evaluation: '0..0.5' });
  const watched = await cli('watch', ['evr_1', '--alarm']);
  expect([watched.code, watched.notes]).toEqual([exitCodes.alarm, expect.stringContaining(outside)]);
  expect((await cli('doctor', ['--alarms', 'evr_1'])).out).toContain(outside);
  const { url: bare } = await uncounted(undefined, 0);
  const unjudged = await cliWithAlarms(bare, { evaluation: '0..0.5' })('watch', ['evr_1', '--alarm']);
  expect(unjudged).toMatchObject({
    code: exitCodes.endUnseen,
    notes: expect.stringContaining('not checked: the mean, because too few rewards are known.'),
  });
});
