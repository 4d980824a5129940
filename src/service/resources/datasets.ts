/** Datasets: named collections of uploaded trajectories. */
import type { ListQuery } from '../../contract/common.ts';
import { datasetEndpoints as endpoints } from '../../contract/datasets.ts';
import type { Calls } from '../caller.ts';
import type { CallOptions } from '../options.ts';
import { paginate } from '../pagination.ts';

export function datasetResource(caller: Calls) {
  const list = (query: ListQuery = {}, options?: CallOptions) =>
    caller.call(endpoints.listDatasets, { query }, options);
  return {
    /** One page of the datasets. */
    list,
    listAll: (query: ListQuery = {}, options?: CallOptions) => paginate(next => list(next, options), query),
  };
}
