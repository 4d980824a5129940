/** The database file of the remembered store: its schema, and sharing it with other programs. */

import { chmodSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from '../../text/errors.ts';

const schema = `
  create table if not exists seen (
    profile text not null, kind text not null, id text not null, label text not null, status text, parent text,
    record text not null, seen_at integer not null, primary key (profile, kind, id)
  ) strict, without rowid;
  create table if not exists pins (
    profile text not null, kind text not null, id text not null, label text not null, pinned_at integer not null,
    primary key (profile, kind, id)
  ) strict, without rowid;
  create table if not exists progress (
    profile text not null, run_id text not null, at integer not null, completed_steps integer not null,
    primary key (profile, run_id, at)
  ) strict, without rowid;
  create table if not exists commands (
    profile text not null, command text not null, used_at integer not null, primary key (profile, command)
  ) strict, without rowid;
  create table if not exists chats (
    profile text not null, id text not null, title text not null, at integer not null, talk text not null,
    primary key (profile, id)
  ) strict, without rowid;
  create table if not exists uploads (
    profile text not null, folder text not null, bench_id text not null, phase text not null, manifest text,
    begun_at integer not null, primary key (profile, folder)
  ) strict, without rowid;
  create table if not exists upload_files (
    profile text not null, folder text not null, bench_id text not null, path text not null, mark text,
    primary key (profile, folder, bench_id, path)
  ) strict, without rowid;
  drop table if exists trajectory_uploads;
  create table if not exists trajectory_requests (
    profile text not null, path text not null, dataset text not null, agent text not null, id text not null primary key,
    key text, stored text not null, skipped text not null, unknown text not null, sent_at integer not null
  ) strict;
  create index if not exists requests_of_uploads on trajectory_requests (profile, path, dataset, agent, sent_at);
  create table if not exists pages (
    profile text not null, list text not null, rows integer not null, complete integer not null,
    read_at integer not null, page text not null, primary key (profile, list)
  ) strict, without rowid;
  create table if not exists settings (
    profile text not null, name text not null, value text not null, primary key (profile, name)
  ) strict, without rowid;
`;

/** Imported on demand, which the first frame does not need. */
function openDatabase(path: string, busyMs = 0): DatabaseSync {
  return new (process.getBuiltinModule('node:sqlite').DatabaseSync)(path, { timeout: busyMs });
}

/** Another benchtop locks the file for milliseconds; a screen that hangs for longer is worse than a lost note. */
export const busyTimeoutMs = 500;
/** SQLITE_BUSY (sqlite.org/rescode.html). */
export const busyCode = 5;

/**
 * Switching to WAL does not wait for locks: a program that holds a new file is making the same switch, which is
 * permanent.
 */
function writeAhead(database: DatabaseSync): void {
  try {
    database.exec('pragma journal_mode = wal');
  } catch (error) {
    if (sqliteCode(error) !== busyCode) throw error;
  }
}

/** Opens or creates the file with its tables. @throws Error of SQLite, or of the file system */
export function connect(path: string, busyMs: number): DatabaseSync {
  const database = openDatabase(path, busyMs);
  try {
    chmodSync(path, 0o600);
    writeAhead(database);
    database.exec('pragma synchronous = normal');
    // In one transaction: a new file is written once, not once per table.
    database.exec(`begin; ${schema} commit`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** An in-memory database, lost when the program ends. */
export function connectInMemory(): DatabaseSync {
  const database = openDatabase(':memory:');
  database.exec(schema);
  return database;
}
