/** From a list of rollouts into a dataset, on the real local service: nothing about them is lost. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Trajectory } from '../../../src/contract/trajectories.ts';
import type { Place } from '../../../src/resources/place.ts';
import type { Service } from '../../../src/service/index.ts';
import { clientOf, startService, type TestService, until } from '../../local/server/running.ts';
import { inOwnFolders } from '../own-folder.ts';
import { openProgram } from './rig.tsx';

let local: TestService;
let service: Service;

inOwnFolders();

beforeAll(async () => {
  local = await startService();
  service = clientOf(local);
});
afterAll(async () => {
  await service.close();
  await local.end();
});

/** Fields that a service assigns to each stored trajectory, and the run of the original. */
const assigned =
  /^(?:trajectory_id|source|created_at|dataset_.*|model_association_.*|gcs_blob_uri|eval_run_id|conversation_id|sample|origin)$/;
const ownFields = (trajectory: Trajectory) =>
  Object.fromEntries(Object.entries(trajectory).filter(([name]) => !assigned.test(name)));
const read = (trajectory_id: string) =>
  service.call('getTrajectory', { params: { trajectory_id }, query: { include_steps: true } });
const byTask = (one: Trajectory, other: Trajectory): number => ((one.task_id ?? '') < (other.task_id ?? '') ? -1 : 1);

const listedIn = async (query: { dataset_name: string } | { eval_run_id: string }): Promise<Trajectory[]> => {
  const { items } = await service.call('listTrajectories', { query });
  return Promise.all(items.map(({ trajectory_id }) => read(trajectory_id)));
};

/** Uploads rows of the list at a place into a new dataset, whose name begins with `selected`. */
async function upload(start: Place, keys: readonly string[], words: string, name: string): Promise<Trajectory[]> {
  const { screen, close } = openProgram({ service, start, columns: 120, rows: 40 });
  await screen.waitFor(text => / 1\/\d /.test(text));
  await screen.press(...keys, 'x');
  await screen.waitFor(`With steps, into a dataset: ${words}`);
  await screen.press('up', 'enter');
  await screen.waitFor(`Upload ${words}`);
  await screen.type(name);
  await screen.press('enter');
  await screen.waitFor('2 stored');
  close();
  return listedIn({ dataset_name: `selected${name}` });
}

it('uploads marked rollouts of a run, and reads them back equal', async () => {
  const { eval_run_id = '' } = await service.call('startEval', {
    params: { bench_id: await local.readyBenchmark('shop-prices') },
    body: { display_name: 'shop', model_slug: 'benchtop/tutor-base', options: { evaluation_max_samples: 3 } },
  });
  await until(
    () => service.call('getEvalRun', { params: { eval_run_id } }),
    ({ status }) => status === 'completed',
  );
  const start = { view: 'record', resource: 'runs', id: eval_run_id } as const;
  const stored = await upload(start, ['space', 'j', 'space'], '2 marked', '-shop');
  const tasks = new Set(stored.map(({ task_id }) => task_id));
  const originals = (await listedIn({ eval_run_id })).filter(({ task_id }) => tasks.has(task_id));
  expect(stored).toHaveLength(2);
  expect(stored.toSorted(byTask).map(ownFields)).toEqual(originals.toSorted(byTask).map(ownFields));
  // Equal, but not because both lack it.
  const [first] = stored;
  expect(first?.['termination_reason']).toBe('ENV_DONE');
  const messages = first?.steps?.flatMap(({ messages: of }) => of ?? []) ?? [];
  expect(messages.some(({ finish_reason }) => finish_reason)).toBe(true);
  expect(messages.some(({ role, content }) => role === 'grader' && content)).toBe(true);
});

it('uploads the rows of one dataset into another, with their rewards, explanations and failures', async () => {
  const reward = { reward_id: 'reward-1', name: 'human', value: 0.5, weight: 0.25, explanation: 'half right' };
  const steps = [{ step_index: 0, messages: [{ role: 'assistant', content: 'hm', finish_reason: 'length' }] }];
  const trajectories = [
    { task_id: 'a', status: 'completed', termination_reason: 'MAX_STEPS', reward: 0.5, rewards: [reward], steps },
    { task_id: 'b', status: 'failed', error: 'the tool broke', termination_reason: 'ERROR', steps },
  ];
  await service.call('uploadTrajectories', { body: { dataset: 'production', trajectories } });
  const originals = await listedIn({ dataset_name: 'production' });
  const start = { view: 'list', resource: 'trajectories', scope: { dataset: 'production' } } as const;
  const stored = await upload(start, [], 'all rows', '-again');
  expect(stored.toSorted(byTask).map(ownFields)).toEqual(originals.toSorted(byTask).map(ownFields));
  expect(stored.toSorted(byTask)).toMatchObject([
    { status: 'completed', termination_reason: 'MAX_STEPS', rewards: [reward] },
    { status: 'failed', error: 'the tool broke' },
  ]);
});
