/**
 * Observes every write of this process: statements of SQLite, and files. A test can fail a write, or inspect the
 * folder just before it, as a kill at this point would leave it.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Called before each write, with the database if it is a statement. May throw to prevent it. */
type OnWrite = (database: DatabaseSync | undefined) => void;

let onWrite: OnWrite | undefined;

/** Sets the function to call before each write. */
export function setOnWrite(callback: OnWrite | undefined): void {
  onWrite = callback;
}

/** Runs the work, and calls `callback` before each of its writes. */
export async function observeWrites<Result>(callback: OnWrite, work: () => Result | Promise<Result>): Promise<Result> {
  onWrite = callback;
  try {
    return await work();
  } finally {
    onWrite = undefined;
  }
}

/** Runs work whose writes are not observed. */
export function unobserved(work: () => void): void {
  const callback = onWrite;
  onWrite = undefined;
  try {
    work();
  } finally {
    onWrite ??= callback;
  }
}

const beforeWrite = (database: DatabaseSync | undefined): void => {
  const callback = onWrite;
  unobserved(() => callback?.(database));
};

const writes = /^\s*(insert|update|delete|create|alter|drop|begin|commit|rollback)/i;

/** SQLite's error numbers (sqlite.org/rescode.html). */
export const ioError = 10;
export const full = 13;

/** The error of a statement with SQLite's number, or the corresponding file system error. */
export function failureOf(database: DatabaseSync | undefined, errcode: number): Error {
  if (database) return Object.assign(new Error('a fault'), { code: 'ERR_SQLITE_ERROR', errcode });
  return Object.assign(new Error('a fault'), { code: errcode === full ? 'ENOSPC' : 'EIO' });
}

/** After a full disk SQLite has rolled back by itself. */
export function rollBackAlone(database: DatabaseSync | undefined): void {
  if (database?.isTransaction) database.prepare('rollback').all();
}

/** The database of each statement. */
const databases = new WeakMap<StatementSync, DatabaseSync>();

function watchStatements(): void {
  const { exec, prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (writes.test(sql)) beforeWrite(this);
    return exec.call(this, sql);
  };
  DatabaseSync.prototype.prepare = function (...given) {
    const statement = prepare.apply(this, given);
    databases.set(statement, this);
    return statement;
  };
  for (const name of ['run', 'get'] as const) {
    const real = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
    const watched = function (this: StatementSync, ...values: unknown[]): unknown {
      if (writes.test(this.sourceSQL)) beforeWrite(databases.get(this));
      return real.apply(this, values);
    };
    Object.assign(StatementSync.prototype, { [name]: watched });
  }
}

/** Wraps a function that writes. */
function watched<Arguments extends unknown[], Result>(write: (...given: Arguments) => Result) {
  return (...given: Arguments): Result => {
    beforeWrite(undefined);
    return write(...given);
  };
}

let isWatched = false;

/** Call this before the writes to observe. */
export function watchWrites(): void {
  if (isWatched) return;
  isWatched = true;
  watchStatements();
  for (const name of ['writeSync', 'writeFileSync', 'fsyncSync', 'renameSync', 'rmSync', 'mkdirSync'] as const) {
    Object.assign(fs, { [name]: watched(fs[name] as (...given: unknown[]) => unknown) });
  }
  const { open } = promises;
  promises.open = async (...given) => {
    beforeWrite(undefined);
    const file = await open(...given);
    file.writeFile = watched(file.writeFile.bind(file));
    file.sync = watched(file.sync.bind(file));
    return file;
  };
  syncBuiltinESMExports();
}
