/**
 * Caches trajectory texts on disk with a trigram index (FTS5, sqlite.org/fts5.html), so that a second search reads none
 * from the service. It is one SQLite file, which several programs may use at the same time. If it is lost, the texts
 * are read again.
 */
import { chmodSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import { errorMessage, isDamagedDatabase } from '../base/errors.ts';
import { makePrivateFolder } from '../base/ownership.ts';
import { inTransaction } from '../base/statements.ts';
import { foldCase } from '../text/line-search.ts';

/** Consecutive lines from a trajectory, and each line's origin, which is opaque to the index. */
export interface TextPart {
  /** Joined by line feeds. */
  readonly body: string;
  readonly origins: string;
}

/** A part of a trajectory that may contain the words. */
export interface FoundPart extends TextPart {
  readonly trajectoryId: string;
}

/** An indexed trajectory. */
interface KnownText {
  readonly id: number;
  /** How many steps it had when it was read. */
  readonly steps: number | undefined;
  /** Other fields of its record at that time, as JSON. */
  readonly record: string | undefined;
}

/** A trajectory to keep. */
interface TextToSave extends Pick<KnownText, 'steps' | 'record'> {
  readonly trajectoryId: string;
  readonly parts: readonly TextPart[];
}

const schema = `
  create table if not exists texts (
    id integer primary key autoincrement, service text not null, trajectory_id text not null, steps integer,
    record text, used_at integer not null, unique (service, trajectory_id)
  ) strict;
  create table if not exists parts (
    id integer primary key, text_id integer not null, body text not null, origins text not null
  ) strict;
  create index if not exists parts_of_texts on parts (text_id);
  create index if not exists texts_by_use on texts (used_at);
  create virtual table if not exists grams using fts5(
    words, content='', contentless_delete=1, detail=none, tokenize="trigram case_sensitive 1"
  );
`;

/** The version of the schema and of the lines that are searched. Texts in an older one are dropped. */
const version = 9;
const dropOlder = 'drop table if exists texts; drop table if exists parts; drop table if exists grams;';
/** In milliseconds. Other programs hold the file only briefly. */
const busyTimeoutMs = 2_000;
/** How many texts to delete per batch to make room. */
const evictedAtOnce = 20;
/** Minimum time between two records of a text's use, in milliseconds. */
const useEveryMs = 60 * 60_000;
/** How many pages to return to the file system after a deletion. */
const freedPages = 4_000;

/** FTS5 frees deleted entries only when it merges segments. */
const mergeGrams = `insert into grams (grams, rank) values ('merge', 500)`;

/** How many parts to read per statement. Fewer would take longer, and more would take more memory. */
const readAtOnce = 32;

/** Characters in an indexed group: FTS5's trigrams. */
const gramLength = 3;
/** More groups from a word hardly narrow the result. */
const maxGrams = 40;

/** The distinct words in a string; their order is not indexed. */
const wordsOf = (text: string): string => [...new Set(foldCase(text.toWellFormed()).split(/\s+/))].join(' ');

/** A query for the parts that contain every trigram of these words; undefined if the words are too short. */
function gramQuery(words: readonly string[]): string | undefined {
  const grams = new Set<string>();
  for (const word of words.flatMap(each => foldCase(each.toWellFormed()).split(/\s+/))) {
    const characters = [...word];
    for (let from = 0; from + gramLength <= characters.length && from < maxGrams; from += 1) {
      grams.add(characters.slice(from, from + gramLength).join(''));
    }
  }
  if (grams.size === 0) return undefined;
  return [...grams].map(gram => `"${gram.replaceAll('"', '""')}"`).join(' AND ');
}

/** Opens the file; replaces a damaged one. @throws Error from SQLite or the file system */
function connect(path: string): DatabaseSync {
  makePrivateFolder(dirname(path));
  const open = (): DatabaseSync => {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    try {
      chmodSync(path, 0o600);
      database.exec('pragma auto_vacuum = incremental; pragma synchronous = normal; pragma journal_mode = wal');
      const known = Number(database.prepare('pragma user_version').get()?.['user_version']);
      if (known > version) throw new Error('it belongs to a newer benchtop');
      database.exec(
        `begin immediate; ${known < version ? dropOlder : ''} ${schema} pragma user_version = ${version}; commit`,
      );
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  };
  try {
    return open();
  } catch (error) {
    if (!isDamagedDatabase(error)) throw error;
    forgetTexts(path);
    return open();
  }
}

/** The field of a trajectory's record that names its run, by the run's kind. */
const runFields: ReadonlyMap<string, string> = new Map([
  ['run', 'eval_run_id'],
  ['training', 'training_run_id'],
]);

/** Whether trajectories belong to resources of this kind. */
export const hasTexts = (kind: string): boolean => runFields.has(kind);

/** Deletes every service's index. */
export function forgetTexts(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true });
}

