import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A database's statements, each compiled once. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #compiled = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  prepare(sql: string): StatementSync {
    const compiled = this.#compiled.get(sql) ?? this.#database.prepare(sql);
    this.#compiled.set(sql, compiled);
    return compiled;
  }
}

/** Runs writes in one transaction: other programs see all or none of them, and write nothing in between. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('begin immediate');
  try {
    work();
    database.exec('commit');
  } catch (error) {
    // SQLite itself has rolled back after some errors, such as a full disk (sqlite.org/lang_transaction.html).
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
