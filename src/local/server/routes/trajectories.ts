/** Trajectories: upload, detail, list, rewards, completion; also their datasets. */

import { isDiskFull, sqliteCode } from '../../../base/errors.ts';
import { occurrencesHeader } from '../../../contract/trajectories.ts';
import { isRolloutDataset, uploadDataset } from '../../store/datasets.ts';
import { newId } from '../../store/ids.ts';
import {
  logReward as addReward,
  completeTrajectory as endTrajectory,
  RewardIdTaken,
  storeRewards,
  TrajectoryTerminal,
} from '../../store/reward-logs.ts';
import type { UploadFailure, UploadOutcome } from '../../store/trajectory-uploads.ts';
import { apiError, conflict, invalid, notFound, notStored } from '../errors.ts';
import { type Area, type Call, jsonStream, type ServiceContext } from '../handlers.ts';
import type { BodyOf } from '../requests.ts';
import { failureOfItem, readOpened, readUploaded } from '../uploaded-trajectory.ts';

/** Maximum number of trajectories per request. */
const trajectoriesPerRequest = 1_000;
const longestDatasetName = 128;

function findTrajectory({ trajectories }: ServiceContext, { organizationId, params }: Call) {
  const id = params['trajectory_id'] ?? '';
  const row = trajectories.row(organizationId, id);
  if (!row) throw notFound('trajectory', id);
  return row;
}

function uploadTrajectories(
  { trajectoryUploads, idempotency }: ServiceContext,
  { organizationId, idempotencyKey, body, header }: Call<'uploadTrajectories'>,
) {
  checkBatch(body);
  const items = body.trajectories.map(readUploaded);
  const occurrences = readOccurrences(header(occurrencesHeader), items.length);
  const request = { organizationId, operation: 'uploadTrajectories', key: idempotencyKey };
  try {
    return idempotency.once({ ...request, body: occurrences ? { body, occurrences } : body }, () =>
      summaryOf(
        trajectoryUploads.store(organizationId, body.dataset, items, occurrences, each => readUploaded(each, 0)),
      ),
    );
  } catch (error) {
    if (!isStorageError(error)) throw error;
    const reason = isDiskFull(error)
      ? 'the disk of this machine is full. Free some space and try again'
      : error.message;
    const message = `Nothing in the batch was stored: ${reason}.`;
    const failures = items.map(
      (_, item_index): UploadFailure => ({ code: 'trajectory_upload_failed', message, item_index, context: {} }),
    );
    throw notStored('trajectory_upload_failed', message, { context: { failures } });
  }
}

/** Opens a trajectory that accepts rewards until it is completed. */
function createTrajectory(
  { trajectories, trajectoryUploads, datasets, database, idempotency }: ServiceContext,
  { organizationId, idempotencyKey, body }: Call<'createTrajectory'>,
) {
  return idempotency.once({ organizationId, operation: 'createTrajectory', key: idempotencyKey, body }, () => {
    const { dataset: name, rewards = [], origin: _, ...fields } = readOpened(body);
    checkDataset(name);
    const dataset = name === undefined ? undefined : datasets.touch(organizationId, uploadDataset(name));
    const trace_id = fields.trace_id ?? newId('trace');
    if (dataset && trajectoryUploads.hasTrace(dataset.dataset_id, trace_id)) {
      const message = `The dataset already has another trajectory with the trace ${trace_id}.`;
      throw apiError('trajectory_upload_conflict', message, { param: 'trace_id' });
    }
    const tid = trajectories.add({
      ...fields,
      trace_id,
      conversation_id: fields.conversation_id ?? trace_id,
      organization_id: organizationId,
      source: 'live',
      dataset_id: dataset?.dataset_id ?? null,
      dataset_name: dataset?.dataset_name ?? null,
      model_association_source: fields.model_id ? 'upload' : 'none',
    });
    storeRewards(database, tid, rewards);
    const row = trajectories.row(organizationId, tid);
    return { tid, ...(row && trajectories.recordOf(row, true)) };
  });
}

function logReward(service: ServiceContext, call: Call<'logReward'>) {
  const row = findTrajectory(service, call);
  const { reward_id = newId('reward'), name, value, explanation = '', weight = 1 } = call.body;
  if (weight < 0) throw invalid('weight', 'must not be below 0.');
  const reward = { reward_id, name, value, explanation, weight };
  const status = applyChange(() => addReward(service.database, row, reward));
  return { ok: true, trajectory_id: row.trajectory_id, status };
}

