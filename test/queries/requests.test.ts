/** The request of each query and each action, and what it reports about its resource. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { endpoints } from '../../src/contract/endpoints.ts';
import type { Action } from '../../src/queries/action.ts';
import {
  benchmarkList,
  benchmarkQuery,
  buildImages,
  imageList,
  readinessQuery,
  runtimeList,
  taskCountQuery,
} from '../../src/queries/benchmarks.ts';
import { checkpointList, checkpointQuery, checkpointsByStep } from '../../src/queries/checkpoints.ts';
import { datasetList } from '../../src/queries/datasets.ts';
import {
  deploymentList,
  deploymentQuery,
  deploymentSummaryQuery,
  promote,
  startDeployment,
  undeploy,
  unpromote,
} from '../../src/queries/deployments.ts';
import {
  cancelRun,
  deleteRun,
  evalProgressQuery,
  evalRunQuery,
  partOfRun,
  startEvaluation,
} from '../../src/queries/evaluations.ts';
import type { ListSource } from '../../src/queries/lists/list-source.ts';
import type { LiveQuery } from '../../src/queries/live-query.ts';
import { chatModelsQuery, modelList } from '../../src/queries/models.ts';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { everyRun, runsOfBenchmark } from '../../src/queries/run-lists.ts';
import { createSecret, deleteSecret, secretList } from '../../src/queries/secrets.ts';
import {
  cancelTraining,
  deleteTraining,
  everyTrainingRun,
  partOfTraining,
  startTraining,
  stepRewardList,
  trainingProgressQuery,
  trainingRunQuery,
  trainingRunsOf,
} from '../../src/queries/training.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../src/queries/training-curves.ts';
import {
  completeTrajectory,
  logReward,
  storeTrajectories,
  trajectoriesOfRun,
  trajectoryList,
  trajectoryQuery,
  trajectoryStatusQuery,
} from '../../src/queries/trajectories.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';
import { trainerCurveOf } from '../trainer-curve.ts';

const { signal } = new AbortController();

/** A service that gives the same answer to everything, and the requests that it got. */
function recording(answer: object) {
  const sent: unknown[][] = [];
  const call = async (...request: unknown[]) => {
    sent.push(request);
    return answer;
  };
  const service = fakeService({}, { call: call as never, capabilities: new Capabilities() });
  return { service, sent };
}

const run = { params: { eval_run_id: 'r1' } };
const training = { params: { training_run_id: 't1' } };
const benchmark = { params: { bench_id: 'b1' } };
const deployment = { params: { deployment_id: 'd1' } };
const trajectory = { params: { trajectory_id: 'j1' } };
const page = { items: [], has_more: false, dropped: 0 };
const at = { limit: 7, cursor: 'c' };

