/** Answers in the query cache are reported, whichever part of the program asked; a 404 means gone. */

import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Observation } from '../../../src/queries/statuses/known-resource.ts';
import { type AnswerMeta, observeAnswers, type Subject } from '../../../src/queries/statuses/observe.ts';
import { StatusStore } from '../../../src/queries/statuses/store.ts';
import { kinds } from '../../../src/resources/catalogue.ts';
import { eventually } from '../../eventually.ts';
import { notFound } from '../scripted-service.ts';

const about: Subject = { kind: 'run', id: 'evr_1' };

interface Run {
  readonly id: string;
  readonly status: string;
}

const observes = ({ id, status }: Run): Observation => ({ kind: 'run', id, status });

function observed() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } });
  const statuses = new StatusStore(kinds);
  const reports: (readonly Observation[])[] = [];
  const gone: Subject[] = [];
  const stop = observeAnswers(client, {
    statuses,
    onObserved: observations => reports.push(observations),
    onGone: subject => gone.push(subject),
  });
  onTestFinished(() => {
    stop();
    client.clear();
  });
  const fetch = (key: string, meta: AnswerMeta, queryFn: () => unknown): Promise<unknown> =>
    client.fetchQuery({ queryKey: [key], meta, queryFn, staleTime: 0 }).catch(() => undefined);
  return { client, statuses, reports, gone, fetch };
}

it('nothing is gone for a query about nothing', async () => {
  const { gone, fetch } = observed();
  await fetch('one', { observes }, () => notFound('evr_1'));
  expect(gone).toEqual([]);
});

describe('an answer', () => {
  it('is reported from any source: a fetch, a list, a change of the cache', async () => {
    const { client, statuses, fetch } = observed();
    await fetch('one', { observes }, () => ({ id: 'a', status: 'running' }));
    await fetch('list', { observes, rows: (data: { rows: Run[] }) => data.rows }, () => ({
      rows: [{ id: 'b', status: 'pending' }],
    }));
    client.setQueryData(['one'], { id: 'a', status: 'completed' });
    expect(statuses.all().map(({ id, status }) => [id, status])).toEqual([
      ['a', 'completed'],
      ['b', 'pending'],
    ]);
  });

  it('has no news if rows are unchanged and ended, or were remembered', async () => {
    const { statuses, reports, fetch } = observed();
    const rows = [
      { id: 'over', status: 'completed' },
      { id: 'runs', status: 'running' },
      { id: 'old', status: 'running', remembered_at: '2026-01-01T00:00:00.000Z' },
    ];
    const meta = { observes, rows: (data: { rows: Run[] }) => data.rows };
    await fetch('list', meta, () => ({ rows }));
    await fetch('list', meta, () => ({ rows: rows.map(row => ({ ...row })) }));
    expect(reports.map(report => report.map(({ id }) => id))).toEqual([['over', 'runs'], ['runs']]);
    expect(statuses.get({ kind: 'run', id: 'old' })).toBeUndefined();
  });

  it('with only names in its rows has news only of known resources', async () => {
    const { statuses, reports, gone, fetch } = observed();
    const meta = {
      observes: ({ id }: Run): Observation => ({ kind: 'run', id, label: `the run ${id}` }),
      rows: (data: { rows: Run[] }) => data.rows,
      onlyNames: true,
    };
    const list = () => ({ rows: [{ id: 'evr_1' }, { id: 'evr_2' }] });
    await fetch('list', meta, list);
    expect([statuses.all(), reports]).toEqual([[], []]);
    await fetch('record', { observes, about }, () => ({ id: 'evr_1', status: 'completed' }));
    await fetch('list', meta, list);
    expect(statuses.all().map(({ label }) => label)).toEqual(['the run evr_1']);
    // The list has it still.
    await fetch('record', { observes, about }, () => notFound('evr_1'));
    await new Promise(resolve => setTimeout(resolve));
    expect(gone).toEqual([]);
  });

  it('is reported only as far as it is news, if its query knows', async () => {
    const { reports, fetch } = observed();
    const rows = [
      { id: 'a', status: 'running' },
      { id: 'b', status: 'running' },
    ];
    const news = [rows, rows.slice(1)];
    const meta = { observes, rows: (data: { rows: Run[] }) => data.rows, news: () => news.shift() ?? [] };
    await fetch('list', meta, () => ({ rows }));
    await fetch('list', meta, () => ({ rows }));
    expect(reports.map(report => report.map(({ id }) => id))).toEqual([['a', 'b'], ['b']]);
  });

  it('is reported for a page that arrives after a failed poll of its list, and not again when put back', async () => {
    const { client, reports, fetch } = observed();
    const meta = { observes, rows: (data: { rows: Run[] }) => data.rows };
    await fetch('list', meta, () => ({ rows: [{ id: 'a', status: 'running' }] }));
    await fetch('list', meta, () => {
      throw new Error('502');
    });
    const query = client.getQueryCache().find({ queryKey: ['list'] });
    query?.setState({ data: { rows: [{ id: 'a', status: 'grading' }] } });
    query?.setState({ ...query.state, fetchStatus: 'idle' });
    expect(reports.map(report => report.map(({ status }) => status))).toEqual([['running'], ['grading']]);
  });

  it('that is the same after a failure says that the resource exists again', async () => {
    const { statuses, fetch } = observed();
    const read = () => ({ id: 'evr_1', status: 'completed' });
    await fetch('record', { observes, about }, read);
    await fetch('record', { observes, about }, () => {
      throw new Error('The service failed');
    });
    expect(statuses.get(about)?.error).toBe('The service failed');
    await fetch('record', { observes, about }, read);
    expect(statuses.get(about)?.error).toBeUndefined();
    await fetch('record', { observes, about }, () => notFound('evr_1'));
    statuses.gone(about);
    await fetch('record', { observes, about }, read);
    expect(statuses.get(about)?.gone).toBe(false);
  });
});

