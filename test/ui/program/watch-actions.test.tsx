/** The actions on lines of Watch: those of the resource, on one line or on all marked. */
import { expect, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { eventually } from '../../eventually.ts';
import { storeFolder } from '../../workbench/store-folder.ts';
import { openWorld, world } from './scripted-world.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

/** Two training runs and an evaluation run; the cancelled ids are kept. */
function busy() {
  const service = world();
  const cancelled: string[] = [];
  const failed: string[] = [];
  const record = (id: string) => ({
    training_run_id: id,
    bench_id: 'bench_1',
    display_name: `sweep ${id}`,
    status: cancelled.includes(id) ? 'cancelled' : failed.includes(id) ? 'failed' : 'running',
    created_at: `2026-03-04T05:06:0${id.at(-1)}Z`,
  });
  Object.assign(service.answers, {
    listTrainingRuns: () => ['trn_1', 'trn_2'].map(record),
    getTrainingRun: ({ training_run_id = '' }) => record(training_run_id),
    getTrainingProgress: ({ training_run_id = '' }) => ({ ...record(training_run_id), completed_steps: 4 }),
    cancelTraining: ({ training_run_id = '' }) => {
      cancelled.push(training_run_id);
      return { training_run_id, status: 'cancel_signaled' };
    },
    cancelEval: ({ eval_run_id = '' }) => {
      cancelled.push(eval_run_id);
      return { eval_run_id, status: 'cancelled' };
    },
  });
  return { service, cancelled, failed };
}

it('cancels all marked lines, like their list (W14)', async () => {
  const { service, cancelled } = busy();
  const screen = openWorld(service, { view: 'watch' });
  await screen.waitFor(text => text.includes('▸ baseline') && text.includes('sweep trn_1'));
  await screen.type('/sweep\r');
  await screen.waitFor('▸ sweep');
  await screen.press('space', 'space', 'c');
  await screen.waitFor('Cancel 2');
  await screen.press('y');
  await eventually(() => expect(cancelled.toSorted()).toEqual(['trn_1', 'trn_2']));
});

it('cancels marked lines of two kinds after one question, and says which stay and why', async () => {
  const { service, cancelled, failed } = busy();
  const screen = openWorld(service, { view: 'watch' }, { columns: 120, rows: 30 });
  await screen.waitFor(text => text.includes('baseline') && text.includes('sweep trn_2'));
  failed.push('trn_2');
  await screen.waitFor(text => /sweep trn_2 .*failed/.test(text));
  await screen.press('g', 'space', 'space', 'space', 'c');
  await screen.waitFor('Cancel 1 training run and 1 run?');
  const flat = screen.text().replaceAll(/[│\s]+/g, ' ');
  expect(flat).toContain('sweep trn_1: the current step is finished first.');
  expect(flat).toContain('Not sweep trn_2: It has already ended.');
  expect(flat).toContain('baseline: unfinished rollouts stop at once.');
  await screen.press('y');
  await eventually(() => expect(cancelled.toSorted()).toEqual(['evr_1', 'trn_1']));
});

it.each([
  ['an evaluation', '/baseline\r', /failed rollouts/],
  ['a training run', '/sweep trn_1\r', /failed rollouts/],
])('shows the alarms of %s, with their lines indented (out31 C12)', async (_, filter, shown) => {
  const { service } = busy();
  const screen = openWorld(service, { view: 'watch' }, { columns: 120, rows: 30 });
  await screen.waitFor(text => text.includes('baseline') && text.includes('sweep trn_2'));
  await screen.type(filter);
  await screen.waitFor('1 of 3');
  await screen.press('A');
  await screen.waitFor(text => /┌─ Alarms /.test(text) && shown.test(text));
  await screen.press('A');
  await screen.waitFor(text => !text.includes('┌─ Alarms '));
});

it('pins all marked lines, not the one under the cursor, and unpins them if all are pinned', async () => {
  const { service } = busy();
  const screen = openWorld(service, { view: 'watch' });
  await screen.waitFor(text => text.includes('▸ baseline') && text.includes('sweep trn_2'));
  await screen.press('down', 'space', 'space', 'up', 'up', 'up', 'p');
  await screen.waitFor('Pinned to Watch: 2');
  await screen.press('p');
  await screen.waitFor('No longer pinned: 2');
});

it.each([
  [8_000, 'on the first row while Watch still fills', /▸ sweep trn_1 .*failed.*baseline.*sweep trn_2/s],
  [16_000, 'on its row, also before it was moved', /sweep trn_1 .*failed.*▸ baseline.*sweep trn_2/s],
])('after %i ms, keeps the cursor %s, when a failure appears above it', async (ms, _, shown) => {
  startVirtualTime();
  const { service, failed } = busy();
  const screen = openWorld(service, { view: 'watch' });
  await passing(screen.waitFor(text => text.includes('▸ baseline') && text.includes('sweep trn_2')));
  await pass(ms);
  failed.push('trn_1');
  await passing(screen.waitFor(text => shown.test(text)));
});

it('offers only actions that apply to all marked lines, and none that deletes (W14, W34)', async () => {
  const { service, cancelled } = busy();
  const screen = openWorld(service, { view: 'watch' });
  await screen.waitFor(text => text.includes('▸ baseline') && text.includes('sweep trn_2'));
  await screen.press('space', 'space', 'e');
  await screen.waitFor('This does not apply to run baseline');
  await screen.press('U', 'd');
  await screen.type('/sweep\r');
  await screen.waitFor('▸ sweep');
  expect(screen.text()).not.toMatch(/delete|Delete/);
  await screen.press('D');
  await screen.waitFor(text => /┌─ Deploy/.test(text));
  expect(cancelled).toEqual([]);
});

it('offers on a pinned trajectory what its own view offers', async () => {
  const { service } = busy();
  service.answers.getTrajectory = ({ trajectory_id = '' }) => ({ trajectory_id, task_id: 'sums', status: 'running' });
  const memory = RememberedStore.inMemory('test');
  memory.pin({ kind: 'trajectory', id: 'traj_1', label: 'sums' });
  const screen = openWorld(service, { view: 'watch' }, { remembered: () => memory });
  await screen.waitFor(text => /sums .*running/.test(text));
  await screen.type('/sums\r');
  await screen.waitFor('▸ ★ sums');
  await screen.press('+');
  await screen.waitFor('Log a reward');
});

it('groups lines with Z, folds them with z and enter, and remembers that; marks and filters reach folded lines', async () => {
  const { service, cancelled } = busy();
  const path = storeFolder(onTestFinished);
  const options = { columns: 120, rows: 30, remembered: () => RememberedStore.open(path, 'test') };
  const screen = openWorld(service, { view: 'watch' }, options);
  await screen.waitFor(text => text.includes('sweep trn_1') && text.includes('sweep trn_2'));
  await screen.press('Z');
  await screen.waitFor(text => /- \S.* +● 3 running/.test(text));
  await screen.press('Z');
  await screen.waitFor(text => /- running +● 3 running/.test(text));
  // Only lines are counted, not the lines of groups.
  await screen.press('g', 'j', 'j');
  await screen.waitFor(text => / 2\/3 /.test(text));
  // From a line of the group, the cursor goes to the line of the group.
  await screen.press('z');
  await screen.waitFor(text => /▸ \+ running +● 3 running/.test(text) && !text.includes('sweep trn_1'));
  expect(screen.text()).not.toMatch(/\d\/3 /);
  await screen.type('/sweep\r');
  await screen.waitFor(text => text.includes('sweep trn_1') && text.includes('sweep trn_2'));
  await screen.press('space', 'esc', 'enter');
  await screen.waitFor(text => text.includes('1 marked'));
  await screen.press('U');
  screen.close();
  screen.workbench.close();
  await screen.workbench.closed;

  const again = openWorld(service, { view: 'watch' }, options);
  await again.waitFor(text => /- running +● 3 running/.test(text));
  await again.press('g', 'enter');
  await again.waitFor(text => /▸ \+ running/.test(text) && !text.includes('sweep trn_1'));
  // An action on the line of a group applies to its lines, which are of two kinds here.
  await again.press('c');
  await again.waitFor('Cancel 1 run and 2 training runs?');
  expect(cancelled).toEqual([]);
  again.close();
  again.workbench.close();
  await again.workbench.closed;
});
