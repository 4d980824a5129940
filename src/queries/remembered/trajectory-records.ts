/** The progress of trajectory uploads, so that another program can resume them: one row per upload. */
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
  readonly failed: number;
}

/** A resumable upload of trajectories. */
export interface TrajectoryRecord extends TrajectoryUploadRef {
  /** The file's fingerprint, to recognise it. */
  readonly mark: string;
  /** Part of the idempotency keys of its batches. */
  readonly key: string;
  /** Size of the file in bytes, and how many of them have their outcome. */
  readonly size: number;
  readonly handled: number;
  readonly counts: UploadCounts;
}

const where = 'profile = ? and path = ? and dataset = ? and agent = ?';

export class TrajectoryRecords extends ResumableUploads {
  #keyOf({ path, dataset, agent }: TrajectoryUploadRef): readonly [string, string, string, string] {
    return [this.tables.scope, path, dataset, agent ?? ''];
  }

  /** Resumable uploads, of this or another program; the latest first. */
  unfinished(): TrajectoryRecord[] {
    const sql = 'select * from trajectory_uploads where profile = ? order by begun_at desc, path';
    return this.tables.all(sql, this.tables.scope).map(recordOf);
  }

  get(upload: TrajectoryUploadRef): TrajectoryRecord | undefined {
    const [row] = this.tables.all(`select * from trajectory_uploads where ${where}`, ...this.#keyOf(upload));
    return row && recordOf(row);
  }

  /** Begins a record, replacing the previous one. */
  begin(upload: TrajectoryUploadRef, { mark, key, size }: Pick<TrajectoryRecord, 'mark' | 'key' | 'size'>): void {
    const now = Date.now();
    this.tables.run(
      'delete from trajectory_uploads where profile = ? and begun_at < ?',
      this.tables.scope,
      now - uploadsKeptMs,
    );
    this.tables.run(
      `insert or replace into trajectory_uploads
         (profile, path, dataset, agent, mark, key, size, handled, stored, skipped, failed, begun_at)
         values (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?)`,
      ...this.#keyOf(upload),
      mark,
      key,
      size,
      now,
    );
    this.changed();
  }

  /** Records the progress, unless another program has begun a record with another key meanwhile. */
  note(upload: TrajectoryUploadRef, key: string, handled: number, { stored, skipped, failed }: UploadCounts): void {
    const sql = `update trajectory_uploads set handled = ?, stored = ?, skipped = ?, failed = ? where ${where} and key = ?`;
    this.tables.run(sql, handled, stored, skipped, failed, ...this.#keyOf(upload), key);
  }

  /** @param key only if the record has this key */
  forget(upload: TrajectoryUploadRef, key?: string): void {
    const sql = `delete from trajectory_uploads where ${where} and key = coalesce(?, key)`;
    this.tables.run(sql, ...this.#keyOf(upload), key ?? null);
    this.changed();
  }
}

function recordOf(row: Row): TrajectoryRecord {
  const { path, dataset, agent, mark, key, size, handled, stored, skipped, failed } = row;
  return {
    path: String(path),
    dataset: String(dataset),
    agent: agent === '' ? undefined : String(agent),
    mark: String(mark),
    key: String(key),
    size: Number(size),
    handled: Number(handled),
    counts: { stored: Number(stored), skipped: Number(skipped), failed: Number(failed) },
  };
}
