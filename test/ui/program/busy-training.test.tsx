/** The list of training runs on a service with 300 of them: its columns have the deciding numbers. */
import { expect, it, onTestFinished } from 'vitest';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import { busyWorld } from '../../busy-world.ts';
import { scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

const minuteMs = 60_000;

it('shows the last and the best held-out reward, of earlier runs too, in turn (W4, W29)', async () => {
  startVirtualTime();
  const scripted = scriptedService(busyWorld().answers);
  const start = { view: 'list', resource: 'training' } as const;
  const { screen, workbench, close } = openProgram({
    ...{ service: scripted.service, start, poll: defaultIntervals, columns: 240, rows: 60 },
  });
  onTestFinished(close);
  // Not read yet, unlike none.
  await passing(screen.waitFor(text => /(running|succeeded)[^│–]*– .* – /.test(text)));
  await pass(minuteMs);
  const before = scripted.requests.length;
  await pass(5 * minuteMs);
  const runs = workbench.statuses.all().filter(({ kind }) => kind === 'training');
  const ended = runs.filter(({ endedAt, status }) => endedAt !== undefined || status === 'succeeded');
  expect(ended.filter(({ measured }) => measured).length).toBeGreaterThan(ended.length * 0.9);
  // Within the budget of requests: 120 a minute while something was never read, and the list itself.
  expect((scripted.requests.length - before) / 5).toBeLessThan(120 + 13 * 30);
  const [head = ''] = screen.text().match(/TRAINING RUN .*/) ?? [];
  expect(head).toMatch(/STATE +HELD-OUT +95% CI +HELD-OUT STEP +BEST +BEST CI +BEST STEP +DONE +STEPS/);
  expect(head).toMatch(/LEARN\w*…/);
  // Equal in all runs.
  expect(screen.text()).toContain('in every row: MODEL qwen3');
  // Equal in all runs.
  expect(head).not.toContain('GROUP_SIZE');
  const rows = screen.text().split('\n');
  expect(rows.find(line => /seed1 /.test(line))).toMatch(
    /● running, ETA \d+m \d+s +0\.\d{3}\?? +0\.\d{3}\.\.0\.\d{3} +\d+ +0\.\d{3}\?? +0\.\d{3}\.\.0\.\d{3} +\d+ +\d+ +2000/,
  );
  expect(screen.text()).not.toMatch(/\s[\d.]+…/);
  // The words of Watch, also for a run that ended before the program was opened, which has no line there.
  const lineOf = (name: string) =>
    screen
      .text()
      .split('\n')
      .find(line => line.includes(`${name} `)) ?? '';
  await passing(screen.waitFor(() => /▲ ALARM stalled \d+m/.test(lineOf('seed33'))));
  expect(lineOf('seed41')).toMatch(/○ queued \d+m/);
  expect(screen.text()).toMatch(/✓ succeeded \d+[hd] ago, 38m/);
  await passing(screen.press('/', ...'state:alarm', 'enter'));
  await passing(screen.waitFor(text => /ALARM stalled/.test(text) && !/queued|running,|succeeded/.test(text)));
  // As on the command line (out34 C17).
  await passing(screen.press('esc', '/', ...'alarm:', 'enter'));
  await passing(screen.waitFor(text => /ALARM stalled/.test(text) && !/queued|running,|succeeded/.test(text)));
  await passing(screen.press('esc', '/', ...'status:pending', 'enter'));
  await passing(screen.waitFor(text => text.includes('/4 of 300')));
  expect(screen.text()).toMatch(/queued \d+m/);
  await passing(screen.press('esc', 'C'));
  await passing(screen.waitFor('Columns'));
  // No row has a value (C2).
  expect(screen.text()).toMatch(/│ {5}SEEN +if a row has one/);
  await passing(screen.press('esc'));
  // Both counts have no room, with or without the facts.
  for (const [columns, lines] of [
    [120, 40],
    [80, 24],
    [60, 15],
  ] as const) {
    await passing(screen.resize(columns, lines));
    for (const _ of columns === 120 ? ['F', 'F'] : ['']) {
      await passing(screen.waitFor(text => /STATE +DONE% +HELD-OUT.* BEST/.test(text)));
      expect(screen.text()).toMatch(/(ETA \d+[smhd]|stall \d+m\+).* \d+% +0\.\d{3}/);
      if (columns === 120) await passing(screen.press('F'));
    }
    if (columns === 120) {
      await passing(screen.press('C'));
      await passing(screen.waitFor('Columns'));
      expect(screen.text().match(/│ {5}DONE |✓ DONE /g)).toHaveLength(1);
      await passing(screen.press('esc'));
    }
  }
});
