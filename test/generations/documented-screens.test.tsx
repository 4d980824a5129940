/** The screen on a service with the endpoints of the document only, however it refuses unknown paths. */
import { describe, expect, it } from 'vitest';
import { RememberedStore } from '../../src/store/store.ts';
import { eventually } from '../eventually.ts';
import { serviceAt } from '../service/hostile-server.ts';
import { placeIn } from '../ui/places.ts';
import { openProgram } from '../ui/program/rig.tsx';
import { documentedIds, refusals } from './documented.ts';
import { standIn } from './stand-in.ts';

async function openAt(viewId: string, refusal: string, remembered?: () => RememberedStore) {
  const unknown = refusals.get(refusal);
  const double = await standIn('documented', unknown && { unknown });
  const { service } = serviceAt(double.url, { generation: undefined });
  const { bench, run, training, trajectory, production } = double.ids;
  const ids = {
    benchId: bench,
    runId: run,
    trainingId: training,
    endedTrajectory: trajectory,
    deploymentId: production,
  };
  const rig = openProgram({
    service,
    start: placeIn({ ...ids, jobId: '' }, viewId, 't-words'),
    ...(remembered && { remembered }),
  });
  await rig.screen.press();
  await eventually(async () => expect(rig.workbench.cache.isFetching()).toBe(0));
  return { ...rig, ...double };
}

describe.each([...refusals.keys()])('where an unknown path gets %s (C1)', refusal => {
  it.each([
    ['record benchmarks', ['TOKEN', 'does not list evaluation runs|does not list runs']],
    ['record runs', ['0.500 over 4 rewards']],
    ['record training', ['succeeded', '4 of 4|4/4']],
    ['record deployments', ['deployed', 'talker']],
    ['record trajectories', ['hello']],
    ['list benchmarks', ['t-words']],
    ['list runs', ['does not list runs', 'No runs have been seen here yet  ']],
    ['list training', ['does not list training runs', 'No training runs have been seen here yet  ']],
    ['list deployments', ['does not list deployments']],
    ['list secrets', ['does not list secrets']],
  ] as const)('%s', async (viewId, words) => {
    const { screen, failed, refused, close } = await openAt(viewId, refusal);
    for (const word of words) await eventually(async () => expect(screen.text()).toMatch(new RegExp(word)));
    expect(screen.text()).not.toMatch(/No route|Not Found|no id|valid UUID|base URL/);
    expect([failed, refused]).toEqual([[], []]);
    close();
  });
});

it('shows what is known of a run whose status the service never reports (C2)', async () => {
  const { screen, workbench, ids, close } = await openAt('record runs', 'the 404 of the document');
  await screen.waitFor('The service reports no status; no new reward since');
  workbench.records.started({ kind: 'run', id: ids.run, label: 'ev' });
  await screen.press('g', 'w');
  expect(screen.text()).not.toMatch(/pending|1 running/);
  close();
});

it('shows since when a run has had its rewards, even if they were seen before this start', async () => {
  const memory = RememberedStore.inMemory('documented');
  const see = (reward_count: number, at: number) => {
    const { run: id } = documentedIds;
    memory.see([{ kind: 'run', id, record: { eval_run_id: id, status: null, reward_count } }], at);
    memory.flush();
  };
  see(3, new Date(2026, 2, 4, 8, 22).getTime());
  see(4, new Date(2026, 2, 4, 8, 23).getTime());
  see(4, new Date(2026, 2, 4, 8, 31).getTime());
  const { screen, close } = await openAt('record runs', 'the 404 of the document', () => memory);
  await screen.waitFor('no new reward since 2026-03-04 08:23');
  expect(memory.seen.find('run', documentedIds.run)?.record).not.toHaveProperty('benchtop');
  close();
});
