/** The user leaves and comes back: one line counts what happened; the inbox keeps it until dismissed. */

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fetchOnce } from '../../../src/queries/live-query.ts';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import { trainerRewardsQuery } from '../../../src/queries/training-curves.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { storeFolder } from '../../workbench/store-folder.ts';
import { openWorld, type World, world } from './scripted-world.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

/** Three training runs besides the evaluation; `doing` has their statuses. */
function threeRuns(doing: Record<string, string>, agoMs = 0): World {
  const service = world('none');
  const created_at = new Date(Date.now() - 3_600_000 - agoMs).toISOString();
  const record = (id: string) => ({
    training_run_id: id,
    bench_id: 'bench_1',
    display_name: `sweep ${id}`,
    status: doing[id],
    created_at,
    completed_at: doing[id] === 'running' ? null : new Date(Date.now() - agoMs).toISOString(),
    failure: doing[id] === 'failed' ? { message: 'out of memory' } : null,
  });
  Object.assign(service.answers, {
    listTrainingRuns: () => Object.keys(doing).map(record),
    getTrainingRun: ({ training_run_id = '' }) => record(training_run_id),
    getTrainingProgress: ({ training_run_id = '' }) => ({
      training_run_id,
      status: doing[training_run_id],
      completed_steps: 40,
      total_steps: 400,
    }),
    getHeldOutRewards: () => ({ held_out_rewards: [{ step: 40, held_out_reward: 0.325, completed_samples: 128 }] }),
  });
  return service;
}

it('shows in one line what ended meanwhile, opens the inbox with a key, and keeps it until dismissed (W16)', async () => {
  const path = storeFolder(onTestFinished);
  const remembered = () => RememberedStore.open(path, 'test');
  const size = { columns: 120, rows: 30, remembered };
  const doing: Record<string, string> = { trn_1: 'running', trn_2: 'running', trn_3: 'running', trn_4: 'running' };
  const service = threeRuns(doing);

  const first = openWorld(service, { view: 'watch' }, size);
  await first.waitFor('4 running');
  first.close();
  first.workbench.close();
  await first.workbench.closed;

  Object.assign(doing, { trn_1: 'failed', trn_2: 'failed', trn_3: 'succeeded' });
  const second = openWorld(service, { view: 'list', resource: 'models' }, size);
  await second.waitFor(text => /✗ 2 failed, 1 ended since \d\d:\d\d:\d\d {2}<I> inbox/.test(text));
  expect(second.text()).toMatch(/Inbox +3/);
  // No separate bell for each event in the summary.
  expect(second.bells()).toEqual([]);
  await second.press('I');
  await second.waitFor(text => /sweep trn_1 +✗ failed +.*out of memory/.test(text));
  await second.waitFor(text => /sweep trn_3 +✓ succeeded/.test(text));
  second.close();
  second.workbench.close();
  await second.workbench.closed;

  // Everything is there after a restart, in Watch too.
  doing['trn_4'] = 'failed';
  const third = openWorld(service, { view: 'watch' }, size);
  const summary = /1 failed since \d\d:\d\d:\d\d \(4 in all\) {2}<I> inbox/g;
  await third.waitFor(text => text.match(summary) !== null);
  await third.waitFor(text => /sweep trn_1 .*0\.325 .*✗ failed \d+s ago, (took )?1h .*out of memory/.test(text));
  // The line of Watch says it: no notice repeats it.
  expect(third.text().match(summary)).toHaveLength(1);
  await third.press('I');
  // Only events since the inbox was last open are marked.
  await third.waitFor(text => /[^•] sweep trn_1 .*• sweep trn_4|• sweep trn_4 .*[^•] sweep trn_1/s.test(text));
  await third.press('X');
  await third.waitFor('Nothing new');
  await third.type(':watch\r');
  await third.waitFor('Nothing is running or pinned');
  expect(third.text()).not.toMatch(/since .*<I> inbox/);
});

