/** The record of what one account was sent into one dataset, for one agent or none. */
import { createHash } from 'node:crypto';
import { type Row, type Tables, uploadsKeptMs } from './tables.ts';

/** Identifies an upload. */
export interface TrajectoryUploadRef {
  /** The absolute path of the file; empty if it cannot be read again, as standard input: then it cannot be resumed. */
  readonly path: string;
  readonly dataset: string;
  /** The agent it belongs to, as it is sent: an id, or `name:` and a name. */
  readonly agent: string | undefined;
}

/** An upload with the account that it goes to. */
export interface AccountUpload extends TrajectoryUploadRef {
  /** A hash of the API key. */
  readonly account: string;
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
  /** Whether it belongs to this file; other requests went into the same dataset. */
  readonly isOwn: boolean;
  /** The idempotency key of the unanswered request with all of `unknown`; undefined after a response. */
  readonly key: string | undefined;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  /** Sent with another API key. */
  readonly isOfOtherKey: boolean;
}

/** A trajectory that was sent before. */
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

/** Differs from an empty record, which would send everything again. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';

  constructor() {
    super('The record of what was sent before cannot be read. benchtop doctor says more');
  }
}

const ofEachAccount = 'profile = ?1 and dataset = ?2 and agent = ?3';
const own = `${ofEachAccount} and account = ?4`;
const ofOtherKey = 'account <> ?4';
const joined = (ids: readonly string[]): string => ids.map(id => `${id} `).join('');
const columnIds = (column: Row[string] | undefined): string[] => String(column).split(' ').filter(Boolean);

/**
 * A row belongs to exactly one service, account, dataset, and agent or none. Only rows of these four are written,
 * settled, started over, completed and forgotten, and only they show that a trajectory was sent before. Rows of another
 * agent do not count, except those that `adopt` takes over. Rows of another account with the same dataset and agent are
 * read, but marked: its key may belong to the same organization, which then has the trajectories, or to another one,
 * which does not.
 */
export class SentRecord {
  readonly #tables: Tables;
  readonly #path: string;
  readonly #owner: readonly [profile: string, dataset: string, agent: string, account: string];
  readonly #changed: () => void;

  constructor(tables: Tables, { path, dataset, agent = '', account }: AccountUpload, changed: () => void) {
    this.#tables = tables;
    this.#path = path;
    this.#owner = [tables.scope, dataset, agent, account];
    this.#changed = changed;
  }

