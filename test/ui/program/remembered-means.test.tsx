/** Held-out rewards of running training runs, after a restart. */
import { expect, it, onTestFinished } from 'vitest';
import { describeEvent } from '../../../src/resources/inbox.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { storeFolder } from '../../workbench/store-folder.ts';
import { openWorld, world } from './scripted-world.tsx';

const running = {
  ...{ training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'sweep', status: 'running' },
  created_at: '2026-03-04T05:06:07Z',
};

function restarts() {
  const service = world('none');
  const read = {
    held_out_rewards: [20, 40].map(step => ({
      ...{ step, held_out_reward: 0.25, completed_samples: 100, expected_samples: 100 },
    })),
  };
  const state: { record: typeof running; answer: Promise<object> | object } = { record: running, answer: read };
  Object.assign(service.answers, {
    listTrainingRuns: () => [state.record],
    getTrainingRun: () => state.record,
    getTrainingProgress: () => ({ ...state.record, completed_steps: 40, total_steps: 80 }),
    getHeldOutRewards: () => state.answer,
  });
  const path = storeFolder(onTestFinished);
  const options = { columns: 200, rows: 30, remembered: () => RememberedStore.open(path, 'test') };
  return { service, state, read, options };
}

it('are those of the last start, marked as old, until they are read again', async () => {
  const { service, state, read, options } = restarts();
  const first = openWorld(service, { view: 'watch' }, options);
  await first.waitFor(text => /sweep .* 0\.250 /.test(text));
  const [interval = ''] = /0\.\d+\.\.0\.\d+/.exec(first.text()) ?? [];
  first.close();
  first.workbench.close();
  await first.workbench.closed;

  const later = Promise.withResolvers<object>();
  state.answer = later.promise;
  const again = openWorld(service, { view: 'watch' }, options);
  await again.waitFor(text => /sweep .* 0\.250\? /.test(text));
  expect(interval).not.toBe('');
  expect(again.text()).toContain(interval);
  later.resolve(read);
  await again.waitFor(text => /sweep .* 0\.250 /.test(text));
  again.close();
  again.workbench.close();
  await again.workbench.closed;
});

it('are marked in the inbox too if the run ended in between', async () => {
  const { service, state, options } = restarts();
  const first = openWorld(service, { view: 'watch' }, options);
  await first.waitFor(text => /sweep .* 0\.250 /.test(text));
  first.close();
  first.workbench.close();
  await first.workbench.closed;

  state.answer = new Promise<object>(() => {});
  state.record = { ...running, status: 'succeeded' };
  const again = openWorld(service, { view: 'watch' }, options);
  await again.waitFor(text => /sweep .* 0\.250\? .*succeeded/.test(text));
  await again.press('I');
  await again.waitFor(text => /sweep .*✓ succeeded .*held-out 0\.250\?.* at step 40/.test(text));
  again.close();
  again.workbench.close();
  await again.workbench.closed;
  const words = again.workbench.inbox.list().map(event => describeEvent(event));
  expect(words).toEqual([expect.stringMatching(/^succeeded.*held-out 0\.250\? at step 40/)]);
});
