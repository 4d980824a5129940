/** The local service in this process, which can be killed and restarted on the data that it had written. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { RunningService } from '../../src/local/daemon/daemon.ts';
import { serve } from '../../src/local/daemon/serve.ts';
import { databasePath } from '../../src/local/store/database-path.ts';
import { unobserved } from '../rig/disk.ts';
import { apiKey } from '../rig/world.ts';
import type { VirtualNetwork } from './virtual-network.ts';

const port = 47_000;

/** User agents of the callers. A caller that must not write has the reader's. */
export const agents = { user: 'simulated-user', reader: 'simulated-reader', screen: 'simulated-screen' } as const;

/** The initial data of each session. */
export interface Template {
  readonly folder: string;
  readonly benchId: string;
  /** Whether a screen has compared its counts. */
  isCounted: boolean;
}

/** The data folder after a kill. */
export type Leave = (folder: string, copy: string) => void;
const everything: Leave = (folder, copy) => cpSync(folder, copy, { recursive: true });

export class LocalService {
  readonly #root: string;
  readonly #network: VirtualNetwork;
  readonly #leave: Leave;
  #lives = 0;
  #running: RunningService | undefined;
  #starting: Promise<RunningService> | undefined;
  /** Opened once per start. */
  #reader: { path: string; database: DatabaseSync; statements: Map<string, StatementSync> } | undefined;

  constructor(root: string, network: VirtualNetwork, leave: Leave = everything) {
    this.#root = root;
    this.#network = network;
    this.#leave = leave;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${port}`;
  }

  get folder(): string {
    return join(this.#root, `life-${this.#lives}`);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** @throws Error if the data cannot be used, as on a full disk */
  async start(): Promise<void> {
    if (this.#running) return;
    this.#starting ??= serve({ dataFolder: this.folder, apiKey, port });
    try {
      this.#running = await this.#starting;
    } finally {
      this.#starting = undefined;
    }
  }

  /** Kills it at once. Its later writes have no effect. */
  kill(): void {
    const killed = this.#running;
    if (!killed) return;
    this.#running = undefined;
    const { folder } = this;
    this.#lives += 1;
    unobserved(() => this.#leave(folder, this.folder));
    this.#network.cut(port);
    killed.stop().then(
      () => rmSync(folder, { recursive: true, force: true }),
      () => {},
    );
  }

  async stop(): Promise<void> {
    this.#reader?.database.close();
    this.#reader = undefined;
    await this.#running?.stop();
    this.#running = undefined;
  }

  /** Reads its database directly. */
  rows<Row>(sql: string): Row[] {
    const path = databasePath(this.folder);
    if (this.#reader?.path !== path) {
      this.#reader?.database.close();
      this.#reader = { path, database: new DatabaseSync(path, { readOnly: true }), statements: new Map() };
    }
    const { database, statements } = this.#reader;
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement.all() as Row[];
  }
}
