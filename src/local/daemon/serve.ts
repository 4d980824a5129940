/** Runs the local service in this process until it is stopped, or has been idle for a while. */

import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { shellWord } from '../../base/shell-word.ts';
import { Catalog } from '../engine/catalog.ts';
import { Engine } from '../engine/engine.ts';
import { WorkerThread } from '../engine/worker-thread.ts';
import { sampleManifests } from '../samples/benchmarks.ts';
import type { ServiceContext } from '../server/handlers.ts';
import { SignedUploads } from '../server/signed-uploads.ts';
import { TrajectoryTokens } from '../server/trajectory-tokens.ts';
import { Database } from '../store/database.ts';
import { databasePath } from '../store/database-path.ts';
import { ensureOrganization } from '../store/organizations.ts';
import { openStores, type Stores, sweepFiles } from '../store/stores.ts';
import { findService, stopService } from './client.ts';
import { type Composition, Daemon, type DaemonOptions, type RunningService } from './daemon.ts';
import {
  apiKeyOf,
  forgetHolder,
  holderOf,
  keyringOf,
  lockFolder,
  makeDataFolder,
  recordHolder,
  refuseEmptyDatabase,
  startError,
} from './files.ts';

export interface ServeOptions extends Omit<DaemonOptions, 'apiKey'> {
  /** 0 chooses any free port. */
  readonly port?: number;
  /** The sample organization's API key; generated and stored if missing. */
  readonly apiKey?: string | undefined;
  /** Whether a new folder gets the sample benchmarks; it does by default. */
  readonly samples?: boolean;
  /** Aborts the startup. */
  readonly signal?: AbortSignal;
}

/** How long to wait for a process that is starting or ending and holds the folder without responding. */
const lockTimeoutMs = 60_000;
const pollIntervalMs = 20;

/** Another process serves this folder. */
export class AlreadyRunning extends Error {
  override readonly name = 'AlreadyRunning';
}

/**
 * Locks the folder, waiting for a process that is ending. A service started for a screen gives way to one started by
 * hand. Returns a function that unlocks the folder.
 *
 * @throws AlreadyRunning if another service is serving the folder, or holds it without responding
 * @throws the signal's reason
 */
async function lockWhenFree(folder: string, byHand: boolean, signal: AbortSignal): Promise<() => void> {
  const deadline = performance.now() + lockTimeoutMs;
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
        `Another benchtop already serves ${folder}: process ${running.pid}, at ${running.baseUrl}. Stop it with ${stopCommand}.`,
      );
    } else if (performance.now() > deadline) {
      const pid = holderOf(folder);
      const who = pid === undefined ? 'Another process' : `Process ${pid}`;
      throw new AlreadyRunning(`${who} holds ${folder} and does not answer. Stop it with ${stopCommand}.`);
    } else await wait(pollIntervalMs);
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

/**
 * Stores data in a folder that is deleted at exit, so commits do not wait for the disk.
 *
 * @param work called with the stores and the organization's id
 */
export async function fillFolder<Result>(
  folder: string,
  work: (stores: Stores, organizationId: string) => Promise<Result>,
): Promise<Result> {
  makeDataFolder(folder);
  const stores = openData(folder);
  try {
    stores.database.get('pragma synchronous = off');
    return await work(stores, ensureOrganization(stores.database, apiKeyOf(folder)));
  } finally {
    stores.database.close();
  }
}

/** Ingests the sample benchmarks into a new data folder, like uploaded ones. */
function seed({ database, benchmarks }: Stores, organizationId: string): void {
  if (benchmarks.list(organizationId, { limit: 1 }).items.length > 0) return;
  const now = Date.now();
  // Add all or none: the next start adds none if it finds any benchmark.
  database.transaction(() => {
    for (const [index, manifest] of sampleManifests.entries()) {
      // Lists show the newest first.
      const created_at = new Date(now - index).toISOString();
      benchmarks.beginBuild(benchmarks.ingest(organizationId, manifest, { created_at }));
    }
  });
}

const ignore = (): void => {};

/** If the disk is full, lose log lines but keep the service running. */
function surviveFullLog(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error', ignore) === 0) stream.on('error', ignore);
  }
}

/** This machine's user, in the form of an e-mail address. */
function userOfMachine(): string {
  try {
    return `${userInfo().username}@localhost`;
  } catch {
    // In some containers, the user has no name.
    return 'user@localhost';
  }
}

/**
 * Starts the service. If that fails, nothing stays open or locked.
 *
 * @throws AlreadyRunning if another process serves the folder
 * @throws DataFolderError if the folder cannot be used
 * @throws the signal's reason
 */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { dataFolder, idleMs, signal = new AbortController().signal } = options;
  surviveFullLog();
  makeDataFolder(dataFolder);
  const unlock = await lockWhenFree(dataFolder, idleMs === undefined, signal);
  try {
    const stores = openData(dataFolder);
    try {
      const apiKey = options.apiKey ?? apiKeyOf(dataFolder);
      const composition = compose(stores, apiKey, options);
      signal.throwIfAborted();
      return await new Daemon(composition, { ...options, apiKey }, unlock).listen(options.port ?? 0);
    } catch (error) {
      stores.database.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw startError(dataFolder, error);
  }
}

/** Builds a data folder's service: resumes interrupted work, removes orphaned files, and adds the samples. */
function compose(stores: Stores, key: string, { dataFolder, upstream, samples = true }: ServeOptions): Composition {
  // Separate threads: chat never waits for an evaluation, and nothing waits for training.
  const workers = {
    chatWorker: new WorkerThread({ name: 'chat' }),
    sampler: new WorkerThread({ name: 'rollouts' }),
    trainer: new WorkerThread({ name: 'training', lowPriority: true }),
    graders: new WorkerThread({ name: 'graders' }),
  };
  const catalog = new Catalog(stores.deployments, stores.weights, upstream);
  const engine = new Engine({ ...stores, ...workers, dataFolder, catalog });
  engine.recover();
  sweepFiles(stores);
  const organization = ensureOrganization(stores.database, key);
  if (samples) seed(stores, organization);
  const service: ServiceContext = {
    ...stores,
    catalog,
    engine,
    signedUploads: new SignedUploads(stores.keyring, stores.uploads),
    tokens: new TrajectoryTokens(stores.keyring),
    sampleChat: (...order) => workers.chatWorker.chat(...order),
    user: userOfMachine(),
  };
  return { service, workers };
}
