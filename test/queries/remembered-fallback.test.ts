/** Services without lists: resources seen here are shown instead, with a note. */
import { describe, expect, it, vi } from 'vitest';
import type { ListSource } from '../../src/queries/lists/list-source.ts';
import { readListed } from '../../src/queries/lists/list-source.ts';
import type { LiveQuery } from '../../src/queries/live-query.ts';
import {
  type Fallback,
  rememberedKind,
  rememberObserved,
  rememberRows,
} from '../../src/queries/remembered-fallback.ts';
import { everyRun } from '../../src/queries/run-lists.ts';
import { observeOnce } from '../../src/resources/look.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { CapabilityMissingError, RequestError } from '../../src/service/errors.ts';
import { rememberedAt } from '../../src/store/seen.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';
import { hostileServer, json, serviceAt } from '../service/hostile-server.ts';

interface Run {
  readonly id: string;
  readonly status: string;
}

const service = fakeService({}, { capabilities: new Capabilities() });
const { signal } = new AbortController();
const remembered = rememberedKind<Run>({
  kind: 'run',
  idName: 'id',
  words: 'runs',
  observe: ({ id, status }) => ({ label: `run ${id}`, status, parent: 'b1' }),
});
const unread: LiveQuery<Run> = { key: ['run', 'a'], activity: () => 'open', read: async () => missing() };

const listOf = (answer: () => Run[]): ListSource<Run> =>
  remembered.list({
    key: ['runs'],
    readPage: async () => ({ items: answer(), has_more: false, next_cursor: null, dropped: 0 }),
  });

const missing = (): never => {
  throw new CapabilityMissingError('listEvalRuns');
};

/** A fall-back on what was remembered alone. */
const unlisted: Fallback<Run> = {
  listed: { by: 'listEvalRuns', in: () => ({ ...listOf(missing), fallback: undefined }) },
  read: async (_, row) => row ?? missing(),
};

describe('a list', () => {
  it('writes nothing while it reads; remembered rows are shown if the service lists nothing', async () => {
    const memory = RememberedStore.inMemory('test');
    const runs = [
      { id: 'a', status: 'completed' },
      { id: 'b', status: 'running' },
    ];
    const whole = await readListed(
      listOf(() => runs),
      { service, query: {}, signal, memory },
    );
    expect([whole.items, whole.note]).toEqual([runs, undefined]);
    expect(memory.seen.list('run')).toEqual([]);
    rememberRows(
      memory,
      listOf(() => runs),
      whole.items,
    );
    const remembered = await readListed(listOf(missing), { service, query: {}, signal, memory });
    expect(remembered.items.map(({ id, status }) => [id, status])).toEqual([
      ['a', 'completed'],
      ['b', 'running'],
    ]);
    expect(remembered.note).toContain('does not list runs');
    expect(remembered.items.every(row => rememberedAt(row) !== undefined)).toBe(true);
    const [before] = memory.seen.list('run');
    rememberRows(memory, listOf(missing), remembered.items);
    expect(memory.seen.list('run')[0]?.seenAt).toBe(before?.seenAt);
  });

  it('has the last started one first, whenever it was seen, and the age of its oldest row', async () => {
    const memory = RememberedStore.inMemory('test');
    const see = (id: string, at: number, more: object = {}) =>
      memory.see([{ kind: 'run', id, record: { id, ...more } }], Date.UTC(2026, 2, 4, 8, at));
    see('old', 0);
    see('new', 5);
    see('dated', 6, { created_at: '2026-03-04T08:02:00Z' });
    see('old', 7);
    const page = await readListed(listOf(missing), { service, query: {}, signal, memory });
    expect(page.items.map(({ id }) => id)).toEqual(['new', 'dated', 'old']);
    expect(page.remembered_at).toBe(Date.UTC(2026, 2, 4, 8, 5));
  });

  it('does not hide a failure behind remembered rows', async () => {
    const memory = RememberedStore.inMemory('test');
    memory.see([{ kind: 'run', id: 'a', record: { id: 'a' } }]);
    const failing = listOf(() => {
      throw new RequestError('no', { code: 'x' });
    });
    await expect(readListed(failing, { service, query: {}, signal, memory })).rejects.toThrow('no');
  });

  it('shows the runs started here if no benchmark counts any and the service does not list runs', async () => {
    const items = ['b1', 'b2'].map(bench_id => ({ bench_id, eval_run_count: 0 }));
    const { url } = await hostileServer((response, request) => {
      if (request.url?.startsWith('/api/v1/benchmarks')) return json({ items, has_more: false })(response, request);
      return json({ error: { type: 'invalid_request_error', code: 'resource_not_found' } }, 404)(response, request);
    });
    const memory = RememberedStore.inMemory('test');
    memory.see([{ kind: 'run', id: 'started', label: 'started', parent: 'b1', record: { eval_run_id: 'started' } }]);
    const listed = await readListed(everyRun, { service: serviceAt(url).service, query: {}, signal, memory });
    expect(listed.items).toMatchObject([{ eval_run_id: 'started' }]);
    expect(listed.note).toContain('does not list runs');
  });
});

