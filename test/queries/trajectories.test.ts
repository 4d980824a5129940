/** Trajectories of services that do not list them. */
import { describe, expect, it } from 'vitest';
import { trajectoryRewards } from '../../src/contract/evaluations.ts';
import { readListed } from '../../src/queries/lists/list-source.ts';
import { rememberRows } from '../../src/queries/remembered-fallback.ts';
import {
  storeTrajectories,
  trajectoriesOfRun,
  trajectoryList,
  trajectoryQuery,
} from '../../src/queries/trajectories.ts';
import { pagesOf } from '../../src/resources/pages.ts';
import type { Scope } from '../../src/resources/place.ts';
import { trajectories } from '../../src/resources/trajectories.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError, NetworkError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, fakeService } from '../service/fake-service.ts';

function contextOf(answers: Answers) {
  return {
    service: fakeService(answers, { capabilities: new Capabilities() }),
    signal: new AbortController().signal,
    memory: RememberedStore.inMemory('test'),
    query: {},
  };
}

const missing: Answers = {
  listTrajectories: () => {
    throw new CapabilityMissingError('listTrajectories');
  },
};

describe('the trajectories of a training run', () => {
  it('are those that its list has shown, even if they do not name the run', async () => {
    const context = contextOf(missing);
    const [ofRun, ofOther, all] = ['trn_1', 'trn_2', undefined].map(id =>
      trajectoryList(id === undefined ? {} : { training_run_id: id }),
    );
    if (!ofRun || !ofOther || !all) throw new Error('no list');
    rememberRows(context.memory, ofRun, [{ trajectory_id: 'trj_1', status: 'completed' }]);
    rememberRows(context.memory, all, [{ trajectory_id: 'trj_2', training_run_id: 'trn_2' }]);
    const shown = async (list: typeof all) =>
      (await readListed(list, context)).items.map(({ trajectory_id }) => trajectory_id);
    expect([await shown(ofRun), await shown(ofOther)]).toEqual([['trj_1'], ['trj_2']]);
    expect((await shown(all)).toSorted()).toEqual(['trj_1', 'trj_2']);
  });
});

it('belong to the run of their list', () => {
  const [ofTraining, ofRun, all] = [{ training_run_id: 'r1' }, { eval_run_id: 'r1' }, {}].map(
    filter => trajectoryList(filter).partOf,
  );
  expect(ofTraining).toMatchObject({ kind: 'training', id: 'r1' });
  expect(ofRun).toMatchObject({ kind: 'run', id: 'r1' });
  expect(all).toBeUndefined();
});

it('are stored in their dataset', async () => {
  const sent: unknown[] = [];
  const service = fakeService({
    uploadTrajectories: ({ body }) => {
      sent.push(body);
      return {};
    },
  });
  await storeTrajectories(service, { dataset: 'mine', trajectories: [{ reward: 1 }] });
  expect(sent).toEqual([{ dataset: 'mine', trajectories: [{ reward: 1 }] }]);
});

describe('the trajectories of an evaluation run', () => {
  it('are its rewards, and those without an id are counted', async () => {
    const context = contextOf({
      ...missing,
      getTrajectoryRewards: ({ params }) =>
        trajectoryRewards.parse({
          trajectory_rewards: [
            { trajectory_id: `trj of ${params.eval_run_id}`, reward: 1 },
            { reward: 0 },
            { reward: 1 },
          ],
        }),
    });
    const page = await trajectoriesOfRun('evr_1', true).readPage(context);
    expect(page.items).toMatchObject([{ trajectory_id: 'trj of evr_1', reward: 1 }]);
    expect(page.note).toBe('2 more, counted above, have no id and cannot be opened');
  });
});