it('separates time in the queue from running time, in later sessions too', async () => {
  const path = storeFolder(onTestFinished);
  const remembered = () => RememberedStore.open(path, 'test');
  const size = { columns: 200, rows: 34, remembered };
  const doing: Record<string, string> = { trn_1: 'pending' };
  const service = threeRuns(doing);
  const first = openWorld(service, { view: 'watch' }, size);
  await first.waitFor('○ queued');
  await first.press('F');
  await first.waitFor('last read');
  doing['trn_1'] = 'running';
  await first.waitFor('● running');
  doing['trn_1'] = 'succeeded';
  await first.waitFor(text => /took +queued 1h.*, ran \d+(\.\d)? ?m?s/.test(text));
  first.close();
  first.workbench.close();
  await first.workbench.closed;

  const second = openWorld(service, { view: 'list', resource: 'training' }, size);
  await second.waitFor(text => /took +queued 1h.*, ran \d+(\.\d)? ?m?s/.test(text));
  await second.press('enter');
  await second.waitFor(text => /Training › sweep/.test(text) && /took +queued 1h.*, ran/.test(text));
});

it('announces as usual what ends while the user watches', async () => {
  const doing: Record<string, string> = { trn_1: 'running' };
  const screen = openWorld(threeRuns(doing), { view: 'watch' });
  await screen.waitFor('1 running');
  doing['trn_1'] = 'failed';
  await screen.waitFor('✗ sweep trn_1 failed');
  await screen.waitFor(text => /1 failed {2}<I> inbox/.test(text));
  expect(screen.bells()).toHaveLength(1);
  await screen.press('backspace');
  await screen.waitFor('Nothing is running or pinned');
  expect(screen.workbench.inbox.list()).toEqual([]);
});

it('counts waiting runs in Watch, and finds them by that word', async () => {
  const service = threeRuns({ trn_1: 'running', trn_2: 'running', trn_3: 'running' });
  Object.assign(service.answers, {
    getTrainingProgress: ({ training_run_id = '' }) => ({
      ...{ training_run_id, status: 'running', completed_steps: 40, total_steps: 400 },
      waits_because: training_run_id === 'trn_2' ? 'The disk of this machine is full' : null,
    }),
  });
  const screen = openWorld(service, { view: 'watch' }, { columns: 120, rows: 40 });
  await screen.waitFor('2 running, 1 waiting');
  await screen.type('/waiting\r');
  await screen.waitFor(text => text.includes('sweep trn_2') && !text.includes('sweep trn_1'));
});

it('rings once for an alarm, marks its line while it holds, and lists it in the inbox', async () => {
  const rewards = [0.7, 0.3];
  const service = threeRuns({ trn_1: 'running' });
  let read = 0;
  Object.assign(service.answers, {
    // The steps go on, so that the curve is read again, and never reach the total, however often it is read.
    getTrainingProgress: () => {
      read += 40;
      return { training_run_id: 'trn_1', status: 'running', completed_steps: read, total_steps: 4_000_000 };
    },
    getHeldOutRewards: () => ({
      held_out_rewards: rewards.map((held_out_reward, index) => ({
        step: index,
        held_out_reward,
        completed_samples: 128,
      })),
    }),
  });
  const screen = openWorld(service, { view: 'watch' }, { columns: 200, rows: 30 });
  await screen.waitFor(text => /sweep trn_1 .*0\.300\? .*running/.test(text));
  expect(screen.bells()).toEqual([]);
  rewards.push(0.3);
  await screen.waitFor('▲ sweep trn_1: held-out 0.300 is below its best 0.700');
  await screen.waitFor(text => /sweep trn_1 .*▲ ALARM drop/.test(text));
  await screen.waitFor(text => /1 alarm {2}<I> inbox/.test(text));
  expect(screen.bells()).toHaveLength(1);
  await screen.press('I');
  await screen.waitFor(text => /sweep trn_1 +▲ alarm +.*held-out 0\.300 is below/.test(text));
  await screen.press('enter');
  await screen.waitFor('held-out 0.300, 95%');
  await screen.waitFor(text => /▲ ALARM drop .*step \d+.*│ held-out 0\.300 is below/s.test(text));
  expect(screen.text()).toMatch(/status +ALARM drop, running\b.*alarm +held-out 0\.300/s);
  await screen.press('A');
  await screen.waitFor(text => /1 alarm:\s.*step 2, .*held-out 0\.300 is below/s.test(text));
  await screen.press('A');
  await screen.press(':', ...'tree', 'enter');
  await screen.waitFor(text => text.includes('LINEAGE') && text.includes('▸ +'));
  await screen.press('z');
  await screen.waitFor(text => /sweep trn_1 .*0\.300.*▲ ALARM drop/.test(text));
  await screen.press('I');
  rewards.push(0.68);
  await screen.waitFor('in a row; over at step 3');
  expect(screen.bells()).toHaveLength(1);
});

