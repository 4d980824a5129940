/** The files that `x` offers besides the rows: reports, and trajectories with their steps. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TrajectoriesView } from '../../../../src/ui/views/lists.tsx';
import { CompareView } from '../../../../src/ui/views/runs/compare.tsx';
import { RunView } from '../../../../src/ui/views/runs/run.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { inOwnFolders } from '../../own-folder.ts';
import { openViewOnStage, type Stage } from '../../stage.tsx';

const tasks = ['one', 'two', 'three'];
const row = (run: string, task_id: string, index: number) => ({
  ...{ trajectory_id: `traj_${run}_${task_id}`, task_id, status: 'completed', num_steps: 1, eval_run_id: run },
  reward: run === 'old' ? 1 : index / 2,
});
const rowsOf = (run: string) => tasks.map((task, index) => row(run, task, index));
const answers = {
  getEvalRun: ({ params: { eval_run_id } }) => ({
    ...{ eval_run_id, display_name: eval_run_id, bench_id: 'b', status: 'completed' },
  }),
  getEvalProgress: () => ({ status: 'completed', total_rollouts: 3 }),
  getTrajectoryRewards: ({ params: { eval_run_id } }) => ({ trajectory_rewards: rowsOf(String(eval_run_id)) }),
  listTrajectories: ({ query }) => ({
    ...{ items: rowsOf(String(query?.eval_run_id ?? 'new')), has_more: false, next_cursor: null, dropped: 0 },
  }),
  getTrajectory: ({ params: { trajectory_id } }) => {
    const [, run = '', task = ''] = String(trajectory_id).split('_');
    const content = `said by ${run} on ${task}`;
    return {
      ...row(run, task, tasks.indexOf(task)),
      steps: [{ step_index: 0, messages: [{ role: 'assistant', content }] }],
    };
  },
} satisfies Parameters<typeof fakeService>[0];
const service = fakeService(answers);
const run = { view: 'record', resource: 'runs', id: 'new' } as const;

const isOurs = (name: string): boolean => /^benchtop-(report|trajectories-steps)-/.test(name);
inOwnFolders();

/** The text of the only file. */
function saved(): string {
  const files = readdirSync('.').filter(isOurs);
  expect(files).toHaveLength(1);
  return readFileSync(files[0] ?? '', 'utf8');
}

/** Saves under the suggested name. */
async function save(stage: Stage): Promise<void> {
  await stage.waitFor('Save as');
  await stage.press('enter');
}

it.each([
  [120, 40],
  [80, 24],
  [60, 15],
])('%sx%s: writes a report on a run, and shows its path', async (columns, rows) => {
  const notes = ['2 trajectories in the file could not be read in full.'];
  const file = { title: 'a.jsonl', problem: undefined, notes, subscribe: () => () => {} };
  const stage = openViewOnStage(RunView, { place: run, service: async () => service, columns, rows, file });
  await stage.waitFor('▸ one');
  await stage.press('x');
  await stage.waitFor('Report on new, HTML');
  await stage.press('down', 'down', 'down', 'down', 'enter');
  await save(stage);
  await stage.waitFor('Saved the report on new to');
  const text = saved();
  await stage.press('!');
  // The window of notices may wrap the path, and the list continues beside it.
  const inWindow = (shown: string): string =>
    shown
      .split('\n')
      .map(line => line.split('│')[2] ?? '')
      .join('')
      .replace(/\s+/g, '');
  await stage.waitFor(shown => inWindow(shown).includes(readdirSync('.').find(isOurs) ?? '-'));
  expect(text).toContain(`<p>${notes.join('')}</p>`);
  expect(text).toMatch(
    /^<!doctype html>(?:.|\n)*<h2>Worst: 3 trajectories<\/h2>(?:.|\n)*said by new on one(?:.|\n)*<\/html>\n$/,
  );
});

it('writes a comparison of two runs', async () => {
  const stage = openViewOnStage(CompareView, {
    place: { view: 'compare', base: { id: 'old', name: 'old' }, new: { id: 'new', name: 'new' } },
    service: async () => service,
  });
  await stage.waitFor('▸ one');
  await stage.press('x');
  await stage.waitFor('Report on new compared with old, Markdown');
  await stage.press('down', 'down', 'down', 'down', 'down', 'enter');
  await save(stage);
  await stage.waitFor('Saved the report on new compared with old to');
  expect(saved()).toMatch(/^# new compared with old\n(?:.|\n)*- said by old on one\n\+ said by new on one\n/);
});

it('offers all rows, or all that match the filter (C1)', async () => {
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { run: 'new' }, label: 'new' },
    service: async () => service,
  });
  await stage.waitFor('three');
  await stage.press('x');
  await stage.waitFor('With steps, JSON Lines: all rows');
  await stage.press('esc', '/');
  await stage.type('one');
  await stage.press('enter', 'x');
  await stage.waitFor('With steps, JSON Lines: all filtered rows');
});

