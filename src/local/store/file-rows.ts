/**
 * The trajectories from a file on screen, as a dataset. A trajectory keeps its id when the file is read again, and an id
 * always has the same content, because a screen reads each id once. The earlier reading's rows stay until the new one is
 * complete.
 */
import type { Database } from './database.ts';
import { type DatasetStore, uploadDataset } from './datasets.ts';
import { sha256 } from './ids.ts';
import type { DatasetRow } from './records.ts';
import { hashOf, type TrajectoryUploads, type UploadedTrajectory } from './trajectory-uploads.ts';

interface FileStores {
  readonly database: Database;
  readonly datasets: DatasetStore;
  readonly trajectoryUploads: TrajectoryUploads;
}

/** An id that needs no escaping in an address. */
const plainId = /^\w[\w.:-]{0,99}$/;

interface RowId {
  readonly trajectory_id: string;
  /** Whether it is the id of the same trajectory in the earlier reading, whose row stays. */
  readonly isKept: boolean;
}

export class FileRows {
  readonly #database: Database;
  readonly #uploads: TrajectoryUploads;
  readonly #dataset: DatasetRow;
  /** The number of identical trajectories by content hash, for contents that occur more than once. */
  readonly #equal = new Map<string, number>();
  /** The content hash of each deleted row by its id, in all readings. */
  readonly #deleted: Map<string, string>;
  /** Whether the file was read before, and may have other content now. */
  #isAgain = false;
  /** When the last trajectory was added, in epoch milliseconds. */
  #latest: number;

  constructor(
    { database, datasets, trajectoryUploads }: FileStores,
    organizationId: string,
    name: string,
    deleted: Map<string, string>,
  ) {
    this.#deleted = deleted;
    this.#database = database;
    this.#uploads = trajectoryUploads;
    this.#dataset = datasets.touch(organizationId, uploadDataset(name), name);
    const { latest } = database.get<{ latest: string | null }>('select max(created_at) latest from trajectories') ?? {};
    this.#latest = Date.parse(latest ?? '') || 0;
  }

  /** Marks all trajectories as rows from an earlier reading, which `endAgain` deletes. */
  beginAgain(): void {
    this.#isAgain = true;
    this.#database.run('update trajectories set occurrence = -abs(occurrence)');
  }

  endAgain(): void {
    this.#delete('occurrence < 0');
  }

  /**
   * Adds a trajectory after all others, even if it equals one of them.
   *
   * @param place where it is in the file, e.g. `line 3`
   * @param id its own id, if the file has one that is not the service's
   */
  add(item: UploadedTrajectory, place: string, id?: unknown): void {
    this.#database.transaction(() => {
      const content_hash = hashOf(item);
      const occurrence = this.#occurrenceOf(content_hash);
      // The screen sorts by this time, and would reverse trajectories from the same millisecond.
      this.#latest = Math.max(this.#latest + 1, Date.now());
      const created_at = new Date(this.#latest).toISOString();
      const { trajectory_id, isKept } =
        this.#ownId(item, id, content_hash) ??
        this.#idBefore(content_hash, occurrence) ??
        this.#idAt(place, content_hash);
      if (isKept) {
        this.#database.run(
          'update trajectories set occurrence = ?, created_at = ? where trajectory_id = ?',
          ...[occurrence, created_at, trajectory_id],
        );
        return;
      }
      const { trace_id } = item;
      this.#delete('dataset_id = ? and trace_id = ? and occurrence < 0', this.#dataset.dataset_id, trace_id ?? null);
      const isFree = trace_id !== undefined && !this.#find('trace_id', trace_id);
      const ownName = sha256(`${content_hash} ${occurrence}`).slice(0, 12);
      const ids = { trajectory_id, trace_id: isFree ? trace_id : `trace_${ownName}` };
      this.#uploads.add(this.#dataset, item, { ...ids, content_hash, occurrence, created_at });
    });
  }

  /** Deletes rows, whose ids no other content gets. */
  #delete(where: string, ...values: readonly (string | null)[]): void {
    const deleted = this.#database.all<{ trajectory_id: string; content_hash: string }>(
      `delete from trajectories where ${where} returning trajectory_id, content_hash`,
      ...values,
    );
    for (const { trajectory_id, content_hash } of deleted) this.#deleted.set(trajectory_id, content_hash);
  }

  #occurrenceOf(contentHash: string): number {
    const { dataset_id } = this.#dataset;
    const known =
      this.#equal.get(contentHash) ??
      this.#database.count(
        'select max(occurrence, 0) count from trajectories where dataset_id = ? and content_hash = ? order by occurrence desc',
        ...[dataset_id, contentHash],
      );
    if (known > 0) this.#equal.set(contentHash, known + 1);
    return known + 1;
  }

  /** The id from the file, unless another trajectory has or had it. */
  #ownId({ origin, trace_id }: UploadedTrajectory, id: unknown, hash: string): RowId | undefined {
    const ids = [origin?.['trajectory_id'], trace_id, id];
    const own = ids.find(each => typeof each === 'string' && plainId.test(each)) as string | undefined;
    return own === undefined ? undefined : this.#idIfFree(own, hash);
  }

  /** The id of the same trajectory in the earlier reading. */
  #idBefore(hash: string, occurrence: number): RowId | undefined {
    if (!this.#isAgain) return undefined;
    const row = this.#database.get<{ readonly trajectory_id: string }>(
      'select trajectory_id from trajectories where dataset_id = ? and content_hash = ? and occurrence = ?',
      ...[this.#dataset.dataset_id, hash, -occurrence],
    );
    return row && { ...row, isKept: true };
  }

  /** The place as the id, with a number if another trajectory had it before. */
  #idAt(place: string, hash: string): RowId {
    let id = this.#idIfFree(place, hash);
    for (let reading = 2; !id; reading += 1) id = this.#idIfFree(`${place} (${reading})`, hash);
    return id;
  }

  #idIfFree(trajectory_id: string, hash: string): RowId | undefined {
    const row = this.#find('trajectory_id', trajectory_id);
    const isFree = row
      ? row.occurrence < 0 && row.content_hash === hash
      : (this.#deleted.get(trajectory_id) ?? hash) === hash;
    return isFree ? { trajectory_id, isKept: row !== undefined } : undefined;
  }

  #find(column: 'trajectory_id' | 'trace_id', value: string) {
    return this.#database.get<{ readonly occurrence: number; readonly content_hash: string }>(
      `select occurrence, content_hash from trajectories where dataset_id = ? and ${column} = ?`,
      ...[this.#dataset.dataset_id, value],
    );
  }
}