it('marks a run that collapsed before the program started like one that it watched', async () => {
  const service = threeRuns({ trn_1: 'succeeded' }, 48 * 3_600_000);
  const held_out_rewards = [0.7, 0.3, 0.3, 0.3, 0.3].map((held_out_reward, step) => ({
    ...{ step, held_out_reward, completed_samples: 128 },
  }));
  Object.assign(service.answers, { getHeldOutRewards: () => ({ held_out_rewards }) });
  const screen = openWorld(service, { view: 'list', resource: 'training' }, { columns: 200, rows: 30 });
  await screen.waitFor(text => /sweep trn_1 .*▲ succeeded/.test(text));
  expect(screen.text()).toMatch(/alarm +held-out 0\.300 is below/);
  await screen.press('enter');
  await screen.waitFor(text => /▲ succeeded .*│ held-out 0\.300 is below/s.test(text));
});

it('dismisses with X only what the filter shows, with its number, and restores it', async () => {
  const doing: Record<string, string> = { trn_1: 'running', trn_2: 'running', trn_3: 'running' };
  const screen = openWorld(threeRuns(doing), { view: 'watch' }, { columns: 120, rows: 30 });
  await screen.waitFor('3 running');
  Object.assign(doing, { trn_1: 'failed', trn_2: 'failed', trn_3: 'succeeded' });
  await screen.waitFor(text => /2 failed, 1 ended {2}<I> inbox/.test(text));
  await screen.press('I');
  await screen.waitFor(text => text.includes('EVENT') && text.includes('sweep trn_3'));
  await screen.type('/failed\r');
  await screen.waitFor(text => !text.includes('sweep trn_3'));
  await screen.press('X');
  await screen.waitFor('2 events dismissed');
  expect(screen.workbench.inbox.list().map(({ id }) => id)).toEqual(['trn_3']);
  await screen.press('u');
  await screen.waitFor('2 events restored');
  await screen.waitFor('sweep trn_1');
  expect(screen.workbench.inbox.list()).toHaveLength(3);
  expect(screen.workbench.statuses.get({ kind: 'training', id: 'trn_1' })?.endedAt).toBeDefined();
});

it('keeps reading while it is on screen, and finds failures of other programs', async () => {
  const path = storeFolder(onTestFinished);
  const size = { columns: 120, rows: 30, remembered: () => RememberedStore.open(path, 'test') };
  const doing: Record<string, string> = { trn_2: 'running' };
  const service = threeRuns(doing);
  const before = openWorld(service, { view: 'watch' }, size);
  await before.waitFor('1 running');
  before.close();
  before.workbench.close();
  await before.workbench.closed;

  const screen = openWorld(service, { view: 'inbox' }, size);
  await screen.waitFor('Nothing new');
  expect(screen.text()).not.toContain('final');
  doing['trn_1'] = 'failed';
  await screen.waitFor(text => /sweep trn_1 +✗ failed/.test(text));
});

it('finds in the very first session what failed after its start', async () => {
  const doing: Record<string, string> = {};
  const screen = openWorld(threeRuns(doing), { view: 'inbox' }, { columns: 120, rows: 30 });
  await screen.waitFor('Nothing new');
  doing['trn_1'] = 'failed';
  await screen.waitFor(text => /sweep trn_1 +✗ failed/.test(text));
});

it('says below the rows why the run under the cursor failed if no column has room', async () => {
  const doing: Record<string, string> = { trn_1: 'running', trn_2: 'running' };
  const screen = openWorld(threeRuns(doing), { view: 'watch' }, { columns: 60, rows: 15 });
  await screen.waitFor('2 running');
  doing['trn_1'] = 'failed';
  await screen.waitFor(text => /sweep trn_1.*✗ /.test(text));
  await screen.press('g', 'g');
  await screen.type('/trn_1\r');
  // With the mark of its row, as the line may also have words about all rows.
  await screen.waitFor('▸ out of memory');
  await screen.type('I');
  await screen.waitFor(text => /▸.*trn_1/.test(text) && text.includes('▸ out of memory'));
});

