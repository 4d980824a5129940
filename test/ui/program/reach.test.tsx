/** The screen can do everything that users need: it sends every operation of the contract except a few. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endpoints, type Operation } from '../../../src/contract/endpoints.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { eventually } from '../../eventually.ts';
import { operationOf } from '../../service/operations.ts';
import { folderOf, uploadOf } from '../../uploads/world.ts';
import { placeIn } from '../places.ts';
import { askFor, type OpenedView, openView, sayYes, screenActions } from './actions.tsx';

const ids = {
  benchId: 'bench_1',
  runId: 'evr_1',
  trainingId: 'trn_1',
  endedTrajectory: 'traj_1',
  deploymentId: 'dep_1',
};

/** Operations that only scripts need: `benchtop api` sends them. */
const scriptsOnly: readonly Operation[] = ['deleteBenchmark', 'createTrajectory', 'getModel'];

/** Sent only for a list of several pages, which the double does not have. */
const longListsOnly: readonly Operation[] = ['getDeploymentSummary'];

it('uses every operation of the contract', async () => {
  const opened: OpenedView[] = [];
  const open = async (...given: Parameters<typeof openView>): Promise<OpenedView> => {
    const view = await openView(...given);
    opened.push(view);
    return view;
  };
  for (const { id } of registry.views.filter(view => !view.id.endsWith('-upload'))) {
    // Open until the end: some of them ask for more after the first frame.
    await open(placeIn(ids, id, 't-words'));
  }
  for (const action of screenActions) {
    const { screen, double } = await open(action.place);
    await askFor(screen, action);
    await sayYes(screen);
    await eventually(() => expect(double.writes()).not.toEqual([]));
    screen.close();
  }

  const folder = folderOf(2);
  const job = await uploadOf(folder, RememberedStore.inMemory('test'));
  const upload = await open({ view: 'benchmark-upload', jobId: job.id }, {}, job);
  await upload.screen.press('enter');
  await upload.screen.waitFor('uploaded; enter opens it');
  expect(upload.double.writes().filter(write => write.startsWith('PUT'))).toHaveLength(2);

  const file = join(folder.path, 'three.jsonl');
  writeFileSync(file, '{"messages": [{"role": "user", "content": "hello"}]}\n');
  const datasets = await open({ view: 'list', resource: 'datasets' });
  await datasets.screen.press('u');
  await datasets.screen.waitFor('Choose a trajectory file');
  await datasets.screen.press('ctrl-u');
  await datasets.screen.type(file);
  await datasets.screen.press('enter');
  await datasets.screen.waitFor('Into the dataset');
  await datasets.screen.press('enter');
  await datasets.screen.waitFor('sent; 1 unknown');

  const operations = Object.keys(endpoints) as Operation[];
  await eventually(() => {
    const reached = new Set(opened.flatMap(({ double }) => double.requests.map(operationOf)));
    expect(operations.filter(operation => !reached.has(operation)).sort()).toEqual(
      [...scriptsOnly, ...longListsOnly].sort(),
    );
  });
});
