/** Runs the local service in this process until it is stopped, or has had nothing to do for a while. */

import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { errorCode, errorMessage, isDamagedDatabase } from '../../text/errors.ts';
import { shellWord } from '../../text/shell-words.ts';
import { Catalog } from '../engine/catalog.ts';
import { Engine } from '../engine/engine.ts';
import type { Upstream } from '../engine/upstream.ts';
import { WorkerThread } from '../engine/worker-thread.ts';
import { sampleManifests } from '../samples/benchmarks.ts';
import { createApp } from '../server/app.ts';
import type { ServiceContext } from '../server/handlers.ts';
import type { RateLimit } from '../server/rate-limit.ts';
import { SignedUploads } from '../server/signed-uploads.ts';
import { TrajectoryTokens } from '../server/trajectory-tokens.ts';
import type { BenchmarkStore } from '../store/benchmarks.ts';
import { ensureOrganization } from '../store/organizations.ts';
import { databasePath, openStores, type Stores, sweepFiles } from '../store/stores.ts';
import { Activity } from './activity.ts';
import { findService, stopService } from './client.ts';
import {
  apiKeyOf,
  DataFolderError,
  keyringOf,
  lockFolder,
  makeDataFolder,
  readAddress,
  removeAddress,
  withdrawSuccessor,
  writeAddress,
} from './files.ts';
import { Leases } from './lease.ts';
import { fingerprintOf } from './settings.ts';

export interface ServeOptions {
  readonly dataFolder: string;
  /** Version of the program, for those that look for a service of theirs. */
  readonly version?: string;
  /** 0 takes any free port. */
  readonly port?: number;
  /** The key of the sample organization; made up and kept if it is not given. */
  readonly apiKey?: string | undefined;
  /** A server that answers if no model of this one does. */
  readonly upstream?: Upstream | undefined;
  /** Requests that a key may make; what programs of one machine never reach, if it is not given. */
  readonly rateLimit?: RateLimit | undefined;
  /**
   * Of a service that was started for a screen: ends after so many milliseconds without a request and without work, and
   * makes way for one that is started by hand.
   */
  readonly idleMs?: number;
}