it('shows how long a run has stalled as of the last read, like Watch', async () => {
  startVirtualTime();
  const began = Date.now();
  const service = threeRuns({ trn_1: 'running' });
  const steps = (): number => Math.min(30, Math.floor((Date.now() - began) / 2_000));
  Object.assign(service.answers, {
    getTrainingProgress: () => ({ status: 'running', completed_steps: steps(), total_steps: 99 }),
  });
  const screen = openWorld(service, { view: 'watch' }, { columns: 200, rows: 30, poll: defaultIntervals });
  await pass(8 * 60_000);
  await passing(screen.press('I'));
  await passing(screen.waitFor(text => /sweep trn_1 .*stalled [67]m/.test(text)));
  await passing(screen.press('P'));
  await passing(screen.waitFor('paused'));
  await pass(8 * 60_000);
  expect(screen.text()).toMatch(/sweep trn_1 .*stalled [67]m/);
  // One read: there is room for a longer time.
  await passing(screen.press('r'));
  await passing(screen.waitFor(text => /sweep trn_1 .*stalled 1[45]m/.test(text)));
});

it.each([
  [80, 24],
  [60, 15],
])('shows the whole reason why a run failed if there is room, in Watch at %d columns', async (columns, rows) => {
  const doing: Record<string, string> = { trn_1: 'running' };
  const service = threeRuns(doing);
  const message = Array.from({ length: 24 }, (_, index) => `reason${index}`).join(' ');
  const { listTrainingRuns } = service.answers;
  Object.assign(service.answers, {
    listTrainingRuns: async (ids: object) => {
      const runs = (await listTrainingRuns?.({ ...ids })) as { failure: object | null }[];
      return runs.map(run => ({ ...run, failure: run.failure && { message } }));
    },
  });
  const screen = openWorld(service, { view: 'watch' }, { columns, rows });
  await screen.waitFor('1 running');
  doing['trn_1'] = 'failed';
  await screen.waitFor(text => {
    const main = text.split('\n').map(line => line.split('│').at(-2)?.trim());
    return main.join(' ').includes(`▸ ${message}`);
  });
});

it('shows the last trainer reward in the chart of a run that ended in Watch, even if an early curve was read before (A3)', async () => {
  const doing: Record<string, string> = { trn_1: 'running' };
  const service = threeRuns(doing);
  const rewards = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ step: index + 1, trainer_reward: index / 40 }));
  let steps = 16;
  Object.assign(service.answers, { getTrainerRewards: () => ({ trainer_rewards: rewards(steps) }) });
  const screen = openWorld(service, { view: 'watch' }, { columns: 200, rows: 30 });
  await screen.waitFor('1 running');
  await fetchOnce(screen.workbench, trainerRewardsQuery('trn_1', false));
  await screen.waitFor('trainer 0.375');
  // The first answer after the end is still early, like that to a request sent before it.
  const before = service.asked('getTrainerRewards');
  Object.assign(service.answers, {
    getTrainerRewards: () => {
      steps = steps === 16 ? 24 : 40;
      return { trainer_rewards: rewards(steps) };
    },
  });
  doing['trn_1'] = 'failed';
  await screen.waitFor('trainer 0.975');
  expect(service.asked('getTrainerRewards') - before).toBe(2);
});

it('says that it does not know what ended earlier if no history is saved (out29 A4)', async () => {
  const folder = dirname(storeFolder(onTestFinished));
  writeFileSync(join(folder, 'file'), '');
  const remembered = () => RememberedStore.open(join(folder, 'file', 'remembered.db'), 'test');
  const screen = openWorld(threeRuns({}), { view: 'inbox' }, { columns: 120, rows: 30, remembered });
  await screen.waitFor('What ended earlier is not known: history cannot be saved');
  expect(screen.text()).not.toContain('Nothing new');
});
