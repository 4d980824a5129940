/** Two trajectories side by side, at the first difference. */
import { expect, it } from 'vitest';
import type { Trajectory } from '../../../../src/contract/trajectories.ts';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { TrajectoriesView } from '../../../../src/ui/views/lists.tsx';
import { PairView } from '../../../../src/ui/views/trajectories/pair.tsx';
import { pageOf } from '../../../queries/scripted-service.ts';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

const answers: Readonly<Record<string, string>> = {
  good: 'tree time tea',
  bad: 'tree tree tree',
  other: 'tree tree tree',
};
const service = fakeService({
  getTrajectoryRewards: () => ({
    trajectory_rewards: Object.keys(answers).map(trajectory_id => ({ trajectory_id, task_id: 'words' })),
  }),
  getRolloutStatistics: () => ({ snapshots: [] }),
  getTrajectory: ({ params: { trajectory_id } }) => ({
    ...{ trajectory_id, task_id: 'words', status: 'completed', eval_run_id: 'evr_1' },
    reward: trajectory_id === 'good' ? 1 : 0,
    sample: 2,
    rewards: [{ name: 'grader', value: 0, explanation: `says ${answers[String(trajectory_id)]}` }],
    steps: [
      {
        step_index: 0,
        messages: Array.from({ length: 40 }, (_, index) => ({ role: 'user', content: `question ${index}` })),
      },
      { step_index: 1, messages: [{ role: 'assistant', content: answers[String(trajectory_id)] ?? '' }] },
    ],
  }),
});
const stageOf = (columns: number, rows: number) =>
  openViewOnStage(PairView, {
    place: { view: 'pair', left: { id: 'good', name: 'base' }, right: { id: 'bad', name: 'new' } },
    service: async () => service,
    columns,
    rows,
  });

it('shows both from the first difference on, with equal parts folded and differing words marked', async () => {
  const stage = stageOf(230, 30);
  await stage.waitFor('At the first difference, 1 other rollout of this task: 0 like the left, 1 like the right');
  const text = stage.text();
  expect(text).toMatch(/words {2}base {2}reward 1\.00 {2}sample 2 +words {2}new {2}reward 0 {2}sample 2/);
  expect(text).toContain('= 40 equal messages, step 0');
  expect(text).toMatch(/step 1 {2}assistant +│ step 1 {2}assistant/);
  expect(text).toMatch(/tree time tea +│ {3}tree tree tree/);
  expect(text).toMatch(/grader +0 .* says tree time tea +│ +grader .* says tree tree tree/);
  expect(text).not.toContain('question 3');
  const row = text.split('\n').findIndex(line => line.includes('tree time tea'));
  const at = stage.line(row).indexOf('time');
  expect([stage.styleAt(at, row).bold, stage.styleAt(at - 2, row).bold]).toEqual([true, false]);
  await stage.press('z');
  await stage.waitFor('question 39');
});

it.each([
  [80, 24],
  [60, 15],
])('shows one after the other in %i columns', async (columns, rows) => {
  const stage = stageOf(columns, rows);
  await stage.waitFor('- tree time tea');
  expect(stage.text()).toMatch(/- tree time tea *│?\n.*\+ tree tree tree/);
  expect(stage.text()).toMatch(/- words {2}base {2}reward 1\.00/);
  // It is never cut.
  await stage.waitFor(text => text.replaceAll(/[│\s]+/g, ' ').includes('0 like the -'));
  await stage.press('J');
  await stage.waitFor('rewards');
});

