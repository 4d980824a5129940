/**
 * Every write of the store is failed once, at each point, and the process is killed once before each (SQLite's own way
 * of testing, sqlite.org/testing.html). The store then opens again with all that it acknowledged, and nothing half.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDiskFull } from '../../../src/base/errors.ts';
import { failureOf, full, ioError, observeWrites, rollBackAlone, watchWrites } from '../../../tools/rig/disk.ts';
import { makeWorld, open, operations, stateOf } from './operations.ts';

/** In memory where that is possible: power is not cut here, and waiting for the disk is most of the time. */
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'benchtop-faults-'));
const baseline = join(root, 'baseline');
let before: string;

beforeAll(async () => {
  watchWrites();
  await makeWorld(baseline);
  before = stateOf(copyOf(baseline, 'before'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function copyOf(folder: string, name: string): string {
  const copy = join(root, name);
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** The disk is full for one write: the next ones succeed. */
const once = (at: number) => {
  let count = 0;
  return (database: DatabaseSync | undefined): void => {
    count += 1;
    if (count !== at) return;
    rollBackAlone(database);
    throw failureOf(database, full);
  };
};

/** The disk fails from one write on, also for the rollback. */
const fromThenOn = (at: number) => {
  let count = 0;
  return (database: DatabaseSync | undefined): void => {
    count += 1;
    if (count >= at) throw failureOf(database, ioError);
  };
};

const probe = { name: 'PROBE', value: 'written after the fault', description: '' };

describe.each(operations)('$name', operation => {
  let after: string;
  beforeAll(async () => {
    const folder = copyOf(baseline, 'after');
    const stores = open(folder);
    await operation.run(stores);
    stores.database.close();
    after = stateOf(folder);
    // Otherwise it would test nothing.
    expect(after).not.toBe(before);
  });

  it.each([
    ['the disk is full once', once],
    ['the disk fails for good', fromThenOn],
  ])('is complete or undone wherever %s, and the store continues', async (_, faults) => {
    for (let at = 1; ; at += 1) {
      const folder = copyOf(baseline, 'failed');
      const stores = open(folder);
      let writes = 0;
      const fail = faults(at);
      const error = await observeWrites(
        database => {
          writes += 1;
          fail(database);
        },
        () => operation.run(stores),
      ).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      // Writes acknowledged on the same connection afterwards are stored.
      const { secret_id } = stores.secrets.put('org_probe', probe);
      stores.database.close();
      const opened = open(folder);
      expect(opened.secrets.value('org_probe', probe.name)).toBe(probe.value);
      opened.secrets.delete('org_probe', secret_id);
      opened.database.close();
      const state = stateOf(folder);
      if (error === undefined) expect(state, `acknowledged with a fault at write ${at}`).toBe(after);
      else expect([before, after], `failed at write ${at}`).toContain(state);
      if (writes < at) {
        expect(at).toBeGreaterThan(1);
        return;
      }
    }
  });

  it('is complete or undone if the database cannot grow', async () => {
    for (const pages of [0, 1, 2]) {
      const folder = copyOf(baseline, 'failed');
      const stores = open(folder);
      const { count = 0 } =
        stores.database.get<{ count: number }>('select page_count as count from pragma_page_count') ?? {};
      stores.database.get(`pragma max_page_count = ${count + pages}`);
      const error = await observeWrites(
        () => {},
        () => operation.run(stores),
      ).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      stores.database.close();
      const state = stateOf(folder);
      if (error === undefined) expect(state).toBe(after);
      else expect([isDiskFull(error), state]).toEqual([true, before]);
    }
  });

  it('is complete or undone wherever the process is killed', async () => {
    const folder = copyOf(baseline, 'killed');
    const stores = open(folder);
    const killed: string[] = [];
    const kill = (): void => void killed.push(stateOf(copyOf(folder, 'left')));
    const log = join(folder, 'benchtop.db-wal');
    const logged = existsSync(log) ? statSync(log).size : 0;
    await observeWrites(kill, () => operation.run(stores));
    const acknowledged = copyOf(folder, 'acknowledged');
    stores.database.close();
    for (const [at, state] of killed.entries())
      expect([before, after], `killed before write ${at + 1}`).toContain(state);
    // The log of the last writes, cut off in the middle of them as after a loss of power.
    const size = existsSync(join(acknowledged, 'benchtop.db-wal'))
      ? statSync(join(acknowledged, 'benchtop.db-wal')).size
      : 0;
    for (const share of [0.3, 0.9]) {
      // A loss of power may undo the transaction and not the removal of its files.
      if (operation.removesFiles || size <= logged) break;
      const torn = copyOf(acknowledged, 'torn');
      truncateSync(join(torn, 'benchtop.db-wal'), Math.floor(logged + (size - logged) * share));
      expect([before, after], `cut off at ${share} of its log`).toContain(stateOf(torn));
    }
    expect(stateOf(acknowledged), 'killed after it was acknowledged').toBe(after);
  });
});

describe('a folder on first use', () => {
  it('opens again wherever the process was killed', async () => {
    const folder = join(root, 'first');
    let kills = 0;
    await makeWorld(folder, () => {
      kills += 1;
      const copy = copyOf(folder, 'left');
      stateOf(copy);
      expect(readdirSync(copy, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.part'))).toEqual(
        [],
      );
    });
    expect(kills).toBeGreaterThan(50);
  });
});
