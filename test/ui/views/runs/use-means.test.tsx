/** The names of checkpoints' training runs in lists of runs. */
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { MeasuredRun } from '../../../../src/resources/measured-run.ts';
import { WorkbenchProvider } from '../../../../src/ui/data/workbench.tsx';
import { useMeans } from '../../../../src/ui/views/runs/use-means.ts';
import { eventually } from '../../../eventually.ts';
import { fakeService } from '../../../service/fake-service.ts';
import { newWorkbench } from '../../../workbench/new-workbench.ts';

const rows = Array.from({ length: 2_500 }, (_, index) => ({
  ...{ eval_run_id: `evr_${index}`, bench_id: 'b1', training_run_id: `trn_${index}` },
}));

function Names() {
  const withMeans = useMeans();
  const [first, second]: (readonly MeasuredRun[])[] = [withMeans(rows), withMeans([...rows])];
  const named = [first, second].map(each => each?.flatMap(({ trained_in: name }) => name ?? []).join());
  return <Text>{[first?.[1]?.provisional_mean, ...named].join(' ')}</Text>;
}

it('are looked up once for each of many runs, however often one changes (B11)', async () => {
  const workbench = newWorkbench({ service: async () => fakeService({}) });
  workbench.remembered.see([{ kind: 'training', id: 'trn_7', label: 'remembered' }]);
  const find = vi.spyOn(workbench.remembered.seen, 'find');
  const lookups = () => find.mock.calls.filter(([kind]) => kind === 'training').length;
  const view = render(
    <WorkbenchProvider workbench={workbench}>
      <Names />
    </WorkbenchProvider>,
  );
  onTestFinished(() => {
    view.unmount();
    workbench.close();
  });
  const shows = (frame: string) => eventually(() => expect(view.lastFrame()?.trim()).toBe(frame));
  const report = (kind: string, id: string, more: object) =>
    workbench.statuses.report([{ kind, id, label: id, ...more }], { askedAt: 1, at: 1 });
  await shows('remembered remembered');
  for (const mean of [0.1, 0.2, 0.3]) {
    report('run', 'evr_1', { status: 'running', mean });
    await shows(`${mean} remembered remembered`);
  }
  expect(lookups()).toBe(rows.length);
  report('training', 'trn_8', { label: 'known' });
  await shows('0.3 remembered,known remembered,known');
  report('training', 'trn_1234', { label: 'known' });
  const apart = 'remembered,known (trn_8),known (…_1234)';
  await shows(`0.3 ${apart} ${apart}`);
});
