/** Every list of the local service can be sorted by each of its fields, and searched by each of its texts. */
import { describe, expect, it } from 'vitest';
import type { SortOrder } from '../../../src/contract/common.ts';
import { type ListQueryError, readPage } from '../../../src/local/store/list-page.ts';
import { storesInMemory } from './memory.ts';

type Values = Readonly<Record<string, string | number | null>>;

/** The rows of each list: by every sorted field the first comes before the second. */
const lists = {
  benchmarks: {
    id: 'bench_id',
    rows: [
      { bench_id: 'bench_a', label: 'l-a', family: 'f-a', description: 'd-a' },
      { bench_id: 'bench_b', label: 'l-b', family: 'f-b', description: 'd-b' },
    ],
    both: { visibility: 'private', details: '{}' },
    sorts: ['created_at', 'updated_at', 'label', 'name', 'family'],
    searches: ['bench_id', 'label', 'family', 'description'],
  },
  runtimes: {
    id: 'runtime_id',
    rows: [
      { runtime_id: 'rt_a', provider: 'p-a', build_status: 'pending', content_hash: 'h-a' },
      { runtime_id: 'rt_b', provider: 'p-b', build_status: 'ready', content_hash: 'h-b' },
    ],
    both: { image_ref: 'i', dockerfile_uri: null, blueprint_id: 'b', updated_at: undefined },
    sorts: ['created_at', 'provider', 'build_status'],
    searches: ['runtime_id', 'provider', 'content_hash'],
  },
  datasets: {
    id: 'dataset_id',
    rows: [
      { dataset_id: 'ds_a', dataset_name: 'n-a', display_name: 'd-a', source: 's-a' },
      { dataset_id: 'ds_b', dataset_name: 'n-b', display_name: 'd-b', source: 's-b' },
    ],
    both: { gcs_prefix: 'x' },
    sorts: ['created_at', 'updated_at', 'dataset_name', 'source'],
    searches: ['dataset_id', 'dataset_name', 'display_name', 'source'],
  },
  secrets: {
    id: 'secret_id',
    rows: [
      { secret_id: 'sec_a', name: 'n-a', description: 'd-a' },
      { secret_id: 'sec_b', name: 'n-b', description: 'd-b' },
    ],
    both: { byte_length: 1, sealed: new Uint8Array(1) },
    sorts: ['created_at', 'updated_at', 'name'],
    searches: ['secret_id', 'name', 'description'],
  },
  deployments: {
    id: 'deployment_id',
    rows: [
      { deployment_id: 'dep_a', model_slug: 'm-a', status: 'DEPLOYED', role: 'production', base_model_slug: 'b-a' },
      { deployment_id: 'dep_b', model_slug: 'm-b', status: 'FAILED', role: 'test', base_model_slug: 'b-b' },
    ],
    both: {
      model_slug_id: 's',
      is_active: 0,
      checkpoint_id: 'c',
      output_speed: '',
      expected_concurrency: '',
      merge_xid: '',
      deploy_xid: '',
      created_by: '',
    },
    sorts: ['created_at', 'updated_at', 'model_slug', 'status', 'role'],
    searches: ['deployment_id', 'model_slug', 'status', 'base_model_slug'],
  },
  trajectories: {
    id: 'trajectory_id',
    rows: [
      {
        trajectory_id: 'traj_a',
        task_id: null,
        status: 'completed',
        num_steps: 1,
        reward: null,
        model_id: 'm-a',
        error: 'e-a',
      },
      {
        trajectory_id: 'traj_b',
        task_id: 't-b',
        status: 'failed',
        num_steps: 2,
        reward: -5,
        model_id: 'm-b',
        error: 'e-b',
      },
    ],
    both: { source: 's', trace_id: 't', updated_at: undefined },
    sorts: ['created_at', 'status', 'num_steps', 'reward', 'task_id'],
    searches: ['trajectory_id', 'model_id', 'error'],
  },
} as const;

