/** Organizations and the keys that speak for them. Keys are kept as hashes. */
import type { Database } from './database.ts';
import { newId, now, sha256 } from './ids.ts';

/** The organization that a key belongs to. */
export function organizationOfKey(database: Database, key: string): string | undefined {
  const row = database.get<{ organization_id: string }>(
    'select organization_id from api_keys where key_hash = ?',
    sha256(key),
  );
  return row?.organization_id;
}

/**
 * Makes the key the only one of the first organization, which is made if there is none. Returns its id. A key of
 * another organization stays that.
 */
export function ensureOrganization(database: Database, key: string): string {
  const known = organizationOfKey(database, key);
  if (known) {
    revokeOthers(database, known, key);
    return known;
  }
  const first = database.get<{ organization_id: string }>(
    'select organization_id from organizations order by created_at limit 1',
  );
  const organization_id = first?.organization_id ?? newId('organization');
  if (!first) database.insert('organizations', { organization_id, name: 'sample organization', created_at: now() });
  database.insert('api_keys', { key_hash: sha256(key), organization_id });
  revokeOthers(database, organization_id, key);
  return organization_id;
}

/** A key that was replaced must not open anything any more. */
function revokeOthers(database: Database, organizationId: string, key: string): void {
  database.run('delete from api_keys where organization_id = ? and key_hash <> ?', organizationId, sha256(key));
}

/** Makes another organization, with a key of its own. */
export function createOrganization(database: Database, name: string, key: string): string {
  const organization_id = newId('organization');
  database.transaction(() => {
    database.insert('organizations', { organization_id, name, created_at: now() });
    database.insert('api_keys', { key_hash: sha256(key), organization_id });
  });
  return organization_id;
}