export interface RunningService {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Ends it: requests under way are answered, running work continues at the next start. */
  readonly stop: (successor?: boolean) => Promise<void>;
  /** Resolves once it has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** A process that ends, or that starts, has the folder before or after it answers: it is waited for so long. */
const takeMs = 60_000;
const lookEveryMs = 20;
/** Requests that are under way as the service stops have so long to be answered. */
const graceMs = 500;

/** Programs of one machine do not come near this. */
const unlimitedLocal: RateLimit = { perSecond: 2_000, burst: 4_000 };

/** Another process serves this folder. */
export class AlreadyRunning extends Error {
  override readonly name = 'AlreadyRunning';
}

/**
 * Takes the folder, as soon as a process that is ending gives it up. A service that was started for a screen makes way
 * for one that is started by hand.
 *
 * @throws AlreadyRunning if another service answers for the folder, or has it and does not answer
 */
async function takeFolder(folder: string, byHand: boolean): Promise<() => void> {
  const deadline = performance.now() + takeMs;
  for (;;) {
    const unlock = lockFolder(folder);
    if (unlock) return unlock;
    const running = await findService(folder);
    if (running && byHand && running.background) await stopService(folder, { successor: true });
    else if (running) {
      throw new AlreadyRunning(
        `Another benchtop serves ${folder} already: process ${running.pid}, at ${running.baseUrl}. Stop it with \`benchtop serve --stop --data ${shellWord(folder)}\`.`,
      );
    } else if (performance.now() > deadline) {
      const pid = readAddress(folder)?.pid;
      throw new AlreadyRunning(
        `${pid === undefined ? 'Another process' : `Process ${pid}`} has ${folder} and does not answer. End it by hand, then try again.`,
      );
    } else await wait(lookEveryMs);
  }
}

/**
 * Opens the data of a folder, which `unlock` gives up where that fails.
 *
 * @throws DataFolderError for a key or a database that is damaged
 */
function openData(folder: string, unlock: () => void): Stores {
  try {
    return openStores(folder, keyringOf(folder));
  } catch (error) {
    unlock();
    if (!isDamagedDatabase(error)) throw error;
    throw new DataFolderError(
      `The database ${databasePath(folder)} is damaged: ${errorMessage(error)}. Nothing in it was changed. Put it back from a copy, move it away to start without its data, or set BENCHTOP_DATA_DIR to another folder.`,
    );
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const taken = errorCode(error) === 'EADDRINUSE';
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

/** The user of this machine, as e-mail is addressed on it. */
function userOfMachine(): string {
  try {
    return `${userInfo().username}@localhost`;
  } catch {
    // Some containers run as a user without a name.
    return 'user@localhost';
  }
}

/** @throws AlreadyRunning if another process serves the folder @throws DataFolderError if the folder cannot be used */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { dataFolder, version = '', port = 0, apiKey, upstream, rateLimit, idleMs } = options;
  makeDataFolder(dataFolder);
  const unlock = await takeFolder(dataFolder, idleMs === undefined);
  const key = apiKey ?? apiKeyOf(dataFolder);
  const stores = openData(dataFolder, unlock);
  const { database, benchmarks, evaluations, training, deployments, secrets, uploads, weights, keyring } = stores;
  // A chat does not wait for an evaluation, and nothing waits for training.
  const chatWorker = new WorkerThread({ name: 'chat' });
  const sampler = new WorkerThread({ name: 'rollouts' });
  const trainer = new WorkerThread({ name: 'training', lowPriority: true });
  const catalog = new Catalog(deployments, weights, upstream);
  const engine = new Engine({
    benchmarks,
    uploads,
    evaluation: { benchmarks, evaluations, training, secrets, catalog, worker: sampler },
    training: { dataFolder, benchmarks, training, secrets, catalog, folder: weights, worker: trainer },
    deployment: { deployments, training, catalog, folder: weights, worker: chatWorker },
  });
  engine.deployer.recover();
  sweepFiles(stores);
  seed(benchmarks, ensureOrganization(database, key));

  const service: ServiceContext = {
    ...stores,
    catalog,
    engine,
    signedUploads: new SignedUploads(keyring, uploads),
    tokens: new TrajectoryTokens(keyring),
    sampleChat: (...order) => chatWorker.chat(...order),
    user: userOfMachine(),
  };
  const instanceId = randomUUID();
  const leases = new Leases();
  const fingerprint = fingerprintOf(dataFolder, { upstream, rateLimit });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();

  const app = createApp({
    service,
    rateLimit: rateLimit ?? unlimitedLocal,
    control: {
      health: () => ({
        instance_id: instanceId,
        pid: process.pid,
        version,
        fingerprint,
        background: idleMs !== undefined,
        leases: leases.count,
        upstream: upstream?.url ?? null,
      }),
      isStopping: () => stopping !== undefined,
      stop: successor => void stop(successor),
      lease: () => leases.open(),
    },
  });
  const answer = getRequestListener(app.fetch);
  const server = createServer((incoming, outgoing) => {
    activity?.begin();
    outgoing.once('close', () => activity?.end());
    void answer(incoming, outgoing);
  });
  let stopping: Promise<void> | undefined;
  const stop = (successor = false): Promise<void> => {
    stopping ??= (async () => {
      activity?.close();
      const stopped = engine.stop();
      removeAddress(dataFolder, instanceId);
      leases.end(successor ? 'replaced' : 'stopped');
      const answered = new Promise(resolve => server.close(resolve));
      setTimeout(() => server.closeAllConnections(), graceMs).unref();
      // Training saves what it has done; the others give up what they are at.
      await Promise.all([sampler.close(), chatWorker.close()]);
      await stopped;
      await trainer.close();
      await answered;
      database.close();
      unlock();
      end();
    })();
    return stopping;
  };
  const activity =
    idleMs === undefined ? undefined : new Activity({ idleMs, isBusy: () => engine.busy, onIdle: () => void stop() });

  try {
    const bound = await listen(server, port);
    const baseUrl = `http://127.0.0.1:${bound}`;
    withdrawSuccessor(dataFolder);
    writeAddress(dataFolder, { base_url: baseUrl, api_key: key, pid: process.pid, instance_id: instanceId });
    engine.wake();
    return { baseUrl, apiKey: key, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}
