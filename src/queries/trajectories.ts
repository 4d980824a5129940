/** Queries and actions for trajectories. */

import { pushAll } from '../base/many.ts';
import type { Page } from '../contract/common.ts';
import type { Dataset } from '../contract/datasets.ts';
import type { Failure } from '../contract/errors.ts';
import type { EvalRun, TrajectoryReward } from '../contract/evaluations.ts';
import type { AgentFields } from '../contract/generation.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import type {
  CompleteTrajectoryBody,
  LogRewardBody,
  LogRewardResult,
  Trajectory,
  UploadTrajectoriesResult,
} from '../contract/trajectories.ts';
import { readAnswer } from '../contract/upload-answer.ts';
import { ApiError, ifThere, isNotOffered, ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { CallOptions } from '../service/options.ts';
import { readPages } from '../service/pagination.ts';
import { countOf } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { action } from './action.ts';
import { datasetKeys } from './datasets.ts';
import { partOfRun } from './evaluations.ts';
import type { RunExtent } from './extent-of.ts';
import { type AnnotatedPage, type ListSource, pageSize, wholePage } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';
import { type OwnRows, ownRows, type TrajectoryFilter } from './own-rows.ts';
import { activityOfRun } from './polling.ts';
import type { QueryContext } from './query-context.ts';
import { rememberedKind } from './remembered-fallback.ts';
import { readExtent } from './run-extent.ts';
import { readTrajectoryRewards } from './run-rewards.ts';
import { partOfTraining } from './training.ts';

export const trajectoryKeys = {
  all: ['trajectories'],
  list: (filter: TrajectoryFilter) => ['trajectories', 'list', filter],
  one: (trajectoryId: string) => ['trajectories', 'one', trajectoryId],
  status: (trajectoryId: string) => ['trajectories', 'status', trajectoryId],
} as const;

/** The fields that lists show and the store remembers. The rest of a trajectory may be megabytes in size. */
const shownFields = [
  'trajectory_id',
  'task_id',
  'status',
  'reward',
  'num_steps',
  'model_id',
  'source',
  'created_at',
  'dataset_id',
  'dataset_name',
  'eval_run_id',
  'training_run_id',
] as const;

const keptErrorLength = 300;

const parentOf = ({ eval_run_id, training_run_id }: Trajectory): string | undefined =>
  eval_run_id || training_run_id || undefined;

const remembered = rememberedKind<Trajectory>({
  kind: 'trajectory',
  idName: 'trajectory_id',
  words: 'trajectories',
  observe: trajectory => ({
    label: trajectory.task_id,
    status: trajectory.status,
    mean: trajectory.reward,
    startedAt: trajectory.created_at,
    parent: parentOf(trajectory),
    record: Object.fromEntries(
      [
        ...shownFields.map(name => [name, trajectory[name]] as const),
        ['error', trajectory.error?.slice(0, keptErrorLength)],
      ].filter(([, value]) => value !== undefined),
    ),
  }),
});

/** Maximum number of rows to remember from a list, which may have 100,000. */
const rememberedRows = 200;

/** The list of trajectories. If the service has no such list, shows remembered ones. */
export function trajectoryList(filter: TrajectoryFilter): ListSource<Trajectory> {
  const { eval_run_id: run, training_run_id: training, dataset_name: dataset } = filter;
  const part = run === undefined ? (training === undefined ? undefined : partOfTraining(training)) : partOfRun(run);
  const learnt: Learnt = { isOver: false, isReadOver: false, unlisted: [] };
  const listed: Omit<ListSource<Trajectory>, 'id'> = {
    key: trajectoryKeys.list(filter),
    sorts: true,
    ...(part && { partOf: part }),
    observesFirst: rememberedRows,
    readPage: async context => {
      if (run !== undefined) return readOfRun(run, context, learnt);
      const { page, found } = await readFiltered(filter, context, learnt);
      return withoutOthers(page, found);
    },
    activity: rows => (rows.some(row => isRunning(row.status)) ? 'running' : 'open'),
  };
  const parent = run ?? training;
  return {
    ...remembered.list(listed, { parent, keeps: row => dataset === undefined || row.dataset_name === dataset }),
    observes: row => ({ ...remembered.observe(row), parent: parent ?? parentOf(row) }),
  };
}

/** Whether an evaluation run's successful rollout lacks its reward, which may be late. */
const lacksReward = ({ eval_run_id, reward, status }: Partial<Trajectory> = {}): boolean =>
  Boolean(eval_run_id) && reward == null && statusMeaning(status ?? '') === 'success';

/** A trajectory with its steps and messages. */
export function trajectoryQuery(trajectoryId: string): LiveQuery<Trajectory> {
  return {
    key: trajectoryKeys.one(trajectoryId),
    about: { kind: 'trajectory', id: trajectoryId },
    observes: remembered.observe,
    activity: trajectory => {
      if (!hasEnded(trajectory?.status)) return 'open';
      return lacksReward(trajectory) ? 'settling' : 'settled';
    },
    // A trajectory may be megabytes in size, and may have been prefetched.
    settledForMs: 5 * 60_000,
    read: ({ service, signal }) =>
      service.call(
        'getTrajectory',
        { params: { trajectory_id: trajectoryId }, query: { include_steps: true } },
        { signal },
      ),
  };
}

/** A trajectory's status, without its steps. */
export function trajectoryStatusQuery(trajectoryId: string): LiveQuery<Trajectory> {
  return {
    key: trajectoryKeys.status(trajectoryId),
    about: { kind: 'trajectory', id: trajectoryId },
    observes: remembered.observe,
    activity: trajectory => activityOfRun(trajectory?.status),
    read: ({ service, signal }) =>
      service.call(
        'getTrajectory',
        { params: { trajectory_id: trajectoryId }, query: { include_steps: false } },
        { signal },
      ),
  };
}

type PageContext = Parameters<ListSource<Trajectory>['readPage']>[0];

const ofRewardsNote =
  'The service lists other runs too: these are the rewards of this run, which may lack failed rollouts';

const notFittingNote =
  'The listed rollouts do not fit the rewards of this run: these are its rewards, which may lack failed rollouts';

/** The data by which a list distinguishes its rows from the rows of other runs or datasets. */
interface Learnt {
  datasets?: readonly Dataset[] | undefined;
  /** Null if the service has no rewards for the run. */
  rewards?: readonly TrajectoryReward[] | null;
  isOver: boolean;
  /** Whether the rewards were read after the end. */
  isReadOver: boolean;
  total?: number | undefined;
  /** The rows so far that do not name the run and are not among its rewards. */
  unlisted: readonly Trajectory[];
}

/** Every dataset; undefined if they cannot be listed now. */
async function everyDataset({ service, signal }: PageContext): Promise<readonly Dataset[] | undefined> {
  const all: Dataset[] = [];
  try {
    const readPage = (cursor: string | undefined) =>
      service.call('listDatasets', { query: { limit: pageSize, cursor } }, { signal });
    for await (const { items } of readPages(readPage)) pushAll(all, items);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    return undefined;
  }
  return all;
}

/** Records whether the run is over, even if the service has no statuses, and the run's total if that is final. */
function learnExtent(learnt: Learnt, { status, total, unread }: Partial<RunExtent>): void {
  const hasStatus = status != null || unread !== undefined;
  if (hasStatus && !hasEnded(status)) return;
  // During the run, its rows may be replaced.
  if (!learnt.isOver) learnt.unlisted = [];
  learnt.isOver = true;
  // Unless the run has succeeded, its total may count only rollouts that have begun.
  if (statusMeaning(status ?? '') === 'success') learnt.total = total ?? learnt.total;
}

/** Reads a page of the list of trajectories, and keeps the rows of the requested run or dataset. */
async function readFiltered(filter: TrajectoryFilter, context: PageContext, learnt: Learnt) {
  const { service, query, signal, memory } = context;
  const page = await service.call('listTrajectories', { query: { ...query, ...filter } }, { signal });
  const { eval_run_id: run } = filter;
  const seen = run === undefined ? undefined : memory.seen.find('run', run);
  const { total_rollouts } = (seen?.record ?? {}) as Partial<EvalRun>;
  if (seen?.status != null) learnExtent(learnt, { status: seen.status, total: countOf(total_rollouts) });
  const choose = () => {
    const { rewards, unlisted, ...known } = learnt;
    return ownRows(page.items, filter, { ...known, rewards: rewards ?? undefined, earlier: unlisted });
  };
  let found = choose();
  if (run !== undefined) {
    // Read the rewards again only if they lack a rollout, which may be newer, or the run has ended since.
    const isNews = !learnt.rewards || (learnt.isOver && !learnt.isReadOver);
    const isInDoubt = found.others > 0 || !found.fits || (isNews && found.unsure.length > 0);
    if (isInDoubt && learnt.rewards !== null) {
      // Read the extent first: rewards are complete only if they were read after the end.
      if (learnt.total === undefined) learnExtent(learnt, await readExtent(run, context));
      const { isOver } = learnt;
      // Earlier rewards of this command may lack a rollout on this page.
      const anew = { ...context, shared: undefined };
      learnt.rewards = (await ifThere(() => readTrajectoryRewards(run, anew))) ?? null;
      learnt.isReadOver = isOver;
      found = choose();
    }
    learnt.unlisted = found.unlisted;
  } else if (found.unsure.some(row => row.dataset_id || row.dataset_name) && filter.dataset_name !== undefined) {
    learnt.datasets ??= await everyDataset(context);
    found = choose();
  }
  return { page, found };
}

const idsOf = (rows: readonly Trajectory[]): ReadonlySet<string> =>
  new Set(rows.map(({ trajectory_id }) => trajectory_id));

/** A page without the rows of other runs or datasets. */
function withoutOthers(page: Page<Trajectory>, { own, others, unsure }: OwnRows): AnnotatedPage<Trajectory> {
  return {
    ...page,
    ...(others > 0 && { items: own, others }),
    ...(unsure.length > 0 && { unsure: idsOf(unsure) }),
  };
}

/**
 * A page of an evaluation run's trajectories. If the service does not list trajectories, or ignores the filter by run,
 * the page contains the run's rewards instead, without failed rollouts.
 */
async function readOfRun(
  eval_run_id: string,
  context: PageContext,
  learnt: Learnt,
): Promise<AnnotatedPage<Trajectory>> {
  const { service, query } = context;
  const { capabilities } = service;
  let refusal: unknown;
  let own: readonly TrajectoryReward[] | undefined;
  let isMixed = false;
  if (capabilities.has('listTrajectories') && !capabilities.ignoredFilters.has('eval_run_id')) {
    try {
      const { page, found } = await readFiltered({ eval_run_id }, context, learnt);
      if (!learnt.rewards || (found.others === 0 && !found.isMixed)) {
        const mayChange = !found.fits || (found.unsure.length > 0 && !!learnt.rewards && !learnt.isReadOver);
        return { ...withoutOthers(page, found), mayChange };
      }
      own = learnt.rewards;
      isMixed = found.isMixed;
      // Rows that name no run do not show that the filter is ignored.
      if (found.others > 0) capabilities.ignoredFilters.add('eval_run_id');
    } catch (error) {
      if (!isNotOffered(error)) throw error;
      refusal = error;
    }
  }
  const rewards = own ?? (await readTrajectoryRewards(eval_run_id, context));
  capabilities.confirmMissing(refusal);
  const items = rewards.flatMap(({ trajectory_id, ...row }) => (trajectory_id ? [{ ...row, trajectory_id }] : []));
  const nameless = rewards.length - items.length;
  const isIgnored = capabilities.ignoredFilters.has('eval_run_id');
  const notes = [
    ...(nameless === 0 ? [] : [`${nameless} more, counted above, have no id and cannot be opened`]),
    ...(isIgnored ? [ofRewardsNote] : own ? [notFittingNote] : []),
  ];
  const page = wholePage(items, notes.length === 0 ? undefined : notes.join('. '));
  // Earlier pages may have come from the list.
  return {
    ...page,
    dropped: unreadableIn(rewards),
    mayRepeat: query.cursor != null,
    mayChange: isMixed,
    ...(own && { unsure: idsOf(learnt.unlisted) }),
  };
}

/** 1,000 rollouts are a large enough sample of how a run's rollouts ended. */
const maxSampledPages = 5;

/**
 * The first rollouts in an evaluation run's list, and whether these are all. Unlike `trajectoryList`, it has no
 * fallback: there are no rollouts if the list does not distinguish runs.
 *
 * @throws ServiceError
 */
export async function firstRollouts(eval_run_id: string, context: QueryContext) {
  const learnt: Learnt = { isOver: false, isReadOver: false, unlisted: [] };
  const readPage = async (cursor: string | undefined) => {
    const pageContext = { ...context, query: { limit: pageSize, cursor } };
    const { page, found } = await readFiltered({ eval_run_id }, pageContext, learnt);
    return found.isMixed ? { ...page, items: [] } : withoutOthers(page, found);
  };
  const rows: Trajectory[] = [];
  let [pages, isWhole] = [0, true];
  for await (const { items, next_cursor, isCutOff } of readPages(readPage)) {
    pushAll(rows, items);
    context.progressed?.();
    pages += 1;
    isWhole = next_cursor == null && !isCutOff;
    if (pages === maxSampledPages) break;
  }
  return { rows, isWhole };
}

/** Whether a row comes from its run's rewards. */
const isReward = ({ status }: Trajectory): boolean => status == null;

/** An evaluation run's trajectories, polled like the run. Another query polls the rewards. */
export const trajectoriesOfRun = (eval_run_id: string, ended: boolean): ListSource<Trajectory> => ({
  ...trajectoryList({ eval_run_id }),
  activity: rows => {
    if (ended) return 'settled';
    return rows.length > 0 && rows.every(isReward) ? 'open' : 'running';
  },
});

/**
 * A run's trajectories read so far, followed by rows for the rewards of other trajectories: the rewards are complete
 * even if the list is not.
 */
export function withRewards(
  rows: readonly Trajectory[],
  rewards: readonly TrajectoryReward[] | undefined,
): readonly Trajectory[] {
  const unread = new Map<string, Trajectory>();
  for (const { trajectory_id, ...reward } of rewards ?? []) {
    if (trajectory_id) unread.set(trajectory_id, { ...reward, trajectory_id });
  }
  const joined = rows.map(row => {
    const reward = unread.get(row.trajectory_id)?.reward;
    unread.delete(row.trajectory_id);
    // The row's page may be older than the rewards.
    const isNew = reward != null && (row.reward == null || (isReward(row) && row.reward !== reward));
    return isNew ? { ...row, reward } : row;
  });
  return unread.size === 0 && joined.every((row, index) => row === rows[index])
    ? rows
    : [...joined, ...unread.values()];
}

/**
 * A run's rollouts with the rewards that its mean counts. Leaves out rewards that only the list of trajectories or a
 * record contains.
 *
 * @param rewards read after the rows, or after the end
 */
export function withRunRewards(
  rows: readonly Trajectory[],
  rewards: readonly TrajectoryReward[],
): readonly Trajectory[] {
  const counted = new Map(
    rewards.flatMap(({ trajectory_id, reward }) => (reward == null ? [] : [[trajectory_id, reward]])),
  );
  return withRewards(rows, rewards).map(row => {
    const reward = counted.get(row.trajectory_id) ?? null;
    return (row.reward ?? null) === reward ? row : { ...row, reward };
  });
}

/** A running run's rewards, including those of listed rollouts without an entry. */
export function rewardsSoFar(
  rewards: readonly TrajectoryReward[] | undefined,
  rows: readonly Trajectory[],
): readonly TrajectoryReward[] | undefined {
  const known = new Set(rewards?.map(({ trajectory_id }) => trajectory_id));
  const newer = rows.filter(row => hasEnded(row.status) && !known.has(row.trajectory_id));
  if (newer.length === 0) return rewards;
  return [
    ...(rewards ?? []),
    ...newer.map(({ trajectory_id, task_id, reward }) => ({ trajectory_id, task_id, reward })),
  ];
}

interface TrajectoryInput {
  readonly trajectory_id: string;
  /** The trajectory's short-lived token, if the service requires one. */
  readonly token?: string | undefined;
}

/** @throws ApiError if a successful response reports no change, or names another trajectory */
function checkAccepted<Answer extends LogRewardResult>(answer: Answer, requestedId: string, task: string): Answer {
  const { ok, status, trajectory_id: id } = answer;
  if (ok !== false && id != null && id !== '' && id !== requestedId) {
    const words = clean`The service answered for the trajectory ${id} instead of ${requestedId}.`;
    const details = { code: 'other_trajectory', outcomeUnknown: true };
    throw new ApiError(`${words} The request may or may not have taken effect: check before you repeat it.`, details);
  }
  if (ok !== false) return answer;
  const suffix = status ? clean`, with the status ${status}` : '';
  throw new ApiError(`The service reports that it did not ${task}${suffix}.`, { code: 'not_ok' });
}

/** Logs a reward. Repeating a `reward_id` is harmless. */
export const logReward = action(
  async (service, { trajectory_id, token, ...body }: TrajectoryInput & LogRewardBody, options) =>
    checkAccepted(
      await service.call('logReward', { params: { trajectory_id }, body }, { ...options, token }),
      trajectory_id,
      'log the reward',
    ),
  { touches: [trajectoryKeys.all] },
);

/** Ends a trajectory: it accepts no more rewards. */
export const completeTrajectory = action(
  async (service, { trajectory_id, token, ...body }: TrajectoryInput & CompleteTrajectoryBody, options) =>
    checkAccepted(
      await service.call('completeTrajectory', { params: { trajectory_id }, body }, { ...options, token }),
      trajectory_id,
      'end the trajectory',
    ),
  { touches: [trajectoryKeys.all] },
);

export interface StoredTrajectories {
  /** The dataset's name. It is created if it does not exist. */
  readonly dataset: string;
  readonly trajectories: readonly Readonly<Record<string, unknown>>[];
  /** The owner; by default, the profile's agent. */
  readonly agent?: AgentFields | undefined;
}

/** Sends trajectories in one request. @throws ServiceError */
export function sendTrajectories(
  service: Service,
  { dataset, trajectories, agent }: StoredTrajectories,
  options?: CallOptions,
): Promise<UploadTrajectoriesResult> {
  const body = { dataset, trajectories: [...trajectories], ...agent };
  return service.call('uploadTrajectories', { body }, options);
}

/** The outcome for trajectories that were sent together. */
export interface StoreOutcome {
  readonly dataset: string;
  /** By index: why a trajectory was refused. The others are stored. */
  readonly refused: ReadonlyMap<number, string>;
}

/**
 * Stores trajectories in a dataset with one request. Throws the service's reason if it stored none, or does not report
 * which ones. The caller gives each trajectory a trace id, so that resending is safe if the service skips stored ones.
 */
export const storeTrajectories = action(
  async (service, input: StoredTrajectories, options): Promise<StoreOutcome> => {
    const { dataset, trajectories } = input;
    const { items, unknown, batchFailures } = readAnswer(await sendTrajectories(service, input, options), trajectories);
    const refused = new Map(
      items.flatMap(({ outcome, failure }, index) => (outcome === 'failed' ? [[index, reasonOf(failure)]] : [])),
    );
    const doubtful = items.find(({ outcome, doubt }) => outcome === 'unknown' && doubt !== undefined);
    const reported = batchFailures[0] ?? doubtful?.failure;
    // A response that reports no failure is a success, even if it omits outcomes.
    if (unknown > 0 && (reported || doubtful)) {
      const report = reported ? clean`reports ${reasonOf(reported)}, and ` : '';
      throw new Error(`The service ${report}does not report the outcome. Check the dataset before you save again.`);
    }
    const [first] = refused.values();
    if (first !== undefined && refused.size >= trajectories.length) throw new Error(first);
    return { dataset, refused };
  },
  { touches: [datasetKeys.all, trajectoryKeys.all], keyed: 'uploadTrajectories' },
);

const reasonOf = (failure: Failure | null | undefined): string =>
  failure?.message ?? failure?.code ?? 'The service did not store it';
