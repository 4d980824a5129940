/** A local service for tests, in its own folder, called over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningService } from '../../../src/local/daemon/daemon.ts';
import { type ServeOptions, serve } from '../../../src/local/daemon/serve.ts';
import { createService, type Service } from '../../../src/service/index.ts';
import { eventually } from '../../eventually.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the test is about the body
  readonly body: any;
}

export interface TestService extends RunningService {
  readonly folder: string;
  /** Calls with the service's key, unless `headers` sets another. */
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** The id of a sample benchmark that is ready to launch. */
  readonly readyBenchmark: (label: string) => Promise<string>;
  readonly end: () => Promise<void>;
}

/** The service layer on a service for tests, as the program uses it. */
export function clientOf({ baseUrl, apiKey }: Pick<TestService, 'baseUrl' | 'apiKey'>): Service {
  const key = async (): Promise<string> => apiKey;
  return createService({ baseUrl, apiKey: key, inferenceToken: key, userAgent: 'test' });
}

export async function startService(options: Partial<ServeOptions> = {}): Promise<TestService> {
  const folder = options.dataFolder ?? mkdtempSync(join(tmpdir(), 'benchtop-local-'));
  const running = await serve({ dataFolder: folder, ...options });
  const call: TestService['call'] = async (method, path, body, headers = {}) => {
    const answer = await fetch(path.startsWith('http') ? path : running.baseUrl + path, {
      method,
      headers: { 'X-API-Key': running.apiKey, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: parsed(text) };
  };
  return {
    ...running,
    folder,
    call,
    readyBenchmark: async label => {
      const { body } = await call('GET', '/api/v1/benchmarks?limit=200');
      const found = (body.items as { label: string; bench_id: string }[]).find(each => each.label === label);
      const id = found?.bench_id ?? '';
      await eventually(async () => {
        const readiness = (await call('GET', `/api/v1/benchmarks/${id}/readiness`)).body;
        if (Object.keys(readiness.unready_task_image_counts).length > 0) throw new Error('images are being built');
      });
      return id;
    },
    end: async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Polls until the answer satisfies. */
export function until<Result>(ask: () => Promise<Result>, satisfied: (result: Result) => boolean): Promise<Result> {
  return eventually(async () => {
    const result = await ask();
    if (!satisfied(result)) throw new Error(`still ${JSON.stringify(result)}`);
    return result;
  });
}
