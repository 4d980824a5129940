/** How commands resolve the name of a checkpoint: the same in every command, on every machine. */

import { describe, expect, it } from 'vitest';
import { resourceOrThrow } from '../../src/commands/find.ts';
import { findCheckpoint, findOrCheckpoint, recordedCheckpoint } from '../../src/commands/find-checkpoint.ts';
import { deployableCheckpoint } from '../../src/commands/starts.ts';
import type { CommandContext } from '../../src/commands/with-service.ts';
import { rememberCheckpoints } from '../../src/queries/checkpoint-memory.ts';
import { NotFoundError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import fc from '../../tools/rig/property.ts';
import type { Answers } from '../service/fake-service.ts';
import { fakeService } from '../service/fake-service.ts';

interface World {
  readonly runs: readonly { readonly id: string; readonly name: string; readonly steps: readonly number[] }[];
  /** The id of the checkpoint of a step. */
  readonly idOf: (run: number, step: number) => string;
}

const page = (items: readonly object[]) => ({ items, has_more: false, next_cursor: null, dropped: 0 });
const gone = (): never => {
  throw new NotFoundError('There is no such thing.', { code: 'resource_not_found', status: 404 });
};
const made = (id: string, name: string) => ({
  training_run_id: id,
  display_name: name,
  bench_id: 'b1',
  status: 'completed',
  completed_steps: 9,
});

/** The service of a world, on a machine that remembers training runs of these names. */
function machine({ runs, idOf }: World, remembered: readonly string[] = []) {
  const asked: string[] = [];
  const answers: Answers = {
    listBenchmarks: () => page([{ bench_id: 'b1', label: 'words' }]),
    getBenchmark: ({ params }) => (params.bench_id === 'b1' ? { bench_id: 'b1', label: 'words' } : gone()),
    listTrainingRuns: () => runs.map(({ id, name }) => made(id, name)),
    getTrainingRun: ({ params }) => {
      const run = runs.find(({ id }) => id === params.training_run_id);
      return run ? made(run.id, run.name) : gone();
    },
    listCheckpoints: ({ params }) => {
      const at = runs.findIndex(({ id }) => id === params.training_run_id);
      return at < 0
        ? gone()
        : (runs[at]?.steps ?? []).map(step => ({ checkpoint_id: idOf(at, step), step_index: step }));
    },
    getHeldOutRewards: ({ params }) => ({
      held_out_rewards: (runs.find(({ id }) => id === params.training_run_id)?.steps ?? []).map(step => ({
        step,
        held_out_reward: 1 / (1 + step),
      })),
    }),
    listEvalRuns: () => [],
    getEvalRun: gone,
    listDeployments: () => page([]),
    getDeployment: gone,
  };
  const counted = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (...given: [never, never]) => {
        asked.push(name);
        return (answer as (...args: [never, never]) => unknown)(...given);
      },
    ]),
  );
  const memory = RememberedStore.inMemory('test');
  memory.see(remembered.map((label, index) => ({ kind: 'training', id: `old-${index}`, label, record: {} })));
  const context = {
    service: fakeService(counted, { capabilities: { has: () => true, unlisted: new Set() } as never }),
    memory,
    signal: new AbortController().signal,
  } as unknown as CommandContext;
  return { asked, context };
}

const among = ['benchmarks', 'training', 'runs', 'deployments'].map(resourceOrThrow);

/** The meaning of the word for each command: the id of a checkpoint, or a refusal. */
async function meanings(word: string, context: CommandContext) {
  const idOrNone = (promise: Promise<{ readonly id: string }>) =>
    promise.then(
      ({ id }) => id,
      () => 'refused',
    );
  const shown = await findOrCheckpoint(among, word, context).catch(() => undefined);
  const [deploy, evaluate, get] = [
    await idOrNone(deployableCheckpoint(word, context)),
    await idOrNone(findCheckpoint(word, context)),
    await idOrNone(recordedCheckpoint(word, context)),
  ];
  const isRun = shown && 'resource' in shown;
  // A training run is shown as itself, and stands for its latest checkpoint.
  const show = !shown ? 'refused' : isRun ? await idOrNone(findCheckpoint(`${shown.id}@latest`, context)) : shown.id;
  return { deploy, evaluate, get, show };
}