it('writes marked trajectories with their steps, and a report on all flagged ones', async () => {
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { run: 'new' }, label: 'new' },
    service: async () => service,
  });
  await stage.waitFor('three');
  await stage.press('space', 'j', 'space', 'x');
  await stage.waitFor('With steps, JSON Lines: 2 marked');
  await stage.press('down', 'down', 'down', 'down', 'enter');
  await save(stage);
  await stage.waitFor('Saved 2 trajectories with steps to');
  const lines = saved().trimEnd().split('\n');
  expect(lines.map(line => JSON.parse(line).steps[0].messages[0].content)).toHaveLength(2);
  for (const name of readdirSync('.').filter(isOurs)) rmSync(name);
  await stage.press('3', 'x');
  await stage.waitFor('Report on all 2 with a flag or a note, HTML');
  await stage.waitFor('With steps, JSON Lines: all 2 flagged');
  await stage.press('up', 'up', 'enter');
  await save(stage);
  await stage.waitFor('Saved the report on all 2 with a flag or a note to');
  expect(saved()).toContain('Flagged: 2 trajectories');
  // Only the file with notes has them (A13).
  for (const choice of ['With steps, JSON', 'With steps and notes, JSON']) {
    for (const name of readdirSync('.').filter(isOurs)) rmSync(name);
    await stage.press('x');
    await stage.waitFor(choice);
    while (!stage.text().includes(`▸ ${choice}`)) {
      const before = stage.text();
      await stage.press('down');
      await stage.waitFor(text => text !== before);
    }
    await stage.press('enter');
    await save(stage);
    await expect.poll(() => readdirSync('.').filter(isOurs)).toHaveLength(1);
    await expect.poll(() => saved().split('\n')).toHaveLength(3);
    expect(saved().includes('benchtop_notes')).toBe(choice.includes('notes'));
  }
});

it('says that trajectories were saved without all their steps (B7)', async () => {
  const parts = fakeService({ ...answers, getTrajectory: ({ params }) => ({ ...params, num_steps: 2, steps: [] }) });
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { run: 'new' }, label: 'new' },
    service: async () => parts,
  });
  await stage.waitFor('three');
  await stage.press('space', 'j', 'space', 'x');
  await stage.waitFor('With steps, JSON Lines: 2 marked');
  await stage.press('down', 'down', 'down', 'down', 'enter');
  await save(stage);
  await stage.waitFor('Saved 2 trajectories with steps (2 incomplete) to');
});

it('leaves no file of a stopped report', async () => {
  const held = Promise.withResolvers<never>();
  const slow = fakeService({ ...answers, getTrajectory: () => held.promise });
  const stage = openViewOnStage(RunView, { place: run, service: async () => slow });
  await stage.waitFor('▸ one');
  await stage.press('x');
  await stage.waitFor('Report on new, HTML');
  await stage.press('down', 'down', 'down', 'down', 'enter');
  await save(stage);
  await stage.waitFor('exporting, 3 read');
  await stage.press('x');
  await stage.waitFor('Stop the export of the report on new (3 rows so far)');
  await stage.press('up', 'enter');
  held.reject(new Error('stopped'));
  await stage.waitFor('Nothing was saved: the export was stopped');
  await expect.poll(() => readdirSync('.').filter(name => isOurs(name) || name.endsWith('.part'))).toEqual([]);
});

it('shows a long suggested name completely if there is room (C6)', async () => {
  const place = { ...run, id: `evr_${'a'.repeat(30)}` };
  const stage = openViewOnStage(RunView, { place, service: async () => service, columns: 120 });
  await stage.waitFor('▸ one');
  await stage.press('x');
  await stage.waitFor('CSV');
  await stage.press('down', 'down', 'enter');
  await stage.waitFor(text => /│ +benchtop-trajectories-evr_a{30}-\d{8}-\d{6}\.csv/.test(text));
});

it('saves under a typed path, and says why it cannot', async () => {
  const stage = openViewOnStage(RunView, { place: run, service: async () => service });
  await stage.waitFor('▸ one');
  await stage.press('x');
  await stage.waitFor('CSV');
  await stage.press('down', 'down', 'enter');
  await stage.waitFor('Save as');
  // The name is suggested, and the folder of the program.
  expect(stage.text()).toMatch(/benchtop-trajectories-new-\d{8}-\d{6}\.csv/);
  expect(stage.text()).toContain(`In the folder ${process.cwd()}`);
  writeFileSync('taken.csv', 'kept');
  const tryPath = async (path: string): Promise<void> => {
    await stage.press('ctrl-u');
    await stage.type(path);
    await stage.press('enter');
  };
  await tryPath('taken.csv');
  // The words are wrapped.
  await stage.waitFor('already');
  await tryPath('taken.csv/new.csv');
  await stage.waitFor('file,');
  await tryPath('folder/');
  await expect.poll(() => stage.text().replace(/[\s│]+/g, ' ')).toMatch(/folder\/ is a folder/);
  await tryPath('nowhere/new.csv');
  await stage.waitFor('exist');
  mkdirSync('nowhere');
  await stage.press('enter');
  await stage.waitFor('Saved 3 rows to');
  expect(readFileSync('nowhere/new.csv', 'utf8').split('\r\n')).toHaveLength(5);
  expect(readFileSync('taken.csv', 'utf8')).toBe('kept');
  expect(readdirSync('.').toSorted()).toEqual(['nowhere', 'taken.csv']);
});
