/** How a database file is shared with other programs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/store/database.ts';
import { Tables } from '../../src/store/tables.ts';

const busyMs = 60;
const note = "insert or replace into commands (profile, command, used_at) values ('prod', 'runs', 1)";

let path = '';

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-tables-'));
  path = join(folder, 'state.db');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function opened() {
  const database = connect(path, busyMs);
  onTestFinished(() => database.close());
  const pragma = (name: string): unknown => Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0];
  return { database, pragma, tables: new Tables(database, 'prod', { busyMs }) };
}

function otherProgram(): DatabaseSync {
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  return database;
}

it('uses a write-ahead log, flushed with each commit, unless it is written lazily', () => {
  const { pragma, tables } = opened();
  const [normal, full] = [1, 2];
  expect([pragma('journal_mode'), pragma('synchronous'), pragma('busy_timeout')]).toEqual(['wal', full, busyMs]);
  const levels: unknown[] = [];
  expect(() =>
    tables.lazily(() => {
      levels.push(pragma('synchronous'));
      throw new Error('stopped');
    }),
  ).toThrow('stopped');
  expect([...levels, pragma('synchronous')]).toEqual([normal, full]);
});

it('can be opened while another reads it, before it has a write-ahead log', () => {
  connect(path, busyMs).close();
  const reader = otherProgram();
  reader.exec('pragma journal_mode = delete; begin; select * from pins');
  const { pragma, tables } = opened();
  expect([pragma('journal_mode'), tables.read('select * from pins')]).toEqual(['delete', []]);
});

it('is waited for with the full limit again once the program that locked it has released it', () => {
  const { tables, pragma } = opened();
  const holder = otherProgram();
  holder.exec('begin immediate');
  expect(tables.run(note)).toBe(false);
  expect(pragma('busy_timeout')).toBe(5);
  holder.exec('rollback');
  expect(tables.run(note)).toBe(true);
  expect(pragma('busy_timeout')).toBe(busyMs);
});

it('is waited for with the last limit, never longer than before', () => {
  const { tables, pragma } = opened();
  tables.waitAtMost(2 * busyMs);
  expect(pragma('busy_timeout')).toBe(busyMs);
  tables.waitAtMost(1);
  expect(pragma('busy_timeout')).toBe(1);
});

it('was written elsewhere if another connection wrote, not by its own writes', () => {
  const { tables } = opened();
  expect([tables.wasWrittenElsewhere(), tables.wasWrittenElsewhere()]).toEqual([false, false]);
  tables.run(note);
  expect(tables.wasWrittenElsewhere()).toBe(false);
  otherProgram().exec(note);
  expect([tables.wasWrittenElsewhere(), tables.wasWrittenElsewhere()]).toEqual([true, false]);
});

it('writes all of several rows or none, and says which', () => {
  const { tables } = opened();
  const said: string[] = [];
  tables.onProblem(problem => said.push(problem));
  const sql = "insert into commands (profile, command, used_at) values ('prod', ?, ?)";
  const kept = () => tables.all('select command from commands order by command').map(({ command }) => command);
  expect(
    tables.runAll(sql, [
      ['a', 1],
      ['b', null],
    ]),
  ).toBe(false);
  expect(kept()).toEqual([]);
  expect(said).toEqual([expect.stringMatching(/^History cannot be saved: .*NOT NULL/)]);
  expect(tables.problem).toBe(said[0]);
  expect(
    tables.runAll(sql, [
      ['a', 1],
      ['b', 2],
    ]),
  ).toBe(true);
  expect(kept()).toEqual(['a', 'b']);
});

it('keeps the newest rows of its own service', () => {
  const { tables, database } = opened();
  database.exec(`insert into commands (profile, command, used_at)
    values ('prod', 'a', 1), ('prod', 'b', 3), ('prod', 'c', 2), ('other', 'd', 0)`);
  tables.keepNewest('commands', 'command', 'used_at', 2);
  const rows = tables.all('select command from commands order by command');
  expect(rows.map(({ command }) => command)).toEqual(['b', 'c', 'd']);
});

it('tells unreadable rows from no rows', () => {
  const { tables } = opened();
  expect([tables.all('select * from nowhere'), tables.read('select * from nowhere')]).toEqual([[], undefined]);
  expect(tables.read('select * from pins')).toEqual([]);
});

it('says why a write failed, even if SQLite has rolled it back by itself', () => {
  const { tables } = opened();
  const isWritten = tables.atOnce(run => {
    run(note);
    run(note.replace('or replace', 'or rollback'));
  });
  expect(isWritten).toBe(false);
  expect(tables.problem).toContain('UNIQUE constraint failed');
  expect([tables.read('select * from commands'), tables.run(note)]).toEqual([[], true]);
});
