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
