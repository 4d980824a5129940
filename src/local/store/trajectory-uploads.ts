/**
 * Stores batches of uploaded trajectories without duplicates, and reports failures per item. A `trace_id` identifies a
 * trajectory. Without one, the n-th of several identical trajectories matches the n-th stored one: this keeps all
 * identical samples, and skips a file that is uploaded again.
 */
import { parseExactly } from '../../base/exact-json.ts';
import { orderedJson } from '../../base/ordered-json.ts';
import type { Database } from './database.ts';
import { type DatasetStore, uploadDataset } from './datasets.ts';
import { newId, sha256 } from './ids.ts';
import type { DatasetRow } from './records.ts';
import { storeRewards, type UploadedReward } from './reward-logs.ts';
import type { NewTrajectory, TrajectoryStore } from './trajectories.ts';

export interface UploadedTrajectory
  extends Pick<NewTrajectory, 'status' | 'steps'>,
    Partial<Pick<NewTrajectory, 'reward' | 'error' | 'task_id' | 'model_id' | 'termination_reason' | 'details'>> {
  readonly trace_id: string | undefined;
  readonly conversation_id: string | undefined;
  /** The training step that its model is from. */
  readonly step?: number;
  readonly rewards?: readonly UploadedReward[];
  /** Where an exported trajectory came from. It is not part of the trajectory's identity. */
  readonly origin?: Readonly<Record<string, unknown>>;
}

export interface UploadFailure extends Record<string, unknown> {
  readonly code: 'invalid_trajectory_upload' | 'trajectory_upload_conflict' | 'trajectory_upload_failed';
  readonly message: string;
  readonly item_index: number;
  readonly context: Record<string, unknown>;
}

/** The outcome for one trajectory; absent fields are null. `skipped` means that it already exists. */
export interface UploadOutcome extends Record<string, unknown> {
  readonly request_index: number;
  readonly status: 'uploaded' | 'skipped' | 'error';
  readonly conversation_id: string | null;
  readonly trace_id: string | null;
  readonly trajectory_id: string | null;
  readonly model_id: string | null;
  readonly model_association_source: string | null;
  readonly failure: UploadFailure | null;
}

const unknownOutcome = {
  conversation_id: null,
  trace_id: null,
  trajectory_id: null,
  model_id: null,
  model_association_source: null,
  failure: null,
} as const;

export class TrajectoryUploads {
  readonly #database: Database;
  readonly #datasets: DatasetStore;
  readonly #trajectories: TrajectoryStore;

  constructor(database: Database, datasets: DatasetStore, trajectories: TrajectoryStore) {
    this.#database = database;
    this.#datasets = datasets;
    this.#trajectories = trajectories;
  }

