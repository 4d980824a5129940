/** Resources seen before: how they are merged, read and deleted. */
import { expect, it, vi } from 'vitest';
import { rememberedAt, SeenResources } from '../../src/store/seen.ts';
import { tablesInMemory } from '../../src/store/tables.ts';

function opened() {
  const tables = tablesInMemory('prod');
  return { tables, seen: new SeenResources(tables) };
}
const ids = (seen: SeenResources, ...of: Parameters<SeenResources['list']>) => seen.list(...of).map(({ id }) => id);

it('belong to a kind and a parent, the last seen first', () => {
  const { seen } = opened();
  seen.see([{ kind: 'run', id: 'a', parent: 'b1' }], 1);
  seen.see(
    [
      { kind: 'run', id: 'c', parent: 'b2' },
      { kind: 'training', id: 't' },
    ],
    2,
  );
  expect([ids(seen, 'run'), ids(seen, 'run', 'b1'), ids(seen, 'run', 'b3'), ids(seen, 'training')]).toEqual([
    ['c', 'a'],
    ['a'],
    [],
    ['t'],
  ]);
  expect([...seen.labels('run')].toSorted()).toEqual(['a', 'c']);
});

it('have no status if none was reported, in memory and after a restart', () => {
  const { tables, seen } = opened();
  seen.see([{ kind: 'run', id: 'a' }], 1);
  const known = { kind: 'run', id: 'a', label: 'a', seenAt: 1, record: {} };
  const times = { gradedAt: undefined, firstSeenAt: 1, startedAt: undefined };
  const nothing = { status: undefined, parent: undefined, ...times };
  expect(seen.find('run', 'a')).toEqual({ ...known, ...nothing });
  seen.flush();
  expect(new SeenResources(tables).find('run', 'a')).toEqual({ ...known, ...nothing });
  expect(new SeenResources(tables).since(0)).toEqual([
    { kind: 'run', id: 'a', label: 'a', status: undefined, seenAt: 1 },
  ]);
  expect([seen.since(1), seen.find('run', 'b'), seen.find('training', 'a')]).toEqual([[], undefined, undefined]);
});

it('are looked up by id or name without reading the others', () => {
  const { tables, seen } = opened();
  const read = vi.spyOn(tables, 'all');
  seen.see([{ kind: 'run', id: 'EVR_1', label: 'Nightly' }], 1);
  expect(['evr_1', 'nightly', 'night'].map(text => seen.named(text, 9).map(({ id }) => id))).toEqual([
    ['EVR_1'],
    ['EVR_1'],
    [],
  ]);
  const [sql, ...values] = read.mock.lastCall ?? [''];
  const plan = tables.all(`explain query plan ${sql}`, ...values).map(({ detail }) => String(detail));
  expect(plan.filter(step => /^(SCAN|SEARCH)/.test(step))).toEqual([
    expect.stringContaining('seen_by_id (profile=? AND id=?)'),
    expect.stringContaining('seen_by_label (profile=? AND label=?)'),
  ]);
});

it('keep earlier fields if an answer has fewer', () => {
  const { seen } = opened();
  seen.see([{ kind: 'run', id: 'a', label: 'mine', status: 'running', parent: 'b1', record: { x: 1, y: 1 } }], 1);
  seen.see([{ kind: 'run', id: 'a', label: '', record: { y: 2 } }], 2);
  const known = { label: 'mine', status: 'running', parent: 'b1', record: { x: 1, y: 2 }, seenAt: 2 };
  expect(seen.find('run', 'a')).toMatchObject(known);
  seen.see([{ kind: 'run', id: 'a', label: 'yours', parent: 'b2' }], 3);
  expect(seen.find('run', 'a')).toMatchObject({ label: 'yours', parent: 'b2', record: { x: 1, y: 2 } });
});