function completeTrajectory(service: ServiceContext, call: Call<'completeTrajectory'>) {
  const row = findTrajectory(service, call);
  const { termination_reason = 'ENV_DONE' } = call.body;
  const status = applyChange(() => endTrajectory(service.database, row, termination_reason));
  return { ok: true, trajectory_id: row.trajectory_id, status };
}

/**
 * Changes a trajectory.
 *
 * @throws ApiError if the trajectory has ended, or the reward conflicts with a logged one
 */
function applyChange<Result>(change: () => Result): Result {
  try {
    return change();
  } catch (error) {
    if (error instanceof TrajectoryTerminal) throw apiError('trajectory_already_terminal', error.message);
    if (error instanceof RewardIdTaken) {
      throw conflict('reward_id_reused', error.message, { param: 'reward_id' });
    }
    throw error;
  }
}

/** The problem with a dataset's name, if there is one. */
function datasetProblem(name: string): string | undefined {
  if (isRolloutDataset(name)) return 'names that begin with evaluation/ or training/ are reserved';
  return name.length > longestDatasetName ? `a name has at most ${longestDatasetName} characters` : undefined;
}

function checkDataset(name: string | undefined): void {
  const reason = name === undefined ? undefined : datasetProblem(name);
  if (reason !== undefined) throw invalid('dataset', reason);
}

function checkBatch({ dataset, trajectories }: BodyOf<'uploadTrajectories'>): void {
  const refuse = (param: string, message: string): never => {
    const failures = [failureOfItem(message, 0, { param })];
    throw apiError('invalid_trajectory_upload', `${param}: ${message}`, { param, context: { failures } });
  };
  const reason = datasetProblem(dataset);
  if (reason !== undefined) refuse('dataset', reason);
  if (trajectories.length === 0) refuse('trajectories', 'there are none');
  if (trajectories.length > trajectoriesPerRequest) {
    refuse('trajectories', `a request may have up to ${trajectoriesPerRequest}, not ${trajectories.length}`);
  }
}

/** @throws ApiError `validation_error` unless the header contains a positive number for each item */
function readOccurrences(header: string | undefined, items: number): readonly number[] | undefined {
  if (header === undefined) return undefined;
  const numbers = header.split(',').map(Number);
  if (numbers.length === items && numbers.every(each => Number.isSafeInteger(each) && each > 0)) return numbers;
  throw invalid(occurrencesHeader, `is a positive number for each of the ${items} trajectories, separated by commas.`);
}

/** @throws ApiError if every trajectory failed */
function summaryOf(outcomes: UploadOutcome[]) {
  const count = (status: UploadOutcome['status']): number =>
    outcomes.filter(outcome => outcome.status === status).length;
  const [uploaded, skipped, failed] = [count('uploaded'), count('skipped'), count('error')];
  const failures = outcomes.flatMap(({ failure }) => (failure ? [failure] : []));
  const message = `${uploaded} stored, ${skipped} skipped, ${failed} failed`;
  if (failed === outcomes.length) {
    const conflicts = failures.every(({ code }) => code === 'trajectory_upload_conflict');
    const code = conflicts ? 'trajectory_upload_conflict' : 'invalid_trajectory_upload';
    throw apiError(code, `None of the trajectories was stored: ${failures[0]?.message ?? ''}`, {
      context: { failures },
    });
  }
  return {
    uploaded,
    skipped,
    failures: [],
    message,
    partial_success: uploaded > 0 && failed > 0,
    trajectories: outcomes,
  };
}

/** Whether an error comes from SQLite. */
function isStorageError(error: unknown): error is Error {
  return sqliteCode(error) !== undefined;
}

export const trajectoryArea: Area = {
  name: 'trajectories',
  routes: {
    createTrajectory,
    uploadTrajectories,
    listDatasets: ({ datasets }, { organizationId, query }) => datasets.list(organizationId, query),
    listTrajectories: ({ trajectories }, { organizationId, query }) => trajectories.list(organizationId, query),
    getTrajectory: (service, call) => {
      const { include_steps = true } = call.query;
      const row = findTrajectory(service, call);
      return include_steps ? jsonStream(service.trajectories.jsonOf(row)) : service.trajectories.recordOf(row, false);
    },
    logReward,
    completeTrajectory,
  },
};
