/** The tree on a service with 300 training runs, left open: it keeps to the budget of requests. */
import { expect, it, onTestFinished } from 'vitest';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import { busyWorld } from '../../busy-world.ts';
import { scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

const minuteMs = 60_000;

it('adds few requests to those of the rounds, and measures only runs in open branches', async () => {
  startVirtualTime();
  const scripted = scriptedService(busyWorld().answers);
  const start = { view: 'tree' } as const;
  const { screen, close } = openProgram({
    ...{ service: scripted.service, start, poll: defaultIntervals, columns: 120, rows: 40 },
  });
  onTestFinished(close);
  await passing(screen.waitFor('▸ +'));
  await pass(minuteMs);
  const opened = scripted.requests.length;
  await passing(screen.press('z'));
  await passing(screen.waitFor('▸ -'));
  await pass(1_000);
  // The lists of the branch and a round, besides the counts of sections that happen to be due.
  const ofBranch = scripted.requests.slice(opened).filter(each => /bench_0$|^getHeldOut/.test(String(each)));
  expect(ofBranch.length).toBeLessThanOrEqual(2 + 10);
  await pass(8 * minuteMs);
  const before = scripted.requests.length;
  await pass(5 * minuteMs);
  const sent = scripted.requests.slice(before).map(String);
  const own = sent.filter(each => /^list(Benchmarks|Deployments)|^list\w+Runs bench_0$/.test(each));
  // Every list of all benchmarks includes bench_0.
  expect(own.length / 5).toBeLessThanOrEqual(5 + 2);
  expect(sent.length / 5).toBeLessThanOrEqual(70);
  const ofClosed = scripted.requests.slice(opened).filter(each => /^getHeldOutRewards/.test(String(each)));
  expect(new Set(ofClosed).size).toBeLessThan(100);
});

it('counts only matches under a filter, not their parents', async () => {
  startVirtualTime();
  const { service } = scriptedService(busyWorld().answers);
  const start = { view: 'tree', benchmark: 'bench_0' } as const;
  const { screen, close } = openProgram({ service, start, poll: defaultIntervals, columns: 120, rows: 40 });
  onTestFinished(close);
  await passing(screen.waitFor(text => /seed24 /.test(text)));
  await passing(screen.type('/seed24\r'));
  await passing(screen.waitFor(text => /\/seed24 .*\b\d+ match(es)? of \d+/.test(text)));
  const matches = screen.text().match(/seed24[0-9]? /g)?.length ?? 0;
  expect(screen.text()).toContain(`${matches - 1} match`);
});
