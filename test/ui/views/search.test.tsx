/** A search through the texts of a run's trajectories: `//`, its hits, and the line in the reader. */
import { expect, it, onTestFinished } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { defineView } from '../../../src/ui/app/registry.ts';
import { TrajectoriesView } from '../../../src/ui/views/lists.tsx';
import { pagesOf } from '../../../src/ui/views/search/pages.ts';
import { SearchView } from '../../../src/ui/views/search/search.tsx';
import { TrajectoryView } from '../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../service/fake-service.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { openViewOnStage } from '../stage.tsx';

const row = (index: number) => ({
  ...{ trajectory_id: `traj_${index}`, task_id: `task-${index}`, status: 'completed', reward: index % 2 },
  ...{ num_steps: 1, eval_run_id: 'evr_1' },
});
const filler = Array.from({ length: 80 }, (_, line) => `line ${line}`).join('\n');

const ofRun: Partial<Place<'list'>> = { scope: { run: 'evr_1' }, label: 'first' };

function stageOf(of = ofRun) {
  let reads = 0;
  const service = fakeService({
    listTrajectories: ({ query: { cursor } = {} }) => {
      const from = Number(cursor ?? 0);
      const next = from + 5 < 12 ? String(from + 5) : null;
      const items = Array.from({ length: Math.min(5, 12 - from) }, (_, index) => row(from + index));
      return { items, has_more: next !== null, next_cursor: next };
    },
    getTrajectory: ({ params: { trajectory_id } }) => {
      reads += 1;
      const index = Number(String(trajectory_id).slice(5));
      const reasoning = index % 3 === 0 ? `${filler}\nthe hidden \u001b[31mneedle\n${filler}` : filler;
      const output = { role: 'tool', content: 'covered up\rDone, nothing to see' };
      const messages = [{ role: 'assistant', reasoning }, ...(index === 4 ? [output] : [])];
      return { ...row(index), steps: [{ step_index: 0, messages }] };
    },
  });
  const views = [
    defineView<'search'>({ ...{ id: 'search', title: 'S', component: SearchView, commands: [], general: [] } }),
    defineView<'record'>({
      ...{ id: 'record trajectories', title: 'T', component: TrajectoryView, commands: [], general: [] },
    }),
  ];
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', ...of },
    service: async () => service,
    others: views,
    columns: 100,
    rows: 24,
  });
  return { stage, reads: () => reads };
}

it('finds a line in every trajectory, counts by reward, and opens it unfolded', async () => {
  const { stage, reads } = stageOf();
  await stage.waitFor('task-0');
  await stage.type('//');
  await stage.waitFor('Search in first');
  await stage.type('needle');
  await stage.press('enter');
  await stage.waitFor('4 lines in 4 trajectories · searched 12 of 12 trajectories');
  expect(stage.text()).toContain('by reward  0: 2 of 6, 1.00: 2 of 6');
  expect(stage.text()).toMatch(/task-9 +1\.00 +assistant reasoning +the hidden needle +1/);
  const before = reads();
  await stage.press('enter');
  await stage.waitFor(text => text.includes('the hidden needle') && text.includes('1/1'));
  await stage.press('esc', 'esc');
  await stage.waitFor('4 lines in 4 trajectories');
  await stage.press('r');
  await stage.waitFor('12 from the');
  // Only the one in the reader was read again.
  expect(reads()).toBeLessThanOrEqual(before + 3);
  // Hits can be searched again (B4).
  await stage.type('//');
  await stage.waitFor('Search in first');
  await stage.type('"line 7"');
  await stage.press('enter');
  await stage.waitFor('searched 12 of 12 trajectories');
  await stage.waitFor('"line 7" in first');
  stage.close();
});

