/** Runs the local service in this process until it is stopped, or has had nothing to do for a while. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Engine } from '../engine/engine.ts';
import { WorkerThread } from '../engine/worker-thread.ts';
import { baseModels } from '../model/base-models.ts';
import { sampleManifests } from '../samples/benchmarks.ts';
import { createApp } from '../server/app.ts';
import type { ServiceContext } from '../server/context.ts';
import { BenchmarkStore } from '../store/benchmarks.ts';
import { Database } from '../store/database.ts';
import { EvaluationStore } from '../store/evaluations.ts';
import { ensureOrganization } from '../store/organizations.ts';
import { TrajectoryStore } from '../store/trajectories.ts';
import { apiKeyOf, lockFolder, makeDataFolder, removeAddress, writeAddress } from './files.ts';

export interface ServeOptions {
  readonly dataFolder: string;
  /** 0 takes any free port. */
  readonly port?: number;
  /** The key of the sample organization; made up and kept where it is not given. */
  readonly apiKey?: string | undefined;
  /** Ends after so many milliseconds without a request and without work; never where it is not given. */
  readonly idleMs?: number;
}

export interface RunningService {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Ends it: requests under way are answered, running work is left to be gone on with. */
  readonly stop: () => Promise<void>;
  /** Resolves once it has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** Another process serves this folder. */
export class AlreadyRunning extends Error {
  override readonly name = 'AlreadyRunning';
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const taken = 'code' in error && error.code === 'EADDRINUSE';
      reject(
        taken ? new Error(`Port ${port} is taken. Choose another with --port, or leave it out for a free one.`) : error,
      );
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** The organization that a fresh data folder begins with, ingested as an uploaded benchmark would be. */
function seed(benchmarks: BenchmarkStore, organizationId: string): void {
  if (benchmarks.list(organizationId, { limit: 1 }).items.length > 0) return;
  const made = Date.now();
  for (const [index, manifest] of sampleManifests.entries()) {
    // Lists begin with what was made last.
    const created_at = new Date(made - index).toISOString();
    benchmarks.beginBuild(benchmarks.ingest(organizationId, manifest, { created_at }));
  }
}

/**
 * @throws AlreadyRunning where another process serves the folder
 * @throws DataFolderError where the folder cannot be used
 */
export async function serve({ dataFolder, port = 0, apiKey, idleMs }: ServeOptions): Promise<RunningService> {
  makeDataFolder(dataFolder);
  const unlock = lockFolder(dataFolder);
  if (!unlock) throw new AlreadyRunning(`Another benchtop serves ${dataFolder}.`);
  const key = apiKey ?? apiKeyOf(dataFolder);
  const database = new Database(join(dataFolder, 'benchtop.db'));
  const benchmarks = new BenchmarkStore(database);
  const evaluations = new EvaluationStore(database);
  const worker = new WorkerThread();
  // Chat has a thread of its own: nobody waits for an evaluation to be answered.
  const talker = new WorkerThread();
  const engine = new Engine({ benchmarks, evaluations, worker });
  seed(benchmarks, ensureOrganization(database, key));

  const slugs = new Set(baseModels.map(({ slug }) => slug));
  const service: ServiceContext = {
    database,
    benchmarks,
    evaluations,
    trajectories: new TrajectoryStore(database),
    inference: { has: slug => slugs.has(slug), generate: (...order) => talker.chat(...order) },
    wake: engine.wake,
  };
  const instanceId = randomUUID();
  let lastRequest = Date.now();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();

  const app = createApp({
    service,
    instanceId,
    onRequest: () => {
      lastRequest = Date.now();
    },
    stop: () => void stop(),
  });
  const answer = getRequestListener(app.fetch);
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      clearInterval(idle);
      engine.stop();
      removeAddress(dataFolder, instanceId);
      server.close();
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), 500).unref();
      await Promise.all([worker.close(), talker.close()]);
      while (engine.busy) await new Promise(resolve => setTimeout(resolve, 5));
      database.close();
      unlock();
      end();
    })();
    return stopping;
  };
  const idle = setInterval(
    () => {
      if (idleMs !== undefined && !engine.busy && Date.now() - lastRequest > idleMs) void stop();
    },
    Math.min(10_000, idleMs ?? 10_000),
  );
  idle.unref();

  try {
    const bound = await listen(server, port);
    const baseUrl = `http://127.0.0.1:${bound}`;
    writeAddress(dataFolder, { base_url: baseUrl, api_key: key, pid: process.pid, instance_id: instanceId });
    engine.wake();
    return { baseUrl, apiKey: key, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}
