/**
 * Records of trajectory uploads, so that no trajectory is sent twice: one row per request, written before the request is
 * sent, and one per trajectory that the service has answered for. Trajectories in neither have not been sent, or were
 * rejected.
 */
import { randomUUID } from 'node:crypto';
import { type AccountUpload, SentRecord, type TrajectoryUploadRef, type UploadCounts } from './sent-record.ts';
import { jsonIn, ResumableUploads, type Row, uploadsKeptMs } from './tables.ts';

/** An upload that has begun. */
export interface TrajectoryRecord extends TrajectoryUploadRef {
  readonly counts: UploadCounts;
}

/** A line takes about 55 bytes on disk. */
const mostLines = 1_000_000;

const secretSetting = 'accountSecret';
/** Counts the ids in a column: each is followed by a space. */
const countIn = (column: string): string => `length(${column}) - length(replace(${column}, ' ', ''))`;
const countedIn = (column: 'stored' | 'skipped'): string => `sum(${countIn(column)} + counted_${column}) as ${column}`;

export class TrajectoryRecords extends ResumableUploads {
  readonly #mostLines: number;

  constructor(tables: ResumableUploads['tables'], most = mostLines) {
    super(tables);
    this.#mostLines = most;
  }

  /**
   * The account of an API key.
   *
   * @param accountOf hashes the API key with this secret, so that the key cannot be found from it
   */
  async account(accountOf: (secret: string) => Promise<string>): Promise<string> {
    const values = [this.tables.scope, secretSetting] as const;
    const insert = 'insert or ignore into settings (profile, name, value) values (?, ?, ?)';
    const select = 'select value from settings where profile = ? and name = ?';
    const own = randomUUID();
    if (this.tables.all(select, ...values).length === 0) this.tables.run(insert, ...values, JSON.stringify(own));
    const [row] = this.tables.all(select, ...values);
    return accountOf(row ? String(jsonIn(row['value'])) : own);
  }

  /** The record of what this account was sent. */
  of(upload: AccountUpload): SentRecord {
    return new SentRecord(this.tables, upload, this.changed);
  }

  /** Why requests cannot be recorded, or could not at the last attempt; undefined if they can. */
  get problem(): string | undefined {
    return this.tables.problem;
  }

  /** Whether there is a file to write to, or none was wanted. */
  get isOpen(): boolean {
    return this.tables.isOpen;
  }

  /** Says that the record of earlier uploads is in a file that was set aside; undefined if there is none. */
  get setAside(): string | undefined {
    return this.tables.setAside;
  }

  /** Unsettled uploads of this or another program, for each account, latest first. */
  unfinished(): TrajectoryRecord[] {
    const sql = `select path, dataset, agent, ${countedIn('stored')}, ${countedIn('skipped')},
        sum(${countIn('unknown')} - counted_stored - counted_skipped) as unknown
      from trajectory_requests where profile = ? and path <> '' group by path, dataset, agent, account
      order by max(sent_at) desc, path`;
    return this.tables.all(sql, this.tables.scope).map(toTrajectoryRecord);
  }

  /**
   * Keeps the lines of these runs, of any account, for another 90 days. Deletes lines of other runs that are older, or
   * exceed a million.
   */
  keepLines(runs: Iterable<number>): void {
    const now = Date.now();
    this.tables.runAll(
      'update trajectory_runs set used_at = ? where id = ?',
      [...runs].map(id => [now, id]),
    );
    const counts = this.tables.all('select upload, count(*) as lines from trajectory_lines group by upload');
    const linesOf = new Map(counts.map(({ upload, lines }) => [upload, Number(lines)]));
    let total = 0;
    const old = this.tables
      .all('select id, used_at from trajectory_runs order by used_at desc')
      .filter(({ id, used_at }) => {
        total += linesOf.get(id ?? null) ?? 0;
        // The latest file is kept whole, because a part of it is useless.
        return Number(used_at) < now - uploadsKeptMs || (total > this.#mostLines && Number(used_at) < now);
      });
    if (old.length === 0) return;
    this.tables.runAll(
      'delete from trajectory_runs where id = ?',
      old.map(({ id }) => [id ?? null]),
    );
    this.tables.run('delete from trajectory_lines where upload not in (select id from trajectory_runs)');
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
