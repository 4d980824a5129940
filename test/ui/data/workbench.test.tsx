/** The work that would be lost if the program ended now. */
import { render } from 'ink-testing-library';
import { expect, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { trajectoryJobId, useJob, useUnfinishedUploads } from '../../../src/ui/data/use-uploads.ts';
import { usePin, useUnfinished, WorkbenchProvider } from '../../../src/ui/data/workbench.tsx';
import { BenchmarkUpload } from '../../../src/uploads/benchmark-upload.ts';
import { TrajectoryUpload } from '../../../src/uploads/trajectory-upload.ts';
import type { Workbench } from '../../../src/workbench/workbench.ts';
import { eventually } from '../../eventually.ts';
import { fakeService } from '../../service/fake-service.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';

it('is what a view says, while the view says so', () => {
  const workbench = newWorkbench({ service: async () => fakeService() });
  onTestFinished(() => workbench.close());
  function View({ words }: { readonly words: string | undefined }) {
    useUnfinished(words);
    return null;
  }
  const shown = (words: string | undefined) => (
    <WorkbenchProvider workbench={workbench}>
      <View words={words} />
    </WorkbenchProvider>
  );
  const view = render(shown('The message'));
  expect(workbench.unfinishedWork()).toEqual(['The message']);
  view.rerender(shown(undefined));
  expect(workbench.unfinishedWork()).toEqual([]);
  view.rerender(shown('The other message'));
  expect(workbench.unfinishedWork()).toEqual(['The other message']);
  view.unmount();
  expect(workbench.unfinishedWork()).toEqual([]);
});

it('gives an upload of trajectories one job per file, dataset and agent', () => {
  const upload = { path: '/a', dataset: 'd', agent: undefined };
  const others = [
    { ...upload, path: '/b' },
    { ...upload, dataset: 'e' },
    { ...upload, agent: 'name:x' },
  ];
  expect(new Set([upload, ...others].map(trajectoryJobId)).size).toBe(4);
  expect(trajectoryJobId({ ...upload })).toBe(trajectoryJobId(upload));
});

/** Draws once with a new workbench, and returns the reads. */
function drawn<Value>(read: () => Value, prepare: (workbench: Workbench) => void = () => {}) {
  const store = RememberedStore.inMemory('test');
  const remembered = () => store;
  const workbench = newWorkbench({ service: async () => fakeService(), remembered });
  prepare(workbench);
  const values: Value[] = [];
  function View() {
    values.push(read());
    return null;
  }
  const { unmount } = render(
    <WorkbenchProvider workbench={workbench}>
      <View />
    </WorkbenchProvider>,
  );
  onTestFinished(() => {
    unmount();
    workbench.close();
  });
  return { store, last: () => values.at(-1) };
}

it('returns no job of another kind', () => {
  const { last } = drawn(
    () => [useJob('job', TrajectoryUpload)?.id, useJob('job', BenchmarkUpload)?.id],
    ({ jobs }) => jobs.add(new TrajectoryUpload('job', '/file', 'mine')),
  );
  expect(last()).toEqual(['job', undefined]);
});

it('says whether a pin was saved', () => {
  const { store, last } = drawn(() => usePin([{ kind: 'run', id: 'evr_1', label: 'baseline' }]));
  expect([last()?.(), last()?.()]).toEqual(['Pinned to Watch', 'No longer pinned']);
  store.pin = () => false;
  expect(last()?.()).toBe('Watch is unchanged.');
});

it('shows an upload that another window has started as unfinished', async () => {
  const { store, last } = drawn(useUnfinishedUploads);
  store.uploads.begin('/folder', 'bench_1');
  await eventually(() => expect(last()).toEqual([{ folder: '/folder', benchId: 'bench_1' }]));
});
