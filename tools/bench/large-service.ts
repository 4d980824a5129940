/** A service with much data for the bench: many benchmarks, a long trajectory, a long chat answer. */
import { createServer, type ServerResponse } from 'node:http';

const messageSize = 2_600;
const made = Date.parse('2026-01-01T00:00:00Z');

function benchmark(index: number) {
  return {
    bench_id: `bench_${String(index).padStart(6, '0')}`,
    label: `benchmark ${index}`,
    family: ['style', 'math', 'code'][index % 3],
    eval_run_count: index % 40,
    description: `The benchmark number ${index}`,
    visibility: 'private',
    created_at: new Date(made - index * 60_000).toISOString(),
    updated_at: new Date(made - index * 60_000).toISOString(),
  };
}

const trajectory = {
  trajectory_id: 'traj_large',
  task_id: 'large',
  status: 'completed',
  reward: 0.5,
  num_steps: 1,
};
const sentence = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all. ';
const text = sentence.repeat(Math.ceil(messageSize / sentence.length)).slice(0, messageSize);

/** The body of a trajectory of at least this many bytes. */
function trajectoryOf(bytes: number): string {
  const messages = Array.from({ length: Math.ceil(bytes / messageSize) }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }));
  return JSON.stringify({ ...trajectory, steps: [{ step_index: 0, reward: 0.5, messages }] });
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Size of a chat answer, in bytes. */
export const chatBytes = 8 * 1024;

async function chat(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const words =
    sentence
      .repeat(Math.ceil(chatBytes / sentence.length))
      .slice(0, chatBytes)
      .match(/\S+\s*/g) ?? [];
  for (const content of words) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  response.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  );
  response.end();
}

export interface LargeService {
  readonly baseUrl: string;
  /** Changes the number of runs of the first benchmark. */
  readonly setFirstRuns: (count: number) => void;
  readonly close: () => void;
}

export interface LargeServiceOptions {
  readonly benchmarks?: number;
  /** Size of the trajectory. */
  readonly trajectoryBytes?: number;
}

/** Starts the service on a free port of this machine. */
export function startLargeService({
  benchmarks = 10_000,
  trajectoryBytes = 5_200_000,
}: LargeServiceOptions = {}): Promise<LargeService> {
  let firstRuns = 0;
  const large = trajectoryOf(trajectoryBytes);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const limit = Number(url.searchParams.get('limit') ?? 25);
    const from = Number(url.searchParams.get('cursor') ?? 0);
    if (url.pathname === '/api/v1/benchmarks') {
      const items = Array.from({ length: Math.min(limit, benchmarks - from) }, (_, index) =>
        from + index === 0 ? { ...benchmark(0), eval_run_count: firstRuns } : benchmark(from + index),
      );
      const has_more = from + limit < benchmarks;
      send(response, { items, has_more, next_cursor: has_more ? String(from + limit) : null });
    } else if (url.pathname.endsWith('/readiness'))
      send(response, { ready: true, missing_secret_names: [], unready_task_image_counts: {} });
    else if (url.pathname === '/api/v1/trajectories')
      send(response, { items: [trajectory], has_more: false, next_cursor: null });
    else if (url.pathname === '/api/v1/trajectories/traj_large') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(large);
    } else if (url.pathname.endsWith('/supported-training-models'))
      send(response, { items: [{ model_slug: 'bench/model' }] });
    else if (url.pathname === '/v1/chat/completions') void chat(response);
    else
      send(
        response,
        { error: { type: 'invalid_request_error', code: 'resource_not_found', message: 'not found' } },
        404,
      );
  });
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      resolve({
        baseUrl: `http://127.0.0.1:${port}`,
        setFirstRuns: count => {
          firstRuns = count;
        },
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
}
