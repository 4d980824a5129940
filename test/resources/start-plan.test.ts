import { expect, it } from 'vitest';
import { benchmarkActions } from '../../src/resources/benchmarks.ts';
import {
  chosenRuns,
  lastModel,
  nameProblem,
  otherModel,
  planStarts,
  type StartChoice,
  seedsIn,
} from '../../src/resources/start-plan.ts';
import { RememberedStore } from '../../src/store/store.ts';

it.each([
  ['7', [7]],
  ['1,2,3', [1, 2, 3]],
  ['1-3', [1, 2, 3]],
  [' 5 , 1 - 2, 2', [5, 1, 2]],
  ['0-99', Array.from({ length: 100 }, (_, seed) => seed)],
])('reads the seeds %s', (text, seeds) => {
  expect(seedsIn(text)).toEqual(seeds);
});

it.each(['', ',', '1,', '3-1', '-1', '1.5', '1-', 'a', '1;2', '1-2-3', '0-100', '1-99,200,300', '9007199254740993'])(
  'refuses %j as seeds',
  text => {
    expect(seedsIn(text)).toBeUndefined();
  },
);

it('makes a run for each model with each seed, and one without either', () => {
  expect(chosenRuns(['a', 'b', 'a'], [1, 2, 1], { x: '0' })).toEqual([
    { model: 'a', seed: 1, texts: { seed: '1', x: '0' } },
    { model: 'a', seed: 2, texts: { seed: '2', x: '0' } },
    { model: 'b', seed: 1, texts: { seed: '1', x: '0' } },
    { model: 'b', seed: 2, texts: { seed: '2', x: '0' } },
  ]);
  expect(chosenRuns([], [])).toEqual([{ model: undefined, seed: undefined, texts: {} }]);
});

const benchmark = { bench_id: 'bench_1', label: 'words' };

it('gives each run an unused name, unless an earlier request may have taken it', () => {
  const store = RememberedStore.inMemory('test');
  const { sends } = benchmarkActions.evaluate;
  const namesOf = (choices: readonly Partial<StartChoice>[]) => {
    const memory = { names: store.seen.labels('run'), remembered: store };
    const all = choices.map((choice): StartChoice => ({ benchmark, texts: {}, offered: undefined, ...choice }));
    return planStarts(sends, all, memory).map(({ input }) => input.display_name);
  };
  const [a, other] = [{ model: 'acme/a' }, { model: 'other/a' }];
  expect(namesOf([a, other, { ...a, name: ' mine ' }, { ...a, name: '' }])).toEqual([
    'words a',
    'words a 2',
    'mine',
    undefined,
  ]);
  store.see([
    { kind: 'run', id: 'evr_1', label: 'words a' },
    { kind: 'run', id: 'evr_3', label: 'words a 3' },
    { kind: 'training', id: 'trn_1', label: 'words a 2' },
  ]);
  expect(namesOf([a, a])).toEqual(['words a 2', 'words a 4']);
  const input = { bench_id: 'bench_1', model: 'acme/a', display_name: 'words a' };
  store.startKeys.settle('startEval', input, store.startKeys.take('startEval', input), 'unknown');
  const open = store.startKeys.earlier('startEval', input)?.key;
  expect(namesOf([a, other])).toEqual(['words a', 'words a 2']);
  // With another key it is another run (attack26 B2).
  expect(namesOf([{ ...a, key: open }])).toEqual(['words a']);
  expect(namesOf([{ ...a, key: 'new' }])).toEqual(['words a 2']);
  const [named, unnamed] = [
    { ...input, display_name: 'mine' },
    { ...input, model: 'acme/b', display_name: 'words b' },
  ];
  for (const lost of [named, unnamed])
    store.startKeys.settle('startEval', lost, store.startKeys.take('startEval', lost), 'unknown');
  expect(namesOf([a, { ...a, key: 'new' }])).toEqual(['mine', 'words a 2']);
  expect(namesOf([{ model: 'acme/b', key: 'new' }])).toEqual(['words b 2']);
});