interface TextIndexOptions {
  readonly service: string;
  /** Maximum size of the file in bytes. */
  readonly mostBytes: number;
}

export class TextIndex {
  #database: DatabaseSync;
  /** Missing for texts in memory. */
  readonly #path: string | undefined;
  readonly #service: string;
  readonly #mostBytes: number;
  /** Why texts are not kept, as a sentence for the user. */
  problem: string | undefined;

  private constructor(
    database: DatabaseSync,
    { service, mostBytes }: TextIndexOptions,
    { path, problem }: { readonly path?: string; readonly problem?: string | undefined },
  ) {
    this.#database = database;
    this.#path = path;
    this.#service = service;
    this.#mostBytes = mostBytes;
    this.problem = problem;
  }

  /** Never throws: without the file, the texts are kept only while the program runs, and `problem` has the reason. */
  static open(path: string, options: TextIndexOptions): TextIndex {
    try {
      return new TextIndex(connect(path), options, { path });
    } catch (error) {
      return TextIndex.inMemory(
        options,
        `Trajectory texts are kept only while the program runs: ${errorMessage(error)}`,
      );
    }
  }

  static inMemory(options: TextIndexOptions, problem?: string): TextIndex {
    const database = new DatabaseSync(':memory:');
    database.exec(schema);
    return new TextIndex(database, options, { problem });
  }

  /** The indexed texts of this service, by trajectory id. */
  known(): ReadonlyMap<string, KnownText> {
    const read = 'select id, trajectory_id, steps, record from texts where service = ?';
    let rows: readonly SQLOutputValue[][] = [];
    try {
      rows = this.#all(read, this.#service);
    } catch {
      // Without the index, the search reads all texts from the service.
    }
    return new Map(
      rows.map(([id, trajectoryId, steps, record]) => [
        String(trajectoryId),
        {
          id: Number(id),
          steps: steps == null ? undefined : Number(steps),
          record: record == null ? undefined : String(record),
        },
      ]),
    );
  }

