/** Reports and choices of commands that depend on the held-out rounds of a training run. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import type { HeldOutReward } from '../../src/contract/training.ts';
import { answering } from '../answering.ts';
import { hostileServer } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const run = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'first', status: 'succeeded' };

async function cliWith(held_out_rewards: readonly HeldOutReward[]) {
  const steps = [...new Set(held_out_rewards.map(({ step }) => step))].filter(step => step > 0);
  const server = await hostileServer(
    answering({
      listBenchmarks: () => ({ items: [{ bench_id: 'bench_1' }], has_more: false, next_cursor: null, dropped: 0 }),
      getBenchmark: () => ({ bench_id: 'bench_1' }),
      listTrainingRuns: () => [run],
      getTrainingRun: () => run,
      getTrainingProgress: () => ({ status: 'succeeded', completed_steps: 40, total_steps: 40 }),
      getHeldOutRewards: () => ({ held_out_rewards: [...held_out_rewards] }),
      getTrainerRewards: () => ({ trainer_rewards: [] }),
      listCheckpoints: () =>
        steps.map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step, is_deployable: true })),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  return {
    cli,
    json: async (...words: [string, ...string[]]) =>
      JSON.parse((await cli(words[0], [...words.slice(1), '--json'])).out) as Record<string, unknown>,
  };
}

const round = { expected_samples: 114, completed_samples: 114, failed_samples: 0, round_completed: true };

it('draws a curve for each split, and uses the validation tasks to decide', async () => {
  const validation = [0.176, 0.371, 0.649, 0.995].map((held_out_reward, index) => ({
    ...round,
    ...{ step: index * 10, split: 'validation', held_out_reward },
  }));
  const test = validation.map(row => ({
    ...{ ...row, split: 'test', expected_samples: 40, completed_samples: 40 },
    held_out_reward: row.step === 10 ? 0.999 : row.held_out_reward / 2,
  }));
  const { cli, json } = await cliWith([0, 1, 2, 3].flatMap(at => [validation[at] ?? [], test[at] ?? []].flat()));
  const got = await json('get', 'training', 'first');
  const point = { step: 30, reward: 0.995, samples: 114, split: 'validation' };
  expect(got['held_out']).toMatchObject({ last: point, best: point });
  const listed = await cli('list', ['training', '--columns', 'held-out,split,best,best-step,samples']);
  expect(listed.out.trim().split('\n').at(-1)?.split('\t')).toEqual(['0.995', 'validation', '0.995', '30', '114']);
  const csv = (await cli('list', ['checkpoints', '--training', 'trn_1', '--format', 'csv'])).out.split('\n');
  expect(csv[0]).toMatch(/,runs,n,of,/);
  expect(csv[1]).toMatch(/,114,114,/);
  const checkpoints = await cli('list', [
    'checkpoints',
    '--training',
    'trn_1',
    '--columns',
    'step,held-out,split,best',
  ]);
  expect(checkpoints.out.trimEnd().split('\n').slice(1)).toEqual([
    '10\t0.371\tvalidation\t',
    '20\t0.649\tvalidation\t',
    '30\t0.995\tvalidation\tbest',
  ]);
  expect((await cli('deploy', ['first@best', '-n'])).notes).toContain(
    'first@best is step 30, held-out 0.995 from 114 samples, on the validation tasks.',
  );
  const words = (await json('describe', 'first'))['words'] as readonly string[];
  expect(words.filter(line => line.startsWith('held-out'))).toEqual([
    'held-out reward, validation tasks: 4 values, from 0.176 at step 0 to 0.995 at step 30',
    'held-out reward, test tasks: 4 values, from 0.0880 at step 0 to 0.497 at step 30',
  ]);
});

it('does not rank a round that lost most samples above complete ones, and says so', async () => {
  const rewards = [0.2, 0.5, 1, 0.99];
  const lost = { completed_samples: 3, failed_samples: 111 };
  const rows = rewards.map((held_out_reward, index) => ({
    ...{ ...round, split: 'validation', step: index * 10, held_out_reward },
    ...(held_out_reward === 1 && lost),
  }));
  const { cli, json } = await cliWith(rows);
  const why = 'step 20 has 1.00, but from only 3 of 114 samples; 0.0263 if the rest scored the lowest';
  expect((await cli('deploy', ['first@best', '-n'])).notes).toContain(
    `first@best is step 30, held-out 0.990 from 114 samples, on the validation tasks; ${why}.`,
  );
  const columns = ['--columns', 'best,best-step,best-samples,best-expected'];
  const listed = await cli('list', ['training', ...columns]);
  expect(listed.out.trim().split('\n').at(-1)?.split('\t')).toEqual(['0.99', '30', '114', '114']);
  expect(await json('get', 'training', 'first')).toMatchObject({ held_out: { best: { step: 30, reward: 0.99 } } });
  expect((await json('describe', 'first'))['words']).toContain(`  not the best: ${why}`);
  // With a few lost samples it is still the best; the output mentions them.
  const few = await cliWith(
    rows.map(row => (row.step === 20 ? { ...row, completed_samples: 113, failed_samples: 1 } : row)),
  );
  expect((await few.cli('deploy', ['first@best', '-n'])).notes).toContain(
    'first@best is step 20, held-out 1.00 from 113 of 114 samples, 1 failed, on the validation tasks; 1 other checkpoint is within its 95% CI.',
  );
  expect((await few.cli('list', ['training', ...columns])).out).toContain('1\t20\t113\t114');
  expect((await few.cli('list', ['training'], { columns: 200 })).out).toContain('1.00 n=113');
  // If every round has lost samples, one of them is the best.
  const all = await cliWith(rows.map(row => ({ ...row, ...lost })));
  expect((await all.cli('deploy', ['first@best', '-n'])).notes).toContain(
    'is step 20, held-out 1.00 from 3 of 114 samples',
  );
});

it('raises the alarm for rounds in which every rollout failed, and shows them beside the last reward', async () => {
  const rows = [0.2, 0.602, null, null, null].map((held_out_reward, index) => ({
    ...{ ...round, step: index * 10, held_out_reward },
    ...(held_out_reward === null && { completed_samples: 0, failed_samples: 114 }),
  }));
  const { cli, json } = await cliWith(rows);
  const said = '; no value in 3 rounds since: all 114 rollouts of each failed';
  const got = await json('get', 'training', 'first');
  expect(got['held_out']).toMatchObject({ last: { reward: 0.602, step: 10, samples: 114 }, failed_rounds: 3 });
  expect((await cli('get', ['training', 'first'])).out).toContain(said);
  expect((await cli('watch', ['trn_1'])).out).toContain(said);
  expect(await json('watch', 'trn_1')).toMatchObject({ held_out: got['held_out'] });
  expect((await cli('list', ['training'], { columns: 200 })).out).toContain('0.602 at 10');
  const alarms = await cli('doctor', ['--alarms', 'trn_1']);
  expect(alarms.out).toContain('114 of 114 rollouts failed (100%), more than 20%');
  expect(alarms.code).toBe(exitCodes.alarm);
  // The same if no round has a reward, but not while a round may still get one.
  const none = await cliWith(rows.slice(2));
  const noneGot = await none.json('get', 'training', 'first');
  expect(noneGot['held_out']).toEqual({ last: null, best: null, failed_rounds: 3 });
  expect((await none.cli('get', ['training', 'first'])).out).toContain(
    'no value in 3 rounds: all 114 rollouts of each failed',
  );
  expect((await none.cli('doctor', ['--alarms', 'trn_1'])).out).toContain('114 of 114 rollouts failed');
  // An unfinished round raises it once 20 rollouts have failed, and does not count as a round without a value.
  const open = { ...round, step: 20, held_out_reward: null, completed_samples: 0, round_completed: false };
  for (const before of [rows.slice(0, 2), []]) {
    const begun = await cliWith([...before, { ...open, failed_samples: 19 }]);
    expect((await begun.cli('doctor', ['--alarms', 'trn_1'])).code).toBe(exitCodes.done);
    for (const failed_samples of [20, 114]) {
      const failing = await cliWith([...before, { ...open, failed_samples }]);
      expect((await failing.cli('watch', ['trn_1'])).out).not.toContain('no value');
      expect(await failing.json('get', 'training', 'first')).not.toMatchObject({ held_out: { failed_rounds: 1 } });
      const raised = await failing.cli('doctor', ['--alarms', 'trn_1']);
      expect(raised.out).toContain(`${failed_samples} of ${failed_samples} rollouts failed (100%), more than 20%`);
      expect(raised.code).toBe(exitCodes.alarm);
    }
  }
});

it('prints the step of the latest checkpoint of a running run', async () => {
  const server = await hostileServer(
    answering({
      listBenchmarks: () => ({ items: [{ bench_id: 'bench_1' }], has_more: false, next_cursor: null, dropped: 0 }),
      listTrainingRuns: () => [{ ...run, status: 'running' }],
      getTrainingRun: () => ({ ...run, status: 'running' }),
      listCheckpoints: () => [10, 20].map(step_index => ({ checkpoint_id: `ckpt_${step_index}`, step_index })),
    }),
  );
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { notes } = await cli('deploy', ['first@latest', '--slug', 'tutor', '--dry-run']);
  expect(notes).toContain('first@latest is step 20, the latest checkpoint so far.');
});

it.each([
  [4, 'no interval: rewards are outside 0..1; set their range with the setting compare.rewardRange\n'],
  [1, '95% CI'],
])('says why there is no interval, if there is none: a mean of %d (attack37 C12)', async (held_out_reward, words) => {
  const { cli } = await cliWith([{ ...round, step: 9, held_out_reward }]);
  const { out } = await cli('get', ['training', 'first']);
  expect(out).toContain(words);
  expect(out.includes('no interval')).toBe(held_out_reward > 1);
});
