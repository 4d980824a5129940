/** Decides which rows in a list of trajectories belong to the requested run or dataset. */
import { perObject } from '../base/memo.ts';
import { spelledId } from '../contract/common.ts';
import type { Dataset } from '../contract/datasets.ts';
import type { TrajectoryReward } from '../contract/evaluations.ts';
import { unreadableIn } from '../contract/lists.ts';
import { statusMeaning } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';

export interface TrajectoryFilter {
  readonly eval_run_id?: string;
  readonly training_run_id?: string;
  readonly dataset_name?: string;
}

/** The known facts about the requested run or dataset. */
export interface KnownOwner {
  /** All datasets, if they have been listed. */
  readonly datasets?: readonly Dataset[] | undefined;
  /** The run's rewards. */
  readonly rewards?: readonly TrajectoryReward[] | undefined;
  /** Whether the run had ended before its rewards were read, or the service reports no status. */
  readonly isOver?: boolean;
  /** The run's number of rollouts, if it cannot change. */
  readonly total?: number | undefined;
  /** Rows from other pages that do not name the run and are not among its rewards. */
  readonly earlier?: readonly Trajectory[];
}

export interface OwnRows {
  /** The rows that belong or may belong to the run or dataset, in order. */
  readonly own: Trajectory[];
  /** The number of rows that belong to another run or dataset. */
  readonly others: number;
  /** Rows of `own` that may not belong to it. */
  readonly unsure: readonly Trajectory[];
  /** Whether the rows that name no run fit the rewards and the total. */
  readonly fits: boolean;
  /** Whether some rows belong to other runs, because the rows do not fit and late rewards cannot explain it. */
  readonly isMixed: boolean;
  /** Rows from all pages that do not name the run and are not among its rewards. */
  readonly unlisted: readonly Trajectory[];
}

/**
 * Chooses the rows on a page that belong to the requested run, training run or dataset. The document does not have
 * these filters: a service may ignore them and send other rows too.
 *
 * - A row that names the owner belongs to it, and a row that names a different one does not. UUIDs may differ in case.
 *   A row may also name a dataset by its id, or by another spelling of its name (case, spaces around it), if the list
 *   of datasets identifies it. An empty string names nothing.
 * - Rows that name no evaluation run, including those on earlier pages, are compared with the run's rewards. A row with
 *   a reward must be among them; the others may have failed, as many as the run's total allows. If they do not fit,
 *   the list mixes several runs, but only if the run has a reward, is not known to be running, and its total is too
 *   low for all rows: rewards may be late, or arrive only at the end.
 * - Any other row stays, but is `unsure`.
 */
export function ownRows(rows: readonly Trajectory[], filter: TrajectoryFilter, known: KnownOwner): OwnRows {
  const verdicts = new Map(rows.map(row => [row, belongs(row, filter, known)]));
  const own = rows.filter(row => verdicts.get(row) !== false);
  const unnamed = own.filter(row => verdicts.get(row) === undefined);
  const others = rows.length - own.length;
  const { rewards, isOver = false, total, earlier = [] } = known;
  if (!rewards) return { own, others, unsure: unnamed, fits: true, isMixed: false, unlisted: [] };
  const { ids, nameless } = rewardIds(rewards);
  const unlisted = new Map(
    [...earlier, ...unnamed].flatMap(row => {
      const id = spelledId(row.trajectory_id);
      return ids.has(id) ? [] : [[id, row] as const];
    }),
  );
  // A total below the number of rewards is wrong.
  const room = total === undefined || total < ids.size + nameless ? undefined : total - ids.size;
  const graded = [...unlisted.values()].filter(isGraded).length;
  const fits = unlisted.size <= (room ?? Number.POSITIVE_INFINITY) && graded <= nameless;
  const mayBeLate = room !== undefined && unlisted.size <= room;
  const isMixed = !fits && isOver && rewards.length > 0 && !mayBeLate;
  const areSure = fits && room !== undefined;
  const unsure = areSure ? [] : unnamed.filter(row => unlisted.has(spelledId(row.trajectory_id)));
  return { own, others, unsure, fits, isMixed, unlisted: [...unlisted.values()] };
}

/** The ids in the rewards, and the number of rewards without an id. */
const rewardIds = perObject((rewards: readonly TrajectoryReward[]) => {
  const ids = new Set(rewards.flatMap(({ trajectory_id }) => (trajectory_id ? spelledId(trajectory_id) : [])));
  return { ids, nameless: rewards.length - ids.size + unreadableIn(rewards) };
});

/** Cached because every render asks, with up to 20,000 rows. */
const lackingIn = perObject((rewards: readonly TrajectoryReward[]) => {
  const { ids, nameless } = rewardIds(rewards);
  return perObject(
    (rows: readonly Trajectory[]) =>
      rows.filter(row => isGraded(row) && !ids.has(spelledId(row.trajectory_id))).length > nameless,
  );
});

/** Whether an evaluation run's rows have more rewards than the list of rewards that was read. */
export const lackRewards = (rewards: readonly TrajectoryReward[], rows: readonly Trajectory[]): boolean =>
  lackingIn(rewards)(rows);

/** Whether a row must be among its run's rewards. These may omit only failed and stopped rollouts. */
const isGraded = ({ reward, status }: Trajectory): boolean =>
  reward != null && ['success', 'unknown'].includes(statusMeaning(status ?? ''));

/** The rollouts that failed without a reward. */
export const failedOf = (rows: readonly Trajectory[]): readonly Trajectory[] =>
  rows.filter(({ status, reward }) => reward == null && statusMeaning(status ?? '') === 'failure');

/** Whether a row's ids and names show that it belongs to the requested owner; undefined if they do not show either. */
function belongs(row: Trajectory, filter: TrajectoryFilter, { datasets }: KnownOwner): boolean | undefined {
  const { eval_run_id, training_run_id, dataset_name } = filter;
  const verdicts = [
    ...(eval_run_id === undefined ? [] : [isSameId(row.eval_run_id, eval_run_id)]),
    ...(training_run_id === undefined ? [] : [isSameId(row.training_run_id, training_run_id)]),
    ...(dataset_name === undefined ? [] : [isOfDataset(row, dataset_name, datasets)]),
  ];
  if (verdicts.includes(false)) return false;
  return verdicts.includes(undefined) ? undefined : true;
}

const isSameId = (id: string | null | undefined, requested: string): boolean | undefined =>
  id ? spelledId(id) === spelledId(requested) : undefined;

const foldName = (name: string): string => name.trim().toLowerCase();

function isOfDataset(
  { dataset_name: name, dataset_id: id }: Trajectory,
  requested: string,
  datasets: readonly Dataset[] = [],
): boolean | undefined {
  // A dataset without a name is requested by its id.
  if (name === requested || isSameId(id, requested)) return true;
  if (name && foldName(name) !== foldName(requested)) return false;
  const named = datasets.filter(({ dataset_name }) => dataset_name === requested);
  if (named.length === 0) return undefined;
  if (id) return named.some(({ dataset_id }) => isSameId(dataset_id, id));
  // Two datasets may have names that differ only in their spelling.
  return datasets.some(({ dataset_name }) => name && dataset_name === name) ? false : undefined;
}
