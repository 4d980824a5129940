/** The inspector of a list of trajectories: the row under the cursor. */
import { expect, it } from 'vitest';
import { TrajectoriesView } from '../../../../src/ui/views/lists.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

const itemOf = (fields: number) => ({
  ...{ trajectory_id: 'traj_1', task_id: 'one', status: 'completed', reward: 1, num_steps: 1, eval_run_id: 'evr_1' },
  ...{ dataset_name: 'a-dataset', source: 'upload', trace_id: 'trace_1', gcs_blob_uri: 'local://datasets/ds_1/traj_1' },
  metadata: Object.fromEntries(Array.from({ length: fields }, (_, index) => [`field ${index}`, index])),
});

const openAt = (rows: number, item = itemOf(40)) =>
  openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { run: 'evr_1' }, label: 'first' },
    service: async () =>
      fakeService({
        listTrajectories: () => ({ items: [item], has_more: false, next_cursor: null }),
        getTrajectory: () => ({
          ...item,
          steps: [
            { step_index: 0, messages: [{ role: 'assistant', content: 'a list shows this line\nthe last answer' }] },
          ],
        }),
      }),
    columns: 120,
    rows,
  });

it.each([40, 24])('has the end of the rollout beside many facts, in %i rows', async rows => {
  const stage = openAt(rows);
  await stage.waitFor('the last answer');
  expect(stage.text()).toContain('traj_1');
});

it('scrolls through all facts, without the end, while focused (B9)', async () => {
  const stage = openAt(24);
  await stage.waitFor('the last answer');
  const seen = new Set<string>();
  const see = (): void => {
    for (const [, field = ''] of stage.text().matchAll(/field (\d+)/g)) seen.add(field);
  };
  see();
  await stage.press('right');
  await stage.press('pagedown');
  await stage.waitFor(text => !text.includes('the last answer'));
  see();
  for (let page = 0; page < 3 && seen.size < 40; page += 1) {
    const before = stage.text();
    await stage.press('pagedown');
    await stage.waitFor(text => text !== before);
    see();
  }
  expect(seen.size).toBe(40);
  await stage.press('g');
  await stage.waitFor('the last answer');
});

it('scrolls to the end of facts that fit only without the preview (attack34 C)', async () => {
  const stage = openAt(24, itemOf(3));
  await stage.waitFor('the last answer');
  await stage.press('right');
  await stage.press('G');
  await stage.waitFor(text => text.includes('field 2') && !text.includes('the last answer'));
});
