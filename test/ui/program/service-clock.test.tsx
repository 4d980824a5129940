/** A service with a wrong clock, as shown by the `Date` headers of its answers. */
import { afterEach, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { setClockBehind } from '../../../src/text/time.ts';
import { hostileServer, json, serviceAt } from '../../service/hostile-server.ts';
import { storeFolder } from '../../workbench/store-folder.ts';
import { openProgram } from './rig.tsx';
import { often } from './scripted-world.tsx';

afterEach(() => setClockBehind(0));

const minuteMs = 60_000;

/** A run that began 25 minutes ago and takes 30 s for a step, with a new checkpoint, on a clock that is behind. */
async function skewed(behindMs: number) {
  const at = (agoMs: number) => new Date(Date.now() - agoMs - behindMs).toISOString();
  const run = {
    ...{ training_run_id: 'trn_1', bench_id: 'b1', display_name: 'sweep', status: 'running' },
    ...{ created_at: at(25 * minuteMs), completed_steps: 50, total_steps: 100 },
  };
  const saved = { checkpoint_id: 'ckpt_1', step_index: 50, created_at: at(0) };
  const answers: readonly (readonly [RegExp, object])[] = [
    [/\/benchmarks\/?$/, { items: [{ bench_id: 'b1', label: 'words', eval_run_count: 0 }], has_more: false }],
    [/\/b1\/runs$/, { items: [run], has_more: false }],
    [/\/checkpoints$/, { items: [saved], has_more: false }],
    [/\/trn_1(\/progress)?$/, run],
  ];
  return hostileServer((response, request) => {
    const path = new URL(request.url, 'http://s').pathname;
    const [, answer] = answers.find(([pattern]) => pattern.test(path)) ?? [];
    const date = new Date(Date.now() - behindMs).toUTCString();
    return json(answer ?? { detail: 'Not Found' }, answer ? 200 : 404, { date })(response, request);
  });
}

// A slow machine takes minutes; the wrong clock would make it 5 or 45.
it.each([
  ['behind', 20 * minuteMs],
  ['ahead', -20 * minuteMs],
])('shows all times by the clock of this machine if that of the service is %s', async (_, behindMs) => {
  const { url } = await skewed(behindMs);
  const rig = openProgram({ service: serviceAt(url).service, start: { view: 'watch' }, poll: often, columns: 200 });
  onTestFinished(rig.close);
  const { screen } = rig;
  await screen.waitFor(text => /sweep.* 30 s\/step .* 2[5-9]m ago/.test(text));
  await screen.press('\r');
  await screen.waitFor(text => /started 2[5-9]m ago/.test(text));
});

it('remembers its offset across a restart', async () => {
  const { url } = await skewed(20 * minuteMs);
  const path = storeFolder(onTestFinished);
  const start = { view: 'list', resource: 'training' } as const;
  const options = { start, poll: often, columns: 200, remembered: () => RememberedStore.open(path, 'test') };
  const { service } = serviceAt(url);
  const first = openProgram({ ...options, service });
  await first.screen.waitFor(text => /sweep.* 2[5-9]m ago/.test(text));
  first.close();
  await first.workbench.closed;
  setClockBehind(0);
  const again = openProgram(options);
  onTestFinished(again.close);
  await again.screen.waitFor(text => /sweep.* 2[5-9]m ago/.test(text));
});
