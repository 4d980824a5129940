/** Runs the local service in this process until it is stopped, or has been idle for a while. */

import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { errorCode, errorMessage } from '../../text/errors.ts';
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
import { Database } from '../store/database.ts';
import { databasePath } from '../store/database-path.ts';
import { ensureOrganization } from '../store/organizations.ts';
import { openStores, type Stores, sweepFiles } from '../store/stores.ts';
import { Activity } from './activity.ts';
import { findService, stopService } from './client.ts';
import {
  apiKeyOf,
  forgetHolder,
  holderOf,
  keyringOf,
  lockFolder,
  makeDataFolder,
  recordHolder,
  refuseEmptyDatabase,
  removeAddress,
  startError,
  withdrawSuccessor,
  writeAddress,
} from './files.ts';
import { Leases } from './lease.ts';
import { fingerprintOf } from './settings.ts';

export interface ServeOptions {
  readonly dataFolder: string;
  /** Version of the program, which clients compare with their own. */
  readonly version?: string;
  /** 0 takes any free port. */
  readonly port?: number;
  /** API key of the sample organization; generated and stored if missing. */
  readonly apiKey?: string | undefined;
  /** A server for models that are not local. */
  readonly upstream?: Upstream | undefined;
  /** Rate limit of each key; by default above what programs on one machine send. */
  readonly rateLimit?: RateLimit | undefined;
  /**
   * For a service started for a screen: exits after this many idle milliseconds, and makes way for one started by hand.
   */
  readonly idleMs?: number;
  /** Gives up the start. */
  readonly signal?: AbortSignal;
}

export interface RunningService {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Stops it: requests in flight are answered, running work resumes at the next start. */
  readonly stop: (successor?: boolean) => Promise<void>;
  /** Resolves once it has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** A starting or ending process holds the folder without answering: wait this long for it. */
const takeMs = 60_000;
const lookEveryMs = 20;
/** Time limit for requests in flight when the service stops. */
const graceMs = 500;

/** Open connections. Any program of the machine may open some, so that they must not use up the process's files. */
const maxConnections = 512;
/** A connection that does not send the head of a request in time is closed. */
const connectionLimits = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 } as const;

/** Far above what programs on one machine send. */
const unlimitedLocal: RateLimit = { perSecond: 2_000, burst: 4_000 };

/** Another process serves this folder. */
export class AlreadyRunning extends Error {
  override readonly name = 'AlreadyRunning';
}

/**
 * Locks the folder, waiting for a process that is ending. A service started for a screen makes way for one started by
 * hand. Returns the function that unlocks it.
 *
 * @throws AlreadyRunning if another service answers for the folder, or holds it without answering
 * @throws the reason of the signal
 */
async function takeFolder(folder: string, byHand: boolean, signal: AbortSignal): Promise<() => void> {
  const deadline = performance.now() + takeMs;
  for (;;) {
    signal.throwIfAborted();
    const unlock = lockFolder(folder);
    if (unlock) {
      try {
        recordHolder(folder);
      } catch (error) {
        unlock();
        throw error;
      }
      return () => {
        forgetHolder(folder);
        unlock();
      };
    }
    const running = await findService(folder);
    const stopCommand = `\`benchtop serve --stop --data ${shellWord(folder)}\``;
    if (running && byHand && running.background) await stopService(folder, { successor: true });
    else if (running) {
      throw new AlreadyRunning(
        `Another benchtop serves ${folder} already: process ${running.pid}, at ${running.baseUrl}. Stop it with ${stopCommand}.`,
      );
    } else if (performance.now() > deadline) {
      const pid = holderOf(folder);
      const who = pid === undefined ? 'Another process' : `Process ${pid}`;
      throw new AlreadyRunning(`${who} has ${folder} and does not answer. ${stopCommand} ends it.`);
    } else await wait(lookEveryMs);
  }
}

