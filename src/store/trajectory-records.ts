/**
 * Records of trajectory uploads: one row per request, written before the request is sent, so that another program can
 * continue an upload without duplicates. Trajectories without a row have not been sent, or were rejected.
 */
import { createHash } from 'node:crypto';
import { ResumableUploads, type Row, uploadsKeptMs } from './tables.ts';

/** Identifies an upload. */
export interface TrajectoryUploadRef {
  /** The absolute path of the file. */
  readonly path: string;
  readonly dataset: string;
  /** The agent it belongs to, if not the profile's. */
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

/** The trajectories of a request by outcome, as ids in the file. */
export interface SentItems {
  readonly stored: readonly string[];
  readonly skipped: readonly string[];
  readonly unknown: readonly string[];
}

export interface SentRequest extends SentItems {
  readonly id: string;
  /** The idempotency key of the unanswered request with all of `unknown`; undefined after a response. */
  readonly key: string | undefined;
}

/** A file that was sent completely. */
export interface SentFile extends Pick<UploadCounts, 'stored' | 'skipped'> {
  /** Whether each of its trajectories has a `trace_id`. */
  readonly isTraced: boolean;
  /** When its upload ended; epoch milliseconds. */
  readonly sentAt: number;
}

/** An upload that has begun. */
export interface TrajectoryRecord extends TrajectoryUploadRef {
  readonly counts: UploadCounts;
}

const whereFile = 'profile = ? and content = ? and dataset = ? and agent = ?';
const where = 'profile = ? and path = ? and dataset = ? and agent = ?';
/** Counts the ids in a column: each is followed by a space. */
const countIn = (column: string): string => `sum(length(${column}) - length(replace(${column}, ' ', ''))) as ${column}`;
const joined = (ids: readonly string[]): string => ids.map(id => `${id} `).join('');
const columnIds = (column: Row[string] | undefined): string[] => String(column).split(' ').filter(Boolean);

export class TrajectoryRecords extends ResumableUploads {
  #keyOf({ path, dataset, agent }: TrajectoryUploadRef): readonly [string, string, string, string] {
    return [this.tables.scope, path, dataset, agent ?? ''];
  }

