/** The report of `doctor` on the assumptions, on services that follow, ignore and refuse them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { own } from '../../src/base/own-property.ts';
import { apiKey, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const items = ['b1', 'b2', 'b3'].map(bench_id => ({ bench_id }));
const assumptionsOf = async (
  answer: (query: URLSearchParams) => unknown,
  set: Record<string, string> = {},
  others: Readonly<Record<string, unknown>> = {},
) => {
  const { url } = await hostileServer((response, request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://service');
    const answers = pathname === '/api/v1/benchmarks' ? answer(searchParams) : own(others, pathname);
    if (answers instanceof Error)
      return refusal(422, 'validation_error', 'extra', { message: answers.message })(response, request);
    // The record shows that it is the list of runs that is not offered.
    const [, bench_id] = /^\/api\/v1\/benchmarks\/([^/]+)$/.exec(pathname) ?? [];
    const body = answers ?? (bench_id === undefined ? undefined : { bench_id });
    return json(body ?? {}, body ? 200 : 404)(response, request);
  });
  const settings = testFolder();
  const lab = { baseUrl: url, apiKey, assumptions: set };
  writeFileSync(join(settings, 'config.json'), JSON.stringify({ profiles: { lab } }), { mode: 0o600 });
  const environment = { BENCHTOP_CONFIG_DIR: settings };
  const { out } = await cliOn({ baseUrl: url, apiKey })('doctor', ['--profile', 'lab', '--json'], { environment });
  const { findings } = JSON.parse(out) as { findings: { about: string; state: string; words: string }[] };
  return findings.flatMap(({ about, state, words }) => (about === 'assumptions' ? [`${state} ${words}`] : []));
};

it('says what the service does for each assumption, or that only a write would show it (C4)', async () => {
  const follows = await assumptionsOf(
    query => {
      const from = Number(query.get('cursor') ?? 0);
      const to = from + Number(query.get('page_size') ?? 3);
      const found = query.has('search') ? [] : query.get('order') === 'asc' ? items.toReversed() : items;
      return { items: found.slice(from, to), has_more: to < 3, next_cursor: to < 3 ? String(to) : null };
    },
    { 'query.limit': 'page_size', 'path.getEvalRun': '/runs/{eval_run_id}' },
  );
  expect(follows).toEqual([
    'ok the service supports cursor, limit (page_size, set in the profile), sort, order, search',
    "note could not determine from the service's lists whether it supports include_steps, path.listBenchmarkImages",
    expect.stringMatching(/^note not tested, .*: startEval\.model_slug, .*idempotencyHeader.*path\.getEvalRun \(/),
  ]);
  const ignores = await assumptionsOf(query =>
    query.has('search') ? new Error('unknown field search') : { items, has_more: true, next_cursor: 'x' },
  );
  expect(ignores).toEqual([
    expect.stringMatching(/^warn the service ignores cursor\. .*assumptions\.query\.cursor NAME/),
    expect.stringMatching(/^warn the service ignores limit\. .*assumptions\.query\.limit NAME/),
    expect.stringMatching(/^warn the service refuses search: unknown field search/),
    "note could not determine from the service's lists whether it supports sort, order, include_steps, path.listBenchmarkImages",
    expect.stringMatching(/^note not tested/),
  ]);
});

it('does not report steps that are always sent', async () => {
  const trajectory = { trajectory_id: 'traj_1', steps: [{ step_index: 0, messages: [] }] };
  const found = await assumptionsOf(
    () => ({ items }),
    {},
    {
      '/api/v1/trajectories': { items: [trajectory] },
      '/api/v1/trajectories/traj_1': trajectory,
    },
  );
  expect(found).toContain('note the service sends all steps of a trajectory: it ignores include_steps.');
});

it('requests one benchmark once', async () => {
  const asked: string[] = [];
  const found = await assumptionsOf(query => {
    asked.push([...query.keys()].sort().join());
    const from = Number(query.get('cursor') ?? 0);
    return { items: items.slice(from, from + Number(query.get('limit') ?? 3)), has_more: true, next_cursor: '1' };
  });
  expect(found).toContainEqual(expect.stringContaining('the service supports cursor, limit'));
  expect(asked.filter(each => each === 'limit')).toEqual(['limit']);
  expect(asked.filter(each => each === 'cursor,limit')).toEqual(['cursor,limit']);
});