/** @throws DataFolderError if the key or the database is damaged or lost */
function openData(folder: string): Stores {
  refuseEmptyDatabase(folder);
  const database = new Database(databasePath(folder));
  try {
    return openStores(folder, keyringOf(folder), database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const reason = errorCode(error) === 'EADDRINUSE' ? 'is taken' : `cannot be used (${errorMessage(error)})`;
      reject(new Error(`Port ${port} ${reason}. Choose another with --port, or leave it out for a free one.`));
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** The initial organization of a new data folder, ingested like an uploaded benchmark. */
function seed({ database, benchmarks }: Stores, organizationId: string): void {
  if (benchmarks.list(organizationId, { limit: 1 }).items.length > 0) return;
  const made = Date.now();
  // All or none: a start that finds some of them adds no others.
  database.transaction(() => {
    for (const [index, manifest] of sampleManifests.entries()) {
      // Lists show the newest first.
      const created_at = new Date(made - index).toISOString();
      benchmarks.beginBuild(benchmarks.ingest(organizationId, manifest, { created_at }));
    }
  });
}

/** The user of this machine, in the form of an e-mail address. */
function userOfMachine(): string {
  try {
    return `${userInfo().username}@localhost`;
  } catch {
    // Some containers run as a user without a name.
    return 'user@localhost';
  }
}

/**
 * Starts the service. If that fails, nothing stays open or locked.
 *
 * @throws AlreadyRunning if another process serves the folder
 * @throws DataFolderError if the folder cannot be used
 * @throws the reason of the signal
 */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { dataFolder, idleMs, signal = new AbortController().signal } = options;
  makeDataFolder(dataFolder);
  const unlock = await takeFolder(dataFolder, idleMs === undefined, signal);
  try {
    const stores = openData(dataFolder);
    try {
      return await serveStores(stores, options, signal, unlock);
    } catch (error) {
      stores.database.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw startError(dataFolder, error);
  }
}

async function serveStores(
  stores: Stores,
  options: ServeOptions,
  signal: AbortSignal,
  unlock: () => void,
): Promise<RunningService> {
  const { dataFolder, version = '', port = 0, apiKey, upstream, rateLimit, idleMs } = options;
  const key = apiKey ?? apiKeyOf(dataFolder);
  const { database, deployments, uploads, weights, keyring } = stores;
  // Chat never waits for an evaluation, and nothing waits for training.
  const chatWorker = new WorkerThread({ name: 'chat' });
  const sampler = new WorkerThread({ name: 'rollouts' });
  const trainer = new WorkerThread({ name: 'training', lowPriority: true });
  const graders = new WorkerThread({ name: 'graders' });
  const catalog = new Catalog(deployments, weights, upstream);
  const engine = new Engine({ ...stores, dataFolder, catalog, chatWorker, sampler, trainer, graders });
  engine.recover();
  sweepFiles(stores);
  seed(stores, ensureOrganization(database, key));

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
        set_aside: engine.setAside,
        waiting: engine.waiting,
      }),
      isStopping: () => stopping !== undefined,
      stop: successor => void stop(successor),
      accepted: response => {
        activity?.begin();
        response.once('close', () => activity?.end());
      },
      lease: () => leases.open(),
    },
  });
  const answer = getRequestListener(app.fetch);
  const server = createServer(connectionLimits, (incoming, outgoing) => void answer(incoming, outgoing));
  server.maxConnections = maxConnections;
  let stopping: Promise<void> | undefined;
  const stop = (successor = false): Promise<void> => {
    stopping ??= (async () => {
      activity?.close();
      const stopped = engine.stop();
      removeAddress(dataFolder, instanceId);
      leases.end(successor ? 'replaced' : 'stopped');
      const answered = new Promise(resolve => server.close(resolve));
      setTimeout(() => server.closeAllConnections(), graceMs).unref();
      // Training saves its progress; the others drop what is in flight.
      await Promise.all([sampler.close(), chatWorker.close(), graders.close()]);
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
    signal.throwIfAborted();
    const bound = await listen(server, port);
    const baseUrl = `http://127.0.0.1:${bound}`;
    withdrawSuccessor(dataFolder);
    writeAddress(dataFolder, { base_url: baseUrl, api_key: key, pid: process.pid, instance_id: instanceId });
    // Work begins once the service answers.
    engine.wake();
    return { baseUrl, apiKey: key, stop, ended };
  } catch (error) {
    activity?.close();
    server.close();
    await engine.stop();
    throw error;
  }
}
