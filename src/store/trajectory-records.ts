/**
 * Records of trajectory uploads, so that no trajectory is sent twice: one row per request, written before the request is
 * sent, and one per trajectory that the service has answered for. Trajectories in neither have not been sent, or were
 * rejected.
 */
import { createHash, randomUUID } from 'node:crypto';
import { jsonIn, ResumableUploads, type Row, uploadsKeptMs } from './tables.ts';

/** Identifies an upload. */
export interface TrajectoryUploadRef {
  /** The absolute path of the file; empty if it cannot be read again, as standard input: then it cannot be resumed. */
  readonly path: string;
  readonly dataset: string;
  /** The agent it belongs to, as it is sent: an id, or `name:` and a name. */
  readonly agent: string | undefined;
}

export interface UploadCounts {
  readonly stored: number;
  readonly skipped: number;
  /** Rejected, or impossible to send. */
  readonly failed: number;
  /** Sent, with an unknown outcome. */
  readonly unknown: number;
}

/** The trajectories of a request by outcome. An id is a hash of the content, a dot, and a number from 1. */
export interface SentItems {
  readonly stored: readonly string[];
  readonly skipped: readonly string[];
  readonly unknown: readonly string[];
  /** How many of the unknown ones the service counts as stored and skipped, without saying which. */
  readonly counted: Pick<UploadCounts, 'stored' | 'skipped'>;
}

export interface SentRequest extends SentItems {
  readonly id: string;
  /** Of this file; the others are of the same dataset. */
  readonly isOwn: boolean;
  /** The idempotency key of the unanswered request with all of `unknown`; undefined after a response. */
  readonly key: string | undefined;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  /** Sent with another API key. */
  readonly isOfOtherKey: boolean;
}

/** A trajectory that the service has answered for. */
export interface SentLine {
  /** Numbers equal trajectories, from 1. */
  readonly number: number;
  /** Skipped by the service, not stored. */
  readonly isSkipped: boolean;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  /** The run that sent it; undefined if only its request is recorded. */
  readonly upload: number | undefined;
  /** Sent with another API key, and not with this one. */
  readonly isOfOtherKey: boolean;
}

/** An upload that has begun. */
export interface TrajectoryRecord extends TrajectoryUploadRef {
  readonly counts: UploadCounts;
}

/** Not to be taken for an empty record: what was sent would be sent again. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';

  constructor() {
    super('The record of what was sent before cannot be read. benchtop doctor says more');
  }
}

/** A line takes about 55 bytes on disk. */
const mostLines = 1_000_000;

/** Rows without an agent count for each: they may be of a version that did not record the profile's. */
const where = "profile = ? and dataset = ? and agent in ('', ?)";
/** Rows without an account are of versions that did not tell them apart. */
const ofOtherKey = "account not in ('', ?)";
const secretSetting = 'accountSecret';
/** Counts the ids in a column: each is followed by a space. */
const countIn = (column: string): string => `length(${column}) - length(replace(${column}, ' ', ''))`;
const countedIn = (column: 'stored' | 'skipped'): string => `sum(${countIn(column)} + counted_${column}) as ${column}`;
const joined = (ids: readonly string[]): string => ids.map(id => `${id} `).join('');
const columnIds = (column: Row[string] | undefined): string[] => String(column).split(' ').filter(Boolean);

export class TrajectoryRecords extends ResumableUploads {
  readonly #mostLines: number;
  /** A hash of the API key that uploads are sent with. */
  #account = '';

  constructor(tables: ResumableUploads['tables'], most = mostLines) {
    super(tables);
    this.#mostLines = most;
  }

