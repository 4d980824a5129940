/** Watch on a busy service: each line at every size, and the first screen of the program. */
import { expect, it, onTestFinished } from 'vitest';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import { hasLooked } from '../../../src/resources/rotation.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { busyWorld, formatFailure } from '../../busy-world.ts';
import { scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';
import { openWorld, world } from './scripted-world.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

const minuteMs = 60_000;

/**
 * The program on the busy service, opened without a place and left alone for some minutes of virtual time: on a small
 * screen, which is drawn in half the time, and then brought to its size.
 */
async function openBusy({
  minutes = 3,
  columns = 200,
  rows = 60,
  adapt = (_: ReturnType<typeof busyWorld>): void => {},
} = {}) {
  startVirtualTime();
  const busy = busyWorld();
  adapt(busy);
  const scripted = scriptedService(busy.answers);
  const rig = openProgram({ service: scripted.service, poll: defaultIntervals, columns: 60, rows: 15 });
  onTestFinished(rig.close);
  await pass(minutes * minuteMs);
  if (columns !== 60) await passing(rig.screen.resize(columns, rows));
  return { ...rig, busy, scripted };
}

const lineOf = (text: string, seed: number): string =>
  text.split('\n').find(line => new RegExp(`seed${seed} `).test(line)) ?? '';

it('opens on Watch once something runs, and each line shows its status (W4, W12, W17, W20)', async () => {
  const { screen, busy } = await openBusy();
  const text = screen.text();
  expect(text).toContain('WATCHED');
  // Moving: the last and the best held-out reward with interval and step, steps of steps, time left, curve and rate.
  expect(lineOf(text, 1)).toMatch(
    /(0\.\d{3}\?? +0\.\d{3}\.\.0\.\d{3} +\d+ +){2}\d+ +2000 {2}● running, ETA \d+m( \d+s)? +[▁-█]+ +1\.5 s\/step/,
  );
  // A run with missing steps: a gap in its curve.
  expect(lineOf(text, 0)).toMatch(/[▁-█]+ +[▁-█]+/);
  expect(lineOf(text, 32)).toMatch(/● no new step for \dm\+/);
  expect(lineOf(text, 41)).toMatch(/ 0 +20000 {2}○ queued \dm/);
  expect(lineOf(text, 38)).toContain('‖ cancel signaled');
  busy.end(busy.runs[1], 'failed');
  await pass(2 * minuteMs);
  expect(lineOf(screen.text(), 1)).toMatch(/✗ failed \d+[sm] ago, (took )?\d+m/);
  expect(lineOf(screen.text(), 1)).toContain(formatFailure.slice(0, 20));
});

const sizes = [
  [200, 60],
  [120, 40],
  [80, 24],
  [60, 15],
] as const;

it('shows how long a run has stalled and why it failed, at every size', async () => {
  const { screen, busy } = await openBusy({ minutes: 0.5, columns: 60, rows: 15 });
  busy.end(busy.runs[1], 'failed');
  await pass(1.5 * minuteMs);
  for (const [columns, rows] of sizes) {
    await passing(screen.resize(columns, rows));
    await passing(screen.press('g'));
    expect(screen.text()).toMatch(/✗ failed \d+[sm] ago/);
    // In full, on more lines where one is too short.
    const main = screen
      .text()
      .split('\n')
      .map(line => line.split('│').at(-2)?.trim());
    expect(main.join(' ')).toContain(`▸ ${formatFailure}`);
  }
  await pass(4.5 * minuteMs);
  for (const [columns, rows] of sizes) {
    await passing(screen.resize(columns, rows));
    await passing(screen.press('g'));
    expect(screen.text()).toMatch(/▲ ALARM stall(ed)? \d+m\+/);
    expect(screen.text()).not.toMatch(/ALARM stall(ed)? {2}/);
    expect(screen.text()).toContain('▸ no new step for more than 5m');
  }
});

it('shows why a run failed below the inbox, too, and names equal columns without spaces', async () => {
  const { screen, busy } = await openBusy({ minutes: 0.5, columns: 120, rows: 40 });
  for (const run of busy.runs.slice(0, 40)) if (run.total === 400) busy.end(run, 'failed');
  await pass(1.5 * minuteMs);
  await passing(screen.type('/state:failed\r'));
  await passing(screen.waitFor(text => /in every row:.* DONE 399\/400/.test(text)));
  await passing(screen.press('I'));
  await passing(screen.waitFor(text => text.includes(`▸ ${formatFailure}`)));
});

it('stays on the current view once a key was pressed, even back at home (W20)', async () => {
  const rig = openProgram({ service: scriptedService(world('none').answers).service });
  onTestFinished(rig.close);
  const { screen, workbench } = rig;
  const { statuses } = workbench;
  await screen.waitFor('▸ ');
  await screen.type(':models\r');
  await screen.waitFor('acme/small');
  await screen.type(':benchmarks\r');
  await screen.waitFor(text => !text.includes('acme/small'));
  const at = Date.now();
  statuses.report([{ kind: 'training', id: 'trn_9', label: 'late', status: 'running' }], { askedAt: at, at });
  await screen.waitFor(text => /Watch +\d/.test(text));
  expect(screen.text()).not.toContain('WATCHED');
});

it('stays on the current view if something runs only after the first look (out27 A2)', async () => {
  const rig = openProgram({ service: scriptedService(world('none').answers).service });
  onTestFinished(rig.close);
  const { screen, workbench } = rig;
  await screen.waitFor(text => text.includes('▸ ') && hasLooked(workbench));
  const at = Date.now();
  const late = { kind: 'training', id: 'trn_9', label: 'late', status: 'running' };
  workbench.statuses.report([late], { askedAt: at, at });
  await screen.waitFor(text => /Watch +1/.test(text));
  expect(screen.text()).not.toContain('WATCHED');
});

it('opens on Watch even if a pin is read before the list with the running work', async () => {
  startVirtualTime();
  const memory = RememberedStore.inMemory('test');
  memory.pin({ kind: 'run', id: 'evr_1', label: 'baseline' });
  const scripted = world('completed');
  const lists = Promise.withResolvers<unknown[]>();
  scripted.answers.listTrainingRuns = () => lists.promise;
  const rig = openProgram({ service: scripted.service, poll: defaultIntervals, remembered: () => memory });
  onTestFinished(rig.close);
  await pass(2_000);
  expect(scripted.asked('getEvalProgress', 'evr_1')).toBe(1);
  expect(rig.screen.text()).not.toContain('WATCHED');
  lists.resolve([{ training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'long', status: 'running' }]);
  await pass(1_000);
  expect(rig.screen.text()).toContain('WATCHED');
});

it('tells names apart at every size, and cuts no number (W7, W12, W17)', async () => {
  const { screen } = await openBusy();
  await passing(screen.type('/seed\r'));
  for (const [columns, rows] of sizes) {
    await passing(screen.resize(columns, rows));
    await pass(1_000);
    const lines = screen
      .text()
      .split('\n')
      .flatMap(
        line =>
          line
            .match(/(\S*seed\d+) (.*)/)
            ?.slice(1, 3)
            .join(' ') ?? [],
      );
    expect(lines.length).toBeGreaterThan(Math.min(40, rows - 10));
    // With 40 running, not every poll reads every row.
    expect(screen.text()).toMatch(/● live, (rows )?up to (\d0s|1m) old • \d+ running/);
    expect(new Set(lines.map(line => line.split(' ')[0])).size).toBe(lines.length);
    for (const line of lines) {
      const numbers = line.replace(/^\S+/, '');
      expect(numbers).not.toContain('…');
      // At the least: held-out, progress and state.
      if (line.includes('queued')) continue;
      expect(numbers).toMatch(/ 0\.\d{3}\?? .*(running|ETA|no (new )?step|cancel)/);
      expect(numbers).toMatch(columns >= 120 ? / \d+%? / : / \d+%/);
    }
    if (columns >= 200) expect(screen.text()).toContain('PACE, REASON');
    // The deciding number is a reward with its interval, and the best one has its step. Evaluations have a mean.
    if (columns >= 120)
      expect(lineOf(screen.text(), 1)).toMatch(/0\.\d{3}\?? +0\.\d{3}\.\.0\.\d{3} .*0\.\d{3}\?? +\d+ /);
    expect(screen.text()).toMatch(columns >= 120 ? / HELD-OUT\/MEAN .* BEST / : / HELD-OUT\/MEAN /);
  }
});

it.each([
  [120, 40],
  [80, 24],
  [60, 15],
])('completes columns and values of a filter with tab, at %d columns', async (columns, rows) => {
  const { screen } = await openBusy({ minutes: 0.2, columns, rows });
  await passing(screen.type('/seed sta'));
  expect(screen.text()).toMatch(/\/seed sta +tab state: {2}started</);
  await passing(screen.press('tab'));
  expect(screen.text()).toMatch(/\/seed state: +tab state:running {2}[a-z+]/);
  await passing(screen.type('qu'));
  await passing(screen.press('tab'));
  // It did not lose its number, and only these lines remain.
  await passing(screen.type(' x\u007f\u007f\r'));
  expect(screen.text()).toMatch(/\/seed state:queued .*1\/\d of 50/);
});

it('shows what is wrong with a filter in its line while it is typed', async () => {
  const { screen } = await openBusy({ minutes: 0.2, columns: 120, rows: 40 });
  await passing(screen.type('/seed1 kind:run stauts:x'));
  const lines = screen.text().split('\n');
  expect(screen.text()).toContain('There is no column stauts. To search for this text, put it in quotes: "stauts:x".');
  const row = lines.findIndex(each => each.includes('/seed1 kind:run stauts:x'));
  const at = lines[row]?.indexOf('stauts:x') ?? 0;
  expect([at - 2, at, at + 7].map(column => screen.styleAt(column, row).bold)).toEqual([false, true, true]);
});

it('reads a curve only when it has grown or lacks a round, and never that of the trainer (W21)', async () => {
  const { scripted } = await openBusy({ minutes: 5, columns: 60, rows: 15 });
  // A held-out reward comes every 100 steps of 4.8 seconds: after seven minutes, and after two.
  expect(scripted.asked('getHeldOutRewards', 'trn_0000008')).toBe(1);
  expect(scripted.asked('getHeldOutRewards', 'trn_0000002')).toBe(2);
  expect(scripted.asked('getTrainerRewards')).toBe(0);
  await pass(4 * minuteMs);
  // A curve that lacks a round is read sooner than others, as it may show a collapse. Its held-out reward comes every 20 steps of 1.5 seconds. With 50 unfinished resources, four turns take five minutes:
  // it is read the fourth time after 7.3 minutes, and then after 10.7.
  expect(scripted.asked('getHeldOutRewards', 'trn_0000001')).toBe(4);
});

it('reads a curve with an incomplete newest round just as soon (B3)', async () => {
  const { scripted } = await openBusy({
    ...{ minutes: 8, columns: 60, rows: 15 },
    adapt: ({ answers }) => {
      const { getHeldOutRewards } = answers;
      // Only of one run: those of all have no room in the budget.
      answers.getHeldOutRewards = async ids => {
        const answer = (await getHeldOutRewards?.(ids)) as { held_out_rewards: readonly object[] };
        const { held_out_rewards } = answer;
        if (ids['training_run_id'] !== 'trn_0000008') return answer;
        const newest = { ...held_out_rewards.at(-1), completed_samples: 3 };
        return { held_out_rewards: held_out_rewards.toSpliced(-1, 1, newest) };
      };
    },
  });
  expect(scripted.asked('getHeldOutRewards', 'trn_0000008')).toBeGreaterThan(2);
});

it('shows and hides the facts and the sections with a key, in every view, and remembers it (W12)', async () => {
  const screen = openWorld(world(), { view: 'watch' }, { columns: 120, rows: 30 });
  await screen.waitFor('▸ baseline');
  expect(screen.text()).toContain('Benchmarks');
  expect(screen.text()).not.toContain('last read');
  await screen.press('F');
  await screen.waitFor('last read');
  await screen.press('F', 'B');
  await screen.waitFor(text => !/last read|Benchmarks/.test(text));
  await screen.type(':models\r');
  await screen.waitFor('acme/small');
  expect(screen.text()).not.toContain('Benchmarks');
  expect(screen.workbench.remembered.setting('hidden panes')).toEqual({ inspector: true, sections: true });
  // A hidden pane is shown while it has the focus.
  await screen.press('left');
  await screen.waitFor('Benchmarks');
});