  #fileKeyOf({ dataset, agent }: TrajectoryUploadRef, content: string): readonly [string, string, string, string] {
    return [this.tables.scope, content, dataset, agent ?? ''];
  }

  /**
   * Locks this file and dataset against other processes. Returns the function that unlocks it, or undefined if it is
   * locked.
   */
  async lock({ path, dataset }: TrajectoryUploadRef): Promise<(() => void) | undefined> {
    if (this.tables.folder === undefined) return () => {};
    // Import on demand: the first frame does not need it.
    const { takeNamedLock } = await import('../base/file-lock.ts');
    const name = createHash('sha256')
      .update(JSON.stringify([this.tables.scope, path, dataset]))
      .digest('hex');
    return takeNamedLock(this.tables.folder, `upload-${name.slice(0, 32)}`, uploadsKeptMs);
  }

  /** Unsettled uploads of this or another program, latest first. */
  unfinished(): TrajectoryRecord[] {
    const sql = `select path, dataset, agent, ${countIn('stored')}, ${countIn('skipped')}, ${countIn('unknown')}
      from trajectory_requests where profile = ? group by path, dataset, agent order by max(sent_at) desc, path`;
    return this.tables.all(sql, this.tables.scope).map(toTrajectoryRecord);
  }

  /** Whether an upload has begun but is not settled. */
  has(upload: TrajectoryUploadRef): boolean {
    return (
      this.tables.all(`select 1 from trajectory_requests where ${where} limit 1`, ...this.#keyOf(upload)).length > 0
    );
  }

  /** The requests of an upload, in the order in which they were sent. */
  requests(upload: TrajectoryUploadRef): SentRequest[] {
    const sql = `select * from trajectory_requests where ${where} order by sent_at, rowid`;
    return this.tables.all(sql, ...this.#keyOf(upload)).map(requestOf);
  }

  /** Records a request that is about to be sent; its id is the idempotency key. */
  begin(upload: TrajectoryUploadRef, id: string, items: readonly string[]): void {
    const now = Date.now();
    this.tables.run(
      'delete from trajectory_requests where profile = ? and sent_at < ?',
      this.tables.scope,
      now - uploadsKeptMs,
    );
    this.tables.run(
      `insert into trajectory_requests (profile, path, dataset, agent, id, key, stored, skipped, unknown, sent_at)
         values (?, ?, ?, ?, ?, ?, '', '', ?, ?)`,
      ...this.#keyOf(upload),
      id,
      id,
      joined(items),
      now,
    );
    this.changed();
  }

  /** Records that the unknown part of an answered request is about to be sent again, with this key. */
  repeat(id: string, key: string): void {
    this.tables.run('update trajectory_requests set key = ? where id = ?', key, id);
  }

  /**
   * Records the response for the unknown part of a request. Items that it does not name were rejected, or have not been
   * sent.
   */
  settle(id: string, { stored, skipped, unknown }: SentItems): void {
    const sql = `update trajectory_requests
      set key = null, stored = stored || ?, skipped = skipped || ?, unknown = ? where id = ?`;
    this.tables.run(sql, joined(stored), joined(skipped), joined(unknown), id);
    this.tables.run("delete from trajectory_requests where id = ? and stored || skipped || unknown = ''", id);
  }

  /** The last complete upload of this content, from whatever path. @param content hash of the file */
  sentFile(upload: TrajectoryUploadRef, content: string): SentFile | undefined {
    const [row] = this.tables.all(`select * from sent_files where ${whereFile}`, ...this.#fileKeyOf(upload, content));
    return (
      row && {
        ...{ stored: Number(row['stored']), skipped: Number(row['skipped']) },
        ...{ isTraced: row['traced'] === 1, sentAt: Number(row['sent_at']) },
      }
    );
  }

  /** Records a complete upload in place of its requests. Without its content, only forgets these. */
  complete(upload: TrajectoryUploadRef, content: string | undefined, file: SentFile): void {
    const { stored, skipped, isTraced, sentAt } = file;
    this.tables.run(
      'delete from sent_files where profile = ? and sent_at < ?',
      this.tables.scope,
      sentAt - uploadsKeptMs,
    );
    if (content !== undefined) {
      this.tables.run(
        'insert or replace into sent_files values (?, ?, ?, ?, ?, ?, ?, ?)',
        ...[...this.#fileKeyOf(upload, content), stored, skipped, Number(isTraced), sentAt],
      );
    }
    this.forget(upload);
  }

  /** Forgets a complete upload of this content. */
  forgetFile(upload: TrajectoryUploadRef, content: string): void {
    this.tables.run(`delete from sent_files where ${whereFile}`, ...this.#fileKeyOf(upload, content));
  }

  /** Deletes the record, so that the next run sends the whole file. */
  forget(upload: TrajectoryUploadRef): void {
    this.tables.run(`delete from trajectory_requests where ${where}`, ...this.#keyOf(upload));
    this.changed();
  }
}

function toTrajectoryRecord({ path, dataset, agent, stored, skipped, unknown }: Row): TrajectoryRecord {
  return {
    path: String(path),
    dataset: String(dataset),
    agent: agent === '' ? undefined : String(agent),
    counts: { stored: Number(stored), skipped: Number(skipped), failed: 0, unknown: Number(unknown) },
  };
}

function requestOf({ id, key, stored, skipped, unknown }: Row): SentRequest {
  return {
    id: String(id),
    key: key === null ? undefined : String(key),
    stored: columnIds(stored),
    skipped: columnIds(skipped),
    unknown: columnIds(unknown),
  };
}
