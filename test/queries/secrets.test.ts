/** Secrets and datasets: their requests, and deleted ones. */
import { expect, it } from 'vitest';
import { datasetList } from '../../src/queries/datasets.ts';
import { deleteSecret, secretList } from '../../src/queries/secrets.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';
import { pageOf } from './scripted-service.ts';

it.each([
  [secretList, { secret_id: 's1' }],
  [datasetList, { dataset_id: 's1' }],
] as const)('reads a list page by page', async (list, row) => {
  const asked: unknown[] = [];
  const answer = ({ query }: { readonly query?: unknown }) => {
    asked.push(query);
    return pageOf([row]);
  };
  const service = fakeService({ listSecrets: answer, listDatasets: answer });
  const memory = RememberedStore.inMemory('test');
  const page = await list.readPage({ service, memory, signal: new AbortController().signal, query: { cursor: 'c' } });
  expect([page.items.map(item => list.id(item as never)), asked]).toEqual([['s1'], [{ cursor: 'c' }]]);
});

it('deletes a secret by id', () => {
  expect(deleteSecret.removes?.resource({ secret_id: 's1' })).toEqual({ id: 's1' });
});