describe('a service that ignores the filters of its list', () => {
  const row = (trajectory_id: string, parts: object = {}) => ({ trajectory_id, status: 'completed', ...parts });
  const pageOf = (items: readonly object[], next_cursor: string | null = null) => ({
    ...{ items, has_more: next_cursor !== null, next_cursor, dropped: 0 },
  });
  const rewardsOf = (...ids: string[]) =>
    trajectoryRewards.parse({ trajectory_rewards: ids.map(trajectory_id => ({ trajectory_id, reward: 1 })) });
  async function readAll(scope: Scope, answers: Answers, record: object = {}) {
    const context = contextOf(answers);
    context.memory.see([{ kind: 'run', id: 'e1', ...record }]);
    const rows: string[] = [];
    let notes: readonly string[] = [];
    for await (const page of pagesOf(trajectories, scope, context)) {
      rows.push(...page.rows.map(({ trajectory_id }) => trajectory_id));
      ({ notes } = page);
    }
    return { rows, notes, context };
  }

  it('gets the rollouts of a run from its rewards, and is not asked for its list again', async () => {
    let asked = 0;
    const answers: Answers = {
      listTrajectories: ({ query }) => {
        asked += 1;
        // The other runs are on the second page only.
        return query?.cursor === 'more'
          ? pageOf([row('y1', { eval_run_id: 'e2' }), row('x2', { eval_run_id: 'e1' })])
          : pageOf([row('x1', { eval_run_id: 'e1' })], 'more');
      },
      getTrajectoryRewards: () => rewardsOf('x1', 'x2'),
    };
    const { rows, notes, context } = await readAll({ run: 'e1' }, answers);
    expect(rows).toEqual(['x1', 'x2']);
    expect(notes).toEqual([expect.stringContaining('lists other runs too')]);
    const again = await trajectoriesOfRun('e1', true).readPage(context);
    expect(again.items.map(({ trajectory_id }) => trajectory_id)).toEqual(['x1', 'x2']);
    expect(asked).toBe(2);
    context.service.capabilities.forget();
    expect(context.service.capabilities.ignoredFilters.has('eval_run_id')).toBe(false);
  });

  const graded = (id: string) => row(id, { reward: 1 });
  const failed = (id: string) => row(id, { reward: 0, status: 'failed' });
  const done = { status: 'completed' };
  const ended = (total_rollouts: number) => ({ status: 'completed', record: { total_rollouts } });

  const doubt = (rows: number) => expect.stringMatching(new RegExp(`^${rows} rows? may be unrelated`));

  it.each<[string, object[], string[], object, string[], string]>([
    ['are not of the run, if its rewards lack one', [graded('x1'), graded('y1')], ['x1'], done, ['x1'], 'do not fit'],
    ['are not of the run, if they are more', [row('x1'), row('y1')], ['x1'], ended(1), ['x1'], 'do not fit'],
    [
      'may have late rewards, if the run goes on',
      [graded('x1'), graded('x2')],
      ['x1'],
      { status: 'running' },
      ['x1', 'x2'],
      '1 row may be unrelated',
    ],
    [
      'may all be of a run that has no rewards yet',
      [graded('x1'), failed('x2')],
      [],
      { status: 'running' },
      ['x1', 'x2'],
      '2 rows may be unrelated',
    ],
    ['are of the run, if they fit its total', [graded('x1'), failed('x2')], ['x1'], ended(2), ['x1', 'x2'], ''],
    [
      'may be newer than the total of a run that goes on',
      [graded('x1'), row('x2', { status: 'running' })],
      ['x1'],
      { ...ended(1), status: 'running' },
      ['x1', 'x2'],
      '1 row may be unrelated',
    ],
    [
      'may not be in the total of a run that was stopped',
      [graded('x1'), row('x2', { reward: 0, status: 'cancelled' })],
      ['x1'],
      { ...ended(1), status: 'cancelled' },
      ['x1', 'x2'],
      '1 row may be unrelated',
    ],
  ])('rows that name no run %s', async (_, items, rewards, record, expected, words) => {
    const answers = { listTrajectories: () => pageOf(items), getTrajectoryRewards: () => rewardsOf(...rewards) };
    const { rows, notes, context } = await readAll({ run: 'e1' }, answers, record);
    expect(rows).toEqual(expected);
    expect(context.service.capabilities.ignoredFilters.has('eval_run_id')).toBe(false);
    expect(notes).toEqual(words === '' ? [] : [expect.stringContaining(words)]);
  });

  it('may change until the run was read after its end', async () => {
    let status = 'running';
    const context = contextOf({
      listTrajectories: () => pageOf([graded('x1'), failed('x2')]),
      getTrajectoryRewards: () => rewardsOf('x1'),
      getEvalProgress: () => ({ status, total_rollouts: 2 }),
    });
    const list = trajectoriesOfRun('e1', true);
    const read = async () => {
      context.memory.see([{ kind: 'run', id: 'e1', status }]);
      const { unsure, mayChange } = await list.readPage(context);
      return { unsure: unsure?.size, mayChange };
    };
    expect(await read()).toEqual({ unsure: 1, mayChange: true });
    status = 'completed';
    expect(await read()).toEqual({ unsure: undefined, mayChange: false });
  });

  it('says which rows of earlier pages may be unrelated, if they exceed the total', async () => {
    const pages: Readonly<Record<string, object>> = {
      first: pageOf([graded('x1'), failed('x2')], 'second'),
      second: pageOf([failed('x3')]),
    };
    const answers: Answers = {
      listTrajectories: ({ query }) => pages[query?.cursor ?? 'first'],
      getTrajectoryRewards: () => rewardsOf('x1'),
    };
    const whole = await readAll({ run: 'e1' }, answers, ended(3));
    expect([whole.rows, whole.notes]).toEqual([['x1', 'x2', 'x3'], []]);
    const { rows, notes } = await readAll({ run: 'e1' }, answers, ended(2));
    expect([rows, notes]).toEqual([
      ['x1', 'x2'],
      [doubt(1), expect.stringContaining('do not fit')],
    ]);
  });

  it('leaves out rows that name another run if the service has no rewards', async () => {
    const { rows, notes } = await readAll(
      { run: 'e1' },
      {
        listTrajectories: () => pageOf([row('x1', { eval_run_id: 'e1' }), row('y1', { eval_run_id: 'e2' })]),
        getTrajectoryRewards: () => {
          throw new CapabilityMissingError('getTrajectoryRewards');
        },
      },
    );
    expect([rows, notes]).toEqual([['x1'], [expect.stringContaining('1 unrelated row left out')]]);
  });

  describe('rows that name a dataset by its id', () => {
    const items = [row('x1', { dataset_id: 'd1' }), row('y1', { dataset_id: 'd2' })];
    const listTrajectories = () => pageOf(items, null);

    it('belong to the dataset in the list of datasets, which is read once and to its end', async () => {
      let asked = 0;
      const answers: Answers = {
        listTrajectories: ({ query }) => pageOf(items, query?.cursor ? null : 'second'),
        listDatasets: ({ query }) => {
          asked += 1;
          return query?.cursor
            ? pageOf([{ dataset_id: 'd1', dataset_name: 'words' }])
            : pageOf([{ dataset_id: 'd2', dataset_name: 'sums' }], 'more');
        },
      };
      const { rows, notes } = await readAll({ dataset: 'words' }, answers);
      expect([rows, asked]).toEqual([['x1'], 2]);
      expect(notes).toContain('2 unrelated rows left out: the service did not apply the filter');
      expect(notes).not.toContainEqual(doubt(1));
    });

    it('may be unrelated if datasets cannot be listed', async () => {
      for (const error of [new CapabilityMissingError('listDatasets'), new NetworkError('The connection was lost.')]) {
        const listDatasets = () => {
          throw error;
        };
        const { rows, notes } = await readAll({ dataset: 'words' }, { listTrajectories, listDatasets });
        expect([rows, notes]).toEqual([['x1', 'y1'], [doubt(2)]]);
      }
    });
  });

  it('compares the pages of a run with its rewards once, and again for a rollout that may be newer', async () => {
    let asked = 0;
    let rewards = ['x1', 'x2'];
    let pages: Readonly<Record<string, object>> = {
      first: pageOf([graded('x1'), failed('x3')], 'second'),
      second: pageOf([graded('x2'), failed('x4')]),
    };
    const context = contextOf({
      listTrajectories: ({ query }) => pages[query?.cursor ?? 'first'],
      getTrajectoryRewards: () => {
        asked += 1;
        return rewardsOf(...rewards);
      },
    });
    const list = trajectoriesOfRun('e1', false);
    const read = async (cursor?: string) => (await list.readPage({ ...context, query: { cursor } })).items.length;
    expect([await read(), await read('second'), asked]).toEqual([2, 2, 1]);
    pages = { first: pageOf([graded('x5'), row('x6', { eval_run_id: 'e1', reward: 1 })]) };
    rewards = ['x1', 'x2', 'x5'];
    expect([await read(), await read(), asked]).toEqual([2, 2, 2]);
    pages = { first: pageOf([row('x7', { eval_run_id: 'e1', reward: 1 })]) };
    expect([await read(), asked]).toEqual([1, 2]);
    // The rewards that show it are those that are listed.
    pages = { first: pageOf([graded('y1')]) };
    context.memory.see([{ kind: 'run', id: 'e1', ...done }]);
    expect([await read(), asked]).toEqual([3, 3]);
    // They were late.
    rewards = ['x1', 'x2', 'x5', 'y1'];
    expect([await read(), asked]).toEqual([1, 4]);
  });

  it('reads whether the run has ended, before it judges by rewards, if the run is unknown', async () => {
    const sent: string[] = [];
    const answers: Answers = {
      listTrajectories: () => pageOf([graded('x1'), graded('y1')]),
      getEvalProgress: () => {
        sent.push('progress');
        return { status: 'completed', total_rollouts: 1 };
      },
      getTrajectoryRewards: () => {
        sent.push('rewards');
        return rewardsOf('x1');
      },
    };
    const { rows, notes } = await readAll({ run: 'e1' }, answers);
    expect([rows, notes, sent]).toEqual([['x1'], [expect.stringContaining('do not fit')], ['progress', 'rewards']]);
  });

  it('is trusted with a note if the service has no rewards of the run', async () => {
    const getTrajectoryRewards = () => {
      throw new CapabilityMissingError('getTrajectoryRewards');
    };
    const { rows, notes } = await readAll(
      { run: 'e1' },
      { listTrajectories: () => pageOf([graded('x1')]), getTrajectoryRewards },
    );
    expect([rows, notes]).toEqual([['x1'], [doubt(1)]]);
  });

  it.each([
    ['training run', { training: 'e1' }, 'training_run_id'],
    ['dataset', { dataset: 'e1' }, 'dataset_name'],
  ] as const)('leaves out what belongs to another %s, and counts it', async (_, scope, field) => {
    const pages: Readonly<Record<string, object>> = {
      first: pageOf([row('y1', { [field]: 'e2' })], 'second'),
      second: pageOf([row('x1', { [field]: 'e1' }), row('x2'), row('y2', { [field]: 'e3' })]),
    };
    const { rows, notes } = await readAll(scope, {
      listTrajectories: ({ query }) => pages[query?.cursor ?? 'first'],
    });
    // A row that names no run may belong to it.
    expect(rows).toEqual(['x1', 'x2']);
    expect(notes).toEqual(['2 unrelated rows left out: the service did not apply the filter', doubt(1)]);
  });
});

it.each([
  ['running', 'running'],
  ['completed', 'open'],
])('polls a list with one that is %s like something %s', (status, activity) => {
  const rows = [
    { trajectory_id: 'trj_1', status: 'completed' },
    { trajectory_id: 'trj_2', status },
  ];
  expect(trajectoryList({}).activity?.(rows)).toBe(activity);
});

it('reads a trajectory again until it has ended, as others may add to it', () => {
  const { activity } = trajectoryQuery('traj_1');
  const of = (status: string, run?: string, reward?: number) =>
    activity({ trajectory_id: 'traj_1', status, eval_run_id: run, reward } as Parameters<typeof activity>[0]);
  expect([of('running'), of('completed'), activity(undefined)]).toEqual(['open', 'settled', 'open']);
  // Its reward may be late.
  const ofRun = [of('completed', 'evr_1'), of('completed', 'evr_1', 0), of('failed', 'evr_1')];
  expect(ofRun).toEqual(['settling', 'settled', 'settled']);
});
