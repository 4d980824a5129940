/** Records of resources that no call can create: inserted into the store of the local service, to be read by calls. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Database, type Row } from '../../src/local/store/database.ts';
import { organizationOfKey } from '../../src/local/store/organizations.ts';
import type { TestService } from '../local/server/running.ts';

export interface RecordSample {
  /** The first name of its resource. */
  readonly resource: string;
  readonly table: string;
  /** Without the organization. */
  readonly row: Row;
}

const names = readdirSync(new URL('./records', import.meta.url)).map(file => file.replace(/\.ts$/, ''));
const modules = await Promise.all(
  names.map(name => import(`./records/${name}.ts`) as Promise<{ readonly sample: RecordSample }>),
);
/** One file for each in `records`. */
export const recordSamples: readonly RecordSample[] = modules.map(({ sample }) => sample);

/** Inserts every sample for the service's first organization. */
export function storeSamples({ folder, apiKey }: Pick<TestService, 'folder' | 'apiKey'>): void {
  const database = new Database(join(folder, 'benchtop.db'));
  const organization_id = organizationOfKey(database, apiKey) ?? '';
  for (const { table, row } of recordSamples) database.insert(table, { organization_id, ...row });
  database.close();
}