  /**
   * Stores all valid items. Must run in a transaction. Creates the dataset along with the first stored trajectory.
   *
   * @param occurrences numbers the upload's identical items, from 1; by default, they are counted in `items`
   * @param read parses an exported trajectory, which has more fields than the one that was stored, as an upload
   */
  store(
    organizationId: string,
    datasetName: string,
    items: readonly (UploadedTrajectory | UploadFailure)[],
    occurrences: readonly number[] = [],
    read?: (exported: unknown) => UploadedTrajectory | UploadFailure,
  ) {
    const latest = new Map<string, number>();
    let dataset = this.#datasets.named(organizationId, datasetName);
    return items.map((item, request_index): UploadOutcome => {
      if ('code' in item) return { ...unknownOutcome, request_index, status: 'error', failure: item };
      const content_hash = hashOf(item);
      const occurrence = Math.max(occurrences[request_index] ?? 1, (latest.get(content_hash) ?? 0) + 1);
      latest.set(content_hash, occurrence);
      const known = dataset && this.#find(dataset.dataset_id, item.trace_id, content_hash, occurrence);
      const isExport = (id: string): boolean => {
        const row = this.#trajectories.row(organizationId, id);
        const exported = row && read?.(this.#trajectories.recordOf(row, true));
        return exported !== undefined && !('code' in exported) && contentOf(exported) === contentOf(item);
      };
      if (known && known.content_hash !== content_hash && !isExport(known.trajectory_id))
        return conflict(request_index, known);
      if (known) return { ...unknownOutcome, request_index, status: 'skipped', ...identityOf(known) };
      dataset ??= this.#datasets.touch(organizationId, uploadDataset(datasetName));
      const trace_id = item.trace_id ?? newId('trace');
      const identity = identityOf(this.add(dataset, item, { trace_id, content_hash, occurrence }));
      return { ...unknownOutcome, request_index, status: 'uploaded', ...identity };
    });
  }

  /** Adds a trajectory to a dataset; returns its fields. Must run in a transaction. */
  add(
    { organization_id, dataset_id, dataset_name }: DatasetRow,
    { origin, rewards = [], ...content }: UploadedTrajectory,
    given: Identity,
  ): Known {
    const model_association_source = content.model_id ? 'upload' : 'none';
    const stored = {
      ...content,
      ...{ organization_id, dataset_id, dataset_name, source: 'upload', model_association_source, ...given },
      conversation_id: content.conversation_id ?? given.trace_id,
      details: withOrigin(content.details, origin),
    };
    const trajectory_id = this.#trajectories.add(stored);
    storeRewards(this.#database, trajectory_id, rewards);
    const model_id = typeof content.model_id === 'string' ? content.model_id : null;
    return { ...stored, model_id, trajectory_id };
  }

  hasTrace(datasetId: string, traceId: string): boolean {
    return this.#find(datasetId, traceId, '', 1) !== undefined;
  }

  #find(datasetId: string, traceId: string | undefined, contentHash: string, occurrence: number): Known | undefined {
    const columns = 'trajectory_id, trace_id, conversation_id, model_id, model_association_source, content_hash';
    const select = `select ${columns} from trajectories where dataset_id = ?`;
    return traceId === undefined
      ? this.#database.get<Known>(
          `${select} and content_hash = ? and occurrence = ?`,
          datasetId,
          contentHash,
          occurrence,
        )
      : this.#database.get<Known>(`${select} and trace_id = ?`, datasetId, traceId);
  }
}

/** A hash of a trajectory's content. */
export function hashOf({ origin: _, rewards = [], ...content }: UploadedTrajectory): string {
  // Hash step by step, because the text of all steps can be very large.
  const steps = content.steps.map(step => sha256(JSON.stringify(step)));
  return sha256(JSON.stringify({ ...content, steps, ...(rewards.length > 0 && { rewards }) }));
}

/** A trajectory's content as text. The order of fields makes no difference: an export may have another one. */
function contentOf({ origin: _, details, ...content }: UploadedTrajectory): string {
  return orderedJson({ ...content, details: typeof details === 'string' ? parseExactly(details) : null });
}

/** @param details JSON, if there are any */
function withOrigin(details: unknown, origin: UploadedTrajectory['origin']): string | null {
  const known = typeof details === 'string' ? details : null;
  return origin ? JSON.stringify({ ...(parseExactly(known ?? '{}') as object), origin }) : known;
}

interface Identity {
  readonly trajectory_id?: string;
  readonly trace_id: string;
  readonly content_hash: string;
  readonly occurrence: number;
  readonly created_at?: string;
}

interface Known {
  readonly trajectory_id: string;
  readonly trace_id: string;
  readonly conversation_id: string;
  readonly model_id?: string | null;
  readonly model_association_source: string;
  readonly content_hash: string;
}

function identityOf({ trajectory_id, trace_id, conversation_id, model_id, model_association_source }: Known) {
  return { trajectory_id, trace_id, conversation_id, model_association_source, model_id: model_id ?? null };
}

function conflict(request_index: number, known: Known): UploadOutcome {
  const failure: UploadFailure = {
    code: 'trajectory_upload_conflict',
    message: `The dataset already has another trajectory with the trace ${known.trace_id}.`,
    item_index: request_index,
    context: { trace_id: known.trace_id, trajectory_id: known.trajectory_id },
  };
  return { ...unknownOutcome, request_index, status: 'error', trace_id: known.trace_id, failure };
}
