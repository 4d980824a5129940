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

export class FileRows {
  readonly #database: Database;
  readonly #uploads: TrajectoryUploads;
  readonly #dataset: DatasetRow;
  /** The number of identical trajectories by content hash, for contents that occur more than once. */
  readonly #equal = new Map<string, number>();
  /** The content hash of each id from the file, in all readings. */
  readonly #given: Map<string, string>;
  /** When the last trajectory was added, in epoch milliseconds. */
  #latest: number;

  constructor(
    { database, datasets, trajectoryUploads }: FileStores,
    organizationId: string,
    name: string,
    given: Map<string, string>,
  ) {
    this.#given = given;
    this.#database = database;
    this.#uploads = trajectoryUploads;
    this.#dataset = datasets.touch(organizationId, uploadDataset(name), name);
    const { latest } = database.get<{ latest: string | null }>('select max(created_at) latest from trajectories') ?? {};
    this.#latest = Date.parse(latest ?? '') || 0;
  }

  /** Marks all trajectories as rows from an earlier reading, which `endAgain` deletes. */
  beginAgain(): void {
    this.#database.run('update trajectories set occurrence = -abs(occurrence)');
  }

  endAgain(): void {
    this.#database.run('delete from trajectories where occurrence < 0');
  }

  /**
   * Adds a trajectory after all others, even if it equals one of them.
   *
   * @param place its id unless it has one of its own, if the file is read once
   */
  add(item: UploadedTrajectory, place?: string): void {
    this.#database.transaction(() => {
      const content_hash = hashOf(item);
      const occurrence = this.#occurrenceOf(content_hash);
      // The screen sorts by this time, and would reverse trajectories from the same millisecond.
      this.#latest = Math.max(this.#latest + 1, Date.now());
      const created_at = new Date(this.#latest).toISOString();
      const ownName = sha256(`${content_hash} ${occurrence}`).slice(0, 12);
      const trajectory_id = this.#ownId(item, content_hash) ?? place ?? `traj_${ownName}`;
      if (this.#find('trajectory_id', trajectory_id)) {
        this.#database.run(
          'update trajectories set occurrence = ?, created_at = ? where trajectory_id = ?',
          ...[occurrence, created_at, trajectory_id],
        );
        return;
      }
      const { trace_id } = item;
      this.#database.run(
        'delete from trajectories where dataset_id = ? and trace_id = ? and occurrence < 0',
        ...[this.#dataset.dataset_id, trace_id ?? null],
      );
      const isFree = trace_id !== undefined && !this.#find('trace_id', trace_id);
      const ids = { trajectory_id, trace_id: isFree ? trace_id : `trace_${ownName}` };
      this.#uploads.add(this.#dataset, item, { ...ids, content_hash, occurrence, created_at });
    });
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
  #ownId({ origin, trace_id }: UploadedTrajectory, contentHash: string): string | undefined {
    const id = [origin?.['trajectory_id'], trace_id].find(each => typeof each === 'string' && plainId.test(each));
    if (typeof id !== 'string' || (this.#find('trajectory_id', id)?.occurrence ?? 0) > 0) return undefined;
    const first = this.#given.get(id) ?? contentHash;
    this.#given.set(id, first);
    return first === contentHash ? id : undefined;
  }

  #find(column: 'trajectory_id' | 'trace_id', value: string) {
    return this.#database.get<{ readonly occurrence: number }>(
      `select occurrence from trajectories where dataset_id = ? and ${column} = ?`,
      ...[this.#dataset.dataset_id, value],
    );
  }
}
