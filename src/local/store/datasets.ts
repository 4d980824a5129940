/** Datasets: named collections of trajectories, uploaded or recorded here. */
import type { ListQuery } from '../../contract/common.ts';
import type { Database } from './database.ts';
import { newId, now } from './ids.ts';
import { readPage } from './list-page.ts';
import type { DatasetRow } from './records.ts';

const datasetList = {
  table: 'datasets',
  id: 'dataset_id',
  sorts: { created_at: 'created_at', updated_at: 'updated_at', dataset_name: 'dataset_name', source: 'source' },
  searches: ['dataset_name', 'display_name', 'dataset_id', 'source'],
} as const;

interface DatasetName {
  readonly dataset_name: string;
  readonly display_name: string;
  readonly source: 'upload' | 'evaluation' | 'training';
}

/** The dataset for a benchmark's rollouts; uploads go to other datasets. */
export function rolloutDataset(source: 'evaluation' | 'training', benchId: string, label: string): DatasetName {
  const what = source === 'evaluation' ? 'Evaluations' : 'Training';
  return { dataset_name: `${source}/${benchId}`, display_name: `${what} of ${label}`, source };
}

/** A dataset for uploads, under the name that the user chose. */
export function uploadDataset(name: string): DatasetName {
  return { dataset_name: name, display_name: name, source: 'upload' };
}

/** Whether a name is reserved; uploads cannot use such names. */
export function isRolloutDataset(name: string): boolean {
  return /^(evaluation|training)\//.test(name);
}

export class DatasetStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  list(organizationId: string, query: ListQuery) {
    return readPage<DatasetRow>(this.#database, datasetList, { organization_id: organizationId }, query);
  }

  get(datasetId: string | null): DatasetRow | undefined {
    return this.#database.get<DatasetRow>('select * from datasets where dataset_id = ?', datasetId);
  }

  named(organizationId: string, name: string): DatasetRow | undefined {
    return this.#database.get<DatasetRow>(
      'select * from datasets where organization_id = ? and dataset_name = ?',
      organizationId,
      name,
    );
  }

  /** Finds or creates the dataset with this name, and marks it as changed just now. @param dataset_id the id of a new one */
  touch(
    organizationId: string,
    { dataset_name, display_name, source }: DatasetName,
    dataset_id = newId('dataset'),
  ): DatasetRow {
    const known = this.named(organizationId, dataset_name);
    const updated_at = now();
    if (known) {
      this.#database.run('update datasets set updated_at = ? where dataset_id = ?', updated_at, known.dataset_id);
      return { ...known, updated_at };
    }
    const row = {
      dataset_id,
      organization_id: organizationId,
      dataset_name,
      display_name,
      source,
      gcs_prefix: `local://datasets/${dataset_id}/`,
      created_at: updated_at,
      updated_at,
    };
    this.#database.put('datasets', row);
    return row;
  }
}
