/** Queries for the checkpoints of training runs. */
import { pushAll } from '../base/many.ts';
import type { ListQuery } from '../contract/common.ts';
import { notePage } from '../contract/lists.ts';
import type { Checkpoint } from '../contract/training.ts';
import type { Service } from '../service/index.ts';
import type { CallOptions } from '../service/options.ts';
import { readPages } from '../service/pagination.ts';
import type { ProgressPoint } from '../store/store.ts';
import { clean } from '../text/sanitise.ts';
import { parseTime } from '../text/time.ts';
import { rememberCheckpoints } from './checkpoint-memory.ts';
import { unreadCheckpoints } from './checkpoint-names.ts';
import { type ListSource, readRows } from './lists/list-source.ts';
import { type LiveQuery, shareWhole } from './live-query.ts';
import { readPart } from './remembered-fallback.ts';
import { partOfTraining, trainingKeys, trainingRunQuery } from './training.ts';

const listCheckpoints = (service: Service, training_run_id: string, query: ListQuery, options?: CallOptions) =>
  service.call('listCheckpoints', { params: { training_run_id }, query }, options);

/** A run's checkpoints, newest last. See `unreadCheckpoints` for missing ones. @throws ServiceError */
export async function checkpointsByStep(
  service: Service,
  runId: string,
  options?: CallOptions,
): Promise<readonly Checkpoint[]> {
  const checkpoints: Checkpoint[] = [];
  const readPage = (cursor: string | undefined) =>
    readRows({ cursor }, query => listCheckpoints(service, runId, query, options));
  let dropped = 0;
  let hasMore = false;
  for await (const page of readPages(readPage)) {
    pushAll(checkpoints, page.items);
    dropped += page.dropped;
    hasMore = page.isCutOff;
  }
  checkpoints.sort((left, right) => (left.step_index ?? 0) - (right.step_index ?? 0));
  notePage(checkpoints, { dropped, cursor: null, hasMore });
  return checkpoints;
}

/** A run has no such checkpoint, or it is unknown which one is meant. The message gives the reason. */
export class NoCheckpointError extends Error {
  override readonly name = 'NoCheckpointError';
}

/** All of a run's checkpoints and the newest one. @throws NoCheckpointError if it has none yet or some are unread */
async function readAll(service: Service, runId: string, options?: CallOptions) {
  const checkpoints = await checkpointsByStep(service, runId, options);
  const unread = unreadCheckpoints(checkpoints);
  if (unread)
    throw new NoCheckpointError(`The newest checkpoint is not known: ${unread}. Choose one of the run's checkpoints.`);
  const newest = checkpoints.at(-1);
  if (!newest) throw new NoCheckpointError('The run has no committed checkpoint yet.');
  return { checkpoints, newest };
}

/** A run's newest checkpoint. @throws NoCheckpointError if there is none yet, or not all could be read */
export async function lastCheckpoint(service: Service, runId: string): Promise<Checkpoint> {
  return (await readAll(service, runId)).newest;
}

/**
 * A run's newest checkpoint that the service would deploy.
 *
 * @param note called with the reason if that is not the newest checkpoint
 * @throws NoCheckpointError if there is none, or not all could be read
 */
export async function lastDeployable(
  service: Service,
  runId: string,
  note: (text: string) => void,
  options?: CallOptions,
): Promise<Checkpoint> {
  const { checkpoints, newest } = await readAll(service, runId, options);
  const last = checkpoints.findLast(({ is_deployable }) => is_deployable !== false);
  if (!last) throw new NoCheckpointError('The service reports that none of its checkpoints can be deployed.');
  const stepOf = ({ step_index: step, checkpoint_id: id }: Checkpoint) => (step == null ? id : `step ${step}`);
  if (last !== newest)
    note(clean`The newest checkpoint, ${stepOf(newest)}, cannot be deployed: using ${stepOf(last)} instead.`);
  return last;
}

export function checkpointList(runId: string, ended: boolean): ListSource<Checkpoint> {
  return {
    key: trainingKeys.checkpoints(runId),
    id: row => row.checkpoint_id,
    readPage: async context => {
      const { service, query, signal, memory } = context;
      const page = await readPart('listCheckpoints', trainingRunQuery(runId), context, () =>
        readRows(query, pageQuery => listCheckpoints(service, runId, pageQuery, { signal })),
      );
      rememberCheckpoints(runId, page.items, memory);
      return page;
    },
    partOf: partOfTraining(runId),
    activity: () => (ended ? 'settled' : 'running'),
  };
}

/** The checkpoints' steps over time. A run that was reset saves earlier steps again. */
export const checkpointTimes = (checkpoints: readonly Checkpoint[]): readonly ProgressPoint[] =>
  checkpoints
    .flatMap(({ step_index, created_at }) => {
      const at = parseTime(created_at);
      return step_index == null || at === undefined ? [] : [{ completed_steps: step_index, at, since: at }];
    })
    .toSorted((left, right) => left.at - right.at);

/** How many checkpoints to keep for estimating a run's pace. */
const newestCheckpoints = 12;

/** All of a run's checkpoints, oldest first, for the times of its steps. */
export function checkpointTimesQuery(runId: string, ended: boolean): LiveQuery<readonly Checkpoint[]> {
  return {
    key: [...trainingKeys.checkpoints(runId), 'all'],
    activity: () => (ended ? 'settled' : 'building'),
    share: shareWhole,
    observes: rows => ({ kind: 'training', id: runId, checkpoints: checkpointTimes(rows).slice(-newestCheckpoints) }),
    read: ({ service, signal }) => checkpointsByStep(service, runId, { signal }),
  };
}

export function checkpointQuery(runId: string, step: number): LiveQuery<Checkpoint> {
  return {
    key: [...trainingKeys.checkpoints(runId), step],
    activity: () => 'settled',
    read: ({ service, signal }) =>
      service.call('getCheckpoint', { params: { training_run_id: runId, step_index: step } }, { signal }),
  };
}
