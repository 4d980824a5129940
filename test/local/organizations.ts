/** More organizations on one local service, which creates only one by itself. */
import type { Database } from '../../src/local/store/database.ts';
import { newId, now, sha256 } from '../../src/local/store/ids.ts';

/** Creates another organization, with its own key. */
export function createOrganization(database: Database, name: string, key: string): string {
  const organization_id = newId('organization');
  database.transaction(() => {
    database.insert('organizations', { organization_id, name, created_at: now() });
    database.insert('api_keys', { key_hash: sha256(key), organization_id });
  });
  return organization_id;
}
