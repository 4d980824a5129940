/** Datasets: named collections of uploaded trajectories. */
import * as z from 'zod/mini';
import { defineEndpoints, listQuery, page, text } from './common.ts';

export const dataset = z.looseObject({
  dataset_id: z.string(),
  organization_id: text,
  dataset_name: text,
  created_at: text,
  display_name: text,
  source: text,
  gcs_prefix: text,
  updated_at: text,
});
export type Dataset = z.output<typeof dataset>;

export const datasetEndpoints = defineEndpoints({
  listDatasets: {
    method: 'GET',
    path: '/api/v1/datasets',
    auth: 'shownWithout',
    query: listQuery,
    response: page(dataset),
  },
});
