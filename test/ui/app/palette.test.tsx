/** The palette over seen resources. */
import { Text } from 'ink';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SeenResources } from '../../../src/store/seen.ts';
import { useNameSearch } from '../../../src/ui/app/use-name-search.ts';
import { View } from '../../../src/ui/app/view.tsx';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from '../program/scripted-world.tsx';
import { openViewOnStage } from '../stage.tsx';

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

/** A service with benchmarks on two pages, and the cursors of the pages that were read. */
function pagedWorld(read: unknown[], second = 'maple syrup') {
  const service = world('none');
  service.answers.listBenchmarks = (_, { cursor } = {}) => {
    read.push(cursor);
    if (cursor !== undefined) return pageOf([{ bench_id: 'bench_2', label: second }]);
    return { ...pageOf([{ bench_id: 'bench_1', label: 'words' }]), has_more: true, next_cursor: 'second' };
  };
  return service;
}

it('finds a benchmark that only the service knows, once the user rests on its name (issue 18)', async () => {
  const read: unknown[] = [];
  const screen = openWorld(pagedWorld(read), { view: 'list', resource: 'deployments' }, { columns: 60, rows: 15 });
  await screen.waitFor('Deployments');
  await screen.waitFor(() => read.length > 0);
  await screen.press(':', ...'tree');
  await screen.waitFor('▸ Tree');
  expect(read).not.toContain('second');
  await screen.press(...Array.from('tree', () => 'backspace'), ...'maple');
  await screen.waitFor(text => /▸ maple syrup +benchmark/.test(text));
  await screen.press(...'cake');
  await screen.waitFor('No match in 2 benchmarks and 0 training runs read');
  expect(read.filter(cursor => cursor === 'second')).toHaveLength(1);
});

it.each(['maple2', '2-syr', 'benchmark maple'])('searches for %s, which an unseen id could have too', async typed => {
  const read: unknown[] = [];
  const start = { view: 'list', resource: 'deployments' } as const;
  const screen = openWorld(pagedWorld(read, 'maple2-syrup'), start);
  await screen.waitFor('Deployments');
  await screen.waitFor(() => read.length > 0);
  await screen.type(`:${typed}`);
  await screen.waitFor(text => /▸ maple2-syrup +benchmark/.test(text));
});

it('leaves the cursor on its entry when names arrive', async () => {
  const service = pagedWorld([], 'maple2-syrup');
  const { listBenchmarks } = service.answers;
  const second = Promise.withResolvers<void>();
  service.answers.listBenchmarks = async (id, query = {}) => {
    if (query['cursor'] !== undefined) await second.promise;
    return listBenchmarks?.(id, query);
  };
  const screen = openWorld(service, { view: 'list', resource: 'deployments' });
  await screen.waitFor('Deployments');
  await screen.type(':maple2');
  await screen.waitFor('Searching');
  await screen.press('down');
  const chosen = /▸ \S+ maple2/.exec(screen.text())?.[0] ?? 'none';
  second.resolve();
  await screen.waitFor(text => /maple2-syrup +benchmark/.test(text));
  expect(screen.text()).toContain(chosen);
  await screen.press('up');
  expect(screen.text()).toContain('▸ benchmark maple2');
});

it('reads no more than five pages of a list, however often it is searched', async () => {
  const service = world('none');
  const read = new Set<unknown>();
  service.answers.listBenchmarks = (_, { cursor } = {}) => {
    read.add(cursor);
    const next = Number(cursor ?? 0) + 1;
    return { ...pageOf([{ bench_id: `bench_${next}`, label: 'words' }]), has_more: true, next_cursor: `${next}` };
  };
  const screen = openWorld(service, { view: 'list', resource: 'deployments' });
  await screen.waitFor('Deployments');
  for (let opening = 0; opening < 3; opening += 1) {
    await screen.type(':zzz');
    await screen.waitFor('No match in 5 benchmarks');
    await screen.press('esc');
    await screen.waitFor(text => !text.includes('No match in'));
  }
  expect(read.size).toBe(5);
});

it('searches nothing on a service that cannot be asked', async () => {
  const read: unknown[] = [];
  const screen = openWorld(pagedWorld(read), { view: 'list', resource: 'deployments' }, { columns: 60, rows: 15 });
  await screen.waitFor('Deployments');
  await screen.press('P');
  await screen.press(':', ...'maple');
  await screen.waitFor('Not searched: the service cannot be asked now');
  expect(read).not.toContain('second');
});

it('says nothing about a service while a file is read', async () => {
  const Search = () => <View main={<Text>{`says "${useNameSearch('maple', false, '')}"`}</Text>} />;
  const file = { title: 'a.jsonl', problem: undefined, notes: [], subscribe: () => () => {} };
  const stage = openViewOnStage(Search, { file });
  await stage.waitFor('says ""');
});