describe('a query', () => {
  // biome-ignore lint/suspicious/noExplicitAny: queries of all kinds of data
  const queries: readonly (readonly [operation: string, LiveQuery<any>, input: object, answer?: object])[] = [
    ['getBenchmark', benchmarkQuery('b1'), benchmark],
    ['getBenchmarkReadiness', readinessQuery('b1'), benchmark],
    ['countTasks', taskCountQuery('b1'), benchmark],
    ['getEvalRun', evalRunQuery('r1'), run],
    ['getEvalProgress', evalProgressQuery('r1'), run],
    ['getTrainingRun', trainingRunQuery('t1'), training],
    ['getTrainingProgress', trainingProgressQuery('t1'), training],
    ['getHeldOutRewards', heldOutRewardsQuery('t1', false), training, { held_out_rewards: [] }],
    ['getCheckpoint', checkpointQuery('t1', 4), { params: { training_run_id: 't1', step_index: 4 } }],
    ['getDeployment', deploymentQuery('d1'), deployment],
    ['getDeploymentSummary', deploymentSummaryQuery, {}],
    ['getTrajectory', trajectoryQuery('j1'), { ...trajectory, query: { include_steps: true } }],
    ['getTrajectory', trajectoryStatusQuery('j1'), { ...trajectory, query: { include_steps: false } }],
    ['listModels', chatModelsQuery, {}, { data: [] }],
  ];

  it.each(queries.map(([operation, query, input, answer = {}]) => ({ operation, query, input, answer })))(
    'sends one request: $operation',
    async ({ operation, query, input, answer }) => {
      const { service, sent } = recording(answer);
      const memory = { seen: { find: () => undefined } } as unknown as QueryContext['memory'];
      const read = await query.read({ service, signal, memory } as QueryContext);
      expect(sent).toEqual([[operation, input, { signal }]]);
      expect(read).toBe(Object.values(answer)[0] ?? answer);
    },
  );

  // biome-ignore lint/suspicious/noExplicitAny: as above
  const lists: readonly (readonly [operation: string, ListSource<any>, input: object, answer?: object])[] = [
    ['listBenchmarks', benchmarkList, { query: at }],
    ['listBenchmarkRuntimes', runtimeList, { query: at }],
    ['listBenchmarkImages', imageList('b1'), benchmark, { images: [] }],
    ['listEvalRuns', runsOfBenchmark('b1'), { ...benchmark, query: at }, []],
    ['listTrainingRuns', trainingRunsOf('b1'), { ...benchmark, query: at }, []],
    ['listCheckpoints', checkpointList('t1', false), { ...training, query: at }, []],
    [
      'getStepTrajectoryRewards',
      stepRewardList('t1', 4),
      { params: { training_run_id: 't1', step: 4 } },
      { trajectory_rewards: [] },
    ],
    ['listDeployments', deploymentList, { query: at }],
    ['listTrajectories', trajectoryList({ dataset_name: 'n' }), { query: { ...at, dataset_name: 'n' } }],
    ['listTrajectories', trajectoryList({ training_run_id: 't1' }), { query: { ...at, training_run_id: 't1' } }],
    ['listTrajectories', trajectoryList({ eval_run_id: 'r1' }), { query: { ...at, eval_run_id: 'r1' } }],
    ['listTrajectories', trajectoriesOfRun('r1', true), { query: { ...at, eval_run_id: 'r1' } }],
    ['listDatasets', datasetList, { query: at }],
    ['listSecrets', secretList, { query: at }],
    ['listSupportedTrainingModels', modelList, {}, []],
  ];

  it.each(lists.map(([operation, list, input, answer = page]) => ({ operation, list, input, answer })))(
    'of a list requests its page: $operation',
    async ({ operation, list, input, answer }) => {
      const { service, sent } = recording(answer);
      const memory = RememberedStore.inMemory('test');
      const read = await list.readPage({ service, signal, memory, query: at });
      expect(sent).toEqual([[operation, input, { signal }]]);
      expect(read).toMatchObject({ items: [], dropped: 0 });
    },
  );

  it('has a key of its own, which names what it reads', () => {
    const keys = [...[...queries, ...lists].map(([, { key }]) => key), trainerRewardsQuery('t1', false).key];
    expect(keys.filter(key => key.length === 0 || key.includes(''))).toEqual([]);
    // The trajectories of a run are one list, opened in any way.
    expect(new Set(keys.map(key => JSON.stringify(key))).size).toBe(keys.length - 1);
    const areas = new Map<unknown, number>();
    for (const [area] of keys) areas.set(area, (areas.get(area) ?? 0) + 1);
    expect(Object.fromEntries(areas)).toEqual({
      benchmarks: 5,
      runtimes: 1,
      evaluations: 3,
      training: 8,
      deployments: 3,
      trajectories: 6,
      datasets: 1,
      secrets: 1,
      models: 2,
    });
  });

  it('lets the service sort its list only if it can', () => {
    const sorted = lists.filter(([, list]) => list.sorts).map(([operation]) => operation);
    expect([...new Set(sorted)]).toEqual([
      'listBenchmarks',
      'listBenchmarkRuntimes',
      'listDeployments',
      'listTrajectories',
      'listDatasets',
      'listSecrets',
    ]);
  });

  it.each([
    [benchmarkList, { bench_id: 'x' }],
    [runtimeList, { runtime_id: 'x' }],
    [imageList('b1'), { task_id: 'x' }],
    [runsOfBenchmark('b1'), { eval_run_id: 'x' }],
    [everyRun, { eval_run_id: 'x' }],
    [trainingRunsOf('b1'), { training_run_id: 'x' }],
    [everyTrainingRun, { training_run_id: 'x' }],
    [checkpointList('t1', true), { checkpoint_id: 'x' }],
    [stepRewardList('t1', 4), { trajectory_id: 'x', place: 3 }],
    [deploymentList, { deployment_id: 'x' }],
    [trajectoryList({}), { trajectory_id: 'x' }],
    [trajectoriesOfRun('r1', true), { trajectory_id: 'x' }],
    [datasetList, { dataset_id: 'x' }],
    [secretList, { secret_id: 'x' }],
    [modelList, { model_slug: 'x' }],
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ] as readonly (readonly [ListSource<any>, object])[])('identifies the rows of its list', (list, row) => {
    expect(list.id(row)).toBe('x');
  });

  it('identifies the rewards of a step by position if they have no id', async () => {
    const { service } = recording({ trajectory_rewards: [{ reward: 1 }, { reward: 0, trajectory_id: 'j2' }] });
    const list = stepRewardList('t1', 4);
    const { items } = await list.readPage({ service, signal, query: at } as QueryContext & { query: typeof at });
    expect(items).toEqual([
      { reward: 1, place: 1 },
      { reward: 0, trajectory_id: 'j2', place: 2 },
    ]);
    expect(items.map(row => list.id(row))).toEqual(['rollout 1', 'j2']);
    expect(list.activity?.(items)).toBe('settled');
  });

  it('of checkpoints reads all pages, with the newest last', async () => {
    const pages = [
      { items: [{ checkpoint_id: 'c2', step_index: 2 }, { checkpoint_id: 'c0' }], has_more: true, next_cursor: 'c' },
      { items: [{ checkpoint_id: 'c1', step_index: 1 }], has_more: false, next_cursor: null },
    ];
    const asked: unknown[] = [];
    const service = fakeService({
      listCheckpoints: ({ query, ...input }, options) => {
        asked.push([input, query?.cursor, options]);
        return z.parse(endpoints.listCheckpoints.response, pages.shift());
      },
    });
    const found = await checkpointsByStep(service, 't1', { signal });
    expect(found.map(({ checkpoint_id }) => checkpoint_id)).toEqual(['c0', 'c1', 'c2']);
    expect(asked).toEqual([
      [training, undefined, { signal }],
      [training, 'c', { signal }],
    ]);
  });

  it.each([
    ['run', 'r1', [evalRunQuery('r1'), evalProgressQuery('r1')]],
    ['training', 't1', [trainingRunQuery('t1'), trainingProgressQuery('t1')]],
    ['deployment', 'd1', [deploymentQuery('d1')]],
    ['trajectory', 'j1', [trajectoryQuery('j1'), trajectoryStatusQuery('j1')]],
    ['benchmark', 'b1', [readinessQuery('b1')]],
  ] as const)('is about the %s %s', (kind, id, asked) => {
    for (const { about } of asked) expect(about).toEqual({ kind, id });
  });

  it('reads the status of its run from an answer', () => {
    const rewards = [{ trainer_reward: 0.5 }, { trainer_reward: 0.25 }, { trainer_reward: null }];
    expect(
      trainerRewardsQuery('t1', false).observes?.(trainerCurveOf(rewards.map((each, step) => ({ step, ...each })))),
    ).toEqual({
      kind: 'training',
      id: 't1',
      curve: [0.5, 0.25, undefined],
      mean: 0.25,
    });
    const progress = { training_run_id: 't1', status: 'running', completed_steps: 3, total_steps: 9 };
    expect(trainingProgressQuery('t1').observes?.(progress)).toEqual({
      kind: 'training',
      id: 't1',
      status: 'running',
      done: 3,
      total: 9,
      // For rows that do not say how many steps are wanted.
      record: { status: 'running', total_steps: 9 },
    });
    const rollouts = {
      eval_run_id: 'r1',
      status: 'running',
      total_rollouts: 9,
      terminal_rollouts: 5,
      live: { scored_rollouts: 3, failed_rollouts: 1, cancelled_rollouts: 1, provisional_reward_mean: 0.5 },
    };
    const said = { kind: 'run', id: 'r1', status: 'running', done: 4, total: 9, mean: 0.5, graded: 3, failed: 1 };
    expect(evalProgressQuery('r1').observes?.(rollouts)).toEqual(said);
    const final = { ...rollouts, live: { ...rollouts.live, final_reward_mean: 0.75 } };
    expect(evalProgressQuery('r1').observes?.(final)).toEqual({ ...said, mean: 0.75 });
  });

  it('names the record that a part belongs to', () => {
    expect(partOfRun('r1')).toMatchObject({ kind: 'run', id: 'r1' });
    expect(partOfTraining('t1')).toMatchObject({ kind: 'training', id: 't1' });
    expect(checkpointList('t1', true).partOf).toMatchObject({ kind: 'training', id: 't1' });
    expect(trajectoriesOfRun('r1', true).partOf).toMatchObject({ kind: 'run', id: 'r1' });
    expect(trajectoryList({ training_run_id: 't1' }).partOf).toMatchObject({ kind: 'training', id: 't1' });
    expect(trajectoryList({ eval_run_id: 'r1' }).partOf).toMatchObject({ kind: 'run', id: 'r1' });
    expect(trajectoryList({ dataset_name: 'n' })).not.toHaveProperty('partOf');
  });
});

