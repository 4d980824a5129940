/**
 * Every point at which the store writes: statements of SQLite, and files. A test can fail one of them, or look at the
 * folder just before it, which is what a process leaves that is killed there.
 */
import type * as fs from 'node:fs';
import type * as promises from 'node:fs/promises';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { vi } from 'vitest';

/** Called before each write, with the database if it is a statement. May throw instead of it. */
export type OnWrite = (database: DatabaseSync | undefined) => void;

let onWrite: OnWrite | undefined;

/** Runs the work, and calls `callback` before each of its writes. */
export async function observeWrites<Result>(callback: OnWrite, work: () => Result | Promise<Result>): Promise<Result> {
  onWrite = callback;
  try {
    return await work();
  } finally {
    onWrite = undefined;
  }
}

/** What the callback itself writes is not observed. */
function beforeWrite(database: DatabaseSync | undefined): void {
  const callback = onWrite;
  onWrite = undefined;
  try {
    callback?.(database);
  } finally {
    onWrite = callback;
  }
}

const writes = /^\s*(insert|update|delete|create|alter|drop|begin|commit|rollback)/i;

/** The database that began the last transaction or ran the last script. */
let current: DatabaseSync | undefined;

/** To be called once, before the store is used. */
export function watchStatements(): void {
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    current = this;
    if (writes.test(sql)) beforeWrite(this);
    return exec.call(this, sql);
  });
  type Values = Parameters<StatementSync['run']>;
  const { run, get } = StatementSync.prototype;
  const before = ({ sourceSQL }: StatementSync): void => {
    if (writes.test(sourceSQL)) beforeWrite(current);
  };
  vi.spyOn(StatementSync.prototype, 'run').mockImplementation(function (this: StatementSync, ...values: Values) {
    before(this);
    return run.apply(this, values);
  });
  vi.spyOn(StatementSync.prototype, 'get').mockImplementation(function (this: StatementSync, ...values: Values) {
    before(this);
    return get.apply(this, values);
  });
}

/** A function that is a write. */
function watched<Arguments extends unknown[], Result>(write: (...given: Arguments) => Result) {
  return (...given: Arguments): Result => {
    beforeWrite(undefined);
    return write(...given);
  };
}

/** `node:fs` with its writes watched. */
export function watchedFs(real: typeof fs): Partial<typeof fs> {
  const { writeSync, writeFileSync, fsyncSync, renameSync, rmSync, mkdirSync } = real;
  return {
    ...real,
    writeSync: watched(writeSync) as typeof writeSync,
    writeFileSync: watched(writeFileSync) as typeof writeFileSync,
    fsyncSync: watched(fsyncSync),
    renameSync: watched(renameSync),
    rmSync: watched(rmSync),
    mkdirSync: watched(mkdirSync) as typeof mkdirSync,
  };
}

/** `node:fs/promises` with the writes of its files watched. */
export function watchedPromises(real: typeof promises): Partial<typeof promises> {
  const open: typeof real.open = async (...given) => {
    beforeWrite(undefined);
    const file = await real.open(...given);
    const { writeFile, sync } = file;
    file.writeFile = async (...content) => {
      beforeWrite(undefined);
      return writeFile.apply(file, content);
    };
    file.sync = async () => {
      beforeWrite(undefined);
      return sync.call(file);
    };
    return file;
  };
  return { ...real, open };
}
