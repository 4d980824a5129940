/** Two runs compared by the rewards of another grader. */
import { expect, it } from 'vitest';
import type { NamedRun } from '../../../../src/resources/place.ts';
import { poolingProblem } from '../../../../src/resources/pools.ts';
import { crumbOf, defineView } from '../../../../src/ui/app/registry.ts';
import { registry } from '../../../../src/ui/views/registry.ts';
import { CompareView } from '../../../../src/ui/views/runs/compare.tsx';
import { CompareManyView } from '../../../../src/ui/views/runs/compare-many.tsx';
import { PairView } from '../../../../src/ui/views/trajectories/pair.tsx';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { noTerminal, openViewOnStage, type StageOptions } from '../../stage.tsx';

const tasks = Array.from({ length: 12 }, (_, index) => `t${index}`);
/** The stored reward and the answer of every rollout of a run. */
const runs: Readonly<Record<string, readonly [reward: number, answer: string]>> = {
  old: [1, 'no'],
  new: [0, 'yes'],
  third: [0, 'no'],
};
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

function openComparison(options: StageOptions, more: Partial<typeof answers> = {}) {
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
      defineView<'pair'>({ id: 'pair', title: 'P', component: PairView, commands: [], general: [] }),
    ],
    ...options,
  });
}

/** The text without its lines. */
const flat = (text: string): string => text.replace(/[\s│]+/g, ' ');

it.each([
  [120, 40],
  [60, 15],
])('%sx%s: shows the means, the verdict and the tasks under the new grader, and leads back', async (columns, rows) => {
  const stage = openComparison({ columns, rows });
  await stage.waitFor(text => text.includes('The new run is worse'));
  expect(stage.text()).toContain('<R> regrade');
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
  expect(stage.text()).toContain('<R> stored rewards');
  const text = flat(stage.text());
  expect(text).toMatch(/base before 0 over 12 tasks .*new after .*1\.00 over 11 tasks, 11 of 12 rollouts/);
  expect(text).toMatch(/▸ t\d+ 0 1\.00 \+1\.00/);
  expect(text).toContain('after: 11 of 12 rollouts regraded, 1 failed');
  expect(text).not.toContain('before: 12 of 12');
  await stage.press('R');
  await stage.waitFor(shown => shown.includes('The new run is worse'));
  expect(stage.text()).not.toContain('Rewards by the grader');
});