function opened(name: keyof typeof lists) {
  const { stores } = storesInMemory();
  const { id, rows, both, sorts, searches } = lists[name];
  for (const [index, row] of rows.entries()) {
    const at = `2026-01-0${index + 1}`;
    const whole = { organization_id: 'org_1', created_at: at, updated_at: at, ...row, ...both };
    stores.database.insert(
      name,
      Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)) as Record<string, string>,
    );
  }
  const { benchmarks, datasets, secrets, deployments, trajectories } = stores;
  const listed = {
    benchmarks: (query: object) => benchmarks.list('org_1', query),
    runtimes: (query: object) => benchmarks.listRuntimes('org_1', query),
    datasets: (query: object) => datasets.list('org_1', query),
    secrets: (query: object) => secrets.list('org_1', query),
    deployments: (query: object) => deployments.list('org_1', query),
    trajectories: (query: object) => trajectories.list('org_1', query),
  }[name];
  const ids = (query: object) => (listed(query).items as readonly Values[]).map(row => row[id]);
  const [first, second] = (rows as readonly Values[]).map(row => row[id]);
  return { ids, listed, sorts, searches, rows: rows as readonly Values[], first, second };
}

describe.each(Object.keys(lists) as (keyof typeof lists)[])('the list of %s', name => {
  it('sorts by each of its fields, in both directions, page by page', () => {
    const { ids, listed, sorts, first, second } = opened(name);
    for (const sort of sorts) {
      expect([sort, ids({ sort, order: 'asc' })]).toEqual([sort, [first, second]]);
      expect([sort, ids({ sort })]).toEqual([sort, [second, first]]);
      for (const order of ['asc', 'desc'] satisfies SortOrder[]) {
        const cursor = listed({ sort, order, limit: 1 }).next_cursor;
        expect(ids({ cursor, limit: 1 })).toEqual(order === 'asc' ? [second] : [first]);
        expect(listed({ cursor, limit: 1 })).toMatchObject({ has_more: false, next_cursor: null });
      }
    }
    expect(ids({})).toEqual([second, first]);
    expect(() => ids({ sort: 'constructor' })).toThrow(
      expect.objectContaining({
        param: 'sort',
        message: `This list can be sorted by ${sorts.join(', ')}, but not by constructor.`,
      } satisfies Partial<ListQueryError>),
    );
  });

  it('finds rows by each of their texts, in any case, and nothing of another organization', () => {
    const { ids, listed, searches, rows, first } = opened(name);
    for (const field of searches)
      expect([field, ids({ search: String(rows[0]?.[field]).toUpperCase() })]).toEqual([field, [first]]);
    expect([ids({ search: 'nowhere' }), ids({ search: '' }).length]).toEqual([[], 2]);
    expect(listed({ limit: 2 }).has_more).toBe(false);
  });
});

it('binds a cursor to one order of a list', () => {
  const { listed } = opened('secrets');
  const { next_cursor: cursor } = listed({ limit: 1 });
  for (const other of [{ sort: 'name' }, { order: 'asc' }])
    expect(() => listed({ cursor, ...other })).toThrow(
      expect.objectContaining({ param: 'cursor', message: expect.stringContaining('for a different order') }),
    );
  expect(() => listed({ cursor: 'e30' })).toThrow('This cursor is not from this list.');
});

it('returns 25 rows per page if no number is requested, and all columns if none are named', () => {
  const { stores } = storesInMemory();
  for (let index = 0; index < 26; index += 1)
    stores.secrets.put('org_1', { name: `S${index}`, value: 'v', description: '' });
  expect(stores.secrets.list('org_1', {})).toMatchObject({ items: { length: 25 }, has_more: true });
  const definition = { table: 'secrets', id: 'secret_id', sorts: { name: 'name' }, searches: [] };
  const [row] = readPage(stores.database, definition, { organization_id: 'org_1' }, { limit: 1 }).items;
  expect(Object.keys(row ?? {})).toContain('sealed');
  expect(Object.keys(stores.secrets.list('org_1', { limit: 1 }).items[0] ?? {})).toEqual([
    'secret_id',
    'name',
    'byte_length',
    'description',
    'created_at',
    'updated_at',
  ]);
});
