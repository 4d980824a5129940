/** What would be lost if the program ended now. */
import { render } from 'ink-testing-library';
import { expect, it, onTestFinished } from 'vitest';
import { trajectoryJobId, useUnfinished } from '../../src/queries/use-workbench.ts';
import { Workbench, WorkbenchProvider } from '../../src/queries/workbench.tsx';
import { kinds } from '../../src/resources/catalogue.ts';
import { fakeService } from '../service/fake-service.ts';

it('is what a view says, as long as it says so', () => {
  const workbench = new Workbench({ kinds, service: async () => fakeService(), profile: 'test' });
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

it('an upload of trajectories is one job for a file, a dataset and an agent', () => {
  const upload = { path: '/a', dataset: 'd', agent: undefined };
  const others = [
    { ...upload, path: '/b' },
    { ...upload, dataset: 'e' },
    { ...upload, agent: 'name:x' },
  ];
  expect(new Set([upload, ...others].map(trajectoryJobId)).size).toBe(4);
  expect(trajectoryJobId({ ...upload })).toBe(trajectoryJobId(upload));
});
