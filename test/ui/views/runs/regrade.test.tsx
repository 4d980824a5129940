/** Grading the rollouts of a run again, on screen. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { TrajectoriesView } from '../../../../src/ui/views/lists.tsx';
import { RegradeView } from '../../../../src/ui/views/runs/regrade.tsx';
import { RunView } from '../../../../src/ui/views/runs/run.tsx';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

/** The answers and the rewards of the tasks. */
const tasks: Readonly<Record<string, readonly [answer: string, reward: number]>> = {
  lost: ['three', 1],
  same: ['twelve', 1],
  gained: ['it is twelve', 0],
};
const rows = Object.entries(tasks).map(([task_id, [, reward]]) => ({
  ...{ trajectory_id: `traj_${task_id}`, task_id, reward, status: 'completed', num_steps: 1 },
}));
const failed = { trajectory_id: 'traj_failed', task_id: 'broken', status: 'failed' };
const answers = {
  getEvalRun: () => ({ eval_run_id: 'evr_1', display_name: 'first', status: 'completed', total_rollouts: 4 }),
  getEvalProgress: () => ({ status: 'completed', total_rollouts: 4 }),
  getTrajectoryRewards: () => ({ trajectory_rewards: rows }),
  listTrajectories: () => ({ items: [...rows, failed], has_more: false, next_cursor: null, dropped: 0 }),
  listModels: () => ({ data: [{ id: 'judge-1' }, { id: 'judge-2' }] }),
  getTrajectory: ({ params: { trajectory_id } }) => {
    const [, task_id = ''] = String(trajectory_id).split('_');
    const [content, reward] = tasks[task_id] ?? [];
    const steps = [{ step_index: 0, messages: [{ role: 'assistant', content }] }];
    return { trajectory_id, task_id, status: 'completed', reward, steps };
  },
} satisfies Parameters<typeof fakeService>[0];

const others = [
  defineView<'regrade'>({
    id: 'regrade',
    title: 'R',
    component: RegradeView,
    inspectorFrom: 160,
    commands: [],
    general: [],
  }),
  defineView<'record'>({
    ...{ id: 'record trajectories', title: 'T', component: TrajectoryView, commands: [], general: [] },
  }),
];
function openRun(size: { columns: number; rows: number }, more: Partial<typeof answers> = {}, parts: object = {}) {
  const service = fakeService({ ...answers, ...more }, parts);
  return openViewOnStage(RunView, {
    ...{ place: { view: 'record', resource: 'runs', id: 'evr_1' }, service: async () => service, others, ...size },
  });
}

/** Whether the run and its rows are on screen: its name comes with its record. */
const isRead = (text: string): boolean => text.includes('▸ gained') && text.includes('first');

/** The text without its lines. */
const flat = (text: string): string => text.replace(/[\s│]+/g, ' ');

it.each([
  [120, 40],
  [80, 24],
  [60, 15],
])('%sx%s: shows the flips first, the means and the agreement, and opens a rollout', async (columns, height) => {
  const stage = openRun({ columns, rows: height });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.press('right');
  await stage.waitFor('contains');
  await stage.press('tab');
  await stage.type('twelve');
  await stage.press('tab', 'enter');
  await stage.waitFor(text => flat(text).includes('regraded 3 of 4 rollouts'));
  await stage.waitFor(text => /▸ lost .*\n.* gained /.test(text));
  if (height > 15) {
    const text = flat(stage.text());
    expect(text).toContain('failed 1, not graded');
    expect(text).toMatch(/mean 0\.667 before, 0\.667 now, over 3 tasks; difference 0; 95% CI -\S+ to \+\S+ passes/);
    expect(text).toContain('passes 1 lost, 1 gained (reward at least 1.00); agreement 33.3% of 3 on passing at 1.00');
    expect(text).toMatch(/Cohen's kappa -0\.50/);
  }
  await stage.press('enter');
  await stage.waitFor('three');
  // The reader shows the stored reward, and below it the new one.
  await stage.waitFor(text => /lost .*reward 1\.00.*\n\W*New reward 0, not stored: expected “twel/.test(text));
});

it.each([
  { dataset: 'mine', title: 'Regrade mine' },
  { training: 'trn_1', title: 'Regrade trn_1' },
])('grades the listed rollouts under the title $title', async ({ title, ...scope }) => {
  const service = fakeService(answers);
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope },
    ...{ service: async () => service, others, columns: 120, rows: 40 },
  });
  await stage.waitFor('gained');
  await stage.press('R');
  await stage.waitFor(title);
  await stage.press('tab');
  await stage.type('twelve');
  await stage.press('tab', 'enter');
  await stage.waitFor(text => flat(text).includes('regraded 3 of 4 rollouts'));
});

it('refuses a threshold that passes or fails every reward (out31 B2)', async () => {
  const stage = openRun({ columns: 120, rows: 40 });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.press('tab', 'tab', 'ctrl-u');
  await stage.type('7');
  await stage.press('enter');
  await stage.waitFor('A number above 0, and at most 1');
});

it('stops at once if the program is not found (out31 C8)', async () => {
  const stage = openRun({ columns: 120, rows: 40 });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.type('a prog');
  await stage.waitFor('a program on this machine');
  await stage.press('tab');
  await stage.type('no-such-program');
  await stage.press('enter');
  await stage.waitFor('Run this program on this machine for each rollout?');
  await stage.press('down', 'enter');
  await stage.waitFor('no-such-program was not found');
});

