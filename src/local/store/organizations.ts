/** Organizations and their API keys, which are stored as hashes. */
import type { Database } from './database.ts';
import { newId, now, sha256 } from './ids.ts';

export function organizationOfKey(database: Database, key: string): string | undefined {
  const row = database.get<{ organization_id: string }>(
    'select organization_id from api_keys where key_hash = ?',
    sha256(key),
  );
  return row?.organization_id;
}

/**
 * Makes this the only key for its organization, or for the first organization if the key is new. Creates the first
 * organization if missing. Returns the organization's id.
 */
export function ensureOrganization(database: Database, key: string): string {
  return database.transaction(() => keyedOrganization(database, key));
}

function keyedOrganization(database: Database, key: string): string {
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

/** A replaced key must stop working. */
function revokeOthers(database: Database, organizationId: string, key: string): void {
  database.run('delete from api_keys where organization_id = ? and key_hash <> ?', organizationId, sha256(key));
}
