/** The baseline of a benchmark in the list of its evaluation runs. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toggleBaseline } from '../../../src/resources/baseline.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { answering } from '../../answering.ts';
import { cliOn, testFolder } from '../../commands/cli.ts';
import { eventually } from '../../eventually.ts';
import { type Answers, pageOf, scriptedService } from '../../queries/scripted-service.ts';
import { hostileServer } from '../../service/hostile-server.ts';
import { openProgram } from './rig.tsx';
import { often } from './scripted-world.tsx';

it('is set with a key on a run, and the others show no difference of means to it', async () => {
  const run = (id: string, bench_id: string, reward_mean: number) => ({
    ...{ eval_run_id: id, bench_id, display_name: id, status: 'completed', reward_mean },
    ...{ reward_count: 200, total_rollouts: 200 },
  });
  const rows = [run('evr_old', 'bench_1', 0.25), run('evr_new', 'bench_1', 0.75), run('evr_else', 'bench_2', 0.5)];
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }, { bench_id: 'bench_2' }]),
    listEvalRuns: ({ bench_id }) => rows.filter(row => row.bench_id === bench_id),
  });
  const start = { view: 'list', resource: 'runs' } as const;
  const { screen, close } = openProgram({ service: scripted.service, start, columns: 240, rows: 30 });
  onTestFinished(close);
  const line = (name: string) =>
    screen
      .text()
      .split('\n')
      .find(each => new RegExp(`${name} +✓`).test(each)) ?? '';
  await eventually(() => expect(line('evr_else')).toContain('0.500'));
  expect(screen.text()).not.toContain('VS BASE');
  await screen.press('*');
  await eventually(() => expect(line('evr_old')).toContain('baseline'));
  // The rewards of neither run were read: the means may be over other tasks.
  expect(line('evr_new')).toContain('0.750');
  expect(line('evr_new')).not.toContain('+0.500');
  await screen.press('*');
  await eventually(() => expect(line('evr_old')).not.toContain('baseline'));
});

it('is compared with every completed run of its benchmark in the list, by rewards that are read once', async () => {
  // The runs share half of their tasks, so the difference of their means is not the paired difference.
  const ids = ['evr_base', 'evr_1', 'evr_2', 'evr_3'];
  const shift = { by: 0 };
  const rewardOf = (run: number, task: number): number => ((task * (7 + run * (2 + shift.by))) % 23) / 25;
  const rewardsOf = (id = '') =>
    Array.from({ length: 40 }, (_, at) => at + 20 * Number(id !== 'evr_base')).map(task => ({
      ...{ task_id: `task ${task}`, trajectory_id: `traj_${id}_${task}`, reward: rewardOf(ids.indexOf(id), task) },
    }));
  const recordOf = (eval_run_id = '') => ({
    ...{ eval_run_id, bench_id: 'bench_1', display_name: eval_run_id, status: 'completed' },
    ...{ reward_mean: rewardsOf(eval_run_id).reduce((sum, { reward }) => sum + reward / 40, 0) },
    ...{ reward_count: 40, total_rollouts: 40 },
  });
  const answers: Answers = {
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
    listEvalRuns: () => ids.map(recordOf),
    getEvalRun: ({ eval_run_id }) => recordOf(eval_run_id),
    getEvalProgress: ({ eval_run_id }) => ({ eval_run_id, status: 'completed', total_rollouts: 40 }),
    getTrajectoryRewards: ({ eval_run_id }) => ({ trajectory_rewards: rewardsOf(eval_run_id) }),
    getRolloutStatistics: () => ({ snapshots: [] }),
  };
  const cli = cliOn({ baseUrl: (await hostileServer(answering(answers))).url, apiKey: 'key' });
  const compared = async (id: string): Promise<string> =>
    /^difference\t(\S+) over 20 tasks/m.exec((await cli('compare', ['evr_base', id])).out)?.[1] ?? 'none';
  const path = join(testFolder(), 'state.db');
  const remembered = () => RememberedStore.open(path, 'test');
  const memory = remembered();
  toggleBaseline(memory, recordOf('evr_base'));
  memory.close();
  const others = ids.slice(1);
  /** Opens the list until it shows the output of the command. Returns how often the rewards of each run were read. */
  const shown = async (): Promise<readonly number[]> => {
    const scripted = scriptedService({ ...answers });
    const start = { view: 'list', resource: 'runs' } as const;
    const size = { columns: 240, rows: 30, poll: often };
    const { screen, workbench, close } = openProgram({ service: scripted.service, start, remembered, ...size });
    try {
      const line = (id: string) =>
        screen
          .text()
          .split('\n')
          .find(each => new RegExp(`${id} +✓`).test(each)) ?? '';
      for (const id of others) {
        const difference = await compared(id);
        await eventually(() => expect(line(id)).toContain(` ${difference} `));
        expect(line(id)).toMatch(/[+-]0\.\d+\.\.[+-]0\.\d+/);
      }
      expect(line('evr_base')).toContain('baseline');
      for (const id of ids)
        await eventually(() => expect(workbench.statuses.get({ kind: 'run', id })?.certainty).toBeDefined());
      // The preview of the run under the cursor reads its rewards too.
      expect(scripted.asked('getTrajectoryRewards', 'evr_base')).toBeLessThanOrEqual(2);
      return others.map(id => scripted.asked('getTrajectoryRewards', id));
    } finally {
      close();
    }
  };
  expect(await shown()).toEqual([1, 1, 1]);
  expect(await shown()).toEqual([0, 0, 0]);
  shift.by = 1;
  expect(await shown()).toEqual([1, 1, 1]);
});
