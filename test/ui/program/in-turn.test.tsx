/** Many active runs under virtual time: the number of requests, and that each run is read in turn. */
import { expect, it } from 'vitest';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import type { Place } from '../../../src/resources/place.ts';
import { watchedOf } from '../../../src/resources/watch.ts';
import { openWorld, world } from './scripted-world.tsx';
import { pass, startVirtualTime } from './virtual-time.ts';

const minuteMs = 60_000;
/** A service with this many training runs, which do a step every ten seconds, and the time of each answer. */
function busyService(count = 300) {
  const service = world('none');
  const began = Date.now();
  const runs = Array.from({ length: count }, (_, index) => ({
    training_run_id: `trn_${index}`,
    bench_id: 'bench_1',
    display_name: `sweep ${index}`,
    status: 'running',
    created_at: new Date(began - (index + 1) * 1_000).toISOString(),
  }));
  const steps = () => Math.floor((Date.now() - began) / 10_000);
  const times: number[] = [];
  const reads = new Map(runs.map(({ training_run_id }) => [training_run_id, [] as number[]]));
  Object.assign(service.answers, {
    listTrainingRuns: () => runs,
    getTrainingRun: ({ training_run_id }: { training_run_id: string }) =>
      runs.find(run => run.training_run_id === training_run_id),
    getTrainerRewards: () => ({ trainer_rewards: [{ step: steps(), trainer_reward: 0.5 }] }),
    getHeldOutRewards: () => ({ held_out_rewards: [{ step: steps(), held_out_reward: 0.5 }] }),
    getTrainingProgress: ({ training_run_id }: { training_run_id: string }) => {
      reads.get(training_run_id)?.push(Date.now());
      return { training_run_id, status: 'running', completed_steps: steps(), total_steps: 9_000 };
    },
  });
  const { push } = service.requests as string[];
  Object.defineProperty(service.requests, 'push', {
    value: (...requests: string[]) => {
      for (const _ of requests) times.push(Date.now());
      return push.apply(service.requests, requests);
    },
  });
  return { service, times, reads };
}

/** The maximum number of times within this many milliseconds. */
function mostWithin(times: readonly number[], ms: number): number {
  return Math.max(...times.map(from => times.filter(at => at >= from && at < from + ms).length));
}

const places: readonly (readonly [number, string, Place, number])[] = [
  [80, 'Watch', { view: 'watch' }, 140],
  // The list itself is read every two seconds, with two requests.
  [100, 'their list', { view: 'list', resource: 'training' }, 140 + 60],
  // Drawing none of them takes the least time.
  [300, 'something else', { view: 'list', resource: 'models' }, 140],
];

it.each(places)('reads %i active runs in turn while %s is on screen (W1, W13)', async (count, _, start, most) => {
  startVirtualTime();
  const { service, times, reads } = busyService(count);
  // One pass over all of them, and part of the next.
  const passMinutes = count / 60;
  const minutes = passMinutes + 1;
  const screen = openWorld(service, start, { poll: defaultIntervals });
  for (let minute = 0; minute < minutes; minute += 1) {
    await pass(minuteMs);
    for (const { id, pace } of watchedOf(screen.workbench)) {
      // Each of them progresses, so a silence would mean that it was not read.
      expect(pace).not.toContain('no new step');
      expect([id, pace === 'steps not read yet']).toEqual([id, reads.get(id)?.length === 0]);
    }
  }
  const counts = [...reads.values()].map(at => at.length);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  const between = [...reads.values()].flatMap(at => at.slice(1).map((time, index) => time - (at[index] ?? time)));
  expect(Math.min(...between)).toBeGreaterThan(passMinutes * minuteMs);
  expect(mostWithin([...reads.values()].flat(), minuteMs)).toBeLessThanOrEqual(120);
  // Rounds are not quite regular.
  const again = [...reads.values()].flatMap(at => at.slice(1));
  expect(mostWithin(again, minuteMs)).toBeLessThanOrEqual(66);
  expect(mostWithin(times, minuteMs)).toBeLessThanOrEqual(most);
});

it('reads 40 active runs in Watch, with their curves, with about 60 requests per minute once all were read', async () => {
  startVirtualTime();
  const { service, times, reads } = busyService(40);
  const screen = openWorld(service, { view: 'watch' }, { poll: defaultIntervals });
  await pass(1.5 * minuteMs);
  const runs = screen.workbench.statuses.all().filter(({ kind }) => kind === 'training');
  expect([runs.length, runs.filter(({ measured }) => !measured)]).toEqual([40, []]);
  await pass(4.5 * minuteMs);
  expect(mostWithin(times, minuteMs)).toBeLessThanOrEqual(140);
  // Two of the lists take a request more than is counted: that for the benchmarks.
  expect(times.filter(at => at > Date.now() - 3 * minuteMs).length).toBeLessThanOrEqual(3 * (60 + 4));
  const steps = [...reads.values()].map(at => at.length);
  expect([Math.min(...steps) >= 5, Math.max(...steps) <= 7]).toEqual([true, true]);
});

it('shows the age of the steps in the list of training runs', async () => {
  startVirtualTime();
  const { service } = busyService();
  const screen = openWorld(service, { view: 'list', resource: 'training' }, { poll: defaultIntervals });
  await pass(5_000);
  expect(screen.text()).not.toContain('completed steps are polled in turn');
  await pass(minuteMs);
  expect(screen.text()).toMatch(/completed steps are polled in turn, the oldest read 1m ago/);
});