  /** @throws UnreadableRecordError */
  #read(...query: Parameters<Tables['read']>): Row[] {
    const rows = this.#tables.read(...query);
    if (rows === undefined) throw new UnreadableRecordError();
    return rows;
  }

  /**
   * Locks the dataset and agent against other uploads, of any file and account. Returns the function that unlocks them,
   * or undefined if they are locked.
   *
   * @throws as `takeNamedLock` does
   */
  async lock(): Promise<(() => void) | undefined> {
    if (this.#tables.folder === undefined) return () => {};
    // Import on demand: the first frame does not need it.
    const { takeNamedLock } = await import('../base/file-lock.ts');
    const name = createHash('sha256')
      .update(JSON.stringify(this.#owner.slice(0, 3)))
      .digest('hex');
    return takeNamedLock(this.#tables.folder, `upload-${name.slice(0, 32)}`, uploadsKeptMs);
  }

  /**
   * Takes over what any account was sent for this agent under its name, before the service listed the agent.
   *
   * @param asked the agent as the user gave it: an id, a name, or `name:` and a name
   */
  adopt(asked: string): void {
    if (asked === this.#owner[2]) return;
    for (const table of ['requests', 'runs', 'restarts'])
      this.#tables.run(
        `update or replace trajectory_${table} set agent = ?3 where profile = ?1 and dataset = ?2 and agent in (?4, ?5)`,
        ...this.#owner.slice(0, 3),
        ...[asked, `name:${asked.replace(/^name:/, '')}`],
      );
  }

  /** Whether the upload has begun but is not settled. */
  get hasBegun(): boolean {
    const sql = `select 1 from trajectory_requests where ${own} and path = ?5 and path <> '' limit 1`;
    return this.#tables.all(sql, ...this.#owner, this.#path).length > 0;
  }

  /**
   * The requests of all uploads into the dataset for the agent: those of other accounts, then those of this one, in the
   * order in which they were sent.
   *
   * @throws UnreadableRecordError
   */
  requests(): SentRequest[] {
    const sql = `select *, ${ofOtherKey} as of_other from trajectory_requests where ${ofEachAccount}
      order by of_other desc, sent_at, rowid`;
    return this.#read(sql, ...this.#owner).map(row => requestOf(row, this.#path));
  }

  /** Records a request that is about to be sent; its id is the idempotency key. False if it could not be written. */
  begin(id: string, items: readonly string[]): boolean {
    const now = Date.now();
    for (const old of ['requests where profile = ? and sent_at < ?', 'restarts where profile = ? and at < ?'])
      this.#tables.run(`delete from trajectory_${old}`, this.#tables.scope, now - uploadsKeptMs);
    const isWritten = this.#tables.run(
      `insert into trajectory_requests (profile, dataset, agent, account, path, id, key, stored, skipped, unknown,
         counted_stored, counted_skipped, sent_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?6, '', '', ?7, 0, 0, ?8)`,
      ...this.#owner,
      ...[this.#path, id, joined(items), now],
    );
    this.#changed();
    return isWritten;
  }

  /**
   * Records that the unknown part of an answered request is about to be sent again, with this key. False if it could not
   * be written.
   */
  repeat(id: string, key: string): boolean {
    return this.#tables.run(
      `update trajectory_requests set key = ?6 where ${own} and id = ?5`,
      ...this.#owner,
      ...[id, key],
    );
  }

  /** Begins the record of the lines that one run sends. Undefined if it cannot be written. */
  beginLines(): number | undefined {
    const sql = `insert into trajectory_runs (profile, dataset, agent, account, sent_at, used_at)
      values (?1, ?2, ?3, ?4, ?5, ?5) returning id`;
    const [row] = this.#tables.all(sql, ...this.#owner, Date.now());
    return row && Number(row['id']);
  }

  /**
   * Records the response for the unknown part of a request. Items that it does not name were rejected, or have not been
   * sent. Returns false, and leaves all of it unknown, if the lines could not be written.
   *
   * @param lines the run whose lines they are, if these are recorded
   */
  settle(id: string, { stored, skipped, unknown, counted }: SentItems, lines?: number): boolean {
    // Write the lines first: if the program ends here, the request stays unknown, and its recorded lines count.
    if (lines !== undefined && !this.#writeLines({ stored, skipped }, lines)) return false;
    this.#tables.run(
      `update trajectory_requests set key = null, stored = stored || ?6, skipped = skipped || ?7, unknown = ?8,
         counted_stored = ?9, counted_skipped = ?10 where ${own} and id = ?5`,
      ...this.#owner,
      ...[id, joined(stored), joined(skipped), joined(unknown), counted.stored, counted.skipped],
    );
    this.#tables.run(
      `delete from trajectory_requests where ${own} and id = ?5 and unknown = ''
         and (path = '' or stored || skipped = '')`,
      ...this.#owner,
      id,
    );
    return true;
  }

  /** Writes lines in place of those of earlier runs. False if they could not be written. */
  #writeLines({ stored, skipped }: Pick<SentItems, 'stored' | 'skipped'>, run: number): boolean {
    const known = [
      stored.map(id => [...lineOf(id), 0] as const),
      skipped.map(id => [...lineOf(id), 1] as const),
    ].flat();
    if (known.length === 0) return true;
    const isFree = this.#tables.runAll(
      `delete from trajectory_lines where line = ?5 and number = ?6
         and exists (select 1 from trajectory_runs where id = upload and ${own})`,
      known.map(([line, number]) => [...this.#owner, line, number]),
    );
    return (
      isFree &&
      this.#tables.runAll(
        'insert into trajectory_lines (line, number, skipped, upload) values (?, ?, ?, ?)',
        known.map(each => [...each, run]),
      )
    );
  }

  /**
   * The trajectories that were sent into the dataset for the agent, by number.
   *
   * @param id the id of one of them, or its hash alone
   * @throws UnreadableRecordError
   */
  lines(id: string): SentLine[] {
    // If several accounts were sent a number, SQLite takes all columns from the row with the minimum: that of this
    // account.
    const sql = `select number, upload, skipped, sent_at, min(${ofOtherKey}) as of_other
      from trajectory_lines join trajectory_runs on id = upload
      where line = ?5 and ${ofEachAccount} group by number order by number`;
    return this.#read(sql, ...this.#owner, lineOf(id)[0]).map(row => ({
      ...{ number: Number(row['number']), isSkipped: row['skipped'] === 1 },
      ...{ sentAt: Number(row['sent_at']), upload: Number(row['upload']), isOfOtherKey: row['of_other'] === 1 },
    }));
  }

  /** Ends a complete upload: it cannot be resumed. Unknown lines that are no longer in the file stay unknown. */
  complete(): void {
    if (this.#path === '') return;
    this.#tables.run(
      `update trajectory_requests set path = '', stored = '', skipped = '' where ${own} and path = ?5 and unknown <> ''`,
      ...this.#owner,
      this.#path,
    );
    this.#forget();
  }

  /**
   * Forgets what was sent of the file. Until its upload is complete, only what is sent from now on, of any file, counts
   * as sent.
   */
  startOver(): void {
    if (this.#path === '') return;
    this.#forget();
    // Later than every earlier request, even one in the same millisecond, or from before the clock was set back.
    const sent = ['runs', 'requests'].map(of => `select sent_at from trajectory_${of} where ${ofEachAccount}`);
    this.#tables.run(
      `insert or replace into trajectory_restarts (profile, dataset, agent, account, path, at)
         select ?1, ?2, ?3, ?4, ?5, max(?6, 1 + coalesce(max(sent_at), 0)) from (${sent.join(' union all ')})`,
      ...this.#owner,
      ...[this.#path, Date.now()],
    );
  }

  /** When it was started over, in epoch milliseconds; undefined if it was not, or has been completed since. */
  get startedOverAt(): number | undefined {
    const sql = `select at from trajectory_restarts where ${own} and path = ?5`;
    const [row] = this.#tables.all(sql, ...this.#owner, this.#path);
    return row && Number(row['at']);
  }

  #forget(): void {
    for (const table of ['requests', 'restarts'])
      this.#tables.run(`delete from trajectory_${table} where ${own} and path = ?5`, ...this.#owner, this.#path);
    this.#changed();
  }
}

function lineOf(id: string): [line: Uint8Array, number: number] {
  const [hash = '', number] = id.split('.');
  return [Buffer.from(hash, 'base64url'), Number(number)];
}

function requestOf(
  { id, path, key, stored, skipped, unknown, counted_stored, counted_skipped, sent_at, of_other }: Row,
  file: string,
): SentRequest {
  const isOfOtherKey = of_other === 1;
  return {
    id: String(id),
    isOwn: file !== '' && path === file && !isOfOtherKey,
    key: key === null ? undefined : String(key),
    stored: columnIds(stored),
    skipped: columnIds(skipped),
    unknown: columnIds(unknown),
    counted: { stored: Number(counted_stored), skipped: Number(counted_skipped) },
    sentAt: Number(sent_at),
    isOfOtherKey,
  };
}