it('keep the fields of a status that is only spelled differently (attack30 B2)', () => {
  const { seen } = opened();
  const failed = { failure: { message: 'out of memory' }, completed_at: '2026-01-01T10:00:00Z', completed_steps: 3 };
  seen.see([{ kind: 'training', id: 'a', status: 'failed', record: { status: 'failed', ...failed } }], 1);
  seen.see([{ kind: 'training', id: 'a', status: 'FAILED' }], 2);
  expect(seen.find('training', 'a')?.record).toEqual({ status: 'FAILED', ...failed });
  seen.see([{ kind: 'training', id: 'a', status: 'running' }], 3);
  expect(seen.find('training', 'a')?.record).toEqual({ status: 'running' });
});

it('remember when they were first seen, and when this machine started them', () => {
  const { tables, seen } = opened();
  seen.see([{ kind: 'run', id: 'a', isStart: true }], 1);
  seen.see([{ kind: 'run', id: 'b' }], 2);
  seen.flush();
  const again = new SeenResources(tables);
  again.see([{ kind: 'run', id: 'a' }], 3);
  again.see([{ kind: 'run', id: 'b' }], 4);
  expect(again.find('run', 'a')).toMatchObject({ firstSeenAt: 1, startedAt: 1, seenAt: 3, record: {} });
  expect(again.find('run', 'b')).toMatchObject({ firstSeenAt: 2, startedAt: undefined, seenAt: 4 });
});

it('remember when they left the queue, and the means after the end, but not from a record', () => {
  const { tables, seen } = opened();
  seen.see(
    [
      { kind: 'run', id: 'a', beganAt: 5 },
      { kind: 'run', id: 'b', status: 'COMPLETED', beganAt: null, heldOut: { isFinal: true } },
      { kind: 'run', id: 'c', record: { began_at: 5, heldOut: {} } },
    ],
    1,
  );
  seen.see([{ kind: 'run', id: 'a', status: 'running' }], 2);
  seen.see([{ kind: 'run', id: 'b', status: 'completed' }], 2);
  seen.flush();
  const again = ['a', 'b', 'c'].map(id => new SeenResources(tables).find('run', id));
  expect(again.map(each => each?.beganAt)).toEqual([5, null, undefined]);
  expect(again.map(each => each?.heldOut)).toEqual([undefined, { isFinal: true }, undefined]);
});

it('do not have the held-out means of an earlier end (attack35)', () => {
  const { seen } = opened();
  seen.see([{ kind: 'training', id: 'a', status: 'failed', heldOut: { isFinal: true } }], 1);
  seen.see([{ kind: 'training', id: 'a', status: 'running' }], 2);
  seen.see([{ kind: 'training', id: 'a', status: 'failed' }], 3);
  expect(seen.find('training', 'a')?.heldOut).toBeUndefined();
});

it('have had their rewards since the first answer with their number', () => {
  const { tables, seen } = opened();
  const since = (reward_count: unknown, now: number) => {
    seen.see([{ kind: 'run', id: 'a', status: 'running', record: { reward_count } }], now);
    return seen.find('run', 'a')?.gradedAt;
  };
  expect([since('2', 1), since(2, 2), since(2, 3), since(3, 4), since(undefined, 5), since(3, 6)]).toEqual([
    undefined,
    2,
    2,
    4,
    undefined,
    6,
  ]);
  seen.flush();
  expect(new SeenResources(tables).find('run', 'a')).toMatchObject({ gradedAt: 6, record: { reward_count: 3 } });
  // A damaged record.
  tables.run(`update seen set record = '{"reward_count":3,"benchtop":{"gradedAt":"then"}}'`);
  const later = new SeenResources(tables);
  expect(later.find('run', 'a')?.gradedAt).toBeUndefined();
  later.see([{ kind: 'run', id: 'a', record: { reward_count: 3 } }], 9);
  expect(later.find('run', 'a')?.gradedAt).toBe(6);
});

