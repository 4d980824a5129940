/** The requests that an action would send, shown before it is sent. */
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { expect, it, onTestFinished } from 'vitest';
import { useRequests } from '../../../src/ui/data/use-action.ts';
import { WorkbenchProvider } from '../../../src/ui/data/workbench.tsx';
import type { Service } from '../../../src/workbench/workbench.ts';
import { eventually } from '../../eventually.ts';
import { fakeService } from '../../service/fake-service.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';

const work = (service: Service) => service.call('listBenchmarks');

function Shown() {
  const requests = useRequests(work);
  if (requests?.kind === 'failed') return <Text>failed: {requests.error.message}</Text>;
  return <Text>{requests?.kind === 'known' ? JSON.stringify(requests.requests) : requests?.kind}</Text>;
}

function shownWith(service: () => Promise<Service>) {
  const workbench = newWorkbench({ service });
  const view = render(
    <WorkbenchProvider workbench={workbench}>
      <Shown />
    </WorkbenchProvider>,
  );
  onTestFinished(() => {
    view.unmount();
    workbench.close();
  });
  return view;
}

it('are known once there is a connection', async () => {
  const { promise, resolve } = Promise.withResolvers<Service>();
  const view = shownWith(() => promise);
  expect(view.lastFrame()).toBe('connecting');
  resolve(fakeService({}, { describe: each => (each === work ? [] : [{ method: 'GET' } as never]) }));
  await eventually(() => expect(view.lastFrame()).toBe('[]'));
});

it('say why there is none', async () => {
  const view = shownWith(() => Promise.reject(new Error('The local service did not start.')));
  await eventually(() => expect(view.lastFrame()).toBe('failed: The local service did not start.'));
});
