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
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
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
  it('are those that its list has shown, also if they do not name the run themselves', async () => {
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

it('a list of trajectories belongs to its run', () => {
  const [ofTraining, ofRun, all] = [{ training_run_id: 'r1' }, { eval_run_id: 'r1' }, {}].map(
    filter => trajectoryList(filter).partOf,
  );
  expect(ofTraining).toMatchObject({ kind: 'training', id: 'r1' });
  expect(ofRun).toMatchObject({ kind: 'run', id: 'r1' });
  expect(all).toBeUndefined();
});

it('a trajectory is stored in its dataset', async () => {
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

it.each([
  ['running', 'running'],
  ['completed', 'open'],
])('a list with one that is %s changes like something %s', (status, activity) => {
  const rows = [
    { trajectory_id: 'trj_1', status: 'completed' },
    { trajectory_id: 'trj_2', status },
  ];
  expect(trajectoryList({}).activity?.(rows)).toBe(activity);
});

it('a trajectory is read again until it has ended: others may add to it', () => {
  const { activity } = trajectoryQuery('traj_1');
  const of = (status: string) => activity({ trajectory_id: 'traj_1', status } as Parameters<typeof activity>[0]);
  expect([of('running'), of('completed'), activity(undefined)]).toEqual(['open', 'settled', 'open']);
});
