/** Two runs compared by the rewards of another grader. */
import { expect, it } from 'vitest';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { CompareView } from '../../../../src/ui/views/runs/compare.tsx';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

const tasks = Array.from({ length: 12 }, (_, index) => `t${index}`);
/** The stored reward and the answer of every rollout of a run. */
const runs: Readonly<Record<string, readonly [reward: number, answer: string]>> = { old: [1, 'no'], new: [0, 'yes'] };
const states: Readonly<Record<string, string>> = { traj_new_t1: 'failed' };
const statusOf = (id: unknown) => states[String(id)] ?? 'completed';
const answers = {
  getEvalRun: ({ params: { eval_run_id } }) => ({ eval_run_id, bench_id: 'b', status: 'completed' }),
  getEvalProgress: () => ({ status: 'completed', total_rollouts: tasks.length }),
  listModels: () => ({ data: [] }),
  getTrajectoryRewards: ({ params: { eval_run_id: run } }) => ({
    trajectory_rewards: tasks.map(task_id => ({
      ...{ task_id, trajectory_id: `traj_${run}_${task_id}`, reward: runs[String(run)]?.[0] },
    })),
  }),
  getTrajectory: ({ params: { trajectory_id } }) => {
    const [, run = '', task_id] = String(trajectory_id).split('_');
    const [reward, content] = runs[run] ?? [];
    const steps = [{ step_index: 0, messages: [{ role: 'assistant', content }] }];
    return { trajectory_id, task_id, status: statusOf(trajectory_id), reward, steps };
  },
} satisfies Parameters<typeof fakeService>[0];

function openComparison(size: { columns: number; rows: number }, more: Partial<typeof answers> = {}) {
  const service = fakeService({ ...answers, ...more });
  return openViewOnStage(CompareView, {
    place: {
      ...{ view: 'compare', base: { id: 'old', name: 'before', bench_id: 'b' } },
      new: { id: 'new', name: 'after', bench_id: 'b' },
    },
    service: async () => service,
    others: [
      defineView<'compare'>({ id: 'compare', title: 'C', component: CompareView, commands: [], general: [] }),
      defineView<'record'>({
        ...{ id: 'record trajectories', title: 'T', component: TrajectoryView, commands: [], general: [] },
      }),
    ],
    ...size,
  });
}

/** The text without its lines. */
const flat = (text: string): string => text.replace(/[\s│]+/g, ' ');

it.each([
  [120, 40],
  [60, 15],
])('%sx%s: shows the means, the verdict and the tasks under the grader, and leads back', async (columns, rows) => {
  const stage = openComparison({ columns, rows });
  await stage.waitFor(text => text.includes('The new run is worse'));
  await stage.press('R');
  await stage.waitFor('Regrade before and after');
  // Nothing here depends on which rewards pass.
  expect(stage.text()).not.toContain('Passes with');
  await stage.press('right');
  await stage.waitFor('contains');
  await stage.press('tab');
  await stage.type('yes');
  await stage.press('enter');
  await stage.waitFor(text => flat(text).includes('Rewards by the grader contains yes'));
  await stage.waitFor(text => text.includes('The new run is better'));
  const text = flat(stage.text());
  expect(text).toMatch(/base before 0 over 12 tasks .*new after .*1\.00 over 11 tasks, 11 of 12 rollouts/);
  expect(text).toMatch(/▸ t\d+ 0 1\.00 \+1\.00/);
  expect(text).toContain('after: 11 of 12 rollouts regraded, 1 failed');
  expect(text).not.toContain('before: 12 of 12');
  await stage.press('R');
  await stage.waitFor(shown => shown.includes('The new run is worse'));
  expect(stage.text()).not.toContain('Rewards by the grader');
});

it('opens rollouts with their new rewards, also the other run and after a swap', async () => {
  const stage = openComparison({ columns: 120, rows: 40 });
  await stage.waitFor('▸ t0');
  await stage.press('R');
  await stage.waitFor('Regrade before and after');
  await stage.press('right', 'tab');
  await stage.type('yes');
  await stage.press('enter');
  await stage.waitFor('The new run is better');
  await stage.press('v');
  await stage.waitFor('The new run is worse');
  await stage.press('enter');
  await stage.waitFor(text => /in before \(new\).*\n\W*New reward 0, not stored/.test(text));
  await stage.press('tab');
  await stage.waitFor(text => /in after \(base\).*\n\W*New reward 1\.00, not stored/.test(text));
  await stage.press('esc');
  await stage.waitFor('Rewards by the grader contains yes');
  // Below the stored rewards, in the order of before.
  await stage.press('esc');
  await stage.waitFor(text => !text.includes('Rewards by the grader') && text.includes('The new run is worse'));
});

it('stops, and counts what was not graded as missing', async () => {
  const held = Promise.withResolvers<never>();
  const getTrajectory: typeof answers.getTrajectory = input =>
    /new_t\d$/.test(String(input.params.trajectory_id)) ? (held.promise as never) : answers.getTrajectory(input);
  const stage = openComparison({ columns: 120, rows: 40 }, { getTrajectory });
  await stage.waitFor('▸ t0');
  await stage.press('R');
  await stage.waitFor('Regrade before and after');
  await stage.press('right', 'tab');
  await stage.type('yes');
  await stage.press('enter');
  await stage.waitFor(text => /Graded \d+ of 24/.test(text));
  expect(stage.workbench.unfinishedWork()).toEqual(['The regrading of before and after. Its grades will not be kept']);
  await stage.press('esc');
  held.reject(new Error('stopped'));
  await stage.waitFor(text => /after: \d of 12 rollouts regraded, stopped before \d+/.test(flat(text)));
});
