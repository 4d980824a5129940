/** Flags on a digit and notes, in a list of trajectories. */
import { expect, it } from 'vitest';
import { TrajectoriesView } from '../../../src/ui/views/lists.tsx';
import { fakeService } from '../../service/fake-service.ts';
import { openViewOnStage } from '../stage.tsx';

const items = ['one', 'two', 'three'].map((task_id, index) => ({
  ...{ trajectory_id: `traj_${index}`, task_id, status: 'completed', reward: index, num_steps: 1 },
  eval_run_id: 'evr_1',
}));
const service = fakeService({
  listTrajectories: () => ({ items, has_more: false, next_cursor: null }),
  getTrajectory: () => ({ ...items[0] }),
});

it('flags rows on a digit, filters and counts by flag, takes it back, and keeps a note', async () => {
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { run: 'evr_1' }, label: 'first' },
    service: async () => service,
    columns: 120,
    rows: 24,
  });
  await stage.waitFor('three');
  await stage.press('3');
  await stage.waitFor('flagged: 1 gamed of the 3 rows read');
  expect(stage.text()).toMatch(/TASK +FLAG .*\n.*one +gamed/);
  await stage.press('j', '1');
  await stage.waitFor(text => text.includes('1 good') && text.includes('1 gamed'));
  await stage.type('/');
  await stage.type('flag:gamed');
  await stage.press('enter');
  await stage.waitFor(text => text.includes('one') && !text.includes('three'));
  await stage.press('3');
  await stage.waitFor(text => !text.includes('gamed of'));
  await stage.press('esc');
  await stage.waitFor('three');
  await stage.press("'");
  await stage.waitFor('Note on');
  await stage.type('reads the answer file');
  await stage.press('tab', 'enter');
  await stage.waitFor('reads the answer file');
  await stage.press('9');
  await stage.waitFor('No flag has the digit 9');
  stage.close();
});
