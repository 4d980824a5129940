/** Held-out rewards of running training runs in Watch, after a restart. */
import { expect, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { storeFolder } from '../../workbench/store-folder.ts';
import { openWorld, world } from './scripted-world.tsx';

const record = {
  ...{ training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'sweep', status: 'running' },
  created_at: '2026-03-04T05:06:07Z',
};

it('are those of the last start, marked as old, until they are read again', async () => {
  const service = world('none');
  let answer: Promise<object> | object = {
    held_out_rewards: [20, 40].map(step => ({
      ...{ step, held_out_reward: 0.25, completed_samples: 100, expected_samples: 100 },
    })),
  };
  Object.assign(service.answers, {
    listTrainingRuns: () => [record],
    getTrainingRun: () => record,
    getTrainingProgress: () => ({ ...record, completed_steps: 40, total_steps: 80 }),
    getHeldOutRewards: () => answer,
  });
  const path = storeFolder(onTestFinished);
  const options = { columns: 200, rows: 30, remembered: () => RememberedStore.open(path, 'test') };
  const first = openWorld(service, { view: 'watch' }, options);
  await first.waitFor(text => /sweep .* 0\.250 /.test(text));
  const [interval = ''] = /0\.\d+\.\.0\.\d+/.exec(first.text()) ?? [];
  first.close();
  first.workbench.close();
  await first.workbench.closed;

  const later = Promise.withResolvers<object>();
  const read = answer;
  answer = later.promise;
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