describe('a 404', () => {
  it('for everything about a resource means that it is gone', async () => {
    const { gone, fetch } = observed();
    let found = true;
    const read = () => (found ? { id: 'evr_1', status: 'running' } : notFound('evr_1'));
    await fetch('record', { observes, about }, read);
    await fetch('progress', { observes, about }, read);
    found = false;
    await fetch('progress', { observes, about }, read);
    await eventually(() => expect(gone).toEqual([about]));
  });

  it('from one endpoint means nothing while another still finds it', async () => {
    const { gone, statuses, fetch } = observed();
    let reads = 0;
    await fetch('record', { observes, about }, () => {
      reads += 1;
      return { id: 'evr_1', status: 'running' };
    });
    await fetch('progress', { observes, about }, () => notFound('evr_1'));
    await eventually(() => expect(reads).toBe(2));
    expect([gone, statuses.get(about)?.status]).toEqual([[], 'running']);
  });

  it('means nothing while a list still has the row, which restores what was taken as gone (U37)', async () => {
    const { gone, statuses, fetch } = observed();
    const row = { id: 'evr_1', status: 'completed' };
    let rows: Run[] = [row];
    let lists = 0;
    const meta = { observes, rows: (data: { rows: Run[] }) => data.rows };
    const readList = () => {
      lists += 1;
      return { rows };
    };
    await fetch('list', meta, readList);
    await fetch('record', { observes, about }, () => notFound('evr_1'));
    await eventually(() => expect(lists).toBe(2));
    await new Promise(setImmediate);
    expect(gone).toEqual([]);
    rows = [];
    await fetch('record', { observes, about }, () => notFound('evr_1'));
    await eventually(() => expect(gone).toEqual([about]));
    statuses.gone(about);
    rows = [row];
    await fetch('list', meta, readList);
    expect(statuses.get(about)?.gone).toBe(false);
  });

  it('polls the lists again, whatever older answer is on its way (U37)', async () => {
    const { gone, fetch } = observed();
    const meta = { observes, rows: (data: { rows: Run[] }) => data.rows };
    const answers: ((data: { rows: Run[] }) => void)[] = [];
    const readList = () => new Promise(resolve => answers.push(resolve));
    const first = fetch('list', meta, readList);
    const listed = { rows: [{ id: 'evr_1', status: 'running' }] };
    answers[0]?.(listed);
    await first;
    void fetch('list', meta, readList);
    await eventually(() => expect(answers).toHaveLength(2));
    await fetch('record', { observes, about }, () => notFound('evr_1'));
    await eventually(() => expect(answers).toHaveLength(3));
    answers[1]?.(listed);
    answers[2]?.({ rows: [] });
    await eventually(() => expect(gone).toEqual([about]));
  });

  it('reads everything else about it again, whatever older answer is on its way', async () => {
    const { gone, fetch } = observed();
    const answers: (() => void)[] = [];
    const record = { id: 'evr_1', status: 'completed' };
    let isThere = true;
    const read = () => {
      const answer = isThere ? () => record : () => notFound('evr_1');
      return new Promise(resolve => answers.push(() => resolve(undefined))).then(answer);
    };
    const first = fetch('record', { observes, about }, read);
    answers[0]?.();
    await first;
    void fetch('record', { observes, about }, read);
    isThere = false;
    await fetch('progress', { observes, about }, () => notFound('evr_1'));
    await eventually(() => expect(answers).toHaveLength(3));
    answers[1]?.();
    answers[2]?.();
    await eventually(() => expect(gone).toEqual([about]));
  });

  it('is followed up once a stale list has lost the row, even if it had restored it', async () => {
    const { statuses, gone, fetch } = observed();
    const row = { id: 'evr_1', status: 'running' };
    let rows = [row];
    const meta = { observes, rows: (data: { rows: Run[] }) => data.rows };
    const list = () => fetch('list', meta, () => ({ rows }));
    await list();
    let asked = 0;
    await fetch('record', { observes, about }, () => {
      asked += 1;
      return notFound('evr_1');
    });
    await list();
    expect([gone, asked]).toEqual([[], 1]);
    rows = [];
    await list();
    await eventually(() => expect(gone).toEqual([about]));
    statuses.gone(about);
    rows = [row];
    await list();
    expect(statuses.get(about)?.gone).toBe(false);
    rows = [];
    await list();
    await eventually(() => expect(gone).toEqual([about, about]));
  });

  it('is not undone by parts that are still answered', async () => {
    const { statuses, fetch } = observed();
    await fetch('record', { observes, about }, () => ({ id: 'evr_1', status: 'running' }));
    statuses.gone(about);
    const curve = { observes: () => ({ kind: 'run', id: 'evr_1', curve: [1] }) };
    await fetch('curve', curve, () => [1]);
    expect(statuses.get(about)?.gone).toBe(true);
    await fetch('record', { observes, about }, () => ({ id: 'evr_1', status: 'running' }));
    expect(statuses.get(about)?.gone).toBe(false);
  });

  it('without an envelope comes from a gateway, and says nothing about the resource', async () => {
    const { gone, statuses, fetch } = observed();
    await fetch('record', { observes, about }, () => ({ id: 'evr_1', status: 'running' }));
    await fetch('record', { observes, about }, () => {
      throw new Error('The service answered 404 Not Found');
    });
    expect([gone, statuses.get(about)?.error]).toEqual([[], 'The service answered 404 Not Found']);
  });
});
