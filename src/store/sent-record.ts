/** The record of the trajectories sent to one dataset. */
import { createHash } from 'node:crypto';
import type { SQLInputValue } from 'node:sqlite';
import type { Row, Run, Tables } from './tables.ts';

/** Identifies an upload. */
export interface TrajectoryUploadRef {
  /** The absolute path of the file; empty for standard input, which cannot be read again or resumed. */
  readonly path: string;
  readonly dataset: string;
  /** The agent, as the user names it. */
  readonly agent: string | undefined;
}

/** An upload and its account. */
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

/** Trajectories with an unknown outcome. An id is a hash of the content, a dot, and a number from 1. */
interface UnknownItems {
  readonly unknown: readonly string[];
  /** How many of them the service reports as stored or skipped, without saying which. */
  readonly counted: Pick<UploadCounts, 'stored' | 'skipped'>;
}

/** A request's trajectories, by outcome. */
export interface SentItems extends UnknownItems {
  readonly stored: readonly string[];
  readonly skipped: readonly string[];
}

/** Who sent a trajectory, if not this upload's owner. Completes `sent before`. */
export type Other = 'for another agent' | 'with another API key';

/** A request that left trajectories with unknown outcomes. */
export interface SentRequest extends UnknownItems {
  readonly id: string;
  /** Whether it belongs to this file. Other files may go to the same dataset. */
  readonly isOwn: boolean;
  /**
   * The idempotency key that all of `unknown` was sent with, while there is no response; undefined after a response.
   */
  readonly key: string | undefined;
  /** A hash of the body that was sent with the key; empty if it cannot be repeated. */
  readonly body: string;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  readonly other: Other | undefined;
}

/** A trajectory that was sent before. */
export interface SentLine {
  /** Numbers equal trajectories, from 1. */
  readonly number: number;
  /** Skipped by the service, not stored. */
  readonly isSkipped: boolean;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  /** Whether it is from this file, whose upload is not complete. */
  readonly isOwn: boolean;
  /** Undefined if it was sent for this agent with this key, even if it was also sent for another. */
  readonly other: Other | undefined;
}

/** Shown when the record cannot be read. Nothing is sent then: with an empty record, everything would be sent again. */
export const unreadableRecord = 'The record of earlier uploads cannot be read. Run benchtop doctor for details';

/** A line takes about 55 bytes on disk. */
const maxLines = 1_000_000;

const ofDataset = 'service = ?1 and dataset = ?2';
const ownRows = `${ofDataset} and account = ?3 and agent = ?4`;
const ofFile = `${ownRows} and path = ?5`;
/** The empty string, which is the minimum, is this upload's owner. */
const other = `case when account <> ?3 then 'with another API key' when agent <> ?4 then 'for another agent' else '' end
  as other`;
/** The next write's number. Orders writes independently of the clock. */
const nextNumber = `(select 1 + coalesce(max(seq), 0) from (select max(seq) as seq from sent_requests
  union all select max(seq) from sent_answers union all select max(seq) from sent_restarts))`;
/** Ignores rows from before the file was started over. */
const counts = `seq > coalesce((select max(seq) from sent_restarts where ${ofFile}), 0)`;
/** The counts of unfinished files. */
export const countSums = 'sum(stored) as stored, sum(skipped) as skipped, sum(unknown) as unknown';
export const countsIn = ({ stored = 0, skipped = 0, unknown = 0 }: Row): UploadCounts => ({
  ...{ stored: Number(stored), skipped: Number(skipped), failed: 0, unknown: Number(unknown) },
});
const joinIds = (ids: readonly string[]): string => ids.map(id => `${id} `).join('');
const columnIds = (column: Row[string] | undefined): string[] => String(column).split(' ').filter(Boolean);

/**
 * Trajectories sent to the dataset from any file, by any account and agent, count as sent before. Only rows with the
 * same account and agent name are written, settled, started over and completed; the others are marked. Another key may
 * belong to the same organization, which then has the trajectories, or to another one, which does not. Likewise,
 * another name may mean the same agent.
 */
export class SentRecord {
  readonly #tables: Tables;
  readonly #path: string;
  readonly #owner: readonly [service: string, dataset: string, account: string, agent: string];
  readonly #file: readonly string[];
  readonly #changed: () => void;
  readonly #most: number;
  /** Responses with lines from this file. */
  readonly #used = new Set<number>();

  constructor(
    tables: Tables,
    { path, dataset, agent = '', account }: AccountUpload,
    changed: () => void,
    most = maxLines,
  ) {
    this.#tables = tables;
    this.#path = path;
    this.#owner = [tables.service, dataset, account, agent];
    this.#file = [...this.#owner, path];
    this.#changed = changed;
    this.#most = most;
  }

