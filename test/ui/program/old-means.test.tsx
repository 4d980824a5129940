/** A held-out reward that may be out of date is marked everywhere, and help explains the mark. */
import { it } from 'vitest';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import type { Place } from '../../../src/resources/place.ts';
import { ServerError } from '../../../src/service/errors.ts';
import { openWorld, world } from './scripted-world.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

const minuteMs = 60_000;

/** A run whose held-out rewards can be read for a minute; then a round is due that cannot be read. */
function lagging() {
  startVirtualTime();
  const began = Date.now();
  const service = world('none');
  const isDue = (): boolean => Date.now() - began > minuteMs;
  const record = () => ({
    ...{ training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'sweep', status: 'running' },
    created_at: new Date(began - minuteMs).toISOString(),
  });
  const heldOut = [20, 40].map(step => ({ step, held_out_reward: 0.25, completed_samples: 9, expected_samples: 9 }));
  Object.assign(service.answers, {
    listTrainingRuns: () => [record()],
    getTrainingRun: record,
    getTrainingProgress: () => ({ ...record(), completed_steps: isDue() ? 70 : 40, total_steps: 80 }),
    getHeldOutRewards: () =>
      isDue() ? Promise.reject(new ServerError('Overloaded', { status: 500 })) : { held_out_rewards: heldOut },
  });
  return service;
}

it.each<[string, Place]>([
  ['Watch', { view: 'watch' }],
  ['the list of training runs', { view: 'list', resource: 'training' }],
  ['the tree', { view: 'tree', benchmark: 'bench_1' }],
])('%s marks it once a newer one is due, and help explains the mark (B2)', async (_, start) => {
  const screen = openWorld(lagging(), start, { columns: 200, rows: 60, poll: defaultIntervals });
  await passing(screen.waitFor(text => /sweep .* 0\.250 /.test(text)));
  await pass(5 * minuteMs);
  await passing(screen.waitFor(text => /sweep .* 0\.250\? /.test(text)));
  await passing(screen.press('?'));
  await passing(screen.waitFor(text => /0\.612\? may be out of date/.test(text)));
});

it('events of the inbox mark it too', async () => {
  const service = lagging();
  const screen = openWorld(service, { view: 'watch' }, { columns: 200, rows: 30, poll: defaultIntervals });
  await pass(30 * minuteMs);
  await passing(screen.press('I'));
  await passing(screen.waitFor(text => /sweep .*stalled .*held-out 0\.250\?.* at step 40/.test(text)));
  await passing(screen.press('?'));
  await passing(screen.waitFor(text => /0\.612\? may be out of date/.test(text)));
});
