/** What commands say about unlisted rollouts, by the status of the run (B1). */
import { expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { apiKey, hostileServer } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** A run of 12 rollouts, 4 of each task; 2 rollouts of the last task are listed. */
async function cliWith(status: string, total_rollouts: number | null = 12) {
  const rows = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'c', 'c'].map((task_id, index) => ({
    ...{ trajectory_id: `traj_${index}`, task_id, status: 'completed', reward: 1 },
  }));
  const record = { eval_run_id: 'evr_1', bench_id: 'b1', display_name: 's1', status, total_rollouts };
  const { url } = await hostileServer(
    answering({
      getEvalRun: () => record,
      getEvalProgress: () => ({ status, total_rollouts }),
      getTrajectoryRewards: () => ({ trajectory_rewards: rows }),
      listTrajectories: () => pageOf(rows),
    }),
  );
  return cliOn({ baseUrl: url, apiKey });
}

it.each([
  ['failed', '2 rollouts are not listed by the service: failed, or without a reward.'],
  ['cancelled', '2 rollouts are not listed by the service: cancelled, or never run.'],
  ['pending', '2 rollouts are still to come.'],
  ['cancelling', '2 rollouts are not listed by the service.'],
])('of a %s run', async (status, words) => {
  const cli = await cliWith(status);
  for (const name of ['failures', 'tasks', 'regrade']) {
    const grader = name === 'regrade' ? ['--with', 'contains hello'] : [];
    expect((await cli(name, ['evr_1', ...grader])).notes.split('\n')).toContain(words);
  }
  const { out, notes } = await cli('tasks', ['evr_1', '--base', 'evr_1']);
  expect(out).toMatch(/^TASK.*\tUNLISTED$/m);
  expect(out).not.toContain('FAILED');
  expect(out).toMatch(/^c\t2.*\t2$/m);
  expect(notes).toContain('3 tasks: 10 of 12 rollouts have a reward.');
  expect(notes).toContain(`evr_1: ${words}`);
  const failures = JSON.parse((await cli('failures', ['evr_1', '--json'])).out);
  expect(failures).toMatchObject({ status, rollouts: 10, not_listed: 2 });
  const tasks = JSON.parse((await cli('tasks', ['evr_1', '--json'])).out);
  expect(tasks).toMatchObject({ status, not_listed: 2, ungrouped_rollouts: 0 });
  const report = (await cli('report', ['evr_1', '--format', 'markdown', '--output', '-'])).out;
  expect(report).toContain(words);
});

it('does not call the listed rollouts complete if the service reports no total', async () => {
  const cli = await cliWith('completed', null);
  expect((await cli('tasks', ['evr_1'])).notes).toContain('3 tasks: 10 rollouts have a reward.');
  const words = 'The service does not report how many rollouts the run has: it may not list failed ones.';
  for (const name of ['failures', 'tasks', 'regrade']) {
    const grader = name === 'regrade' ? ['--with', 'contains hello'] : [];
    expect((await cli(name, ['evr_1', ...grader])).notes.split('\n')).toContain(words);
    const record = JSON.parse((await cli(name, ['evr_1', ...grader, '--json'])).out);
    expect(record.not_listed).toBeNull();
    if (name === 'tasks') expect(record.tasks[0].not_listed).toBeNull();
  }
});

it('has no curve of several models together, neither of a run nor of its base', async () => {
  const rowsOf = (run: unknown) =>
    (run === 'evr_base' ? ['one', 'two'] : ['new', 'new']).map((model_id, index) => ({
      ...{ trajectory_id: `${run}_${index}`, task_id: 'a', model_id, reward: index, status: 'completed' },
    }));
  const { url } = await hostileServer(
    answering({
      getEvalRun: ({ eval_run_id }) => ({ eval_run_id, bench_id: 'b', status: 'completed', total_rollouts: 2 }),
      getEvalProgress: () => ({ status: 'completed', total_rollouts: 2 }),
      getTrajectoryRewards: ({ eval_run_id }) => ({ trajectory_rewards: rowsOf(eval_run_id) }),
      listTrajectories: (_, query) => pageOf(rowsOf(query?.['eval_run_id'])),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey });
  const record = JSON.parse((await cli('tasks', ['evr_new', '--base', 'evr_base', '--json'])).out);
  expect(record).not.toHaveProperty('base_pass');
  const curve = (model: string, mean: number) => ({
    ...{ model, rewards: 1, mean, pass: [{ k: 1, tasks: 1, pass_at_k: mean, pass_hat_k: mean }] },
  });
  expect(record).toMatchObject({ models: [], base_models: [curve('one', 0), curve('two', 1)] });
  expect(record.tasks[0]).toMatchObject({ base_by_model: [{ model: 'one' }, { model: 'two' }] });
  const same = JSON.parse((await cli('tasks', ['evr_base', '--base', 'evr_new', '--json'])).out);
  expect(same).toMatchObject({
    base_pass: [
      { k: 1, pass_at_k: 0.5 },
      { k: 2, pass_at_k: 1 },
    ],
    base_models: [],
  });
  expect(same).not.toHaveProperty('pass');
});