/** The meaning by the definition: an id, otherwise the only reading of the names. */
function expected(word: string, { runs, idOf }: World): string {
  const ids = runs.flatMap(({ steps }, at) => steps.map(step => idOf(at, step)));
  if (ids.includes(word)) return word;
  if (/^(ckpt|cp)[_-][^@]*$/.test(word)) return 'refused';
  const cut = word.lastIndexOf('@');
  const [name, which] = [word.slice(0, Math.max(0, cut)), word.slice(cut + 1)];
  const isStep = /^(latest|best|\d+)$/.test(which);
  const checkpointOf = (at: number, wanted: string): string => {
    const { steps = [] } = runs[at] ?? {};
    const step = wanted === 'latest' ? Math.max(...steps) : wanted === 'best' ? Math.min(...steps) : Number(wanted);
    return steps.includes(step) ? idOf(at, step) : 'refused';
  };
  const readings = (key: 'id' | 'name') =>
    runs.flatMap((run, at) => [
      ...(run[key] === word ? [checkpointOf(at, 'latest')] : []),
      ...(name !== '' && (isStep || key === 'id') && run[key] === name ? [checkpointOf(at, which)] : []),
    ]);
  const byId = readings('id');
  const [only = 'refused', ...others] = byId.length > 0 ? byId : readings('name');
  return others.length > 0 ? 'refused' : only;
}

const parts = [
  'a',
  'b',
  'ab',
  'ckpt_0_1',
  'cp-2',
  'trn_0',
  'trn_1',
  'train-2',
  '6',
  'x/y',
  'two words',
  'n'.repeat(90),
];
const steps = ['latest', 'best', '1', '6', 'b', ''];
const names = fc.oneof(
  fc.constantFrom(...parts, 'latest', 'best', '@6', '00000000-0000-4000-8000-000000000001'),
  fc.tuple(fc.constantFrom(...parts), fc.constantFrom(...steps)).map(each => each.join('@')),
  fc.tuple(fc.constantFrom(...parts), fc.constantFrom(...steps), fc.constantFrom(...steps)).map(each => each.join('@')),
);
const forms: readonly World['idOf'][] = [
  (run, step) => `ckpt_${run}_${step}`,
  (run, step) => `00000000-0000-4000-80${String(run).padStart(2, '0')}-${String(step).padStart(12, '0')}`,
];
const worlds = fc
  .tuple(
    fc.array(fc.tuple(names, fc.uniqueArray(fc.constantFrom(1, 6, 9), { minLength: 1 })), {
      minLength: 1,
      maxLength: 5,
    }),
    fc.constantFrom('trn_', '0f8fad5b-d9cb-469f-a165-7086772895'),
    fc.constantFrom(...forms),
  )
  .map(
    ([runs, prefix, idOf]): World => ({
      runs: runs.map(([name, taken], at) => ({
        id: `${prefix}${prefix === 'trn_' ? at : String(at).padStart(2, '0')}`,
        name,
        steps: taken,
      })),
      idOf,
    }),
  );