  /** Saves a trajectory's text, replacing its previous version. */
  keep({ trajectoryId, steps, record, parts }: TextToSave, now = Date.now()): void {
    this.#write(() => {
      this.#makeRoom();
      inTransaction(this.#database, () => {
        this.#delete('service = ? and trajectory_id = ?', this.#service, trajectoryId);
        const { lastInsertRowid: text } = this.#database
          .prepare('insert into texts (service, trajectory_id, steps, record, used_at) values (?, ?, ?, ?, ?)')
          .run(this.#service, trajectoryId, steps ?? null, record ?? null, now);
        const keepPart = this.#database.prepare('insert into parts (text_id, body, origins) values (?, ?, ?)');
        const keepGrams = this.#database.prepare('insert into grams (rowid, words) values (?, ?)');
        for (const { body, origins } of parts) {
          keepGrams.run(keepPart.run(text, body, origins).lastInsertRowid, wordsOf(body));
        }
      });
    });
  }

  /** Deletes the texts of a run, also from the disk: the space is overwritten. */
  forget(kind: string, id: string): void {
    const field = runFields.get(kind);
    if (field === undefined) return;
    this.#write(() => {
      this.#database.exec('pragma secure_delete = on');
      inTransaction(this.#database, () => {
        this.#delete('service = ? and json_extract(record, ?) = ?', this.#service, `$.${field}`, id);
        this.#database.exec(mergeGrams);
      });
      this.#database.exec(`pragma incremental_vacuum(${freedPages}); pragma wal_checkpoint(truncate)`);
    }, 'deleted');
  }

  /**
   * The parts of these texts that may contain all the words, ignoring case. The result may include other parts, but
   * misses none that contains the words. Words of fewer than three characters exclude no part.
   *
   * @param texts trajectory ids by their ids in `known`
   * @throws Error if they cannot be read to the end, because it is then unknown which parts are missing
   */
  *parts(texts: ReadonlyMap<number, string>, words: readonly string[]): Generator<FoundPart, void> {
    const database = this.#database;
    const query = gramQuery(words);
    const ids = JSON.stringify([...texts.keys()]);
    const ofTexts = 'text_id in (select value from json_each(?))';
    const all =
      query === undefined
        ? this.#all(`select id from parts where ${ofTexts}`, ids)
        : this.#all(
            `select id from grams join parts on id = grams.rowid where grams match ? and ${ofTexts}`,
            query,
            ids,
          );
    const wanted = all.map(([id]) => Number(id));
    // The parts of a text were saved in one transaction, so no other parts are between them. In any other order, SQLite
    // would copy the bodies to sort them.
    wanted.sort((left, right) => left - right);
    const read = 'select text_id, body, origins from parts where id in (select value from json_each(?)) order by id';
    for (let from = 0; from < wanted.length; from += readAtOnce) {
      if (database !== this.#database) throw new Error(this.problem);
      // Another program may have deleted some of them to make room, and saved another text under the same number.
      for (const [text, body, origins] of this.#all(read, JSON.stringify(wanted.slice(from, from + readAtOnce)))) {
        const trajectoryId = texts.get(Number(text));
        if (trajectoryId !== undefined) yield { trajectoryId, body: String(body), origins: String(origins) };
      }
    }
  }

  /** The texts that no program has deleted or replaced. */
  remaining(texts: readonly number[]): readonly number[] {
    const read = 'select id from texts where id in (select value from json_each(?))';
    try {
      return this.#all(read, JSON.stringify(texts)).map(([id]) => Number(id));
    } catch {
      // The search reads these texts from the service.
      return [];
    }
  }

  /** Records a search of these texts, so that others are deleted first. */
  used(texts: Iterable<number>, now = Date.now()): void {
    this.#write(() => {
      this.#database
        .prepare('update texts set used_at = ? where used_at < ? and id in (select value from json_each(?))')
        .run(now, now - useEveryMs, JSON.stringify([...texts]));
    });
  }

  /** Deletes the least recently used texts until there is room. */
  #makeRoom(): void {
    const [most, page] = [this.#mostBytes, this.#pragma('page_size')];
    const usedBytes = (): number => (this.#pragma('page_count') - this.#pragma('freelist_count')) * page;
    if (usedBytes() < most) return;
    while (usedBytes() > most * 0.9) {
      const oldest = `id in (select id from texts order by used_at, id limit ${evictedAtOnce})`;
      if (this.#all('select 1 from texts limit 1').length === 0) break;
      inTransaction(this.#database, () => {
        this.#delete(oldest);
        this.#database.exec(mergeGrams);
      });
    }
    this.#database.exec(`pragma incremental_vacuum(${freedPages})`);
  }

  #pragma(name: string): number {
    const [value] = Object.values(this.#database.prepare(`pragma ${name}`).get() ?? {});
    return Number(value);
  }

  #delete(where: string, ...values: SQLInputValue[]): void {
    const texts = `select id from texts where ${where}`;
    const parts = `select id from parts where text_id in (${texts})`;
    this.#database.prepare(`delete from grams where rowid in (${parts})`).run(...values);
    this.#database.prepare(`delete from parts where text_id in (${texts})`).run(...values);
    this.#database.prepare(`delete from texts where ${where}`).run(...values);
  }

  /** The rows as arrays: for thousands of them, objects take noticeably longer. @throws Error from SQLite */
  #all(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][] {
    try {
      const statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      // The types describe rows only as objects.
      return statement.all(...values) as unknown as SQLOutputValue[][];
    } catch (error) {
      this.#failed(error, 'read');
      throw error;
    }
  }

  /** Records why the texts cannot be read, saved or deleted. Replaces a damaged file, which would fail every time. */
  #failed(error: unknown, done: 'read' | 'saved' | 'deleted'): void {
    this.problem = `The saved trajectory texts cannot be ${done}: ${errorMessage(error)}`;
    if (this.#path === undefined || !isDamagedDatabase(error)) return;
    try {
      this.#database.close();
      forgetTexts(this.#path);
      this.#database = connect(this.#path);
      this.problem = `The saved trajectory texts were damaged (${errorMessage(error)}) and will be read again.`;
    } catch {
      this.#database = new DatabaseSync(':memory:');
      this.#database.exec(schema);
    }
  }

  #write(work: () => void, done: 'saved' | 'deleted' = 'saved'): void {
    try {
      work();
    } catch (error) {
      this.#failed(error, done);
    }
  }

  close(): void {
    this.#database.close();
  }
}