it('opens rollouts with their new rewards, of the other run and after a swap too', async () => {
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

it('stops, and counts ungraded rollouts as missing', async () => {
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
  expect(stage.text()).toContain('○ loading');
  expect(stage.workbench.unfinishedWork()).toEqual(['The regrading of before and after. Its grades will not be kept']);
  await stage.press('esc');
  held.reject(new Error('stopped'));
  await stage.waitFor(text => /after: \d of 12 rollouts regraded, stopped before \d+/.test(flat(text)));
});

async function regradeBy(stage: ReturnType<typeof openComparison>, expected: string): Promise<void> {
  await stage.press('R');
  await stage.waitFor('Regrade before and after');
  await stage.press('right', 'tab');
  await stage.type(expected);
  await stage.press('enter');
  await stage.waitFor(text => text.includes('Rewards by the grader'));
}

it.each([
  [120, 40],
  [60, 15],
])(
  '%sx%s: names the new rewards of two rollouts side by side, whose own are the stored ones',
  async (columns, rows) => {
    const stage = openComparison({ columns, rows });
    await stage.waitFor('▸ t0');
    await regradeBy(stage, 'yes');
    await stage.waitFor('The new run is better');
    await stage.press('=');
    await stage.waitFor(text => text.includes('reward 1.00') && text.includes('New reward 1.00, not stored'));
    const [left, right] = ['New reward 0, not stored', 'New reward 1.00, not stored'] as const;
    expect(stage.text()).toContain(left);
    expect(stage.text().indexOf(left)).toBeLessThan(stage.text().indexOf(right));
    await stage.press('v');
    await stage.waitFor(text => text.indexOf(right) < text.indexOf(left));
  },
);

it('leads back to the stored rewards with the sides as they are', async () => {
  const stage = openComparison({ columns: 120, rows: 40 });
  await stage.waitFor('The new run is worse');
  await regradeBy(stage, 'yes');
  await stage.waitFor('The new run is better');
  await stage.press('v');
  await stage.waitFor('The new run is worse');
  await stage.press('R');
  await stage.waitFor(text => !text.includes('Rewards by the grader') && text.includes('over 12 tasks'));
  expect(flat(stage.text())).toMatch(
    /base after 0 over 12 tasks .*new before 1\.00 over 12 tasks .*The new run is better/,
  );
});

it('shows the verdict below a long grader, even in a low pane', async () => {
  const stage = openComparison({ columns: 60, rows: 15 });
  await stage.waitFor('▸ t0');
  await regradeBy(stage, 'yes or no or whatever else it may say '.repeat(12));
  await stage.waitFor(text => text.includes('diff  '));
});

it('says that the rewards of rollouts and files are not the stored ones', async () => {
  const written: string[] = [];
  const terminal = { ...noTerminal, writeRaw: (text: string) => void written.push(text) };
  const stage = openComparison({ columns: 120, rows: 40, terminal });
  await stage.waitFor('▸ t0');
  await regradeBy(stage, 'yes');
  await stage.waitFor('The new run is better');
  await stage.press('x');
  await stage.waitFor('Export as');
  await stage.press('enter');
  await stage.waitFor('benchtop-regraded-comparison-');
  await stage.press('esc');
  await stage.waitFor(text => !text.includes('benchtop-regraded-comparison-'));
  await stage.press('Y');
  await stage.waitFor(() => written.length > 0);
  const [, copied = ''] = /52;c;([\w+/=]+)/.exec(written.join('')) ?? [];
  expect(Buffer.from(copied, 'base64').toString()).toContain('"grader": "contains yes"');
  await stage.press('/');
  await stage.type('t1');
  await stage.press('enter', 'G');
  await stage.waitFor('▸ t1 ');
  await stage.press('enter');
  await stage.waitFor(text => text.includes('in after (new)'));
  expect(stage.text()).toContain('Not regraded');
});

it.each([
  [120, 40],
  [80, 24],
  [60, 15],
])('%sx%s: regrades three runs, opens two of them by the same grader, and leads back', async (columns, rows) => {
  const service = fakeService(answers);
  const stage = openViewOnStage(CompareManyView, {
    place: {
      ...{ view: 'compare-many', base: 'old' },
      runs: ['old', 'new', 'third'].map(id => ({ id, name: `run ${id}`, bench_id: 'b' })),
    },
    service: async () => service,
    others: [
      defineView<'compare-many'>({
        id: 'compare-many',
        title: 'C',
        component: CompareManyView,
        commands: [],
        general: [],
      }),
      defineView<'compare'>({ id: 'compare', title: 'C', component: CompareView, commands: [], general: [] }),
    ],
    ...{ columns, rows },
  });
  await stage.waitFor(text => /run new .*worse/.test(text));
  await stage.press('R');
  await stage.waitFor('Regrade 3 runs');
  await stage.press('right', 'tab');
  await stage.type('yes');
  await stage.press('enter');
  await stage.waitFor(text => flat(text).includes('Rewards by the grader contains yes'));
  await stage.waitFor(text => /run new .*better/.test(text));
  expect(flat(stage.text())).toMatch(/run new B? ?1\.00/);
  await stage.press('g', 'j');
  await stage.press('enter');
  await stage.waitFor(text => text.includes('The new run is better'));
  expect(flat(stage.text())).toContain('Rewards by the grader contains yes');
  // Graded again in its place (rev38ui B6).
  await stage.press('r');
  await stage.waitFor(text => text.includes('The new run is better'));
  // Back to the stored rewards of the two, below which are the three regraded ones.
  await stage.press('R');
  await stage.waitFor(text => text.includes('The new run is worse'));
  await stage.press('esc');
  await stage.waitFor(text => /run new .*better/.test(text));
  await stage.press('R');
  await stage.waitFor(text => /run new .*worse/.test(text));
  expect(stage.text()).not.toContain('Rewards by the grader');
});

it('keeps the grades that a stopped regrading made', async () => {
  const graded: string[] = [];
  const held = Promise.withResolvers<never>();
  let isHeld = true;
  const getTrajectory: typeof answers.getTrajectory = input => {
    const id = String(input.params.trajectory_id);
    if (isHeld && /new_t\d$/.test(id)) return held.promise as never;
    graded.push(id);
    return answers.getTrajectory(input);
  };
  const stage = openComparison({ columns: 80, rows: 24 }, { getTrajectory });
  await stage.waitFor('▸ t0');
  await regradeBy(stage, 'yes');
  await stage.waitFor(text => /Graded 1\d of 24/.test(text));
  await stage.press('esc');
  held.reject(new Error('stopped'));
  await stage.waitFor(text => flat(text).includes('stopped before'));
  const before = graded.length;
  isHeld = false;
  // Leaving it discards nothing.
  await stage.press('esc');
  await stage.waitFor(text => text.includes('The new run is worse'));
  await regradeBy(stage, 'yes');
  await stage.waitFor(text => flat(text).includes('grades kept from before: r grades the others again'));
  expect(new Set(graded).size).toBe(graded.length);
  expect(graded.length).toBe(24);
  expect(before).toBeLessThan(24);
  // Once all are graded, the key grades all of them.
  await stage.press('r');
  await stage.waitFor(text => !flat(text).includes('kept from before') && text.includes('The new run is better'));
  expect(graded.length).toBeGreaterThan(24);
});

it('says why a comparison of pools cannot be pooled', () => {
  const named = ['old', 'new'].map(id => ({ id, name: id, likeness: 'a' }));
  expect(poolingProblem(named)).toContain('All of these runs are pooled');
  const pooled = { id: 'old', name: 'old +1', pool: ['old', 'older'] };
  expect(poolingProblem([pooled, { id: 'new', name: 'new' }])).toContain('are pooled already');
});

it('keeps the beginning of a long grader in the crumb', () => {
  const [base, fresh] = ['old', 'new'].map(id => ({ id, name: id })) as [NamedRun, NamedRun];
  const regrading = { id: '1', grader: `./grade.py ${'--strict '.repeat(20)}` };
  const crumb = crumbOf(registry, { view: 'compare', base, new: fresh, regrading }, 28);
  expect(crumb).toMatch(/^by \.\/grade\.py --strict/);
  expect(crumb.length).toBeLessThanOrEqual(28);
});
