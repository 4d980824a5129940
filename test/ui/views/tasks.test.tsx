/** The tasks of a run and the rollouts of one: no score, a score of 0 and a failure are different. */
import { Text } from 'ink';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Trajectory } from '../../../src/contract/trajectories.ts';
import type { Place } from '../../../src/resources/place.ts';
import { describeGroups, groupsOf } from '../../../src/resources/task-groups.ts';
import { factsOfFile, trajectoryFacts } from '../../../src/resources/trajectories.ts';
import { defineView } from '../../../src/ui/app/registry.ts';
import { View } from '../../../src/ui/app/view.tsx';
import { TrajectoriesView } from '../../../src/ui/views/lists.tsx';
import { drawnColumns } from '../../../src/ui/views/tasks/group-columns.ts';
import { LengthsView } from '../../../src/ui/views/tasks/lengths.tsx';
import { OutcomesView } from '../../../src/ui/views/tasks/outcomes.tsx';
import { RolloutsView, TasksView } from '../../../src/ui/views/tasks/tasks.tsx';
import { TrajectoryView } from '../../../src/ui/views/trajectories/trajectory.tsx';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { pageOf } from '../../queries/scripted-service.ts';
import { fakeService } from '../../service/fake-service.ts';
import { openViewOnStage, type Stage } from '../stage.tsx';

type Rollout = { readonly reward?: number; readonly status?: string; readonly error?: string };
const tasks: Readonly<Record<string, readonly Rollout[]>> = {
  always: [{ reward: 1 }, { reward: 1 }, { reward: 1 }, { reward: 1 }],
  never: [{ reward: 0 }, { reward: 0 }, { reward: 0 }, { reward: 0 }],
  'some-times': [{ reward: 0 }, { reward: 1 }, { status: 'failed', error: 'ToolError: 3' }, {}],
};
const rowsOf = (run: string) =>
  Object.entries(tasks).flatMap(([task_id, rollouts]) =>
    rollouts.map(({ reward, status = 'completed', error }, index) => ({
      ...{ trajectory_id: `traj_${run}_${task_id}_${index}`, task_id, status, error },
      // The other run has one reward more.
      reward: run === 'base' && task_id === 'always' ? 0 : (reward ?? null),
    })),
  );