  /**
   * Locks the dataset against all other uploads. Returns a function that unlocks it; undefined if another upload holds
   * the lock.
   *
   * @throws as `takeNamedLock` does
   */
  async lock(): Promise<(() => void) | undefined> {
    if (this.#tables.folder === undefined) return () => {};
    // Import it on demand, because the first frame does not need it.
    const { takeNamedLock } = await import('../base/file-lock.ts');
    const name = createHash('sha256')
      .update(JSON.stringify(this.#owner.slice(0, 2)))
      .digest('hex');
    return takeNamedLock(this.#tables.folder, `upload-${name.slice(0, 32)}`);
  }

  /** Whether the upload has begun but is not settled. */
  get hasBegun(): boolean {
    return this.#has(`unfinished_files where ${ofFile}`, ...this.#file);
  }

  /** The counts of the file, until its upload is complete. */
  get counts(): UploadCounts {
    const [row = {}] = this.#tables.all(`select ${countSums} from unfinished_files where ${ofFile}`, ...this.#file);
    return countsIn(row);
  }

  /** Whether the file was started over, and has not been completed since. */
  get isStartedOver(): boolean {
    return this.#has(`sent_restarts where ${ofFile}`, ...this.#file);
  }

  #has(rows: string, ...values: SQLInputValue[]): boolean {
    return this.#tables.all(`select 1 from ${rows} limit 1`, ...values).length > 0;
  }

  /**
   * All requests to the dataset with unknown outcomes since the file was started over, latest first. Undefined if they
   * cannot be read.
   */
  requests(): SentRequest[] | undefined {
    const sql = `select *, ${other} from sent_requests where ${ofDataset} and ${counts} order by seq desc`;
    return this.#tables.read(sql, ...this.#file)?.map(row => requestOf(row, this.#isOwn(row)));
  }

  /**
   * Records a request that is about to be sent; its id is the idempotency key. False if it could not be written.
   *
   * @param body a hash of the body; empty if the request cannot be repeated
   */
  begin(id: string, items: readonly string[], body = ''): boolean {
    const isWritten = this.#tables.run(
      `insert into sent_requests (seq, service, dataset, account, agent, path, id, key, body, unknown,
         counted_stored, counted_skipped, sent_at) values (${nextNumber}, ?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, 0, 0, ?9)`,
      ...this.#file,
      ...[id, body, joinIds(items), Date.now()],
    );
    this.#changed();
    return isWritten;
  }

  /**
   * Records that the unknown part of a request is about to be sent again with this key and body. False if it could not
   * be written.
   */
  repeat(id: string, key: string, body: string): boolean {
    const sql = `update sent_requests set key = ?6, body = ?7 where ${ownRows} and id = ?5`;
    return this.#tables.run(sql, ...this.#owner, id, key, body);
  }

  /**
   * Records the response for the unknown part of a request. Items missing from it were rejected or not sent. If it
   * cannot be written, returns false and keeps all of it unknown.
   */
  settle(id: string, { stored, skipped, unknown, counted }: SentItems): boolean {
    return this.#tables.atOnce(run => {
      if (stored.length + skipped.length > 0) this.#writeLines(run, stored, skipped);
      run(
        `update sent_requests set key = null, unknown = ?6, counted_stored = ?7, counted_skipped = ?8
           where ${ownRows} and id = ?5`,
        ...this.#owner,
        ...[id, joinIds(unknown), counted.stored, counted.skipped],
      );
      run(`delete from sent_requests where ${ownRows} and id = ?5 and unknown = ''`, ...this.#owner, id);
    });
  }

  /**
   * Writes a response with its lines. Replaces this owner's lines with the same numbers, except those of unfinished
   * files.
   */
  #writeLines(run: Run, stored: readonly string[], skipped: readonly string[]): void {
    const { lastInsertRowid: answer } = run(
      `insert into sent_answers (seq, service, dataset, account, agent, path, stored_lines, skipped_lines, sent_at, used)
         select seq, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, seq from (select ${nextNumber} as seq)`,
      ...this.#file,
      ...[stored.length, skipped.length, Date.now()],
    );
    this.#used.add(Number(answer));
    const lines = [...stored.map(id => [id, 0] as const), ...skipped.map(id => [id, 1] as const)];
    for (const [id, isSkipped] of lines) {
      const line = lineOf(id);
      run(
        `delete from sent_lines where line = ?5 and number = ?6
           and exists (select 1 from sent_answers where seq = answer and path = '' and ${ownRows})`,
        ...this.#owner,
        ...line,
      );
      run('insert into sent_lines values (?, ?, ?, ?)', ...line, answer, isSkipped);
    }
  }

