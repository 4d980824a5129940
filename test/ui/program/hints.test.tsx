/** Which keys the last line names, on real views and in small terminals (W37). */
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { openWorld, world } from './scripted-world.tsx';

const longName = 'words group8 lr 0.03 seed 1';

/** A training run with this `status` and a checkpoint. */
function trainingWorld(status: string) {
  const service = world('completed');
  const run = {
    training_run_id: 'trn_1',
    bench_id: 'bench_1',
    display_name: longName,
    status,
    base_model_slug: 'acme/small',
    created_at: '2026-03-04T05:06:07Z',
  };
  Object.assign(service.answers, {
    listTrainingRuns: () => [run],
    getTrainingRun: () => run,
    getTrainingProgress: () => ({ training_run_id: 'trn_1', status, completed_steps: 20, total_steps: 40 }),
    listCheckpoints: () => [{ checkpoint_id: 'ckpt_20', step_index: 20 }],
    getTrainerRewards: () => ({ trainer_rewards: [] }),
    getHeldOutRewards: () => ({ held_out_rewards: [{ step: 20, held_out_reward: 0.5 }] }),
  });
  return service;
}

const sizes = [
  [120, 40],
  [80, 24],
  [60, 15],
] as const;
const trainingPlace: Place = { view: 'record', resource: 'training', id: 'trn_1', label: longName, parent: 'bench_1' };
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-2) ?? '';

it.each(sizes)('a running training run names evaluate, deploy and cancel at %d columns', async (columns, rows) => {
  const screen = openWorld(trainingWorld('running'), trainingPlace, { columns, rows });
  await screen.waitFor(text => /<e> evaluate {2}<D> deploy {2}<c> cancel .*<\?> help/.test(lastLine(text)));
  expect(lastLine(screen.text())).toMatch(/seed 1 /);
});

it.each(sizes)(
  'a completed one offers the audit instead of cancel, at %d columns (out30 B12)',
  async (columns, rows) => {
    const screen = openWorld(trainingWorld('completed'), trainingPlace, { columns, rows });
    await screen.waitFor(text => /<e> evaluate {2}<Q> audit {2}<D> deploy .*<\?> help/.test(lastLine(text)));
    expect(lastLine(screen.text())).not.toContain('cancel');
  },
);

it.each(sizes)('one whose curves show a gamed reward names the audit, at %d columns (A1)', async (columns, rows) => {
  const service = trainingWorld('running');
  const trainer = Array.from({ length: 20 }, (_, index) => ({ step: index + 1, trainer_reward: 0.2 + index / 40 }));
  const heldOut = [5, 10, 15, 20].map(step => ({ step, held_out_reward: 0.2, completed_samples: 400 }));
  Object.assign(service.answers, {
    getTrainerRewards: () => ({ trainer_rewards: trainer }),
    getHeldOutRewards: () => ({ held_out_rewards: heldOut }),
  });
  const screen = openWorld(service, trainingPlace, { columns, rows });
  await screen.waitFor(text => /<Q> audit {2}<e> evaluate {2}<D> deploy .*<\?> help/.test(lastLine(text)));
});

it.each(sizes)(
  'Watch names open and the inbox first at %d columns, and evaluate before cancel',
  async (columns, rows) => {
    const screen = openWorld(trainingWorld('running'), { view: 'watch' }, { columns, rows });
    await screen.waitFor(text => /Watch +<enter> open {2}<I> inbox .*<\?> help/.test(lastLine(text)));
    expect(lastLine(screen.text())).toMatch(/<I> inbox {2}<e> evaluate /);
    await screen.press('I');
    await screen.waitFor('Nothing new');
    await screen.press('esc');
    await screen.waitFor('WATCHED');
  },
);

it.each(sizes)('a run names compare and failures first at %d columns', async (columns, rows) => {
  const place: Place = { view: 'record', resource: 'runs', id: 'evr_1', label: 'baseline', parent: 'bench_1' };
  const screen = openWorld(world('completed'), place, { columns, rows });
  await screen.waitFor(text => /<=> compare {2}<f> failures .*<\?> help/.test(lastLine(text)));
});

it('returns from the inbox to the previous view', async () => {
  const screen = openWorld(world('completed'), { view: 'list', resource: 'models' });
  await screen.waitFor('acme/small');
  await screen.press('I');
  await screen.waitFor('Nothing new');
  await screen.press('esc');
  await screen.waitFor('acme/small');
});