it.each([
  ['one', false, ''],
  ['one whose rest is unread', true, ' read so far'],
])('counts the listed rollouts of a dataset, %s, that differ in the same way', async (_, has_more, words) => {
  const items = ['good', 'bad', 'other', 'third'].map(trajectory_id => ({
    ...{ trajectory_id, task_id: trajectory_id === 'third' ? 'another' : 'words', dataset_name: 'd', reward: 0 },
    status: 'completed',
  }));
  const ofDataset = fakeService({
    listTrajectories: ({ query }) =>
      query?.cursor ? new Promise(() => {}) : { ...pageOf(items), has_more, next_cursor: has_more ? 'rest' : null },
    getTrajectory: ({ params: { trajectory_id } }) => ({
      ...items.find(item => item.trajectory_id === trajectory_id),
      steps: [{ step_index: 0, messages: [{ role: 'assistant', content: answers[String(trajectory_id)] ?? '' }] }],
    }),
  });
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { dataset: 'd' } },
    service: async () => ofDataset,
    others: [defineView<'pair'>({ id: 'pair', title: 'P', component: PairView, commands: [], general: [] })],
    columns: 230,
    rows: 30,
  });
  await stage.waitFor('another');
  await stage.press('space', 'space', '=');
  const others = `1 other rollout of this task${words}`;
  await stage.waitFor(`At the first difference, ${others}: 0 like the left, 1 like the right`);
});

it('counts others of both runs in turn, and of one alone if the other is unreadable', async () => {
  const open = (readable: readonly string[]) => {
    const says = (id: string) => (id.startsWith('one') ? 'alpha' : 'beta');
    const runs = fakeService({
      getTrajectoryRewards: ({ params: { eval_run_id: run = '' } }) => {
        if (!readable.includes(String(run))) throw new Error('not readable');
        const ids = Array.from({ length: 10 }, (_, index) => `${run} ${index}`);
        return { trajectory_rewards: ids.map(trajectory_id => ({ trajectory_id, task_id: 'words' })) };
      },
      getRolloutStatistics: () => ({ snapshots: [] }),
      getTrajectory: ({ params: { trajectory_id = '' } }) => ({
        ...{ trajectory_id, task_id: 'words', status: 'completed', eval_run_id: String(trajectory_id).split(' ')[0] },
        steps: [{ step_index: 0, messages: [{ role: 'assistant', content: says(String(trajectory_id)) }] }],
      }),
    });
    return openViewOnStage(PairView, {
      place: { view: 'pair', left: { id: 'one 0', name: 'base' }, right: { id: 'two 0', name: 'new' } },
      service: async () => runs,
      ...{ columns: 230, rows: 30 },
    });
  };
  const both = open(['one', 'two']);
  await both.waitFor('8 of 18 other rollouts of this task in both runs: 4 like the left, 4 like the right');
  const single = open(['one']);
  await single.waitFor('8 of 9 other rollouts of this task in the run of the left: 8 like the left, 0 like the right');
});

/** Two rollouts of a training run that have policy steps and tasks, beside three others of each step. */
function openSteps(
  rollouts: Readonly<Record<string, Partial<Trajectory>>>,
  says: (id: string) => string,
  columns = 230,
  names?: readonly [string, string],
) {
  const asked: unknown[] = [];
  const training = fakeService({
    getStepTrajectoryRewards: ({ params: { step } }) => {
      asked.push(step);
      const ids = ['left', 'right', 'a', 'b', 'c'].map(id => `${id} ${step}`);
      return { trajectory_rewards: ids.map(trajectory_id => ({ trajectory_id, task_id: 'words' })) };
    },
    getTrajectory: ({ params: { trajectory_id: id = '' } }) => ({
      ...{ trajectory_id: String(id), task_id: 'words', training_run_id: 'trn_1', ...rollouts[String(id)] },
      steps: [{ step_index: 0, messages: [{ role: 'assistant', content: says(String(id)) }] }],
    }),
  });
  const [left = '', right = ''] = Object.keys(rollouts);
  const [one = left, another = right] = names ?? [];
  const stage = openViewOnStage(PairView, {
    place: { view: 'pair', left: { id: left, name: one }, right: { id: right, name: another } },
    service: async () => training,
    ...{ columns, rows: 30 },
  });
  return { stage, asked };
}
const [at20, at60] = [{ policy_step: 20 }, { policy_step: 60 }];

