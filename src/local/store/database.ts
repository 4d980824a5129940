/** The local service's database: one file, one writer, write-ahead log, numbered migrations. */
import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Statements } from '../../base/statements.ts';
import { initialVersion, migrations } from './migrations.ts';

export type Row = Readonly<Record<string, SQLInputValue>>;

export class Database {
  readonly #sqlite: DatabaseSync;
  #isInTransaction = false;
  readonly #statements: Statements;

  /**
   * Opens or creates the file and migrates it. `:memory:` keeps everything in memory. A commit waits for the disk
   * (`synchronous = full`), because clients rely on it once they get the response.
   */
  constructor(path: string) {
    this.#sqlite = new DatabaseSync(path);
    this.#statements = new Statements(this.#sqlite);
    // Readable only by this user, even in an older folder with other modes. SQLite gives its log the same mode.
    if (path !== ':memory:') chmodSync(path, 0o600);
    this.#sqlite.exec(
      'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 5000;',
    );
    this.#migrate();
  }

  #migrate(): void {
    const { user_version: version } = this.#sqlite.prepare('pragma user_version').get() as { user_version: number };
    const done = Math.max(0, version - initialVersion);
    requireKnown(done, migrations.length);
    for (const [index, migration] of migrations.entries()) {
      if (index < done) continue;
      const next = initialVersion + index + 1;
      this.transaction(() => this.#sqlite.exec(`${migration}; pragma user_version = ${next};`));
    }
  }

  /**
   * Migrates an area's tables; each area counts its own migrations.
   *
   * @throws Error if the data was written by a newer program
   */
  migrateArea(area: string, steps: readonly string[]): void {
    if (steps.length === 0) return;
    this.#sqlite.exec('create table if not exists area_forms (area text primary key, form integer not null) strict');
    const done = this.get<{ form: number }>('select form from area_forms where area = ?', area)?.form ?? 0;
    requireKnown(done, steps.length);
    for (const [index, step] of steps.entries()) {
      if (index < done) continue;
      this.transaction(() => {
        this.#sqlite.exec(step);
        this.put('area_forms', { area, form: index + 1 });
      });
    }
  }

  all<Result>(sql: string, ...values: SQLInputValue[]): Result[] {
    return this.#statements.prepare(sql).all(...values) as Result[];
  }

  get<Result>(sql: string, ...values: SQLInputValue[]): Result | undefined {
    return this.#statements.prepare(sql).get(...values) as Result | undefined;
  }

  /** The `count` that a query selects. */
  count(sql: string, ...values: SQLInputValue[]): number {
    return this.get<{ readonly count: number }>(sql, ...values)?.count ?? 0;
  }

  /** Runs a statement; returns the number of rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    this.#endLeftOver();
    return Number(this.#statements.prepare(sql).run(...values).changes);
  }

  /** Inserts a new row. @throws Error if its primary key exists: a duplicate id must not hide a row */
  insert(table: string, row: Row): void {
    this.#write('insert', table, row);
  }

  /** Inserts a row, or replaces the one with the same primary key. */
  put(table: string, row: Row): void {
    this.#write('insert or replace', table, row);
  }

  #write(verb: string, table: string, row: Row): void {
    const names = Object.keys(row);
    const sql = `${verb} into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`;
    this.run(sql, ...Object.values(row));
  }

  /**
   * Runs the work in a transaction, or as part of the open one.
   *
   * @throws any error from the work, or from SQLite if the commit fails; nothing is then stored
   */
  transaction<Result>(work: () => Result): Result {
    if (this.#isInTransaction) return work();
    this.#endLeftOver();
    this.#sqlite.exec('begin immediate');
    this.#isInTransaction = true;
    try {
      const result = work();
      this.#sqlite.exec('commit');
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** After some errors, such as a full disk, SQLite has already rolled back (sqlite.org/lang_transaction.html). */
  #rollback(): void {
    if (!this.#sqlite.isTransaction) return;
    try {
      this.#sqlite.exec('rollback');
    } catch {
      // The error that caused the rollback is thrown.
    }
  }

  /** Ends a transaction whose rollback failed; it would swallow later writes. @throws Error from SQLite */
  #endLeftOver(): void {
    if (!this.#isInTransaction && this.#sqlite.isTransaction) this.#sqlite.exec('rollback');
  }

  close(): void {
    this.#sqlite.close();
  }
}

/** @throws Error if the data has more migrations than this program knows */
function requireKnown(done: number, known: number): void {
  if (done <= known) return;
  throw new Error(
    `A newer benchtop wrote this data (schema ${done}, this version reads ${known}). Use that version, or another data folder.`,
  );
}