it('opens a hit in hidden text at its line, and says what is hidden and how to show it (attack31 A10)', async () => {
  const { stage } = stageOf();
  await stage.waitFor('task-0');
  await stage.type('//covered\r');
  await stage.waitFor('1 line in 1 trajectory · searched 12 of 12 trajectories');
  expect(stage.text()).toMatch(/task-4 +0 +tool hidden +covered up␍Done, nothing to see/);
  await stage.press('enter');
  await stage.waitFor(text => text.includes('Done, nothing to see') && text.includes('1 line overwritten (v shows)'));
  expect(stage.text()).not.toContain('no match');
  stage.close();
});

it('shows the end of a hit beside it (P2)', async () => {
  const { stage } = stageOf();
  await stage.resize(160, 40);
  await stage.waitFor('task-0');
  await stage.type('//needle\r');
  await stage.waitFor('searched 12 of 12 trajectories');
  await stage.waitFor(text => /│ END[\s\S]*│ Step 0/.test(text));
});

it('flags hits, and shows their flags', async () => {
  const { stage } = stageOf();
  await stage.waitFor('task-0');
  await stage.type('//needle');
  await stage.press('enter');
  await stage.waitFor('searched 12 of 12 trajectories');
  await stage.type('1');
  await stage.waitFor(text => /FLAG[\s\S]*▸ task-\d +good/.test(text));
  expect(stage.text()).toContain('flagged: 1 good of the 4 rows read');
  stage.close();
});

it('searches all trajectories from their list (R15)', async () => {
  const { stage } = stageOf({});
  await stage.waitFor('task-0');
  await stage.type('//');
  await stage.waitFor('Search in all trajectories');
  await stage.type('needle');
  await stage.press('enter');
  await stage.waitFor('4 lines in 4 trajectories · searched 12 of 12 trajectories');
  stage.close();
});

it('keeps a text after // as a regular expression on the rows, if it ends like one', async () => {
  const { stage } = stageOf();
  await stage.waitFor('task-0');
  await stage.type('//');
  await stage.waitFor('Search in first');
  await stage.type('task-[12]$/');
  await stage.press('enter');
  await stage.waitFor(text => text.includes('/task-[12]$/') && !text.includes('task-0'));
  stage.close();
});

it('opens on a filtered list too, and keeps the filter', async () => {
  const { stage } = stageOf();
  await stage.waitFor('1/12 ');
  await stage.type('/task-1\r');
  await stage.waitFor(text => text.includes('/task-1') && !text.includes('task-0'));
  await stage.type('//');
  await stage.waitFor('Search in first, including what the filter hides');
  await stage.press('esc');
  await stage.waitFor(text => !text.includes('Search in') && /\/task-1 +1\/3 of 12/.test(text));
  await stage.type('/0');
  await stage.waitFor('/task-10');
  stage.close();
});

it('returns the rows of a list while it is read, and finally those that are gone (B5)', async () => {
  const held = Promise.withResolvers<void>();
  const asked: unknown[] = [];
  const listed = { count: 12 };
  const service = fakeService({
    listTrajectories: async ({ query: { cursor } = {} }) => {
      asked.push(cursor);
      const from = Number(cursor ?? 0);
      if (from > 0) await held.promise;
      const next = from + 5 < listed.count ? String(from + 5) : null;
      const items = Array.from({ length: Math.min(5, listed.count - from) }, (_, index) => row(from + index));
      return { items, has_more: next !== null, next_cursor: next };
    },
  });
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const { signal } = new AbortController();
  const pages = pagesOf(workbench, { scope: { dataset: 'd' }, label: 'd' }, signal);
  const idsOf = ({ value }: Awaited<ReturnType<typeof pages.next>>) => value?.rows.map(each => each.trajectory_id);
  const first = await pages.next();
  expect(idsOf(first)).toHaveLength(5);
  expect(asked.length).toBeLessThanOrEqual(2);
  held.resolve();
  let last = first;
  for await (const value of pages) last = { value, done: false };
  expect(idsOf(last)).toHaveLength(12);
  expect(last.value?.gone).toEqual([]);
});