it('counts others of both steps of a training run, and names the steps', async () => {
  const two = openSteps({ 'left 20': at20, 'right 60': at60 }, id => (id.endsWith('20') ? 'alpha' : 'beta'));
  await two.stage.waitFor('8 other rollouts of this task in steps 20 and 60: 4 like the left, 4 like the right');
  const same = openSteps({ 'left 20': at20, 'right 20': at20 }, id => (id.startsWith('left') ? 'alpha' : 'beta'));
  await same.stage.waitFor('3 other rollouts of this task in step 20: 0 like the left, 3 like the right');
});

it.each([120, 100, 60])('names the steps and tasks that differ, and cuts the ids, in %i columns', async columns => {
  const ids = ['trj_000000000000000000000uZCgxzWgAIJ0', 'trj_000000000000000000000BBpgNhroCHK'] as const;
  const task = (name: string) => `next-number-benchmark-training-task-${name}`;
  const { stage } = openSteps(
    { [ids[0]]: { ...at20, task_id: task('011') }, [ids[1]]: { ...at60, task_id: task('041') } },
    id => id,
    columns,
  );
  await stage.waitFor(text => /011 .*step 20 .*041 .*step 60/s.test(text));
  expect(stage.text()).toMatch(/IJ0 {2}step 20 {2}reward none.*CHK {2}step 60 {2}reward none/s);
});

it('cuts the task before the names of runs', async () => {
  const task = { task_id: 'next-number-benchmark-training-task-011', status: 'completed' };
  const { stage } = openSteps({ 'left 20': task, 'right 20': task }, id => id, 60, ['shop-base', 'shop-after']);
  await stage.waitFor(text => /ask-011 {2}shop-base {2}reward none.*ask-011 {2}shop-after {2}reward none/s.test(text));
});

it('counts none for two different tasks, and says if answers are never alike', async () => {
  const tasks = openSteps({ 'left 20': at20, 'right 20': { ...at20, task_id: 'sums' } }, id => id);
  await tasks.stage.waitFor('sums');
  await tasks.stage.waitFor('places differ');
  expect(tasks.asked).toEqual([]);
  const free = openSteps({ 'left 20': at20, 'right 20': at20 }, id => id);
  await free.stage.waitFor('None of 3 other rollouts of this task in step 20 matches either');
});

it('counts the rollouts of all models in a file, and names the models of the two (B4)', async () => {
  const rollout = (trajectory_id: string, size: string, task_id = 'words') => ({
    ...{ trajectory_id, task_id, model_id: `acme/support-${size}`, dataset_name: 'a.jsonl', status: 'completed' },
    ...{ reward: 0, steps: [{ step_index: 0, messages: [{ role: 'assistant', content: `says ${trajectory_id}` }] }] },
  });
  const items = [rollout('one', 'small'), rollout('two', 'small'), rollout('three', 'large'), rollout('four', 'large')];
  const ofFile = fakeService({
    listTrajectories: ({ query }) =>
      query?.cursor
        ? pageOf(items.slice(2))
        : { ...pageOf(items.slice(0, 2)), has_more: true, next_cursor: 'the other model' },
    getTrajectory: ({ params: { trajectory_id } }) => items.find(item => item.trajectory_id === trajectory_id),
  });
  const stage = openViewOnStage(PairView, {
    place: { view: 'pair', left: { id: 'one', name: 'worst' }, right: { id: 'three', name: 'best' } },
    service: async () => ofFile,
    file: { title: 'a.jsonl', problem: undefined, notes: [], subscribe: () => () => {} },
    columns: 230,
    rows: 30,
  });
  await stage.waitFor('None of 2 other rollouts of this task matches either');
  expect(stage.text()).toMatch(/words {2}worst {2}acme\/support-small .* words {2}best {2}acme\/support-large/);
});
