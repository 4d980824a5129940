/** Parts of a record: a 404 of their endpoint means that they are not offered, as long as the record is found. */
import { describe, expect, it } from 'vitest';
import { checkpointList } from '../../src/queries/checkpoints.ts';
import { evalProgressQuery } from '../../src/queries/evaluations.ts';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../src/queries/training-curves.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError, NotFoundError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, fakeService } from '../service/fake-service.ts';

const notFound = (): never => {
  throw new NotFoundError('There is no such thing.', { code: 'resource_not_found', status: 404 });
};
const noPath = (): never => {
  throw new CapabilityMissingError('getEvalRun');
};

const contextOf = (answers: Answers): QueryContext => ({
  service: fakeService(answers, { capabilities: new Capabilities() }),
  signal: new AbortController().signal,
  memory: RememberedStore.inMemory('test'),
});

const parts = {
  getEvalProgress: context => evalProgressQuery('r1').read(context),
  getTrainerRewards: context => trainerRewardsQuery('r1', false).read(context),
  getHeldOutRewards: context => heldOutRewardsQuery('r1', false).read(context),
  listCheckpoints: context => checkpointList('r1', false).readPage({ ...context, query: {} }),
} as const satisfies Partial<Record<keyof Answers, (context: QueryContext) => Promise<unknown>>>;

describe.each(Object.entries(parts))('%s, if it is not found,', (operation, read) => {
  it('is not offered as long as the record is found', async () => {
    const context = contextOf({
      [operation]: notFound,
      getEvalRun: () => ({ eval_run_id: 'r1', status: 'running' }),
      getTrainingRun: () => ({ training_run_id: 'r1', status: 'running' }),
    });
    await expect(read(context)).rejects.toMatchObject({ kind: 'capability_missing', operation });
  });

  it('is gone with the record', async () => {
    const context = contextOf({ [operation]: notFound, getEvalRun: notFound, getTrainingRun: notFound });
    await expect(read(context)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('the progress that old runs lack (attack34 C, attack35 B1)', () => {
  const endpoint = { operation: 'getEvalProgress', method: 'GET' } as const;
  const world = () => {
    const capabilities = new Capabilities();
    const lacking = () => {
      throw new NotFoundError('There is no such thing.', {
        ...{ code: 'not_found', status: 404, mayLackPath: true, operation: endpoint.operation },
      });
    };
    const getEvalRun: Answers['getEvalRun'] = ({ params: { eval_run_id } }) => ({
      ...{ eval_run_id, status: eval_run_id === 'new' ? 'running' : 'failed' },
    });
    const service = fakeService({ getEvalProgress: lacking, getEvalRun }, { capabilities });
    const has = async (id: string) => {
      const read = evalProgressQuery(id).read({ ...contextOf({}), service });
      await expect(read).rejects.toMatchObject({ kind: 'capability_missing' });
      return capabilities.has(endpoint.operation);
    };
    return { capabilities, has };
  };

  it('is read for others after the first 404, however often that is repeated', async () => {
    const { has } = world();
    expect([await has('old1'), await has('old1'), await has('new')]).toEqual([true, true, false]);
  });

  it('is missing after the second, until a request in flight finds it', async () => {
    const { capabilities, has } = world();
    expect([await has('old1'), await has('old2')]).toEqual([true, false]);
    capabilities.hasWorked(endpoint, {}, []);
    expect([await has('old3'), await has('old4')]).toEqual([true, true]);
  });
});

it('is gone for a run that is only remembered', async () => {
  const answers = { getEvalProgress: notFound, getEvalRun: noPath, getTrajectoryRewards: notFound };
  const context = contextOf({ ...answers, listEvalRuns: () => [] });
  context.memory.see([{ kind: 'run', id: 'r1', parent: 'b1', record: { eval_run_id: 'r1', bench_id: 'b1' } }]);
  await expect(evalProgressQuery('r1').read(context)).rejects.toMatchObject({ kind: 'not_found' });
});
