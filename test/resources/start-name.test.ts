/** The default names of new runs. */
import { expect, it } from 'vitest';
import { benchmarkActions } from '../../src/resources/benchmarks.ts';
import { nameOfStart, type StartedFrom } from '../../src/resources/start-plan.ts';

const { evaluate, train } = benchmarkActions;
const benchmark = { bench_id: 'bench_1', label: 't-words' };
const model = 'benchtop/tutor-base';
const offered = { options: { learning_rate: { default: 0.01 }, num_steps: { default: 60 } } };
const run = { display_name: 'first' };
const checkpoint = { step: 20 };

it.each<[string, StartedFrom, typeof evaluate | typeof train]>([
  ['t-words tutor-base', { benchmark, model }, evaluate],
  ['bench_1 tutor-base', { benchmark: { bench_id: 'bench_1' }, model: 'tutor-base' }, train],
  ['t-words tutor-base lr 0.03', { benchmark, model, options: { learning_rate: 0.03, num_steps: 60 }, offered }, train],
  ['t-words tutor-base steps 9', { benchmark, model, options: { num_steps: 9 } }, train],
  ['t-words a 1 b 2 c +1', { benchmark, options: { a: 1, b: 2, c: 'long '.repeat(9), d: 4 } }, evaluate],
  ['t-words first step 20', { benchmark, model, run, checkpoint }, evaluate],
  ['t-words first step 20, continued lr 1', { benchmark, run, checkpoint, options: { learning_rate: 1 } }, train],
  [
    't-words tutor-base lr 0.03 step 0',
    { benchmark, run: { display_name: 't-words tutor-base lr 0.03' }, checkpoint: { step: 0 } },
    evaluate,
  ],
  [
    't-words2 t-words sweep step 20',
    { benchmark: { bench_id: 'b', label: 't-words2' }, run: { display_name: 't-words sweep' }, checkpoint },
    evaluate,
  ],
  ['t-words checkpoint', { benchmark, checkpoint: {} }, evaluate],
])('%s (W41)', (name, from, { sends }) => {
  expect(nameOfStart(sends, from)).toBe(name);
});

it('stays within what services accept', () => {
  const long = 'x'.repeat(256);
  const from = { benchmark: { bench_id: long }, run: { display_name: long }, checkpoint, options: { seed: 1 } };
  const name = nameOfStart(evaluate.sends, from);
  expect(name).toMatch(/ step 20 seed 1$/);
  expect(name.length).toBeLessThan(200);
});
