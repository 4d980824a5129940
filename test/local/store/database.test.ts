import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { isDiskFull } from '../../../src/base/errors.ts';
import { failureOf } from '../../../src/local/engine/failures.ts';
import { BenchmarkStore } from '../../../src/local/store/benchmarks.ts';
import { Database } from '../../../src/local/store/database.ts';
import { DatasetStore } from '../../../src/local/store/datasets.ts';
import { DeploymentStore } from '../../../src/local/store/deployments.ts';
import { IdempotencyStore } from '../../../src/local/store/idempotency.ts';
import { initialVersion, migrations } from '../../../src/local/store/migrations.ts';
import { ensureOrganization, organizationOfKey } from '../../../src/local/store/organizations.ts';
import { TrainingStore } from '../../../src/local/store/training.ts';
import { TrajectoryStore } from '../../../src/local/store/trajectories.ts';
import { newDeployment } from './memory.ts';

const folder = mkdtempSync(join(tmpdir(), 'benchtop-database-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the database', () => {
  it('is readable by its user only, even in a folder that others can read', () => {
    chmodSync(folder, 0o755);
    const path = join(folder, 'benchtop.db');
    const database = new Database(path);
    ensureOrganization(database, 'key');
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    database.close();
  });

  it('flushes each commit to disk before a client hears of it', () => {
    const database = new Database(join(folder, 'durable.db'));
    const values = ['journal_mode', 'synchronous'].map(
      name => Object.values(database.get<object>(`pragma ${name}`) ?? {})[0],
    );
    expect(values).toEqual(['wal', 2]);
    database.close();
  });

  it('does not let a new row replace another', () => {
    const database = new Database(':memory:');
    const row = { organization_id: 'org_a', name: 'first', created_at: '2026-01-01T00:00:00Z' };
    database.insert('organizations', row);
    expect(() => database.insert('organizations', { ...row, name: 'second' })).toThrow('UNIQUE');
    expect(database.get<{ name: string }>('select name from organizations')?.name).toBe('first');
  });
});

describe('a transaction', () => {
  const organization = (organization_id: string, name = '') => ({ organization_id, name, created_at: '' });
  const names = (database: Database) =>
    database.all<{ organization_id: string }>('select * from organizations').map(row => row.organization_id);

  it('that finds the disk full fails with that error, whatever SQLite has rolled back already (V1)', () => {
    const database = new Database(join(folder, 'full.db'));
    database.insert('organizations', organization('before'));
    const { count } = database.get<{ count: number }>('select page_count as count from pragma_page_count') ?? {
      count: 0,
    };
    database.get(`pragma max_page_count = ${count}`);
    const fill = () =>
      database.transaction(() => database.insert('organizations', organization('large', 'x'.repeat(100_000))));
    let failure: unknown;
    try {
      fill();
    } catch (error) {
      failure = error;
    }
    expect(isDiskFull(failure)).toBe(true);
    expect(failureOf(failure, {})).toMatchObject({ code: 'disk_full', message: expect.stringContaining('is full') });
    expect(names(database)).toEqual(['before']);
    database.transaction(() => database.insert('organizations', organization('after')));
    expect(names(database)).toEqual(['before', 'after']);
    database.close();
  });

  it('inside another is part of it', () => {
    const database = new Database(':memory:');
    const failing = () =>
      database.transaction(() => {
        database.transaction(() => database.insert('organizations', organization('inner')));
        throw new Error('outer');
      });
    expect(failing).toThrow('outer');
    expect(names(database)).toEqual([]);
  });
});

describe('the tables of an area', () => {
  const first = 'create table notes (note_id text primary key) strict';
  const second = 'alter table notes add column words text';

  it('are created once, step by step, whatever the other areas have', () => {
    const path = join(folder, 'areas.db');
    const before = new Database(path);
    before.migrateArea('notes', [first]);
    before.insert('notes', { note_id: 'a' });
    before.close();
    const after = new Database(path);
    after.migrateArea('others', ['create table others (other_id text primary key) strict']);
    after.migrateArea('notes', [first, second]);
    after.migrateArea('notes', [first, second]);
    expect(after.get('select * from notes')).toEqual({ note_id: 'a', words: null });
    expect(() => after.migrateArea('notes', [first])).toThrow('newer benchtop');
    after.close();
  });

  it('are unchanged if a step fails', () => {
    const database = new Database(':memory:');
    expect(() => database.migrateArea('notes', [first, 'alter table nothing add column words text'])).toThrow();
    database.migrateArea('notes', [first, second]);
    expect(() => database.insert('notes', { note_id: 'a', words: 'b' })).not.toThrow();
  });
});

describe('the finish reason of a trajectory', () => {
  it('is the last one of its messages, in any upload (B4)', () => {
    const answered = (finish_reason: unknown) => ({
      messages: [{ role: 'assistant', finish_reason }, { role: 'grader' }],
    });
    const rows: readonly (readonly [expected: string | null, steps: unknown[]])[] = [
      ['length', [answered('tool_calls'), answered('length')]],
      ['stop', [answered('stop'), answered(''), answered(null), answered(7), { messages: 'finish_reason' }]],
      [null, ['"finish_reason"', 3, null, { messages: ['finish_reason', ['x'], null, 4] }]],
      [null, [answered(undefined)]],
    ];
    const database = new Database(':memory:');
    const trajectories = new TrajectoryStore(database, new DatasetStore(database));
    const shared = { organization_id: 'org_1', source: 'upload', status: 'completed', created_at: '2026-01-01' };
    for (const [, steps] of rows) trajectories.add({ ...shared, steps });
    expect(trajectories.list('org_1', { order: 'asc' }).items.map(({ finish_reason }) => finish_reason)).toEqual(
      rows.map(([expected]) => expected),
    );
  });
});

describe('the ungraded steps of a training run', () => {
  it('are counted up to a step, from the last graded one', () => {
    const database = new Database(':memory:');
    const datasets = new DatasetStore(database);
    const training = new TrainingStore(database, datasets, new TrajectoryStore(database, datasets));
    const { training_run_id } = training.create('org_1', {
      bench_id: 'bench_1',
      display_name: 'run',
      base_model_slug: 'm',
      parent_checkpoint_id: null,
      options: {},
      ignored_options: [],
      warnings: [],
      total_steps: null,
      created_by: 'me',
    });
    for (const [step, trainer_reward] of [
      [1, 0.5],
      [2, null],
      [3, 1],
      [4, null],
      [5, null],
    ] as const)
      database.insert('training_steps', { training_run_id, step, trainer_reward, created_at: '2026-01-01' });
    expect([1, 2, 3, 4, 5].map(step => training.ungradedUpTo(training_run_id, step))).toEqual([0, 1, 0, 1, 2]);
  });
});

describe('the key of an organization', () => {
  it('is the only valid one: a replaced key opens nothing', () => {
    const database = new Database(':memory:');
    const organization = ensureOrganization(database, 'old');
    expect(ensureOrganization(database, 'new')).toBe(organization);
    expect(organizationOfKey(database, 'old')).toBeUndefined();
    expect(organizationOfKey(database, 'new')).toBe(organization);
  });
});

describe('a deployment', () => {
  it('that was demoted while in progress stays a test deployment (V2)', () => {
    const store = new DeploymentStore(new Database(':memory:'));
    const serving = store.create('org_1', newDeployment);
    store.deploy(serving.deployment_id);
    const next = store.create('org_1', newDeployment);
    store.move(next.deployment_id, 'MERGING');
    store.unpromote(next.deployment_id);
    store.deploy(next.deployment_id);
    expect(store.get('org_1', serving.deployment_id)).toMatchObject({ status: 'DEPLOYED', is_active: 1 });
    expect(store.get('org_1', next.deployment_id)).toMatchObject({ status: 'DEPLOYED', role: 'test', is_active: 0 });
  });

  it('of an older program keeps serving its slug, without a time that nothing reads', () => {
    const path = join(folder, 'promoted.db');
    const older = new DatabaseSync(path);
    const version = 2;
    older.exec(`${migrations.slice(0, version).join(';')}; pragma user_version = ${initialVersion + version}`);
    const created = new DeploymentStore(new Database(':memory:')).create('org_1', newDeployment);
    const row = { ...created, status: 'DEPLOYED', is_active: 1, promoted_at: created.created_at };
    const columns = Object.keys(row);
    const sql = `insert into deployments (${columns}) values (${columns.map(() => '?')})`;
    older.prepare(sql).run(...Object.values(row));
    older.close();
    const { promoted_at: _, ...kept } = row;
    const found = new DeploymentStore(new Database(path)).serving('org_1', newDeployment.model_slug);
    expect({ ...found }).toEqual(kept);
  });

  it('is promoted alone, or together with the demotion of another', () => {
    const store = new DeploymentStore(new Database(':memory:'));
    const ids = ['m', 'n', 'm'].map(model_slug => {
      const { deployment_id } = store.create('org_1', { ...newDeployment, model_slug });
      store.deploy(deployment_id);
      return deployment_id;
    });
    const [first = '', other = '', last = ''] = ids;
    const active = () => ids.map(id => store.get('org_1', id)?.is_active);
    expect(active()).toEqual([0, 1, 1]);
    const promote = (id: string, demoted?: string): void => {
      const found = store.get('org_1', id);
      if (found) store.promote(found, demoted);
    };
    promote(first);
    expect(active()).toEqual([1, 1, 0]);
    promote(last, other);
    expect(active()).toEqual([0, 0, 1]);
    expect(store.get('org_1', other)).toMatchObject({ role: 'test' });
  });

  it('for production replaces the active one of its slug once it is deployed', () => {
    const store = new DeploymentStore(new Database(':memory:'));
    const [first, second] = [store.create('org_1', newDeployment), store.create('org_1', newDeployment)];
    store.deploy(first.deployment_id);
    store.deploy(second.deployment_id);
    expect(store.serving('org_1', 'm')?.deployment_id).toBe(second.deployment_id);
    expect(store.get('org_1', first.deployment_id)).toMatchObject({ is_active: 0, role: 'production' });
  });

  it('leaves its slug to one requested later, whichever is deployed first (A6)', () => {
    const store = new DeploymentStore(new Database(':memory:'));
    const ids = ['m', 'm', 'm', 'n'].map(slug => store.create('org_1', { ...newDeployment, model_slug: slug }));
    const [first = '', second = '', third = '', other = ''] = ids.map(({ deployment_id }) => deployment_id);
    expect(store.inProgress().map(({ deployment_id }) => deployment_id)).toEqual([first, second, third, other]);
    const serving = () => store.serving('org_1', 'm')?.deployment_id;
    for (const id of [other, second, first]) store.deploy(id);
    expect(serving()).toBe(second);
    expect(store.get('org_1', first)).toMatchObject({ status: 'DEPLOYED', is_active: 0, role: 'production' });
    store.deploy(third);
    expect(serving()).toBe(third);
  });
});

describe('answers stored for a retry', () => {
  it('are dropped after a week', () => {
    const database = new Database(':memory:');
    const keys = () => database.all<{ key: string }>('select key from idempotency_keys').map(({ key }) => key);
    const row = { organization_id: 'org_a', request_hash: '', answer: '1' };
    const aged = (key: string, hours: number): void => {
      const created_at = new Date(Date.now() - hours * 3_600_000).toISOString();
      database.insert('idempotency_keys', { ...row, key, created_at });
    };
    aged('over a week', 7 * 24 + 1);
    aged('under a week', 7 * 24 - 1);
    const answers = new IdempotencyStore(database);
    const once = (key: string, work: () => unknown, operation = 'startEval') =>
      answers.once({ organizationId: 'org_a', operation, key, body: {} }, work);
    once('key 0', () => 0);
    expect(keys().sort()).toEqual(['startEval key 0', 'under a week']);
    aged('later', 7 * 24 + 1);
    for (let turn = 1; turn < 600; turn += 1) once(`key ${turn}`, () => turn);
    expect(keys()).not.toContain('later');
    expect(once('key 0', () => 'again')).toBe(0);
  });

  it('belong to one organization: the same key in another is a new request', () => {
    const answers = new IdempotencyStore(new Database(':memory:'));
    const once = (organizationId: string) =>
      answers.once({ organizationId, operation: 'startEval', key: 'k', body: {} }, () => organizationId);
    expect([once('org_a'), once('org_b'), once('org_a')]).toEqual(['org_a', 'org_b', 'org_a']);
  });

  it('belong to one operation: the same key for another is a new request (V15)', () => {
    const answers = new IdempotencyStore(new Database(':memory:'));
    const once = (operation: string, body: object = {}) =>
      answers.once({ organizationId: 'org_a', operation, key: 'k', body }, () => operation);
    expect([once('startEval'), once('startTraining'), once('startEval')]).toEqual([
      'startEval',
      'startTraining',
      'startEval',
    ]);
    expect(() => once('startEval', { other: true })).toThrow('used for another request');
  });
});

describe('a page of trajectories', () => {
  it('does not read their steps from disk', () => {
    const database = new Database(':memory:');
    const store = new TrajectoryStore(database, new DatasetStore(database));
    store.add({ organization_id: 'org_a', source: 'upload', status: 'completed', steps: [{ step_index: 0 }] });
    const read = vi.spyOn(database, 'all');
    const [row] = store.list('org_a', { limit: 10 }).items;
    expect(row).toMatchObject({ source: 'upload', num_steps: 1 });
    const [sql = ''] = read.mock.calls[0] ?? [];
    expect(sql).not.toContain('steps');
  });
});

it('finds and sorts benchmarks by the name in their manifest, and finds them by label too', () => {
  const database = new Database(':memory:');
  const benchmarks = new BenchmarkStore(database);
  const first = benchmarks.ingest('org_1', { name: 'a-name', label: 'z-label', tasks: [] });
  const second = benchmarks.ingest('org_1', { name: 'b-name', label: 'a-label', tasks: [] });
  const sorted = (sort: string) =>
    benchmarks.list('org_1', { sort, order: 'asc' }).items.map(({ bench_id }) => bench_id);
  expect(sorted('name')).toEqual([first, second]);
  expect(sorted('label')).toEqual([second, first]);
  const called = (name: string) => benchmarks.called('org_1', name).map(({ bench_id }) => bench_id);
  expect([called('a-name'), called('z-label'), called('none')]).toEqual([[first], [first], []]);
  database.close();
});
