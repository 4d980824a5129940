/** How far uploads of trajectories came, so that another program can continue them: one row an upload. */
import { ResumableUploads, type Row, uploadsKeptMs } from './tables.ts';

/** Which upload it is. */
export interface TrajectoryUploadRef {
  /** The whole path of the file. */
  readonly path: string;
  readonly dataset: string;
  /** Whose trajectories they are, if that is not the agent of the profile. */
  readonly agent: string | undefined;
}

export interface UploadCounts {
  readonly stored: number;
  readonly skipped: number;
  readonly failed: number;
}

/** An upload of trajectories that can be continued. */
export interface TrajectoryRecord extends TrajectoryUploadRef {
  /** By this the file is known to be the one that was read. */
  readonly mark: string;
  /** Part of the idempotency keys of its batches. */
  readonly key: string;
  /** Bytes of the file, and how many of them have their outcome. */
  readonly size: number;
  readonly handled: number;
  readonly counts: UploadCounts;
}

const where = 'profile = ? and path = ? and dataset = ? and agent = ?';

export class TrajectoryRecords extends ResumableUploads {
  #keyOf({ path, dataset, agent }: TrajectoryUploadRef): readonly [string, string, string, string] {
    return [this.tables.scope, path, dataset, agent ?? ''];
  }

  /** What can be continued, here or begun by another program; the one begun last first. */
  unfinished(): TrajectoryRecord[] {
    const sql = 'select * from trajectory_uploads where profile = ? order by begun_at desc, path';
    return this.tables.all(sql, this.tables.scope).map(recordOf);
  }

  get(upload: TrajectoryUploadRef): TrajectoryRecord | undefined {
    const [row] = this.tables.all(`select * from trajectory_uploads where ${where}`, ...this.#keyOf(upload));
    return row && recordOf(row);
  }

  /** Begins a record in the place of the one before. */
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

  /** Notes how far it is. */
  note(upload: TrajectoryUploadRef, handled: number, { stored, skipped, failed }: UploadCounts): void {
    const sql = `update trajectory_uploads set handled = ?, stored = ?, skipped = ?, failed = ? where ${where}`;
    this.tables.run(sql, handled, stored, skipped, failed, ...this.#keyOf(upload));
  }

  forget(upload: TrajectoryUploadRef): void {
    this.tables.run(`delete from trajectory_uploads where ${where}`, ...this.#keyOf(upload));
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