  #keyOf({ dataset, agent }: TrajectoryUploadRef): readonly [string, string, string] {
    return [this.tables.scope, dataset, agent ?? ''];
  }

  /** @throws UnreadableRecordError */
  #read(...query: Parameters<ResumableUploads['tables']['read']>): Row[] {
    const rows = this.tables.read(...query);
    if (rows === undefined) throw new UnreadableRecordError();
    return rows;
  }

  /**
   * Chooses the account that uploads go to. What was sent to another counts all the same, and is told apart: a new key may
   * be of the same organization, which has it, or of another one, which has not.
   *
   * @param accountOf hashes the API key with this secret, so that the key cannot be found from it
   */
  async choose(accountOf: (secret: string) => Promise<string>): Promise<void> {
    const values = [this.tables.scope, secretSetting] as const;
    const insert = 'insert or ignore into settings (profile, name, value) values (?, ?, ?)';
    const select = 'select value from settings where profile = ? and name = ?';
    const own = randomUUID();
    if (this.tables.all(select, ...values).length === 0) this.tables.run(insert, ...values, JSON.stringify(own));
    const [row] = this.tables.all(select, ...values);
    this.#account = await accountOf(row ? String(jsonIn(row['value'])) : own);
  }

  /** Why what is sent cannot be recorded, or could not at the last try; undefined if it can. */
  get problem(): string | undefined {
    return this.tables.problem;
  }

  /** Whether there is a file to write to, or none was wanted. */
  get isOpen(): boolean {
    return this.tables.isOpen;
  }

  /**
   * Locks the dataset against other uploads into it, of any file. Returns the function that unlocks it, or undefined if
   * it is locked.
   *
   * @throws as `takeNamedLock` does
   */
  async lock(upload: TrajectoryUploadRef): Promise<(() => void) | undefined> {
    if (this.tables.folder === undefined) return () => {};
    // Import on demand: the first frame does not need it.
    const { takeNamedLock } = await import('../base/file-lock.ts');
    const name = createHash('sha256')
      .update(JSON.stringify(this.#keyOf(upload)))
      .digest('hex');
    return takeNamedLock(this.tables.folder, `upload-${name.slice(0, 32)}`, uploadsKeptMs);
  }

  /** Unsettled uploads of this or another program, latest first. */
  unfinished(): TrajectoryRecord[] {
    const sql = `select path, dataset, agent, ${countedIn('stored')}, ${countedIn('skipped')},
        sum(${countIn('unknown')} - counted_stored - counted_skipped) as unknown
      from sent_requests where profile = ? and path <> '' group by path, dataset, agent
      order by max(sent_at) desc, path`;
    return this.tables.all(sql, this.tables.scope).map(toTrajectoryRecord);
  }

  /** Whether an upload has begun but is not settled. */
  has(upload: TrajectoryUploadRef): boolean {
    const sql = `select 1 from sent_requests where ${where} and path = ? and path <> '' limit 1`;
    return this.tables.all(sql, ...this.#keyOf(upload), upload.path).length > 0;
  }

  /**
   * The requests of all uploads into the dataset, in the order in which they were sent.
   *
   * @throws UnreadableRecordError
   */
  requests(upload: TrajectoryUploadRef): SentRequest[] {
    const sql = `select *, ${ofOtherKey} as of_other from sent_requests where ${where} order by sent_at, rowid`;
    return this.#read(sql, this.#account, ...this.#keyOf(upload)).map(row => requestOf(row, upload.path));
  }

  /** Records a request that is about to be sent; its id is the idempotency key. False if it could not be written. */
  begin(upload: TrajectoryUploadRef, id: string, items: readonly string[]): boolean {
    const now = Date.now();
    for (const old of ['sent_requests where profile = ? and sent_at < ?', 'restarts where profile = ? and at < ?'])
      this.tables.run(`delete from ${old}`, this.tables.scope, now - uploadsKeptMs);
    const isWritten = this.tables.run(
      `insert into sent_requests (profile, dataset, agent, account, path, id, key, stored, skipped, unknown, counted_stored,
         counted_skipped, sent_at) values (?, ?, ?, ?, ?, ?, ?, '', '', ?, 0, 0, ?)`,
      ...this.#keyOf(upload),
      this.#account,
      upload.path,
      id,
      id,
      joined(items),
      now,
    );
    this.changed();
    return isWritten;
  }

  /**
   * Records that the unknown part of an answered request is about to be sent again, with this key. False if it could not
   * be written.
   */
  repeat(id: string, key: string): boolean {
    return this.tables.run('update sent_requests set key = ? where id = ?', key, id);
  }

  /** Begins the record of the lines that one run sends. Undefined if it cannot be written. */
  beginLines(upload: TrajectoryUploadRef): number | undefined {
    const now = Date.now();
    const sql =
      'insert into sent_uploads (profile, dataset, agent, account, sent_at, used_at) values (?, ?, ?, ?, ?, ?) returning id';
    const [row] = this.tables.all(sql, ...this.#keyOf(upload), this.#account, now, now);
    return row && Number(row['id']);
  }

  /**
   * Records the response for the unknown part of a request. Items that it does not name were rejected, or have not been
   * sent. Returns false, and leaves all of it unknown, if the lines could not be written.
   *
   * @param lines the run whose lines they are, if these are recorded
   */
  settle(id: string, { stored, skipped, unknown, counted }: SentItems, lines?: number): boolean {
    const known = [stored.map(each => [each, 0] as const), skipped.map(each => [each, 1] as const)].flat();
    // The lines first: if the program ends here, the request stays unknown, and a line that is known counts.
    if (lines !== undefined && known.length > 0) {
      // Those of earlier runs into the dataset are replaced.
      const isFree = this.tables.runAll(
        `delete from sent_lines where line = ? and number = ? and upload in (
           select earlier.id from sent_uploads earlier join sent_uploads this using (profile, dataset, agent)
           where this.id = ? and earlier.account in ('', this.account)
         )`,
        known.map(([each]) => [...lineOf(each), lines]),
      );
      const isWritten =
        isFree &&
        this.tables.runAll(
          'insert into sent_lines (line, number, upload, skipped) values (?, ?, ?, ?)',
          known.map(([each, isSkipped]) => [...lineOf(each), lines, isSkipped]),
        );
      if (!isWritten) return false;
    }
    this.tables.run(
      `update sent_requests set key = null, stored = stored || ?, skipped = skipped || ?, unknown = ?,
         counted_stored = ?, counted_skipped = ? where id = ?`,
      ...[joined(stored), joined(skipped), joined(unknown), counted.stored, counted.skipped, id],
    );
    this.tables.run(
      "delete from sent_requests where id = ? and unknown = '' and (path = '' or stored || skipped = '')",
      id,
    );
    return true;
  }

  /**
   * The trajectories that were sent into the dataset, by number; of equal ones the last counts.
   *
   * @param id the id of one of them, or its hash alone
   * @throws UnreadableRecordError
   */
  lines(upload: TrajectoryUploadRef, id: string): SentLine[] {
    const sql = `select number, upload, skipped, sent_at, ${ofOtherKey} as of_other
      from sent_lines join sent_uploads on id = upload
      where line = ? and ${where} order by number, of_other desc, sent_at`;
    return this.#read(sql, this.#account, lineOf(id)[0], ...this.#keyOf(upload)).map(row => ({
      ...{ number: Number(row['number']), isSkipped: row['skipped'] === 1 },
      ...{ sentAt: Number(row['sent_at']), upload: Number(row['upload']), isOfOtherKey: row['of_other'] === 1 },
    }));
  }

  /**
   * Keeps the lines of these runs for another 90 days, and deletes those of others that are older, or more than a
   * million.
   */
  keepLines(uploads: Iterable<number>): void {
    const now = Date.now();
    this.tables.runAll(
      'update sent_uploads set used_at = ? where id = ?',
      [...uploads].map(id => [now, id]),
    );
    const counts = this.tables.all('select upload, count(*) as lines from sent_lines group by upload');
    const linesOf = new Map(counts.map(({ upload, lines }) => [upload, Number(lines)]));
    let total = 0;
    const old = this.tables
      .all('select id, used_at from sent_uploads order by used_at desc')
      .filter(({ id, used_at }) => {
        total += linesOf.get(id ?? null) ?? 0;
        // The latest file is kept whole: a part of it is of no use.
        return Number(used_at) < now - uploadsKeptMs || (total > this.#mostLines && Number(used_at) < now);
      });
    if (old.length === 0) return;
    this.tables.runAll(
      'delete from sent_uploads where id = ?',
      old.map(({ id }) => [id ?? null]),
    );
    this.tables.run('delete from sent_lines where upload not in (select id from sent_uploads)');
  }

  /** Ends a complete upload: it cannot be resumed. Unknown lines that the file no longer has stay unknown. */
  complete(upload: TrajectoryUploadRef): void {
    if (upload.path === '') return;
    this.tables.run(
      `update sent_requests set path = '', stored = '', skipped = '' where ${where} and path = ? and unknown <> ''`,
      ...this.#keyOf(upload),
      upload.path,
    );
    this.#forget(upload);
  }

  /** Forgets what was sent of the file: until it is complete, only what is sent from now on counts as sent. */
  startOver(upload: TrajectoryUploadRef): void {
    if (upload.path === '') return;
    this.#forget(upload);
    this.tables.run(
      'insert or replace into restarts (profile, dataset, agent, account, path, at) values (?, ?, ?, ?, ?, ?)',
      ...this.#keyOf(upload),
      this.#account,
      upload.path,
      Date.now(),
    );
  }

  /** Whether it was started over, and is not complete. */
  isStartedOver(upload: TrajectoryUploadRef): boolean {
    const sql = `select 1 from restarts where ${where} and path = ?`;
    return this.tables.all(sql, ...this.#keyOf(upload), upload.path).length > 0;
  }

  #forget(upload: TrajectoryUploadRef): void {
    for (const table of ['sent_requests', 'restarts'])
      this.tables.run(`delete from ${table} where ${where} and path = ?`, ...this.#keyOf(upload), upload.path);
    this.changed();
  }
}

function lineOf(id: string): [line: Uint8Array, number: number] {
  const [hash = '', number] = id.split('.');
  return [Buffer.from(hash, 'base64url'), Number(number)];
}

function toTrajectoryRecord({ path, dataset, agent, stored, skipped, unknown }: Row): TrajectoryRecord {
  return {
    path: String(path),
    dataset: String(dataset),
    agent: agent === '' ? undefined : String(agent),
    counts: { stored: Number(stored), skipped: Number(skipped), failed: 0, unknown: Number(unknown) },
  };
}

function requestOf(
  { id, path, key, stored, skipped, unknown, counted_stored, counted_skipped, sent_at, of_other }: Row,
  own: string,
): SentRequest {
  return {
    id: String(id),
    isOwn: own !== '' && path === own,
    key: key === null ? undefined : String(key),
    stored: columnIds(stored),
    skipped: columnIds(skipped),
    unknown: columnIds(unknown),
    counted: { stored: Number(counted_stored), skipped: Number(counted_skipped) },
    sentAt: Number(sent_at),
    isOfOtherKey: of_other === 1,
  };
}