it('shows which program it will run, even in a narrow terminal', async () => {
  const stage = openRun({ columns: 60, rows: 15 });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.type('a prog');
  await stage.waitFor('a program on this machine');
  await stage.press('tab');
  await stage.type(`/opt/graders/strict ${'--and-more '.repeat(20)}`);
  await stage.press('enter');
  await stage.waitFor(text => text.includes('for each rollout?') && text.includes('Run /opt/graders/strict'));
});

it('requires a pattern for a regular expression (A6)', async () => {
  const stage = openRun({ columns: 120, rows: 40 });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.type('regex');
  await stage.waitFor('Pattern');
  expect(stage.text()).not.toContain('Expected');
  await stage.press('tab', 'tab', 'enter');
  await stage.waitFor('Enter a pattern');
  await stage.type('^tw');
  await stage.press('tab', 'enter');
  await stage.waitFor(text => flat(text).includes('regraded 3 of 4 rollouts'));
  expect(flat(stage.text())).toContain('0.667 before, 0.333 now');
});

it('asks before it runs a program', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'regrade-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'grade.mjs');
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs'; writeFileSync('${folder}/ran', ''); console.log(0, 'no');`,
  );
  const stage = openRun({ columns: 120, rows: 40 });
  await stage.waitFor(isRead);
  const choose = async () => {
    await stage.press('R');
    await stage.waitFor('Regrade first');
    await stage.type('a prog');
    await stage.waitFor('a program on this machine');
    await stage.press('tab');
    await stage.type(`${process.execPath} ${script}`);
    await stage.press('tab', 'tab', 'enter');
    await stage.waitFor('Run this program on this machine for each rollout?');
  };
  await choose();
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('on this machine?'));
  expect(existsSync(join(folder, 'ran'))).toBe(false);
  await choose();
  await stage.press('down', 'enter');
  await stage.waitFor(text => flat(text).includes('regraded 3 of 4 rollouts'));
  expect(flat(stage.text())).toContain('0.667 before, 0 now');
  expect(existsSync(join(folder, 'ran'))).toBe(true);
});

it('shows progress, stops, and says that the others were not graded', async () => {
  const held = Promise.withResolvers<never>();
  const getTrajectory: typeof answers.getTrajectory = input =>
    String(input.params.trajectory_id).endsWith('same') ? (held.promise as never) : answers.getTrajectory(input);
  const stage = openRun({ columns: 120, rows: 40 }, { getTrajectory });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.press('tab');
  await stage.type('twelve');
  await stage.press('tab', 'enter');
  await stage.waitFor('Graded 2 of 3');
  expect(stage.workbench.unfinishedWork()).toEqual(['The regrading of first. Its grades will not be kept']);
  await stage.press('esc');
  held.reject(new Error('stopped'));
  await stage.waitFor(text => flat(text).includes('regraded 2 of 4 rollouts; stopped before 1, not graded'));
  expect(stage.workbench.unfinishedWork()).toEqual([]);
});

it('asks a model with a rubric, and names the rollouts it could not grade', async () => {
  const chat = {
    complete: async ({ messages }: { messages: readonly { content: string }[] }) => ({
      choices: [{ message: { content: messages[1]?.content.includes('it is') ? 'hm' : 'Fine.\nREWARD: 0.5' } }],
    }),
  };
  const stage = openRun({ columns: 120, rows: 40 }, {}, { chat });
  await stage.waitFor(isRead);
  await stage.press('R');
  await stage.waitFor('Regrade first');
  await stage.type('a model');
  await stage.waitFor('judge-1');
  await stage.press('tab', 'tab');
  await stage.waitFor(text => flat(text).includes('asked once for each rollout'));
  await stage.type('Is it a number?');
  await stage.press('tab', 'enter');
  await stage.waitFor('Ask judge-1 for rewards?');
  await stage.waitFor('At most 3 requests, about '); // out33 B7
  expect(stage.text()).toContain('cost unknown: set priceUnit');
  await stage.press('down', 'enter');
  await stage.waitFor(text => flat(text).includes('regraded 2 of 4 rollouts; failed 1, not graded; not gradable 1'));
  expect(stage.text()).toContain("the judge's last line");
  // The other two grades are kept (rev38ui B5).
  await stage.press('r');
  await stage.waitFor('Send 1 request ');
  expect(flat(stage.text())).toContain('At most 1 request, about ');
});

it.each([{ dataset: 'mine' }, { training: 'trn_1' }])(
  'counts the requests to a judge and their cost before it sends them: %j',
  async scope => {
    const complete = vi.fn();
    const parts: object = { chat: { complete } };
    const pricing = { input: 100, output: 400 };
    const models = { listSupportedTrainingModels: () => [{ model_slug: 'judge-1', pricing }] };
    const service = fakeService({ ...answers, ...models }, parts);
    const stage = openViewOnStage(TrajectoriesView, {
      place: { view: 'list', resource: 'trajectories', scope },
      ...{ service: async () => service, others, columns: 60, rows: 15 },
    });
    stage.workbench.priceUnit = { currency: '$', tokens: 1e6 };
    await stage.waitFor('gained');
    await stage.press('R');
    await stage.waitFor('Grade with');
    await stage.type('a model');
    await stage.waitFor('a model with');
    await stage.press('tab', 'tab');
    await stage.type('Is it a number?');
    await stage.press('enter');
    await stage.waitFor('Send 3 requests');
    // The row behind the window shows a number beside it.
    expect(flat(stage.text())).toMatch(
      /At most 3 requests, about \d+ input tokens \(\d+ each,.* at 4 characters a token\); about \$0\.0\d+, besides the answers/,
    );
    await stage.press('enter');
    await stage.waitFor(text => !text.includes('Send 3 requests'));
    expect(complete).not.toHaveBeenCalled();
  },
);
