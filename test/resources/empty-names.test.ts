/** Rows whose name is empty or invisible show their id in its place. */
import { expect, it } from 'vitest';
import { benchmarks } from '../../src/resources/benchmarks.ts';
import { runs } from '../../src/resources/runs.ts';
import { training } from '../../src/resources/training.ts';

it.each(['', '  ', '\u200b', null])('a row named %j shows its id (attack37 C11)', name => {
  const row = { eval_run_id: 'evr_1', training_run_id: 'trn_1', bench_id: 'bench_1', display_name: name, label: name };
  const shown = [runs, training, benchmarks].map(({ columns }) => columns[0]?.value(row as never));
  expect(shown).toEqual(['evr_1', 'trn_1', 'bench_1']);
});
