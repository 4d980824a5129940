/** An organization's secrets. Values are encrypted before they are stored, and never returned. */
import type { ListQuery } from '../../contract/common.ts';
import type { Database } from './database.ts';
import { newId, now } from './ids.ts';
import type { Keyring } from './keyring.ts';
import { readPage } from './list-page.ts';
import type { SecretRow } from './records.ts';

const columns = 'secret_id, name, byte_length, description, created_at, updated_at';

const secretList = {
  table: 'secrets',
  columns,
  id: 'secret_id',
  sorts: { created_at: 'created_at', updated_at: 'updated_at', name: 'name' },
  searches: ['name', 'description', 'secret_id'],
} as const;

const ownerOf = (organizationId: string, secretId: string): string => `${organizationId} ${secretId}`;

export class SecretStore {
  readonly #database: Database;
  readonly #keyring: Keyring;

  constructor(database: Database, keyring: Keyring) {
    this.#database = database;
    this.#keyring = keyring;
  }

  /** Stores a secret. If one with the same name exists, replaces its value and description. */
  put(organizationId: string, secret: { name: string; value: string; description: string }): SecretRow {
    const { name, value, description } = secret;
    const known = this.#database.get<SecretRow>(
      `select ${columns} from secrets where organization_id = ? and name = ?`,
      organizationId,
      name,
    );
    const updated_at = now();
    const row: SecretRow = {
      secret_id: known?.secret_id ?? newId('secret'),
      name,
      byte_length: Buffer.byteLength(value),
      description,
      created_at: known?.created_at ?? updated_at,
      updated_at,
    };
    const sealed = this.#keyring.seal(ownerOf(organizationId, row.secret_id), value);
    this.#database.put('secrets', { ...row, organization_id: organizationId, sealed });
    return row;
  }

  list(organizationId: string, query: ListQuery) {
    return readPage<SecretRow>(this.#database, secretList, { organization_id: organizationId }, query);
  }

  delete(organizationId: string, secretId: string): boolean {
    const where = 'secret_id = ? and organization_id = ?';
    return this.#database.run(`delete from secrets where ${where}`, secretId, organizationId) > 0;
  }

  /**
   * A secret's value, for the organization's own runs; undefined if the secret does not exist.
   *
   * @throws SealBroken
   */
  value(organizationId: string, name: string): string | undefined {
    const row = this.#database.get<{ secret_id: string; sealed: Uint8Array }>(
      'select secret_id, sealed from secrets where organization_id = ? and name = ?',
      organizationId,
      name,
    );
    return row && this.#keyring.open(ownerOf(organizationId, row.secret_id), row.sealed);
  }
}
