import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  asError,
  errorCode,
  errorMessage,
  errorStack,
  isDamagedDatabase,
  isDiskFull,
  isStorageError,
  partMissing,
  sqliteCode,
} from '../../src/base/errors.ts';

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the code of an error', () => {
  it('is that of the system, even for an error from another realm', () => {
    expect(errorCode(thrown(() => readFileSync('/nowhere/at/all')))).toBe('ENOENT');
    const late = thrown(() => runInNewContext('for (;;);', {}, { timeout: 1 }));
    expect(errorCode(late)).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
    for (const other of [new Error('plain'), 'text', null, undefined, { code: 5 }]) {
      expect(errorCode(other)).toBeUndefined();
    }
  });

  it('is the primary one for SQLite', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('create table one (id integer primary key)');
    database.exec('insert into one values (1)');
    // SQLITE_CONSTRAINT_PRIMARYKEY is 1555, SQLITE_CONSTRAINT 19.
    expect(sqliteCode(thrown(() => database.exec('insert into one values (1)')))).toBe(19);
    expect(sqliteCode(new Error('plain'))).toBeUndefined();
    database.close();
  });
});

it('counts errors as of the storage if a retry may succeed, but not mistakes in a statement', () => {
  const ofSqlite = (errcode: number) => Object.assign(new Error('x'), { errcode });
  const failures = [ofSqlite(13), ofSqlite(5), ofSqlite(778), Object.assign(new Error('x'), { code: 'ENOSPC' })];
  expect(failures.map(isStorageError)).toEqual([true, true, true, true]);
  expect([ofSqlite(19), ofSqlite(1), new Error('x')].map(isStorageError)).toEqual([false, false, false]);
});

it.each(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])(
  'says what to do, without a path, if a module is gone, as after an upgrade (%s)',
  code => {
    const missing = Object.assign(new Error('Cannot find module /x/y.js'), { code });
    expect([errorMessage(missing), asError(missing).message]).toEqual([partMissing, partMissing]);
  },
);

it('reads the message of anything thrown', () => {
  const error = new RangeError('too far');
  expect(asError(error)).toBe(error);
  expect(asError('text')).toEqual(new Error('text'));
  expect([error, 'text', undefined].map(errorMessage)).toEqual(['too far', 'text', 'undefined']);
  expect([errorStack(error), errorStack('text')]).toEqual([error.stack, 'text']);
  expect(errorStack(Object.assign(new Error('no stack'), { stack: '' }))).toBe('no stack');
  const missing = Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' });
  expect(asError(missing).cause).toBe(missing);
});

it('tells a damaged file from a full disk, by errors of SQLite or the system', () => {
  const errors = [11, 26, 267, 13, 5, '11'].map(errcode => ({ errcode }));
  expect(errors.map(isDamagedDatabase)).toEqual([true, true, true, false, false, false]);
  expect(errors.map(isDiskFull)).toEqual([false, false, false, true, false, false]);
  expect(['ENOSPC', 'EDQUOT', 'EIO'].map(code => isDiskFull({ code }))).toEqual([true, true, false]);
  expect([null, undefined, 'text', {}].map(sqliteCode)).toEqual([undefined, undefined, undefined, undefined]);
});