describe('the name of a checkpoint (A6)', () => {
  it('means the same in every command and on every machine', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, fc.array(names), names, fc.nat(), async (world, seen, other, seed) => {
        const { runs, idOf } = world;
        const own = runs.flatMap(({ id, name, steps: taken }, at) => [
          ...[id, name, `${id}@best`, `${name}@latest`],
          ...taken.flatMap(step => [idOf(at, step), `${name}@${step}`, `${id}@${step}`]),
        ]);
        const word = seed % 3 === 0 ? other : (own[seed % own.length] ?? other);
        const wanted = expected(word, world);
        const isUnlistedId = wanted === 'refused' && /^(ckpt|cp)[_-][^@]*$/.test(word);
        // Nothing is read before an evaluation: the service refuses an id that it does not have.
        const all = { deploy: wanted, get: wanted, evaluate: isUnlistedId ? word : wanted };
        for (const remembered of [[], [...seen, word]]) {
          const { show, ...meant } = await meanings(word, machine(world, remembered).context);
          expect({ word, ...meant }).toEqual({ word, ...all });
          // A word that is not a checkpoint may still be a training run of that name.
          const isName = wanted === 'refused' && runs.some(({ name }) => name === word);
          if (!isName) expect({ word, show }).toEqual({ word, show: wanted });
        }
      }),
      { numRuns: 300 },
    );
  });

  const three: World = {
    runs: [
      { id: 'trn_1', name: 'a', steps: [1, 6] },
      { id: 'trn_2', name: 'a@6', steps: [9] },
      { id: 'trn_3', name: 'ckpt_0_6', steps: [9] },
    ],
    idOf: (run, step) => `ckpt_${run}_${step}`,
  };

  it('is an id before the name of a training run', async () => {
    const { context } = machine(three, ['ckpt_0_6']);
    expect(await meanings('ckpt_0_6', context)).toEqual({
      ...{ deploy: 'ckpt_0_6', evaluate: 'ckpt_0_6', get: 'ckpt_0_6', show: 'ckpt_0_6' },
    });
    expect(await findCheckpoint('ckpt_0_6@latest', context)).toMatchObject({ id: 'ckpt_2_9' });
  });

  it('is a step of a training run by its id, before a run with that whole name', async () => {
    const { context } = machine({
      ...three,
      runs: [
        { id: '0b', name: 'a', steps: [6] },
        { id: '0c', name: '0b@6', steps: [9] },
      ],
    });
    expect(await findCheckpoint('0b@6', context)).toMatchObject({ id: 'ckpt_0_6' });
  });

  it('is a training run with that name as written, before one whose name looks like it (rev38 B3)', async () => {
    const { context } = machine({
      ...three,
      runs: [
        { id: 'trn_1', name: 'a  b@6', steps: [3] },
        { id: 'trn_2', name: 'a b@6', steps: [9] },
      ],
    });
    expect(await findCheckpoint('a b@6', context)).toMatchObject({ id: 'ckpt_1_9' });
  });

  it('that has two meanings is refused with a spelling for each, and both work', async () => {
    const { context } = machine(three);
    await expect(findCheckpoint('a@6', context)).rejects.toThrow(
      'a@6 has 2 meanings. Give trn_2 for the training run with this name, or trn_1@6 for checkpoint 6 of training run a.',
    );
    expect(await findCheckpoint('trn_2', context)).toMatchObject({ id: 'ckpt_1_9' });
    expect(await findCheckpoint('trn_1@6', context)).toMatchObject({ id: 'ckpt_0_6' });
  });

  it('that looks like a missing id says how to name a training run called that', async () => {
    const { context } = machine({ ...three, runs: [{ id: 'trn_1', name: 'cp-1', steps: [1] }] });
    await expect(deployableCheckpoint('cp-1', context)).rejects.toThrow(
      'There is no checkpoint cp-1. Nothing was changed. If it is the name of a training run, give cp-1@latest for its last checkpoint.',
    );
    expect(await findCheckpoint('cp-1@latest', context)).toMatchObject({ id: 'ckpt_0_1' });
  });

  const many: World = {
    runs: Array.from({ length: 300 }, (_, at) => ({ id: `trn_${at}`, name: `${'n'.repeat(87)}${at}`, steps: [1, 6] })),
    idOf: three.idOf,
  };
  const list = ['listBenchmarks', 'listTrainingRuns'];

  it('is searched first in the training run it was last seen in, before 300 others', async () => {
    const { context, asked } = machine(many);
    rememberCheckpoints('trn_250', [{ checkpoint_id: 'ckpt_250_6', step_index: 6 }], context.memory);
    const found = { id: 'ckpt_250_6', step: 6, run: { training_run_id: 'trn_250' } };
    expect(await recordedCheckpoint('ckpt_250_6', context)).toMatchObject(found);
    expect(asked).toEqual(['getTrainingRun', 'listCheckpoints']);
  });

  it.each(['trn_8', 'trn_999'])('is found by id, even if it was last seen in %s', async seen => {
    const { context } = machine(many);
    rememberCheckpoints(seen, [{ checkpoint_id: 'ckpt_7_6', step_index: 6 }], context.memory);
    const found = { id: 'ckpt_7_6', run: { training_run_id: 'trn_7' } };
    expect(await recordedCheckpoint('ckpt_7_6', context)).toMatchObject(found);
  });

  it.each([
    ['ckpt_7_6', []],
    ['trn_7@6', ['getTrainingRun', 'listCheckpoints']],
    [`${'n'.repeat(87)}7`, [...list, 'getTrainingRun', 'listCheckpoints']],
    [`${'n'.repeat(87)}7@6`, [...list, 'getTrainingRun', 'listCheckpoints']],
    [`${'n'.repeat(87)}7@best`, [...list, 'getTrainingRun', 'listCheckpoints', 'getHeldOutRewards']],
  ])('takes few requests among 300 training runs: %s', async (word, requests) => {
    const { context, asked } = machine(many);
    expect(await findCheckpoint(word, context)).toMatchObject({ id: expect.stringMatching(/^ckpt_7_[16]$/) });
    expect(asked).toEqual(requests);
  });
});