it('are removed once deleted, and written again if they are seen again', () => {
  const { tables, seen } = opened();
  const again = { kind: 'run', id: 'a', status: 'failed' };
  seen.see([again, { kind: 'run', id: 'b' }, { kind: 'training', id: 'a' }], 1);
  seen.flush();
  seen.see([again], 2);
  seen.forget('run', 'a');
  expect([ids(seen, 'run'), ids(seen, 'training')]).toEqual([['b'], ['a']]);
  seen.see([again], 2);
  seen.flush();
  expect(ids(new SeenResources(tables), 'run')).toEqual(['a', 'b']);
});

it('are written again only if they have changed, or after a minute', () => {
  const { tables, seen } = opened();
  const writtenAt = (now: number, status = 'running') => {
    seen.see([{ kind: 'run', id: 'a', status }], now);
    seen.flush();
    return new SeenResources(tables).find('run', 'a')?.seenAt;
  };
  expect([1_000, 60_999, 61_000].map(now => writtenAt(now))).toEqual([1_000, 1_000, 61_000]);
  expect([writtenAt(62_000), writtenAt(62_000, 'failed')]).toEqual([61_000, 62_000]);
  seen.prune(0);
  expect(writtenAt(62_001, 'failed')).toBe(62_001);
});

it('are the newest of each kind of this service, without old ones', () => {
  const { tables, seen } = opened();
  const many = (kind: string, count: number) => Array.from({ length: count }, (_, id) => ({ kind, id: `${id}` }));
  for (const [index, resource] of many('run', 5_002).entries()) seen.see([resource], 10 + index);
  seen.see([...many('training', 3)], 5);
  seen.flush();
  tables.run(`insert into seen select 'other', kind, id, label, status, parent, record, seen_at from seen`);
  seen.prune(5);
  const count = (profile: string, kind: string) =>
    tables.all('select count(*) as n from seen where profile = ? and kind = ?', profile, kind)[0]?.['n'];
  expect([count('prod', 'run'), count('other', 'run'), count('prod', 'training')]).toEqual([5_000, 5_002, 3]);
  expect([seen.find('run', '1'), seen.find('run', '2')?.seenAt]).toEqual([undefined, 12]);
  seen.prune(6);
  expect(count('prod', 'training')).toBe(0);
});

it('accept no invalid time', () => {
  const times = [{}, { remembered_at: 0 }, { remembered_at: '1970-01-01T00:00:00Z' }, { remembered_at: '' }];
  expect(times.map(rememberedAt)).toEqual([undefined, 0, 0, undefined]);
});

it('keep a mean and its number of rewards together (B4)', () => {
  const { seen } = opened();
  const record = (fields: object) => {
    seen.see([{ kind: 'run', id: 'a', status: 'failed', record: { ...fields } }], 1);
    const { reward_mean, reward_count } = seen.find('run', 'a')?.record ?? {};
    return [reward_mean, reward_count];
  };
  expect(record({ reward_mean: 1, reward_count: 20 })).toEqual([1, 20]);
  // An answer that knows neither, and one that repeats the mean.
  expect(record({ reward_mean: null })).toEqual([1, 20]);
  expect(record({ reward_mean: 1 })).toEqual([1, 20]);
  // Another mean comes from other rewards.
  expect(record({ reward_mean: 0.5 })).toEqual([0.5, null]);
  expect(record({ reward_mean: null, reward_count: 0 })).toEqual([null, 0]);
});

it('remember how certain a mean is once that is final, until the status changes', () => {
  const { seen } = opened();
  const certain = (status: string | undefined, certainty?: { readonly isFinal: boolean }) => {
    seen.see([{ kind: 'run', id: 'a', status, certainty }], 1);
    return seen.find('run', 'a')?.certainty;
  };
  expect(certain('running', { isFinal: false })).toBeUndefined();
  expect(certain('completed', { isFinal: true })).toEqual({ isFinal: true });
  expect(certain(undefined)).toEqual({ isFinal: true });
  expect(certain('running')).toBeUndefined();
});
