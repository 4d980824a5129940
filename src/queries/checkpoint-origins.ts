/**
 * Finds the training runs that checkpoints come from. No service has an operation for this, so a search takes one
 * request per training run, and its results are remembered.
 */
import { perObject } from '../base/memo.ts';
import { hasEnded } from '../contract/status.ts';
import type { Checkpoint, TrainingRun } from '../contract/training.ts';
import { ifThere, isNotOffered } from '../service/errors.ts';
import type { RememberedStore } from '../store/store.ts';
import {
  knownOrigin,
  type Origin,
  rememberCheckpoints,
  rememberedOrigin,
  rememberHeldOut,
} from './checkpoint-memory.ts';
import { checkpointsByStep } from './checkpoints.ts';
import { heldOutOfStep } from './held-out.ts';
import { type QueryContext, readShared } from './query-context.ts';
import { everyPlainTrainingRun, observeTraining, stepsOf } from './training.ts';
import { heldOutRewardsQuery } from './training-curves.ts';

/** The relevant fields of a record that refers to a checkpoint. */
export interface CheckpointUser {
  readonly checkpoint_id?: string | null | undefined;
  readonly checkpoint_step?: number | null | undefined;
  readonly base_model_slug?: string | null | undefined;
  /** When the record was created. The checkpoint is older. */
  readonly created_at?: string | null | undefined;
}

/** Maximum number of training runs whose checkpoints a search reads. */
export const maxSearched = 100;

/** The checkpoints of ended runs, which are final. */
const finalCheckpoints = perObject((_: RememberedStore) => new Map<string, Promise<readonly Checkpoint[]>>());

/** Whether a run may have produced the checkpoint. */
function mayBeOf(run: TrainingRun, { checkpoint_step, base_model_slug, created_at }: CheckpointUser): boolean {
  const differs = base_model_slug != null && run.base_model_slug != null && base_model_slug !== run.base_model_slug;
  const isLater = created_at != null && run.created_at != null && Date.parse(run.created_at) > Date.parse(created_at);
  return !differs && !isLater && (checkpoint_step ?? 0) <= (stepsOf(run) ?? Number.POSITIVE_INFINITY);
}

/** Searches for the training runs of any number of checkpoints. Reads each run once. */
export class OriginSearch {
  readonly #checkpoints = new Map<string, Promise<readonly Checkpoint[]>>();
  readonly #heldOut = new Map<string, ReturnType<ReturnType<typeof heldOutRewardsQuery>['read']>>();
  #listed: Promise<readonly TrainingRun[]> | undefined;

  /**
   * A checkpoint's training run. Searches the runs that this machine remembers, then the service's newest.
   *
   * @throws ServiceError
   */
  async runOf(wanted: CheckpointUser, context: QueryContext): Promise<TrainingRun | undefined> {
    const { memory } = context;
    const seen = memory.seen.list('training').map(({ id, record, status }): TrainingRun => {
      return { ...record, training_run_id: id, status };
    });
    return (
      (await this.#among(seen, wanted, context)) ?? (await this.#among(await this.#list(context), wanted, context))
    );
  }

  /** A checkpoint's origin. @param withReward also reads its held-out reward @throws ServiceError */
  async find(wanted: CheckpointUser, context: QueryContext, withReward = true): Promise<Origin | undefined> {
    const { checkpoint_id: id } = wanted;
    if (!id) return undefined;
    if (!rememberedOrigin(id, context.memory)) await this.runOf(wanted, context);
    const known = rememberedOrigin(id, context.memory);
    if (withReward && known?.step !== undefined && !known.isMeasured) await this.#measure(id, known, context);
    return knownOrigin(id, context.memory);
  }

  async #among(
    runs: readonly TrainingRun[],
    wanted: CheckpointUser,
    context: QueryContext,
  ): Promise<TrainingRun | undefined> {
    for (const run of runs) {
      if (!mayBeOf(run, wanted)) continue;
      const found = (await this.#read(run, context)).find(({ checkpoint_id: id }) => id === wanted.checkpoint_id);
      if (!found) continue;
      context.memory.see([observeTraining(run)]);
      rememberCheckpoints(run.training_run_id, [found], context.memory, run.display_name ?? undefined);
      return run;
    }
    return undefined;
  }

  #list(context: QueryContext): Promise<readonly TrainingRun[]> {
    this.#listed ??= everyPlainTrainingRun.readPage({ ...context, query: {} }).then(
      ({ items }) => items,
      error => {
        if (isNotOffered(error)) return [];
        throw error;
      },
    );
    return this.#listed;
  }

  #read(run: TrainingRun, { service, memory, signal }: QueryContext): Promise<readonly Checkpoint[]> {
    const { training_run_id: id, status } = run;
    const final = finalCheckpoints(memory);
    const known = this.#checkpoints.get(id) ?? final.get(id);
    if (known) return known;
    if (this.#checkpoints.size >= maxSearched) return Promise.resolve([]);
    // The run may have been deleted, or the service may not list checkpoints.
    const read = ifThere(() => checkpointsByStep(service, id, { signal })).then((found = []) => found);
    this.#checkpoints.set(id, read);
    if (hasEnded(status)) read.then(() => final.set(id, read)).catch(() => {});
    return read;
  }

  /** Remembers the held-out reward at the step. @throws ServiceError */
  async #measure(id: string, { training_run_id, step }: Origin, context: QueryContext): Promise<void> {
    const isOver = hasEnded(context.memory.seen.find('training', training_run_id)?.status);
    const query = heldOutRewardsQuery(training_run_id, isOver);
    const read = this.#heldOut.get(training_run_id) ?? readShared(query, context);
    this.#heldOut.set(training_run_id, read);
    // The run may have been deleted, or the service may have no held-out rewards.
    const held_out = heldOutOfStep((await ifThere(() => read)) ?? [])(step);
    rememberHeldOut(id, held_out, isOver && held_out?.isUnfinished !== true, context.memory);
  }
}