it('remembers held-out means without their curve, whoever read them', async () => {
  const memory = RememberedStore.inMemory('test');
  const mean = { step: 1, reward: 0.5, samples: 8 };
  const measured = { last: mean, best: mean, curve: [0.5], everySteps: undefined, upTo: 1 };
  const observed = { kind: 'training', id: 'a', measured };
  rememberObserved(memory, [observed]);
  expect(memory.seen.find('training', 'a')?.measured).toMatchObject({ last: mean, curve: [] });
  memory.forget('training', 'a');
  const query: LiveQuery<unknown> = {
    ...{ key: ['a'], read: async () => mean },
    activity: () => 'open',
    observes: () => observed,
  };
  await observeOnce(query, { service, signal, memory });
  expect(memory.seen.find('training', 'a')?.measured).toMatchObject({ last: mean, curve: [] });
});

it('adds what this machine knows to each row', async () => {
  const memory = RememberedStore.inMemory('test');
  memory.see([{ kind: 'run', id: 'a', record: { id: 'a' } }]);
  const known = rememberedKind<Run>({
    ...{ kind: 'run', idName: 'id', words: 'runs', observe: () => ({}) },
    recall: (run, seen) => (seen ? { ...run, status: `seen ${seen.id}` } : run),
  });
  const context = { service, query: {}, signal, memory };
  const page = (readPage: ListSource<Run>['readPage']) => readListed(known.list({ key: ['runs'], readPage }), context);
  const rows = ['a', 'b'].map(id => ({ id, status: 'new' }));
  const items = { items: rows, has_more: false, next_cursor: null, dropped: 0 };
  expect((await page(async () => items)).items.map(({ status }) => status)).toEqual(['seen a', 'new']);
  expect((await page(async () => missing())).items.map(({ status }) => status)).toEqual(['seen a']);
  const one = (id: string, run?: Run) =>
    known.one({ ...unread, read: async () => run ?? missing() }, id, unlisted).read(context);
  expect((await one('a', rows[0])).status).toBe('seen a');
  expect((await one('a')).status).toBe('seen a');
});

describe('a record', () => {
  const queryOf = (read: () => Promise<Run>): LiveQuery<Run> => remembered.one({ ...unread, read }, 'a', unlisted);

  it('is remembered, and shown from memory if the service has no such record', async () => {
    const memory = RememberedStore.inMemory('test');
    const run = { id: 'a', status: 'running' };
    const read = await queryOf(async () => run).read({ service, signal, memory });
    rememberRows(memory, queryOf(missing), [read]);
    expect(memory.seen.find('run', 'a')?.label).toBe('run a');
    expect(await queryOf(missing).read({ service, signal, memory })).toMatchObject(run);
    await expect(remembered.one(unread, 'other', unlisted).read({ service, signal, memory })).rejects.toThrow();
  });

  it('is read from its list if the service has no such record, and nothing is written while reading', async () => {
    const memory = RememberedStore.inMemory('test');
    const run = { id: 'a', status: 'running' };
    const query = remembered.one(unread, 'a', {
      listed: { by: 'listEvalRuns', in: () => listOf(() => [run]) },
      read: async () => missing(),
    });
    expect(await query.read({ service, signal, memory })).toEqual(run);
    expect(memory.seen.list('run')).toEqual([]);
    await observeOnce(query, { service, signal, memory });
    expect(memory.seen.find('run', 'a')).toMatchObject({ status: 'running', parent: 'b1' });
  });

  it('shows that its own endpoint is missing only if it is current', async () => {
    const confirmMissing = vi.fn();
    const asking = () => fakeService({}, { capabilities: Object.assign(new Capabilities(), { confirmMissing }) });
    const memory = RememberedStore.inMemory('test');
    memory.see([{ kind: 'run', id: 'a', record: { id: 'a' } }]);
    const read = (rows: Run[]) =>
      remembered
        .one(unread, 'a', {
          listed: { by: 'listEvalRuns', in: () => listOf(() => rows) },
          read: async (_, row) => row ?? missing(),
        })
        .read({ service: asking(), signal, memory });
    expect(rememberedAt(await read([]))).toBeDefined();
    expect(confirmMissing).not.toHaveBeenCalled();
    expect(rememberedAt(await read([{ id: 'a', status: 'running' }]))).toBeUndefined();
    expect(confirmMissing).toHaveBeenCalledExactlyOnceWith(expect.any(CapabilityMissingError));
  });

  it('is searched once in the lists, after its own endpoint, and does without them', async () => {
    const memory = RememberedStore.inMemory('test');
    const fresh = fakeService({}, { capabilities: new Capabilities() });
    const asked: string[] = [];
    let refusal: Error | undefined;
    const query = remembered.one(unread, 'a', {
      listed: {
        by: 'listEvalRuns',
        in: () => ({
          ...listOf(() => []),
          readPage: async () => {
            asked.push('list');
            if (refusal) throw refusal;
            const items = [{ id: `other ${asked.length}`, status: 'running' }];
            return { items, has_more: true, next_cursor: `${asked.length}`, dropped: 0 };
          },
        }),
      },
      read: async () => {
        asked.push('own');
        return { id: 'a' } as Run;
      },
    });
    const read = () => query.read({ service: fresh, signal, memory });
    refusal = new RequestError('no');
    expect(await read()).toEqual({ id: 'a' });
    refusal = undefined;
    expect(await read()).toEqual({ id: 'a' });
    expect(asked).toEqual(['own', 'list', 'own', ...Array.from({ length: 20 }, () => 'list')]);
    expect(await read()).toEqual({ id: 'a' });
    expect(asked.slice(23)).toEqual(['own']);
  });
});
