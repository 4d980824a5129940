/** Queries for datasets. */
import type { Dataset } from '../contract/datasets.ts';
import type { ListSource } from './lists/list-source.ts';

export const datasetKeys = { all: ['datasets'], list: ['datasets', 'list'] } as const;

export const datasetList: ListSource<Dataset> = {
  key: datasetKeys.list,
  id: row => row.dataset_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.call('listDatasets', { query }, { signal }),
};