const service = fakeService({
  getEvalRun: ({ params: { eval_run_id } }) => ({ eval_run_id, bench_id: 'b', status: 'completed' }),
  getEvalProgress: () => ({ status: 'completed', total_rollouts: 12 }),
  getTrajectoryRewards: ({ params: { eval_run_id } }) => ({
    trajectory_rewards: rowsOf(String(eval_run_id)).filter(({ reward }) => reward !== null),
  }),
  getRolloutStatistics: () => ({ snapshots: [] }),
  getTrajectory: ({ params: { trajectory_id } }) => {
    const [row] = rowsOf('new').filter(each => each.trajectory_id === trajectory_id);
    const content = `reads ${trajectory_id}`;
    const messages = [{ role: 'assistant', content, completion_tokens: row?.reward === 1 ? 200 : 100 }];
    return { trajectory_id: String(trajectory_id), ...row, steps: [{ messages }] };
  },
  // In pages, which are read to the end without a key.
  listTrajectories: ({ query: { eval_run_id, cursor } = {} }) => {
    const rows = rowsOf(String(eval_run_id));
    const from = Number(cursor ?? 0);
    const next = from + 5 < rows.length ? String(from + 5) : null;
    return { items: rows.slice(from, from + 5), has_more: next !== null, next_cursor: next };
  },
});
const rolloutsView = defineView<'rollouts'>({
  ...{ id: 'rollouts', title: 'R', component: RolloutsView, commands: [], general: [] },
});
const recordView = defineView<'record'>({
  ...{ id: 'record trajectories', title: 'T', component: TrajectoryView, commands: [], general: [] },
});
const pairView = defineView<'pair'>({
  ...{ id: 'pair', title: 'P', commands: [], general: [] },
  component: ({ place: { left, right } }) => (
    <View main={<Text>{`pairs ${left.id} and ${right.id}`}</Text>} inspector={<Text> </Text>} bindings={[]} />
  ),
});
const compareView = defineView<'compare'>({
  ...{ id: 'compare', title: 'C', commands: [], general: [] },
  component: ({ place: { base, new: fresh, at } }) => (
    <View
      main={<Text>{`compares ${base.id} and ${fresh.id} at ${at}`}</Text>}
      inspector={<Text> </Text>}
      bindings={[]}
    />
  ),
});
/** As if the rows of a list were collected once it is left. */
function forgetRows(): void {
  vi.stubGlobal(
    'WeakRef',
    class {
      readonly deref = (): undefined => undefined;
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
}
/** Waits until everything that the view shows or opens has been read. */
const allRead = (stage: Stage): Promise<void> => stage.waitFor(() => stage.workbench.cache.isFetching() === 0);
const stageOf = (columns: number, rows: number, base?: string) =>
  openViewOnStage(TasksView, {
    place: { view: 'tasks', scope: { run: 'new' }, ...(base && { base: { id: base, name: 'before', bench_id: 'b' } }) },
    service: async () => service,
    others: [rolloutsView, recordView, pairView, compareView],
    columns,
    rows,
  });

it('has a line for each task, worst first, and explains the groups', async () => {
  const stage = stageOf(200, 30);
  await stage.waitFor('3 tasks: 10 of 12 rollouts have a reward, 1 failed, 1 without a score');
  expect(stage.text()).toContain('2 of 3 groups teach nothing: 1 too easy, 1 too hard');
  expect(stage.text()).toMatch(/pass@k {2}1 50% {2}2 66\.7% {2}4 50%/);
  expect(stage.text()).toMatch(
    /pass\^k {2}1 50% {2}2 33\.3% {2}4 50% {3}reward at least 1\.00; 2 of 3 tasks have 4 rewards/,
  );
  expect(stage.text()).toMatch(/▸ never +4 +0 +▁▁▁▁ +0 +0 +0% +too hard/);
  expect(stage.text()).toMatch(/some-times +2 of 4 +0\.500 +▁█✗○ +0 +1\.00 +50% +teaches +1 +1/);
  expect(stage.text()).toMatch(/always +4 +1\.00 +████ +1\.00 +1\.00 +100% +too easy/);
});

it('shows how often both runs pass in a low pane, below a note about the base', async () => {
  const stage = openViewOnStage(TasksView, {
    place: { view: 'tasks', scope: { run: 'new' }, base: { id: 'base', name: 'before' } },
    ...{ service: async () => service, columns: 60, rows: 15 },
  });
  await stage.waitFor('pass@k, base');
  expect(stage.text()).toMatch(/benchmark of base is unknown[\s\S]*3 tasks: [\s\S]*pass@k {2}1 50%/);
});

it('sorts only by columns that have a value (out30 C2)', async () => {
  const stage = stageOf(200, 30);
  await stage.waitFor('3 tasks: 10 of 12');
  // Not by DIFF, FIRST, LAST, CHANGE or BY STEP, which nothing has without a base and steps.
  for (const title of ['SPREAD', 'MIN', 'MAX', 'PASS', 'SIGNAL']) {
    await stage.press('s');
    await stage.waitFor(`${title}▲`);
  }
});

it('draws a failed rollout with a reward once, by its reward (out30 C1)', () => {
  const rows = [{ reward: 1, status: 'failed' }, { reward: null, status: 'failed' }, { reward: 0 }, { reward: null }];
  const { groups } = groupsOf(
    rows.map((row, index) => ({ trajectory_id: `traj_${index}`, task_id: 'a', ...row })),
    { range: [0, 1] },
  );
  const spread = drawnColumns(createTheme('plain')).find(({ id }) => id === 'spread');
  const [group] = groups;
  expect(group && spread?.text?.(group)).toBe('▁█✗○');
});

it('counts every failed rollout, even one with a reward', () => {
  const rows = [{ reward: 1, error: 'broke off' }, { reward: null, error: 'broke off' }, { reward: 0 }];
  const tasks = groupsOf(
    rows.map((row, index) => ({ trajectory_id: `traj_${index}`, task_id: 'a', ...row })),
    {
      range: [0, 1],
    },
  );
  expect(describeGroups(tasks)[0]).toBe('1 task: 2 of 3 rollouts have a reward, 2 failed (1 of them with a reward)');
  expect(tasks.groups[0]).toMatchObject({ failed: 2, failedUnscored: 1, unscored: 0 });
});

it('opens the rollouts of a task, worst first', async () => {
  const stage = stageOf(100, 24);
  await stage.waitFor(text => text.includes('3 tasks: 10 of 12') && text.includes('▸ never'));
  await stage.press('j', 'enter');
  await stage.waitFor(text => /▸ some-times +0 .*\n.*some-times +1\.00/.test(text) && text.includes('ToolError'));
  expect(stage.text()).not.toContain('never');
  await stage.press('3');
  await stage.waitFor('flagged: 1 gamed of the 4 rows read');
});

it.each([
  [150, 30],
  [60, 15],
])('shows the difference to another run, largest loss first, at %i columns', async (columns, rows) => {
  const stage = stageOf(columns, rows, 'base');
  await stage.waitFor('+1.00');
  await stage.waitFor('▸ never');
  // Each run has its own line, also in a low pane (issue 19).
  expect(stage.text()).toMatch(/ pass@k {2}1 50% {2}2 66\.7% {2}4 50%/);
  expect(stage.text()).toMatch(/ pass@k, base {2}1 16\.7% {2}2 33\.3% {2}4 0%/);
});

it('keeps a line with pass@k in a low pane (issue 19)', async () => {
  const stage = stageOf(60, 15);
  await stage.waitFor(text => text.includes('▸ never') && / pass@k {2}1 50% {2}2 66\.7% {2}4 50%/.test(text));
});

it('opens the rollouts of a task compared with another run, with those of the other run beside them', async () => {
  forgetRows();
  const stage = stageOf(120, 24, 'base');
  await stage.waitFor(text => text.includes('3 tasks') && text.includes('+1.00'));
  await stage.press('G', 'enter');
  await stage.waitFor(text => /▸ always +1\.00/.test(text));
  await allRead(stage);
  await stage.press('j', 'j', 'enter');
  await stage.waitFor(text => text.includes('reads traj_new_always_2') && text.includes('<tab> other run'));
  expect(stage.text()).toContain(' 3/4');
  await stage.press('tab');
  await stage.waitFor('reads traj_base_always_0');
  await stage.press(']');
  await stage.waitFor('reads traj_new_always_3');
  await stage.press('=');
  await stage.waitFor('pairs traj_base_always_0 and traj_new_always_3');
  await stage.press('esc', 'esc');
  await stage.waitFor(text => /▸.always +1\.00/.test(text));
  await stage.press('k', '=');
  await stage.waitFor('pairs traj_base_always_0 and traj_new_always_2');
});

it('opens the comparison of a task, and moves between the rollouts of both runs', async () => {
  forgetRows();
  const stage = stageOf(120, 24, 'base');
  await stage.waitFor(text => text.includes('3 tasks') && text.includes('+1.00'));
  await stage.press('G', '=');
  await stage.waitFor('compares base and new at always');
  await stage.press('esc', 'enter');
  await stage.waitFor(text => /▸ always +1\.00/.test(text));
  await stage.press('tab');
  await stage.waitFor(text => /▸ always +0 /.test(text));
  await allRead(stage);
  await stage.press('enter');
  await stage.waitFor(text => text.includes('reads traj_base_always_') && text.includes('<tab> other run'));
  await stage.press('tab');
  await stage.waitFor('reads traj_new_always_');
  await stage.press('esc');
  await stage.waitFor(text => /▸.always +0 /.test(text));
  await stage.press('tab');
  await stage.waitFor(text => /▸.always +1\.00/.test(text));
});

it('draws reward above length at any size', async () => {
  const stage = openViewOnStage(LengthsView, {
    place: { view: 'lengths', scope: { run: 'new' } },
    service: async () => service,
    columns: 60,
    rows: 15,
  });
  await stage.waitFor(text => /correlation .*\n.*[⠁-⣿]/.test(text));
  await stage.waitFor(text => /▸ \S/.test(text));
});

it('lists how rollouts ended, and opens those of a class', async () => {
  const stage = openViewOnStage(OutcomesView, {
    place: { view: 'outcomes', scope: { run: 'new' } },
    service: async () => service,
    others: [rolloutsView],
    columns: 110,
  });
  await stage.waitFor('ToolError: N');
  expect(stage.text()).toMatch(/ completed +status +11 +91\.7% +0\.500 +10/);
  expect(stage.text()).toMatch(/ ToolError: N +error +1 +8\.3% +0│/);
  await stage.press('j', 'j', 'enter');
  await stage.waitFor('ToolError: 3');
  expect(stage.text()).toContain(' 1/1 ');
});

it('says above the tasks and below the classes that the rollouts come from two models (out30 B5)', async () => {
  const rows = ['small', 'large', 'small'].map((model_id, index) => ({
    ...{ trajectory_id: `t${index}`, task_id: 'one', status: 'completed', reward: index, model_id, dataset_name: 'd' },
  }));
  const pooled = fakeService({ listTrajectories: () => pageOf(rows) });
  const words = 'From 2 models together: small (mean 1.00 over 2 rewards), large (mean 1.00 over 1 reward)';
  const open = { service: async () => pooled, columns: 160 };
  const scope = { dataset: 'd' };
  await openViewOnStage(TasksView, { ...open, place: { view: 'tasks', scope } }).waitFor(words.slice(0, 60));
  await openViewOnStage(OutcomesView, { ...open, place: { view: 'outcomes', scope } }).waitFor(words.slice(0, 60));
});

it('plots rewards against lengths, with the rank correlation', async () => {
  const stage = openViewOnStage(LengthsView, {
    place: { view: 'lengths', scope: { run: 'new' } },
    service: async () => service,
    columns: 110,
    rows: 40,
  });
  // The list has no tokens: the rollouts are read.
  await stage.waitFor('10 of 12 rollouts have a reward and a known length in tokens');
  expect(stage.text()).toContain('rank correlation of reward and tokens: 1.00, 10 rollouts, over different tasks');
  await stage.waitFor('10 rollouts were read for their tokens, which the list does not report');
  expect(stage.text()).toMatch(/1\.00┤ +[\u2801-\u28ff]/);
  await stage.resize(140, 40);
  await stage.waitFor(text => /│ END[\s\S]*│ Step 0/.test(text));
  await stage.resize(110, 40);
  await stage.press('u');
  await stage.waitFor('No rollout with a reward reports its number of steps');
});

it.each([
  [{ view: 'lengths' }, LengthsView],
  [{ view: 'rollouts', task: 'a' }, RolloutsView],
  [{ view: 'list', resource: 'trajectories', sort: { column: 'created', descending: false } }, TrajectoriesView],
] as const)('shows in %j of a file only what a file has', async (place, component) => {
  const stored = {
    organization_id: 'org_1',
    gcs_blob_uri: 'local://datasets/a.json',
    trace_id: 'trace_0123456789ab',
    model_id: 'acme/agent',
    created_at: '2026-01-01T00:00:00Z',
  };
  const rows = [0, 1].map(reward => ({
    trajectory_id: `traj_${reward}`,
    task_id: 'a',
    reward,
    num_steps: 1,
    ...stored,
  }));
  const stage = openViewOnStage(component as typeof LengthsView, {
    place: { ...place, scope: { dataset: 'a.jsonl' } } as Place<'lengths'>,
    service: async () =>
      fakeService({
        listTrajectories: () => pageOf(rows),
        getTrajectory: () => ({
          ...rows[0],
          steps: [{ messages: [{ role: 'assistant', content: 'six', completion_tokens: 7 }] }],
        }),
      }),
    file: { title: 'a.jsonl', problem: undefined, notes: [], subscribe: () => () => {} },
    columns: 200,
    rows: 40,
  });
  await stage.waitFor(text => /task +a/.test(text));
  expect(stage.text()).not.toMatch(/org_1|local:|trace_0123456789ab/);
  // Neither a list of models nor Watch has anything of the file.
  expect(factsOfFile(trajectoryFacts(rows[0] as Trajectory)).filter(({ refers }) => refers)).toEqual([]);
  if (place.view === 'lengths') return;
  // Its rollouts are here, so their answers are read without being asked for.
  await stage.waitFor(text => /ANSWER[\s\S]*six/.test(text));
  // When the rollouts were stored says nothing about them, but they keep its order.
  await stage.resize(80, 24);
  await stage.waitFor(text => text.includes('STEPS'));
  expect(stage.text()).not.toContain('CREATED');
  await stage.press('p');
  await stage.waitFor('A file has no Watch');
});

it.each([
  ['completed', '3 rollouts are not listed by the service: failed, or without a reward'],
  ['cancelled', '3 rollouts are not listed by the service: cancelled, or never run'],
  ['running', '3 rollouts are still to come'],
  ['weird', '3 rollouts are not listed by the service'],
])('says what happened to the unlisted rollouts of a %s run', async (status, words) => {
  const ofStatus = fakeService({
    getEvalRun: ({ params: { eval_run_id } }) => ({ eval_run_id, bench_id: 'b', status }),
    getEvalProgress: () => ({ status, total_rollouts: 15 }),
    getTrajectoryRewards: () => ({ trajectory_rewards: rowsOf('new').filter(({ reward }) => reward !== null) }),
    getRolloutStatistics: () => ({ snapshots: [] }),
    listTrajectories: () => pageOf(rowsOf('new')),
  });
  for (const [view, component] of [
    ['outcomes', OutcomesView],
    ['tasks', TasksView],
  ] as const) {
    const stage = openViewOnStage(component as typeof TasksView, {
      place: { view: view as 'tasks', scope: { run: 'new' } },
      service: async () => ofStatus,
      columns: 110,
    });
    await stage.waitFor(words.slice(0, 60));
    expect(stage.text()).not.toMatch(new RegExp(`${words}:`));
    if (view === 'tasks') expect(stage.text()).toContain('3 tasks: 10 of 15 rollouts have a reward, 1 failed');
  }
});

it.each([
  [3, '3 rollouts without a task not grouped', 'No rollout names its task'],
  [0, '', 'There are no rollouts'],
])('says that none of %i rollouts names its task (B5)', async (count, words, empty) => {
  const rows = Array.from({ length: count }, (_, index) => ({ trajectory_id: `traj_${index}`, reward: 1 }));
  const stage = openViewOnStage(TasksView, {
    place: { view: 'tasks', scope: { dataset: 'd' } },
    service: async () => fakeService({ listTrajectories: () => pageOf(rows) }),
    columns: 80,
    rows: 24,
  });
  await stage.waitFor(empty);
  expect(stage.text()).toContain(words);
});

it('plots the reward of a task over the steps of a training run, follows it, and limits the steps (B1)', async () => {
  const rows = Array.from({ length: 60 }, (_, step) =>
    ['fast', 'slow'].flatMap((task_id, task) =>
      [0, 1].map(index => ({
        ...{ trajectory_id: `traj_${step}_${task_id}_${index}`, task_id, status: 'completed', policy_step: step },
        // The fast one is learnt half way; at step 12 nothing was scored.
        reward: step === 12 ? null : task === 0 && step >= 30 ? 1 : index * 0.25,
      })),
    ),
  ).flat();
  const stage = openViewOnStage(TasksView, {
    place: { view: 'tasks', scope: { training: 'trn_1' } },
    service: async () => fakeService({ listTrajectories: () => pageOf(rows) }),
    others: [
      rolloutsView,
      defineView<'task-life'>({
        ...{ id: 'task-life', title: 'L', commands: [], general: [] },
        component: ({ place: { task, trainingRunId } }) => (
          <View main={<Text>{`life of ${task} in ${trainingRunId}`}</Text>} />
        ),
      }),
    ],
    columns: 200,
    rows: 40,
  });
  await stage.waitFor('REWARD BY STEP');
  expect(stage.text()).toContain('These rollouts are from 60 training steps, 0 to 59');
  // The mean at the first and the last step, and a curve in between.
  expect(stage.text()).toMatch(/▸ slow +118 of 120 +0\.125 +0\.125 +0\.125 +0 +▂{12}/);
  expect(stage.text()).toMatch(/fast +118 of 120 +0\.\d+ +0\.125 +1\.00 +\+0\.875 +▂{6}█{6}/);
  expect(stage.text()).toMatch(/by step +59 steps, 0\.125 at 0, 0\.125 at 59/);
  // The gap at step 12.
  expect(stage.text()).toMatch(/│⠤{11} ⠠⠤+ /);
  expect(stage.text()).not.toContain('pass@2 ');
  expect(stage.text()).not.toContain('0.250 0.250 0.250');
  await stage.waitFor('<.> by step');
  await stage.press('j', '.');
  await stage.waitFor('life of fast in trn_1');
  await stage.press('esc');
  await stage.waitFor('REWARD BY STEP');
  await stage.press('#', ...'50..', 'enter');
  await stage.waitFor('from 10 training steps, 50 to 59');
  expect(stage.text()).toMatch(/fast +20 +1\.00 +1\.00 +1\.00/);
});

it('reads a sample of many rollouts for their lengths, all of them on a key, and stops on another (B2)', async () => {
  const all = Array.from({ length: 300 }, (_, index) => ({
    // The reward is higher by chance, and lower at the end of the list.
    ...{ trajectory_id: `traj_${index}`, task_id: 'a', status: 'completed', reward: index < 295 ? index % 2 : 0 },
    num_steps: index === 299 ? 501 : 1,
  }));
  const asked: string[] = [];
  const hold = { after: Number.POSITIVE_INFINITY, waiting: Promise.withResolvers<void>() };
  const stage = openViewOnStage(LengthsView, {
    place: { view: 'lengths', scope: { dataset: 'd' } },
    service: async () =>
      fakeService({
        listTrajectories: () => pageOf(all),
        getTrajectory: async ({ params: { trajectory_id } }) => {
          if (asked.length >= hold.after) await hold.waiting.promise;
          asked.push(String(trajectory_id));
          const messages = [{ role: 'assistant', completion_tokens: trajectory_id === 'traj_299' ? 999 : 7 }];
          return { ...all.find(row => row.trajectory_id === trajectory_id), steps: [{ messages }] };
        },
      }),
    columns: 150,
    rows: 40,
  });
  await stage.waitFor('an even sample: A reads the other 252');
  expect(stage.text()).toContain('an even sample: 48 of 300 rollouts');
  expect(new Set(asked).size).toBe(48);
  // Even: every quarter of the list has its share, besides the row under the cursor.
  const places = asked.map(id => Number(id.slice('traj_'.length)));
  for (const quarter of [0, 1, 2, 3]) {
    expect(Math.abs(places.filter(place => Math.floor(place / 75) === quarter).length - 12)).toBeLessThanOrEqual(2);
  }
  hold.after = 100;
  await stage.press('A');
  // Some of these are the rows under the cursor.
  await stage.waitFor(text => /(9\d|100) of 300 rollouts read for their tokens: esc stops/.test(text));
  await stage.press('esc');
  await stage.waitFor(text => /A reads the other 20\d/.test(text));
  hold.after = Number.POSITIVE_INFINITY;
  // The preview of a row may wait for one of them.
  hold.waiting.resolve();
  await stage.press('A');
  await stage.waitFor('300 of 300 rollouts have a reward and a known length in tokens');
  expect(stage.text()).not.toContain('A reads the other');
  // The longest is the only one of its kind; the others share two dots.
  expect(stage.text()).toMatch(/▸ a +0 +999 /);
  expect(stage.text()).toMatch(/reward above tokens; up to 1\d\d per dot, few where faint/);
  await stage.press('j');
  await stage.waitFor(text => /same point +1\d\d more with this reward/.test(text));
});