it('keeps the names of started and lost runs, in any order (attack 25, A1)', () => {
  const store = RememberedStore.inMemory('test');
  const { startKeys } = store;
  const { sends } = benchmarkActions.evaluate;
  const before = store.seen.labels('run');
  const planned = (
    names: ReadonlySet<string> = store.seen.labels('run'),
    models = ['acme/m', 'other/m', 'third/m'],
  ) => {
    const all = models.map((model): StartChoice => ({ benchmark, model, texts: {}, offered: undefined }));
    return planStarts(sends, all, { names, remembered: store }).map(({ input }) => input);
  };
  const namesOf = (inputs: ReturnType<typeof planned>) => inputs.map(({ display_name }) => display_name);
  const all = ['words m', 'words m 2', 'words m 3'];
  const inputs = planned();
  expect(namesOf(inputs)).toEqual(all);
  startKeys.awaitStarts(
    'startEval',
    inputs.map(input => ({ input })),
  );
  const [first, lost] = inputs;
  const [key, open] = [startKeys.take('startEval', first), startKeys.take('startEval', lost)];
  startKeys.settle('startEval', first, key, 'started');
  startKeys.noteStart('startEval', first, key, 'evr_1');
  store.see([{ kind: 'run', id: 'evr_1', label: 'words m' }]);
  startKeys.settle('startEval', lost, open, 'unknown');
  for (const names of [store.seen.labels('run'), before]) {
    expect(namesOf(planned(names))).toEqual(all);
    expect(startKeys.earlier('startEval', planned(names)[1])?.key).toBe(open);
  }
  // Alone, the started one starts again, and the lost one is repeated.
  expect(namesOf(planned(undefined, ['acme/m']))).toEqual(['words m 2']);
  expect(namesOf(planned(undefined, ['other/m']))).toEqual(['words m 2']);
});

it.each([
  ['', 'Give the run a name', undefined],
  ['  ', 'Give the run a name', 'A name needs more than spaces'],
  ['a\nb', 'A name has only one line', 'A name has only one line'],
  ['a\u2028b', 'A name has only one line', 'A name has only one line'],
  [' a b\n', undefined, undefined],
])('explains what is wrong with the name %j (attack26 C2)', (name, ofEvaluation, ofTraining) => {
  const { evaluate, train } = benchmarkActions;
  expect([nameProblem(name, evaluate.sends), nameProblem(name, train.sends)]).toEqual([ofEvaluation, ofTraining]);
});

it('names the model if a checkpoint belongs to another', () => {
  const checkpoint = { id: 'ckpt_1', run: { training_run_id: 'trn_1', base_model_slug: 'acme/a' } };
  const words = ['acme/b', 'acme/a', undefined].map(model =>
    otherModel('It', { benchmark, model, checkpoint, texts: {}, offered: undefined } as StartChoice),
  );
  expect(words).toEqual(['It is a checkpoint of acme/a, not of acme/b', undefined, undefined]);
});

it('finds the model that was last started on a benchmark (issue 18)', () => {
  const store = RememberedStore.inMemory('test');
  const run = (id: string, day: number, base_model_slug: string | undefined, parent = 'bench_1') => ({
    ...{ kind: 'run', id, label: id, parent },
    record: { base_model_slug, created_at: `2026-03-0${day}T00:00:00Z` },
  });
  store.see([run('evr_3', 4, undefined), run('evr_2', 3, 'acme/b'), run('evr_4', 5, 'acme/c', 'bench_2')]);
  store.see([run('evr_1', 2, 'acme/a')]);
  const models = ['bench_1', 'bench_2', 'bench_3'].map(id => lastModel('run', id, store));
  expect(models).toEqual(['acme/b', 'acme/c', undefined]);
});
