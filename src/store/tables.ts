/**
 * The remembered store's tables, scoped to one service. A full disk or a damaged file never stops the program.
 */

import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementResultingChanges } from 'node:sqlite';
import { errorMessage, isDamagedDatabase, sqliteCode } from '../base/errors.ts';
import { parseDeepJson } from '../base/json-depth.ts';
import { Listeners } from '../base/listeners.ts';
import { makePrivateFolder } from '../base/ownership.ts';
import { inTransaction, Statements } from '../base/statements.ts';
import { clean } from '../text/sanitise.ts';
import { busyCode, busyTimeoutMs, connect, connectInMemory, EarlierTablesError } from './database.ts';

/** Runs a statement in its caller's transaction. */
export type Run = (sql: string, ...values: SQLInputValue[]) => Pick<StatementResultingChanges, 'lastInsertRowid'>;
export type Row = Record<string, SQLInputValue>;

/** Parses a JSON column; undefined if it is damaged. */
export function jsonIn(column: SQLInputValue | undefined): unknown {
  return parseDeepJson(String(column));
}

/**
 * The rows of one profile. Data observed on the service, and benchmark uploads, belong to the profile, because another one may
 * have a key of another organization. People's own data, and the record of other requests sent, belong to the service:
 * a profile that is renamed keeps them.
 */
export interface Scope {
  /** The profile's name and the service's address: the value of the column `profile`. */
  readonly profile: string;
  /** The service's address: the value of the column `service`. */
  readonly service: string;
}

/** Separates an unreadable file's name from the time at which it was set aside. */
const brokenPart = '.broken-';

/** Opens or creates the file. If that fails, everything stays in memory. Waits at most `busyMs` for other writers. */
export function openTables(path: string, scope: Scope | string, busyMs = busyTimeoutMs): Tables {
  try {
    makePrivateFolder(dirname(path));
    try {
      return new Tables(connect(path, busyMs), scope, { busyMs, path });
    } catch (error) {
      if (!(error instanceof EarlierTablesError) && !isDamagedDatabase(error)) throw error;
      renameSync(path, `${path}${brokenPart}${Date.now()}`);
      return new Tables(connect(path, busyMs), scope, { busyMs, path });
    }
  } catch (error) {
    return tablesInMemory(scope, `History is kept only while the program runs: ${errorMessage(error)}`);
  }
}

export function tablesInMemory(scope: Scope | string, problem?: string): Tables {
  return new Tables(connectInMemory(), scope, { busyMs: 0, problem });
}

/** Busy timeout after a write has timed out, in milliseconds. */
const stillBusyMs = 5;

interface TablesOptions {
  /** Busy timeout in milliseconds. */
  readonly busyMs: number;
  /** The file; undefined in memory. */
  readonly path?: string;
  readonly problem?: string | undefined;
}

/** The state of the file. */
export type FileState = Readonly<
  Pick<Tables, 'problem' | 'isOpen' | 'setAside' | 'damage' | 'onProblem' | 'wasWrittenElsewhere'>
>;

export class Tables {
  readonly scope: string;
  readonly service: string;
  /** The file's folder; undefined in memory. */
  readonly folder: string | undefined;
  readonly #path: string | undefined;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #problems = new Listeners<string>();
  /** Why data cannot be saved, as a sentence for the user; undefined if all of it can. */
  problem: string | undefined;
  #busyMs: number;
  /**
   * Whether a write has timed out. If so, later writes give up quickly, so that exiting does not wait for each of them.
   */
  #isHeld = false;
  /** SQLite's `data_version`, which changes with writes by other connections. */
  #version: SQLInputValue | undefined;

  constructor(database: DatabaseSync, scope: Scope | string, { busyMs, path, problem }: TablesOptions) {
    this.#database = database;
    this.#statements = new Statements(database);
    const { profile, service } = typeof scope === 'string' ? { profile: scope, service: scope } : scope;
    this.scope = profile;
    this.service = service;
    this.folder = path && dirname(path);
    this.#path = path;
    this.#busyMs = busyMs;
    this.problem = problem;
  }

  /** Whether there is a file to write to, or none was wanted. */
  get isOpen(): boolean {
    return this.folder !== undefined || this.problem === undefined;
  }

