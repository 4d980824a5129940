/** Datasets: named collections of trajectories. */
import type { Dataset } from '../contract/datasets.ts';
import { type Column, idColumn, plainColumn } from '../present/column.ts';
import type { CommandTable } from '../present/command.ts';
import type { Fact } from '../present/fact.ts';
import { timeColumn, timeFact } from '../present/times.ts';
import { datasetList } from '../queries/datasets.ts';
import { defineResource, listPlace } from './define.ts';
import { trajectories } from './trajectories.ts';

const datasetColumns: readonly Column<Dataset>[] = [
  {
    id: 'name',
    title: 'DATASET',
    field: 'dataset_name',
    width: { min: 14, max: 60, grow: 2 },
    // Trajectories and commands use this name. The title is only a description.
    value: row => row.dataset_name ?? row.display_name ?? row.dataset_id,
  },
  plainColumn('title', 'TITLE', { min: 12, max: 48, grow: 2 }, row =>
    row.display_name === row.dataset_name ? undefined : row.display_name,
  ),
  { id: 'source', title: 'SOURCE', field: 'source', width: 11, wide: true, value: row => row.source ?? undefined },
  timeColumn('updated', 'UPDATED', row => row.updated_at, { field: 'updated_at' }),
  idColumn(row => row.dataset_id),
];

function datasetFacts(row: Dataset): readonly Fact[] {
  return [
    { label: 'dataset', value: row.dataset_name },
    { label: 'title', value: row.display_name },
    { label: 'id', value: row.dataset_id },
    { label: 'source', value: row.source },
    { label: 'stored', value: row.gcs_prefix },
    timeFact('created', row.created_at),
    timeFact('updated', row.updated_at),
  ];
}

export const datasetCommands = {
  upload: {
    id: 'dataset.upload',
    title: 'upload trajectories (a JSONL file)',
    keys: ['u'],
    group: 'Dataset',
    hint: 'upload',
    writes: true,
  },
  resume: {
    id: 'dataset.resume',
    title: 'resume the unfinished upload',
    keys: ['ctrl-r'],
    group: 'Dataset',
    hint: 'resume upload',
    writes: true,
  },
} as const satisfies CommandTable;

export const datasets = defineResource<Dataset>({
  names: ['datasets', 'dataset', 'ds'],
  order: 60,
  kind: 'dataset',
  list: () => datasetList,
  columns: datasetColumns,
  facts: datasetFacts,
  label: row => row.dataset_name,
  scopeValue: row => row.dataset_name,
  commands: datasetCommands,
  place: row =>
    listPlace(trajectories, { dataset: row.dataset_name ?? '' }, row.dataset_name ?? row.display_name ?? ''),
  placeOfName: name => listPlace(trajectories, { dataset: name }, name),
  emptyAdvice: { command: datasetCommands.upload, words: 'uploads trajectories, and evaluations record theirs' },
});
