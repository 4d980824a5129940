/** The remembered store's database file: its schema, and sharing it with other programs. */

import { chmodSync, existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from '../base/errors.ts';

/** The version of the tables, the file's `user_version`. Raise it with each change to `schema`. */
const version = 7;

const schema = `
  create table if not exists seen (
    profile text not null, kind text not null, id text not null, label text not null, status text, parent text,
    record text not null, seen_at integer not null, primary key (profile, kind, id)
  ) strict, without rowid;
  create index if not exists seen_by_id on seen (profile, id collate nocase);
  create index if not exists seen_by_label on seen (profile, label collate nocase);
  create table if not exists pins (
    service text not null, kind text not null, id text not null, label text not null, pinned_at integer not null,
    primary key (service, kind, id)
  ) strict, without rowid;
  create table if not exists progress (
    profile text not null, run_id text not null, at integer not null, completed_steps integer not null,
    since integer, primary key (profile, run_id, at)
  ) strict, without rowid;
  create table if not exists silences (
    profile text not null, run_id text not null, at integer not null, until integer not null,
    completed_steps integer not null, primary key (profile, run_id, at)
  ) strict, without rowid;
  create table if not exists commands (
    profile text not null, command text not null, used_at integer not null, primary key (profile, command)
  ) strict, without rowid;
  create table if not exists chats (
    service text not null, id text not null, title text not null, model text not null, incomplete integer not null,
    at integer not null, talk text not null, primary key (service, id)
  ) strict, without rowid;
  create table if not exists choices (
    service text not null, conversation text not null, pair text not null, choice text not null,
    primary key (service, conversation, pair)
  ) strict, without rowid;
  create table if not exists uploads (
    profile text not null, folder text not null, bench_id text not null, phase text not null, manifest text,
    begun_at integer not null, primary key (profile, folder)
  ) strict, without rowid;
  create table if not exists upload_files (
    profile text not null, folder text not null, bench_id text not null, path text not null, mark text,
    primary key (profile, folder, bench_id, path)
  ) strict, without rowid;
  create table if not exists sent_requests (
    seq integer primary key, service text not null, dataset text not null, account text not null, agent text not null,
    path text not null, id text not null unique, key text, body text not null, unknown text not null,
    counted_stored integer not null, counted_skipped integer not null, sent_at integer not null
  ) strict;
  create index if not exists sent_requests_of_datasets on sent_requests (service, dataset);
  create table if not exists sent_answers (
    seq integer primary key, service text not null, dataset text not null, account text not null, agent text not null,
    path text not null, stored_lines integer not null, skipped_lines integer not null, sent_at integer not null,
    used integer not null
  ) strict;
  create view if not exists unfinished_files as
    select service, dataset, account, agent, path, seq, counted_stored as stored, counted_skipped as skipped,
        length(unknown) - length(replace(unknown, ' ', '')) - counted_stored - counted_skipped as unknown
      from sent_requests where path <> ''
    union all select service, dataset, account, agent, path, seq, stored_lines, skipped_lines, 0
      from sent_answers where path <> '';
  create table if not exists sent_lines (
    line blob not null, number integer not null, answer integer not null, skipped integer not null,
    primary key (line, number, answer)
  ) strict, without rowid;
  create table if not exists sent_restarts (
    seq integer primary key, service text not null, dataset text not null, account text not null, agent text not null,
    path text not null
  ) strict;
  create table if not exists pages (
    profile text not null, list text not null, rows integer not null, complete integer not null,
    read_at integer not null, page text not null, primary key (profile, list)
  ) strict, without rowid;
  create table if not exists starts (
    service text not null, action text not null, content text not null, key text not null, open integer not null,
    pid integer not null, sent_at integer not null, primary key (service, action, content, key)
  ) strict, without rowid;
  create table if not exists start_names (
    service text not null, kind text not null, key text not null, name text not null, sent_at integer not null,
    primary key (service, kind, key)
  ) strict, without rowid;
  create table if not exists events (
    profile text not null, kind text not null, id text not null, what text not null, label text not null,
    at integer not null, exact integer not null, detail text not null, dismissed integer not null,
    primary key (profile, kind, id, what)
  ) strict, without rowid;
  create table if not exists notes (
    service text not null, kind text not null, id text not null, message integer not null, author text not null,
    flag text not null, text text not null, label text not null, at integer not null, since integer not null,
    primary key (service, kind, id, message, author)
  ) strict, without rowid;
  create table if not exists settings (
    profile text not null, name text not null, value text not null, primary key (profile, name)
  ) strict, without rowid;
`;

/** In milliseconds. Other programs lock the file only briefly, and a lost note is better than a screen that hangs. */
export const busyTimeoutMs = 500;

/** An earlier benchtop wrote the file. It was never released, so its tables are not converted. */
export class EarlierTablesError extends Error {}

/** SQLITE_BUSY (sqlite.org/rescode.html). */
export const busyCode = 5;

/**
 * Switching to WAL ignores the busy timeout. If another program has locked a new file, it is making the same permanent
 * switch.
 */
function writeAhead(database: DatabaseSync): void {
  try {
    database.exec('pragma journal_mode = wal');
  } catch (error) {
    if (sqliteCode(error) !== busyCode) throw error;
  }
}

/**
 * Opens or creates the file with its tables. Commits wait for the disk (`synchronous = full`): idempotency keys and
 * upload records prevent duplicate writes only if they survive a power cut.
 *
 * @throws EarlierTablesError
 * @throws Error from SQLite or the file system, or if a newer program has written the file
 */
export function connect(path: string, busyMs: number): DatabaseSync {
  // A power cut that damages a new file loses nothing, and the frame need not wait for the disk.
  const level = existsSync(path) ? 'full' : 'off';
  const database = new DatabaseSync(path, { timeout: busyMs });
  try {
    chmodSync(path, 0o600);
    database.exec(`pragma synchronous = ${level}`);
    const isNew = !hasTables(database);
    writeAhead(database);
    // Use one transaction, so that a new file is written once and not once per table.
    const created = isNew ? `pragma user_version = ${version};` : '';
    database.exec(`begin; ${schema} ${created} commit; pragma synchronous = full`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** @throws EarlierTablesError, or Error if a newer program has written the file */
function hasTables(database: DatabaseSync): boolean {
  // Use one statement: between two, another program could create the tables and their version.
  const known = database.prepare(
    'select user_version from pragma_user_version where exists (select 1 from sqlite_schema)',
  );
  const found = known.get()?.['user_version'];
  if (found === undefined) return false;
  if (Number(found) > version) throw new Error('it belongs to a newer benchtop.');
  if (Number(found) < version) throw new EarlierTablesError('it belongs to an earlier benchtop.');
  return true;
}

/** An in-memory database, lost when the program ends. */
export function connectInMemory(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(schema);
  return database;
}
