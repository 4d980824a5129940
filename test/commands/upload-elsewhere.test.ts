/** `upload` of a benchmark to a service that ingests at a path other than the assumed one, or that fails. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, type Behaviour, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { smallFolder } from '../uploads/small-folder.ts';
import { cliOn } from './cli.ts';

interface Declared {
  readonly files: readonly { readonly path: string }[];
}

async function withoutIngest(message: string) {
  return withIngest(refusal(404, 'invalid_request_error', 'not_found', { message }));
}

async function withIngest(ingest: Behaviour, allocate?: Behaviour) {
  const server = await hostileServer((response, request) => {
    const { method, url, body, headers } = request;
    if (method === 'PUT') return void response.writeHead(200).end();
    if (url.startsWith('/api/v1/benchmarks?')) {
      return json({ items: [], has_more: false, next_cursor: null })(response, request);
    }
    if (url !== '/api/v1/benchmarks/uploads') return ingest(response, request);
    if (allocate) return allocate(response, request);
    const urls = (JSON.parse(body) as Declared).files.map(({ path }) => ({
      path,
      url: `http://${headers.host}/store/${path}`,
      method: 'PUT',
      headers: {},
    }));
    return json({ bench_id: 'bench_9', urls, expires_at: null })(response, request);
  });
  return { ...server, cli: cliOn({ baseUrl: server.url, apiKey }) };
}

const tried = 'POST /api/v1/benchmarks/{bench_id}/ingest';

it.each(['route not found', 'it is not here'])(
  'names the benchmark, the path that was tried and its setting after "%s" (C12)',
  async message => {
    const { cli } = await withoutIngest(message);
    const { code, out, notes } = await cli('upload', [smallFolder()]);
    expect([code, out]).toEqual([exitCodes.unsupported, '']);
    expect(notes).toContain('This service does not ingest benchmarks.');
    expect(notes).toContain(tried);
    expect(notes).toContain('assumptions.path.ingestBenchmark');
    expect(notes).toContain('bench_id: bench_9');
  },
);

it('reports the error as JSON, and the benchmark in the result (C12)', async () => {
  const { cli } = await withoutIngest('route not found');
  const { code, out, notes } = await cli('upload', [smallFolder(), '--json']);
  expect([code, JSON.parse(out)]).toEqual([exitCodes.unsupported, expect.objectContaining({ bench_id: 'bench_9' })]);
  const lines = notes.split('\n').map(line => JSON.parse(line) as object);
  expect(lines.filter(line => 'error' in line)).toEqual([
    {
      error: expect.objectContaining({
        kind: 'capability_missing',
        operation: 'ingestBenchmark',
        exit_code: exitCodes.unsupported,
        message: expect.stringContaining(tried),
      }),
    },
  ]);
  expect(notes).not.toContain('bench_id: bench_9');
});

const final = { 'service-should-retry': 'false' };
const failing = refusal(503, 'api_error', 'internal_error', {}, final);
const limited = refusal(429, 'rate_limit_error', 'rate_limited', {}, final);

it.each<[string, Behaviour, Behaviour | undefined, number]>([
  ['asks for addresses, which stores nothing', limited, failing, exitCodes.unreachable],
  ['has sent the files', limited, undefined, exitCodes.endUnseen],
  ['ingests', failing, undefined, exitCodes.endUnseen],
])('that fails while it %s has an exit code that says whether anything changed', async (_, ingest, allocate, code) => {
  const { cli } = await withIngest(ingest, allocate);
  const ended = await cli('upload', [smallFolder()]);
  expect(ended.code).toBe(code);
  expect(ended.notes.includes('may have happened')).toBe(ingest === failing);
});