describe('an action', () => {
  const body = { display_name: 'x', model_slug: 'm' };
  // biome-ignore lint/suspicious/noExplicitAny: actions of all kinds of input
  type Case = readonly [operation: string, Action<any>, given: object, input: object, more?: object];
  const actions: readonly Case[] = [
    ['buildBenchmarkImages', buildImages, { bench_id: 'b1' }, benchmark],
    ['startEval', startEvaluation, { bench_id: 'b1', ...body }, { ...benchmark, body }],
    ['cancelEval', cancelRun, { eval_run_id: 'r1' }, run],
    [
      'deleteEvalRun',
      deleteRun,
      { bench_id: 'b1', eval_run_id: 'r1' },
      { params: { bench_id: 'b1', eval_run_id: 'r1' } },
    ],
    ['deleteEvalRun', deleteRun, { eval_run_id: 'r1' }, { params: { bench_id: '', eval_run_id: 'r1' } }],
    ['startTraining', startTraining, body, { body }],
    ['cancelTraining', cancelTraining, { training_run_id: 't1' }, training],
    ['deleteTrainingRun', deleteTraining, { training_run_id: 't1' }, training],
    ['startDeployment', startDeployment, body, { body }],
    ['promoteDeployment', promote, { deployment_id: 'd1' }, deployment],
    [
      'promoteDeployment',
      promote,
      { deployment_id: 'd1', demote_deployment_id: 'd0' },
      { ...deployment, body: { demote_deployment_id: 'd0' } },
    ],
    ['unpromoteDeployment', unpromote, { deployment_id: 'd1' }, deployment],
    ['undeploy', undeploy, { deployment_id: 'd1' }, deployment],
    ['createSecret', createSecret, { name: 'A', value: 'v' }, { body: { name: 'A', value: 'v' } }],
    ['deleteSecret', deleteSecret, { secret_id: 's1' }, { params: { secret_id: 's1' } }],
    [
      'logReward',
      logReward,
      { trajectory_id: 'j1', token: 'k', reward: 1 },
      { ...trajectory, body: { reward: 1 } },
      { token: 'k' },
    ],
    [
      'completeTrajectory',
      completeTrajectory,
      { trajectory_id: 'j1', token: 'k', status: 'done' },
      { ...trajectory, body: { status: 'done' } },
      { token: 'k' },
    ],
    [
      'uploadTrajectories',
      storeTrajectories,
      { dataset: 'n', trajectories: [{ task_id: 'a' }] },
      { body: { dataset: 'n', trajectories: [{ task_id: 'a' }] } },
    ],
  ];

  it.each(actions.map(([operation, send, given, input, more = {}]) => ({ operation, send, given, input, more })))(
    'sends one request: $operation',
    async ({ operation, send, given, input, more }) => {
      const { service, sent } = recording({});
      await send(service, given, { signal });
      expect(sent).toEqual([[operation, input, { signal, ...more }]]);
    },
  );

  it.each([
    [deleteRun, { eval_run_id: 'r1', bench_id: 'b1' }, { kind: 'run', id: 'r1' }],
    [deleteTraining, { training_run_id: 't1' }, { kind: 'training', id: 't1' }],
    [undeploy, { deployment_id: 'd1' }, { kind: 'deployment', id: 'd1' }],
    [deleteSecret, { secret_id: 's1' }, { id: 's1' }],
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ] as readonly (readonly [Action<any>, object, object])[])('says what it removed', ({ removes }, given, gone) => {
    expect(removes?.resource(given)).toEqual(gone);
  });

  it.each([
    [['benchmarks'], [buildImages]],
    [['evaluations'], [cancelRun]],
    [
      ['evaluations', 'benchmarks'],
      [startEvaluation, deleteRun],
    ],
    [['training'], [startTraining, cancelTraining, deleteTraining]],
    [['deployments'], [startDeployment, promote, unpromote, undeploy]],
    [
      ['secrets', 'benchmarks'],
      [createSecret, deleteSecret],
    ],
    [['trajectories'], [logReward, completeTrajectory]],
    [['datasets', 'trajectories'], [storeTrajectories]],
  ] as const)('causes what it changes to be read again: %s', (areas, sends) => {
    for (const { touches } of sends) expect(touches).toEqual(areas.map(area => [area]));
  });

  it('has a key of its own only if it starts or stores something', () => {
    const keyed = new Set(actions.filter(([, send]) => send.keyed).map(([operation]) => operation));
    expect([...keyed]).toEqual(['startEval', 'startTraining', 'startDeployment', 'uploadTrajectories']);
  });

  it('says what it started', () => {
    const answer = { training_run_id: 't1', status: 'pending', bench_id: 'b1', created_at: '2026-01-01' };
    expect(startTraining.starts?.(answer, { ...body, display_name: 'asked' } as never)).toMatchObject({
      kind: 'training',
      id: 't1',
      label: 'asked',
      status: 'pending',
      startedAt: '2026-01-01',
      parent: 'b1',
    });
    expect(
      startTraining.starts?.({ ...answer, display_name: 'given' }, { ...body, display_name: 'asked' } as never).label,
    ).toBe('given');
    const record = { eval_run_id: 'r1', display_name: 'x', bench_id: 'b1', status: null };
    expect(startEvaluation.starts?.({ eval_run_id: 'r1' }, { bench_id: 'b1', ...body })).toEqual({
      kind: 'run',
      id: 'r1',
      label: 'x',
      parent: 'b1',
      record,
    });
  });

  it('fails with the reason why a trajectory was not stored', async () => {
    const store = (answer: object, count = 1) =>
      storeTrajectories(
        recording(answer).service,
        { dataset: 'n', trajectories: [{}, {}].slice(0, count) },
        { signal },
      );
    expect(await store({ trajectories: [{ trajectory_id: 'j1' }], failures: [] })).toEqual({
      dataset: 'n',
      refused: new Map(),
    });
    await expect(store({ trajectories: [{ failure: { message: 'too long', code: 'c' } }] })).rejects.toThrow(
      'too long',
    );
    await expect(store({ failures: [{ code: 'too_long' }] })).rejects.toThrow('too_long');
    await expect(store({ failures: [{}] })).rejects.toThrow('The service did not store it');
    // A failure of the batch is no item's (A11).
    const batch = { uploaded: 1, skipped: 0, failures: [{ message: 'one is too long' }] };
    await expect(store(batch, 2)).rejects.toThrow('reports one is too long, and does not report the outcome');
    expect(await store({ ...batch, skipped: 1 }, 2)).toEqual({ dataset: 'n', refused: new Map() });
    const half = { request_index: 1, status: 'error', failure: { message: 'too long' } };
    const ofSecond = { dataset: 'n', refused: new Map([[1, 'too long']]) };
    expect(await store({ trajectories: [{ request_index: 0 }, half] }, 2)).toEqual(ofSecond);
    const failures = [{ item_index: 1, message: 'too long' }];
    expect(await store({ trajectories: [{ request_index: 0, status: 'uploaded' }], failures }, 2)).toEqual(ofSecond);
    // It may be the first one, or the second.
    for (const answer of [{ trajectories: [half] }, { failures }])
      await expect(store(answer, 2)).rejects.toThrow('reports too long, and does not report the outcome');
    await expect(store({ trajectories: [{ request_index: 0, status: 'error' }, half] }, 2)).rejects.toThrow(
      'did not store it',
    );
  });
});
