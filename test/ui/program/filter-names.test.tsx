/** A filter finds the names that a column shows for ids, and the ids. */
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../eventually.ts';
import { pageOf, scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';

const names = new Map([
  ['bench_1', 't-words'],
  ['bench_2', 'sums'],
]);

it.each(['runs', 'training'] as const)('of %s', async resource => {
  const { service } = scriptedService({
    listBenchmarks: () => pageOf([...names].map(([bench_id, label]) => ({ bench_id, label }))),
    listEvalRuns: ({ bench_id = '' }) => [{ eval_run_id: `evr_${bench_id.slice(-1)}`, bench_id, status: 'completed' }],
    listTrainingRuns: ({ bench_id = '' }) => [
      { training_run_id: `trn_${bench_id.slice(-1)}`, bench_id, status: 'succeeded' },
    ],
  });
  const start = { view: 'list', resource } as const;
  const { screen, close } = openProgram({ service, start, columns: 240, rows: 30 });
  onTestFinished(close);
  const ids = () =>
    screen
      .text()
      .match(/^.*✓.*$/gm)
      ?.map(line => /(?:evr|trn)_\d/.exec(line)?.[0]);
  await eventually(() => expect(ids()).toHaveLength(2));
  await eventually(() => expect(screen.text()).toMatch(/✓.* t-words /));
  for (const filter of ['t-words', 'benchmark:t-words', 'bench_1', 'benchmark:bench_1']) {
    await screen.press('/');
    await screen.type(filter);
    await screen.press('enter');
    await eventually(() => expect([filter, ids()]).toEqual([filter, [expect.stringMatching(/_1$/)]]));
    await screen.press('esc');
    await eventually(() => expect(ids()).toHaveLength(2));
  }
});
