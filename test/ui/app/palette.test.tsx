/** The palette over seen resources. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { SeenResources } from '../../../src/store/seen.ts';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from '../program/scripted-world.tsx';

const deployment = (id: string, checkpoint_step: number, is_active: boolean) => ({
  ...{ deployment_id: id, model_slug: 'counter', status: 'DEPLOYED', checkpoint_id: `ckpt_${checkpoint_step}` },
  ...{ role: is_active ? 'production' : 'test', checkpoint_step, is_active },
});

it('tells deployments of one slug apart by step, and by which of them answers', async () => {
  const rows = [deployment('dep_1', 10, false), deployment('dep_2', 30, true)];
  const service = world('none');
  service.answers.listDeployments = () => pageOf(rows);
  const screen = openWorld(service, { view: 'list', resource: 'deployments' });
  await screen.waitFor('2 in all');
  await screen.press(':', ...'counter');
  await screen.waitFor(text => /counter +deployment, step 30, active/.test(text));
  expect(screen.text()).toMatch(/counter +deployment, step 10/);
});

it('reads only as many names as it offers, however many resources have been seen (U43)', async () => {
  const seenSince = vi.spyOn(SeenResources.prototype, 'since');
  onTestFinished(() => seenSince.mockRestore());
  const screen = openWorld(world('none'), { view: 'list', resource: 'deployments' });
  await screen.press(':');
  await screen.waitFor(() => seenSince.mock.calls.some(([since]) => since === 0));
  const limits = seenSince.mock.calls.flatMap(([since, filter]) => (since === 0 ? [filter?.limit] : []));
  for (const limit of limits) expect(limit).toBeLessThanOrEqual(1_000);
});

it('finds a dataset from the list of datasets', async () => {
  const service = world('none');
  service.answers.listDatasets = () => pageOf([{ dataset_id: 'ds_1', dataset_name: 'agentic' }]);
  const screen = openWorld(service, { view: 'list', resource: 'datasets' });
  await screen.waitFor('1/1');
  await screen.press(':', ...'agentic');
  await screen.waitFor(text => /▸ agentic +dataset/.test(text));
});
