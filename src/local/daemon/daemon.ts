/** The process that serves a data folder: its HTTP server, control endpoints, idle timeout and shutdown. */

import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { errorCode, errorMessage, isDiskFull } from '../../base/errors.ts';
import type { WorkerThread } from '../engine/worker-thread.ts';
import { type Control, createApp } from '../server/app.ts';
import type { ServiceContext } from '../server/handlers.ts';
import type { RateLimit } from '../server/rate-limit.ts';
import { Activity } from './activity.ts';
import { removeAddress, withdrawSuccessor, writeAddress } from './files.ts';
import { Leases } from './lease.ts';
import { fingerprintOf, type ServiceSettings } from './settings.ts';

/** A service and its engine's worker threads. */
export interface Composition {
  readonly service: ServiceContext;
  readonly workers: Readonly<Record<'chatWorker' | 'sampler' | 'trainer' | 'graders', WorkerThread>>;
}

export interface DaemonOptions extends ServiceSettings {
  readonly dataFolder: string;
  /** The program's version, which clients compare with their own. */
  readonly version?: string;
  /** The sample organization's API key. */
  readonly apiKey: string;
  /**
   * Set for a service started for a screen: it exits after being idle for this many milliseconds, and gives way to a
   * service started by hand.
   */
  readonly idleMs?: number;
}

export interface RunningService {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Stops it: requests in flight are answered, and running work resumes at the next start. */
  readonly stop: (successor?: boolean) => Promise<void>;
  /** Resolves once it has ended, for any reason. */
  readonly ended: Promise<void>;
}

/** How long requests in flight may take when the service stops. */
const graceMs = 500;

/** Any program on the machine may open connections, so their number is limited to save file descriptors. */
const maxConnections = 512;
/** A connection that does not send a request's head in time is closed. */
const connectionLimits = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 } as const;

/** More than programs on one machine send. */
const unlimitedLocal: RateLimit = { perSecond: 2_000, burst: 4_000 };

export class Daemon implements Control {
  readonly #service: ServiceContext;
  readonly #workers: Composition['workers'];
  readonly #options: DaemonOptions;
  readonly #unlock: () => void;
  readonly #instanceId = randomUUID();
  readonly #fingerprint: string;
  readonly #leases = new Leases();
  readonly #ended = Promise.withResolvers<void>();
  readonly #server: Server;
  /** A crash caused by a full disk must not count against the running jobs. */
  readonly #pardonJobs = (error: unknown): void => {
    if (isDiskFull(error)) this.#service.attempts.pardon();
  };
  #activity: Activity | undefined;
  #stopping: Promise<void> | undefined;

  /** @param unlock releases the data folder once the service has stopped */
  constructor({ service, workers }: Composition, options: DaemonOptions, unlock: () => void) {
    this.#service = service;
    this.#workers = workers;
    this.#options = options;
    this.#unlock = unlock;
    this.#fingerprint = fingerprintOf(options.dataFolder, options);
    const app = createApp({ service, rateLimit: options.rateLimit ?? unlimitedLocal, control: this });
    const answer = getRequestListener(app.fetch);
    this.#server = createServer(connectionLimits, (incoming, outgoing) => void answer(incoming, outgoing));
    this.#server.maxConnections = maxConnections;
  }

  /** Starts accepting requests and running jobs. @throws Error if the port cannot be used */
  async listen(port: number): Promise<RunningService> {
    const { engine } = this.#service;
    const { dataFolder, apiKey, idleMs } = this.#options;
    try {
      const baseUrl = `http://127.0.0.1:${await listen(this.#server, port)}`;
      withdrawSuccessor(dataFolder);
      writeAddress(dataFolder, {
        base_url: baseUrl,
        api_key: apiKey,
        pid: process.pid,
        instance_id: this.#instanceId,
      });
      if (idleMs !== undefined) {
        this.#activity = new Activity({ idleMs, isBusy: () => engine.busy, onIdle: () => this.stop() });
      }
      process.on('uncaughtExceptionMonitor', this.#pardonJobs);
      // Start jobs only once the service accepts requests.
      engine.wake();
      return { baseUrl, apiKey, stop: successor => this.#stopOnce(successor), ended: this.#ended.promise };
    } catch (error) {
      this.#server.close();
      await engine.stop();
      throw error;
    }
  }

  health(): object {
    const { engine } = this.#service;
    const { version = '', idleMs, upstream } = this.#options;
    return {
      instance_id: this.#instanceId,
      pid: process.pid,
      version,
      fingerprint: this.#fingerprint,
      background: idleMs !== undefined,
      leases: this.#leases.count,
      upstream: upstream?.url ?? null,
      set_aside: engine.setAside,
      waiting: engine.waiting,
    };
  }

  isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  accepted(response: ServerResponse): void {
    this.#activity?.begin();
    response.once('close', () => this.#activity?.end());
  }

  lease(): ReadableStream<Uint8Array> {
    return this.#leases.open();
  }

  stop(successor = false): void {
    void this.#stopOnce(successor);
  }

  #stopOnce(successor = false): Promise<void> {
    this.#stopping ??= this.#stop(successor);
    return this.#stopping;
  }

  async #stop(successor: boolean): Promise<void> {
    const { engine, database } = this.#service;
    const { chatWorker, sampler, trainer, graders } = this.#workers;
    this.#activity?.close();
    const stopped = engine.stop();
    removeAddress(this.#options.dataFolder, this.#instanceId);
    this.#leases.end(successor ? 'replaced' : 'stopped');
    const answered = new Promise(resolve => this.#server.close(resolve));
    setTimeout(() => this.#server.closeAllConnections(), graceMs).unref();
    // Training saves its progress; other jobs drop their work in flight.
    await Promise.all([sampler.close(), chatWorker.close(), graders.close()]);
    await stopped;
    await trainer.close();
    await answered;
    process.off('uncaughtExceptionMonitor', this.#pardonJobs);
    database.close();
    this.#unlock();
    this.#ended.resolve();
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