  /**
   * The equal trajectories sent to the dataset since the file was started over, by number. Undefined if they cannot be
   * read.
   *
   * @param id the id of a trajectory, or only its hash
   */
  lines(id: string): SentLine[] | undefined {
    // If several uploads sent a number, SQLite takes all columns from the row with the minimum: this file's row, or
    // this owner's.
    const sql = `select *, min(other || (path <> ?5))
      from (select *, ${other} from sent_lines join sent_answers on seq = answer
        where line = ?6 and ${ofDataset} and ${counts}) group by number order by number`;
    return this.#tables.read(sql, ...this.#file, lineOf(id)[0])?.map(row => {
      this.#used.add(Number(row['seq']));
      return {
        ...{ number: Number(row['number']), isSkipped: row['skipped'] === 1 },
        ...{ sentAt: Number(row['sent_at']), isOwn: this.#isOwn(row), other: otherOf(row['other']) },
      };
    });
  }

  #isOwn({ path, other }: Row): boolean {
    return path !== '' && path === this.#path && other === '';
  }

  /** Whether an equal trajectory was stored for this agent with this key, even before the file was started over. */
  hasStored(id: string): boolean {
    const rows = `sent_lines join sent_answers on seq = answer where line = ?5 and skipped = 0 and ${ownRows}`;
    return this.#has(rows, ...this.#owner, lineOf(id)[0]);
  }

  /**
   * Deletes the least recently used lines beyond a million; they would be sent again. Keeps all of this file's lines,
   * because a partial record would be useless. Never deletes unknown outcomes.
   */
  prune(): void {
    const [{ used = 0, lines = 0 } = {}] = this.#tables.all(
      `select ${nextNumber} as used, (select count(*) from sent_lines) as lines`,
    );
    this.#tables.runAll(
      'update sent_answers set used = ? where seq = ?',
      [...this.#used].map(seq => [used, seq]),
    );
    if (Number(lines) <= this.#most) return;
    const totals = `select seq, used, sum(lines) over (order by used desc, seq desc) as total
      from sent_answers join (select answer, count(*) as lines from sent_lines group by answer) on seq = answer`;
    this.#tables.run(
      `delete from sent_lines where answer in (select seq from (${totals}) where total > ? and used < ?)`,
      ...[this.#most, used],
    );
    this.#tables.run('delete from sent_answers where seq not in (select answer from sent_lines)');
  }

  /**
   * Ends a complete upload, which cannot be resumed. Unknown lines that are no longer in the file stay unknown.
   *
   * @param keepsLines whether its lines count as sent from now on
   */
  complete(keepsLines: boolean): void {
    this.#end(false, keepsLines);
  }

  /**
   * Forgets the file's earlier upload. Until the new one is complete, only trajectories sent from now on count as
   * sent, regardless of their file.
   */
  startOver(): void {
    if (this.#path !== '') this.#end(true, true);
  }

  #end(startsOver: boolean, keepsLines: boolean): void {
    this.#tables.atOnce(run => {
      run(`update sent_requests set path = '' where ${ofFile}`, ...this.#file);
      const lines = `delete from sent_lines where answer in (select seq from sent_answers where ${ofFile})`;
      if (!keepsLines) run(lines, ...this.#file);
      const answers = keepsLines ? "update sent_answers set path = ''" : 'delete from sent_answers';
      run(`${answers} where ${ofFile}`, ...this.#file);
      run(`delete from sent_restarts where ${ofFile}`, ...this.#file);
      if (startsOver)
        run(
          `insert into sent_restarts (seq, service, dataset, account, agent, path) values (${nextNumber}, ?1, ?2, ?3, ?4, ?5)`,
          ...this.#file,
        );
    });
    this.#changed();
  }
}

function lineOf(id: string): [line: Uint8Array, number: number] {
  const [hash = '', number] = id.split('.');
  return [Buffer.from(hash, 'base64url'), Number(number)];
}

const otherOf = (column: Row[string] | undefined): Other | undefined =>
  column ? (String(column) as Other) : undefined;

function requestOf(
  { id, key, body, unknown, counted_stored, counted_skipped, sent_at, other }: Row,
  isOwn: boolean,
): SentRequest {
  return {
    id: String(id),
    isOwn,
    key: key === null ? undefined : String(key),
    body: String(body),
    unknown: columnIds(unknown),
    counted: { stored: Number(counted_stored), skipped: Number(counted_skipped) },
    sentAt: Number(sent_at),
    other: otherOf(other),
  };
}