  /**
   * Tells the user that earlier data is in a file that was set aside, until the user moves or deletes that file;
   * undefined if there is none.
   */
  get setAside(): string | undefined {
    if (this.#path === undefined || this.folder === undefined) return undefined;
    const name = `${basename(this.#path)}${brokenPart}`;
    const latest = readdirSync(this.folder)
      .filter(each => each.startsWith(name))
      .sort()
      .at(-1);
    return (
      latest &&
      clean`The earlier history could not be read, and is in ${join(this.folder, latest)}. To continue without it, move or delete that file`
    );
  }

  /** Calls `listener` with a message when writing begins to fail; returns a function that unsubscribes. */
  readonly onProblem = this.#problems.subscribe;

  #write(work: () => void): boolean {
    try {
      work();
      this.#setHeld(false);
      return true;
    } catch (error) {
      if (sqliteCode(error) === busyCode) this.#setHeld(true);
      const problem = `History cannot be saved: ${errorMessage(error)}`;
      const isNew = problem !== this.problem;
      this.problem = problem;
      if (isNew) this.#problems.notify(problem);
      return false;
    }
  }

  #setHeld(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#setTimeout();
  }

  #setTimeout(): void {
    this.#database.exec(`pragma busy_timeout = ${this.#isHeld ? stillBusyMs : this.#busyMs}`);
  }

  /** Lowers the busy timeout. */
  waitAtMost(busyMs: number): void {
    this.#busyMs = Math.min(this.#busyMs, busyMs);
    this.#setTimeout();
  }

  /** False if it could not be written; `problem` has the reason. */
  run(sql: string, ...values: SQLInputValue[]): boolean {
    return this.#write(() => this.#statements.prepare(sql).run(...values));
  }

  /** Runs the statement for each row of values in one transaction; false if it failed. */
  runAll(sql: string, rows: readonly (readonly SQLInputValue[])[]): boolean {
    if (rows.length === 0) return true;
    return this.atOnce(run => {
      for (const values of rows) run(sql, ...values);
    });
  }

  /** Reads and writes in one transaction, so that no other program writes in between; false if it failed. */
  atOnce(work: (run: Run) => void): boolean {
    const run: Run = (sql, ...values) => this.#statements.prepare(sql).run(...values);
    return this.#write(() => inTransaction(this.#database, () => work(run)));
  }

  /**
   * Runs writes that need not wait for the disk. A power cut may lose the latest ones, but cannot cause duplicate
   * requests or damage the file (sqlite.org/pragma.html#pragma_synchronous).
   */
  lazily(writes: () => void): void {
    this.all('pragma synchronous = normal');
    try {
      writes();
    } finally {
      this.all('pragma synchronous = full');
    }
  }

  /** Deletes all but the `most` newest rows of a table. */
  keepNewest(table: 'commands' | 'pages', key: string, time: string, most: number): void {
    this.run(
      `delete from ${table} where profile = ?1 and ${key} not in (
         select ${key} from ${table} where profile = ?1 order by ${time} desc limit ?2
       )`,
      this.scope,
      most,
    );
  }

  /** The rows; none if they cannot be read. */
  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.read(sql, ...values) ?? [];
  }

  /** The rows; undefined if they cannot be read. */
  read(sql: string, ...values: SQLInputValue[]): Row[] | undefined {
    try {
      return this.#statements.prepare(sql).all(...values) as Row[];
    } catch (error) {
      if (sqliteCode(error) === busyCode) this.#setHeld(true);
      return undefined;
    }
  }

  /** The damage to the file, in SQLite's words; undefined if there is none. */
  damage(): string | undefined {
    const [row] = this.all('pragma quick_check(1)');
    const said = row ? String(row['quick_check']) : 'it cannot be read';
    return said === 'ok' ? undefined : said;
  }

  /** Whether another connection has written to the file since the last call. */
  wasWrittenElsewhere(): boolean {
    const before = this.#version;
    const [row] = this.all('pragma data_version');
    this.#version = row?.['data_version'] ?? before;
    return before !== undefined && this.#version !== before;
  }

  close(): void {
    this.#database.close();
  }
}

/** Upload records are deleted after this long without being resumed. */
export const uploadsKeptMs = 90 * 24 * 60 * 60_000;

/** Upload records, with listeners for records that this program begins and forgets. */
export abstract class ResumableUploads {
  protected readonly tables: Tables;
  readonly #listeners = new Listeners();

  constructor(tables: Tables) {
    this.tables = tables;
  }

  readonly subscribe = this.#listeners.subscribe;
  protected readonly changed = this.#listeners.notify;
}
