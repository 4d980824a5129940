import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../../../src/local/store/database.ts';
import { DatasetStore } from '../../../src/local/store/datasets.ts';
import { once } from '../../../src/local/store/idempotency.ts';
import { ensureOrganization, organizationOfKey } from '../../../src/local/store/organizations.ts';
import { TrajectoryStore } from '../../../src/local/store/trajectories.ts';

const folder = mkdtempSync(join(tmpdir(), 'benchtop-database-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the database', () => {
  it('is for its user alone, also in a folder that others may look into', () => {
    chmodSync(folder, 0o755);
    const path = join(folder, 'benchtop.db');
    const database = new Database(path);
    ensureOrganization(database, 'key');
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    database.close();
  });

  it('does not let a new row take the place of another', () => {
    const database = new Database(':memory:');
    const row = { organization_id: 'org_a', name: 'first', created_at: '2026-01-01T00:00:00Z' };
    database.insert('organizations', row);
    expect(() => database.insert('organizations', { ...row, name: 'second' })).toThrow('UNIQUE');
    expect(database.get<{ name: string }>('select name from organizations')?.name).toBe('first');
  });
});

describe('the key of an organization', () => {
  it('is the only one: a key that was replaced opens nothing', () => {
    const database = new Database(':memory:');
    const organization = ensureOrganization(database, 'old');
    expect(ensureOrganization(database, 'new')).toBe(organization);
    expect(organizationOfKey(database, 'old')).toBeUndefined();
    expect(organizationOfKey(database, 'new')).toBe(organization);
  });
});

describe('answers kept for a repeat', () => {
  it('are dropped after a week', () => {
    const database = new Database(':memory:');
    const keys = () => database.all<{ key: string }>('select key from idempotency_keys').map(({ key }) => key);
    const row = { organization_id: 'org_a', request_hash: '', answer: '1' };
    database.insert('idempotency_keys', { ...row, key: 'old', created_at: '2020-01-01T00:00:00.000Z' });
    for (let turn = 0; turn < 600; turn += 1) once(database, 'org_a', `key ${turn}`, {}, () => turn);
    expect(keys()).not.toContain('old');
    expect(once(database, 'org_a', 'key 0', {}, () => 'again')).toBe(0);
  });
});

describe('a page of trajectories', () => {
  it('leaves their steps on the disk', () => {
    const database = new Database(':memory:');
    const store = new TrajectoryStore(database, new DatasetStore(database));
    store.add({ organization_id: 'org_a', source: 'upload', status: 'completed', steps: [{ step_index: 0 }] });
    const read = vi.spyOn(database, 'all');
    const [row] = store.list('org_a', { limit: 10 }).items;
    expect(row).toMatchObject({ source: 'upload', num_steps: 1 });
    const [sql = ''] = read.mock.calls[0] ?? [];
    expect(sql).toContain('num_steps');
    expect(sql).not.toMatch(/\*|(?<!num_)steps/);
  });
});
