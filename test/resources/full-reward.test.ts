/** The number of full rewards, which a mean of partial ones hides: in facts, comparisons, reports and on screen. */
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { countFull, formatFullRewards, hasPartial } from '../../src/present/statistics/full-reward.ts';
import { summariseRewards } from '../../src/resources/run-outcome.ts';
import { summaryLines } from '../../src/ui/views/runs/head.ts';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';
import { answering } from '../answering.ts';
import { cliOn } from '../commands/cli.ts';
import { apiKey, hostileServer } from '../service/hostile-server.ts';

it.each<[number[], boolean, string]>([
  [[0, 1, 1, 0], false, '2 of 4 (50%)'],
  [[0, 0.4, 1, 1.000_000_000_000_1], true, '2 of 4 (50%)'],
  [[0.2, 0.4], true, '0 of 2 (0%)'],
  [[0.8 - 0.7 - 0.1, 1], false, '1 of 2 (50%)'],
  // The range in the settings does not fit, so nobody knows what is full.
  [[0.5, 3], true, ''],
  [[], false, ''],
])('counts the full rewards of %j', (rewards, isPartial, words) => {
  expect([hasPartial(rewards, [0, 1]), formatFullRewards(rewards, [0, 1])]).toEqual([isPartial, words]);
});

it('uses the range in the settings', () => {
  expect([countFull([0.5, -1, 1], [-1, 1]), countFull([0.5, 10], [0, 10])]).toEqual([1, 1]);
  expect(hasPartial([1e-9], [0, 1e100])).toBe(true);
});

const rewards: Readonly<Record<string, readonly number[]>> = { evr_part: [0, 0.4, 0.4, 1], evr_none: [0, 0, 0, 0] };

it('is shown for a run and a comparison with partial rewards (B18)', async () => {
  const { url } = await hostileServer(
    answering({
      getEvalRun: ({ eval_run_id }) => ({ eval_run_id, bench_id: 'b', status: 'completed' }),
      getEvalProgress: () => ({ status: 'completed', total_rollouts: 4 }),
      getTrajectoryRewards: ({ eval_run_id = '' }) => ({
        trajectory_rewards: rewards[eval_run_id]?.map((reward, index) => ({
          ...{ reward, task_id: `t${index}`, trajectory_id: `traj_${eval_run_id}_${index}` },
        })),
      }),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey });
  expect((await cli('get', ['evr_part'])).out).toMatch(/^full reward\s+1 of 4 \(25%\)$/m);
  expect((await cli('get', ['evr_none'])).out).not.toContain('full reward');
  const fieldOf = async (id: string) => JSON.parse((await cli('get', [id, '--json'])).out).full_rewards;
  expect([await fieldOf('evr_part'), await fieldOf('evr_none')]).toEqual([1, 0]);
  const { out } = await cli('compare', ['evr_none', 'evr_part']);
  expect(out).toContain('\nfull reward\tbase 0 of 4 (0%), new 1 of 4 (25%)\n');
  expect((await cli('compare', ['evr_none', 'evr_none'])).out).not.toContain('full reward');
  const { base, new: fresh } = JSON.parse((await cli('compare', ['evr_none', 'evr_part', '--json'])).out);
  expect([base.full_rewards, fresh.full_rewards]).toEqual([0, 1]);
  expect((await cli('report', ['evr_none', 'evr_part', '--format', 'markdown'])).out).toContain('new 1 of 4 (25%)');
});

it('is shown beside the mean on screen', () => {
  const summary = summariseRewards(
    [0, 0.5, 1].map(reward => ({ reward })),
    3,
    0,
    [0, 1],
  );
  const lines = summaryLines(
    { run: { eval_run_id: 'evr_1', status: 'completed' }, rewards: summary },
    100,
    createTheme(),
  );
  expect(lines.map(stripVTControlCharacters)).toContain('mean 0.500 over 3 rewards  full reward 1 of 3 (33.3%)');
});
