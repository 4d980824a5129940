/** Tells the accounts of a service apart, without storing an API key. */
import { randomUUID } from 'node:crypto';
import { jsonIn, type Tables } from './tables.ts';

const secretSetting = 'accountSecret';

/**
 * An API key's account.
 *
 * @param accountOf hashes the API key with this secret, so that the key cannot be derived from the hash
 */
export async function accountIn(tables: Tables, accountOf: (secret: string) => Promise<string>): Promise<string> {
  const values = [tables.service, secretSetting] as const;
  const insert = 'insert or ignore into settings (profile, name, value) values (?, ?, ?)';
  const select = 'select value from settings where profile = ? and name = ?';
  const own = randomUUID();
  if (tables.all(select, ...values).length === 0) tables.run(insert, ...values, JSON.stringify(own));
  const [row] = tables.all(select, ...values);
  return accountOf(row ? String(jsonIn(row['value'])) : own);
}
