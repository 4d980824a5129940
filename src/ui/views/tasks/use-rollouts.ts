/** The rollouts in a run, a dataset or a training run, read to the end. */
import { useEffect, useMemo, useRef } from 'react';
import { hasEnded } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { noteColumns } from '../../../present/notes.ts';
import { createArrange } from '../../../present/rows.ts';
import { evalProgressQuery, evalRunQuery } from '../../../queries/evaluations.ts';
import type { RunExtent } from '../../../queries/extent-of.ts';
import type { Attention } from '../../../queries/polling.ts';
import { runResultsQuery } from '../../../queries/run-results.ts';
import { stepTrajectories } from '../../../queries/training.ts';
import { trajectoriesOfRun, withRewards, withRunRewards } from '../../../queries/trajectories.ts';
import type { Scope } from '../../../resources/place.ts';
import { ofSteps, parseSteps } from '../../../resources/task-groups.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { describeAnonymousRewards, describeUnlisted } from '../../../resources/unlisted.ts';
import { counted } from '../../../text/numbers.ts';
import { type PagedList, useOrderedSource, usePagedList } from '../../data/use-list.ts';
import { type Live, useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useNotes } from '../triage/use-triage.tsx';
import { useRolloutTexts } from './use-rollout-texts.ts';

const fileOrder = { field: 'created_at', descending: false } as const;
/** Maximum number of rollouts to read; that many take about half a minute. */
const maxRollouts = 20_000;

export interface Rollouts {
  readonly rows: readonly Trajectory[];
  readonly loaded: boolean;
  /** Whether rows are still being read. */
  readonly isReading: boolean;
  /** Their run's extent, once all its rollouts have been read. */
  readonly run: RunExtent | undefined;
  readonly error: Error | undefined;
  /** Notes on missing rollouts. */
  readonly notes: readonly string[];
  readonly parts: readonly Live<unknown>[];
  readonly key: readonly unknown[];
}

/** Shown in place of rows that are computed from rollouts. */
export const emptyRollouts = ({ error, loaded }: Rollouts, none: string): string =>
  error?.message ?? (loaded ? none : 'Reading the rollouts');

/** Reads the rest of a list, up to `maxRollouts`. */
function useRest(wanted: boolean, { loaded, hasMore, rows, readRest, stop }: PagedList<Trajectory>) {
  const isUnread = wanted && loaded && hasMore;
  const isFull = rows.length >= maxRollouts;
  useEffect(() => {
    if (isUnread && !isFull) void readRest();
  }, [isUnread, isFull, readRest]);
  useEffect(() => {
    if (isFull) stop?.();
  }, [isFull, stop]);
  return { isUnread, isReading: isUnread && !isFull };
}

/** While the rest of the rows is being read, updates them only once their number has doubled: processing takes time. */
function useSettledRows(rows: readonly Trajectory[], isReading: boolean): readonly Trajectory[] {
  const shown = useRef(rows);
  if (!isReading || rows.length >= 2 * shown.current.length) shown.current = rows;
  return shown.current;
}

const idOf = ({ trajectory_id }: Trajectory): string => trajectory_id;

const noRows: readonly Trajectory[] = [];

/** The rows that match a filter of their list, which has the same columns, and a note about it. */
function useFiltered(all: readonly Trajectory[], filter: string) {
  const notes = useNotes();
  const texts = useRolloutTexts(trajectories.columns, filter === '' ? noRows : all, filter);
  const columns = useMemo(() => [...noteColumns(notes, idOf), ...texts.columns], [notes, texts.columns]);
  const arrange = useMemo(() => createArrange(columns, idOf), [columns]);
  if (filter === '') return { rows: all, words: [] };
  const { rows, notice } = arrange(all, { filter, sort: undefined });
  const words = `Only the ${rows.length} of ${counted(all.length, 'rollout')} that match /${filter}`;
  return { rows, words: [words, ...texts.notes, ...(notice === undefined ? [] : [notice])] };
}

interface RolloutOptions {
  /** Only these training steps. */
  readonly steps?: string | undefined;
  /** Only those that match this filter of their list. */
  readonly filter?: string | undefined;
  /** Whether the view needs only rewards and tokens, which one request returns for a single step. */
  readonly needsRewardsOnly?: true;
}

/** How far a run is: its status, and how many of its rollouts have a reward. */
function useProgress(run: string, attention: Attention) {
  const record = useLive(evalRunQuery(run), attention);
  const { data } = useLive(evalProgressQuery(run), attention);
  return { status: data?.status ?? record.data?.status, scored: data?.live?.scored_rollouts };
}

/** @param scope undefined to read nothing */
export function useRollouts(
  scope: Scope | undefined,
  shown: Attention,
  { steps, filter = '', needsRewardsOnly }: RolloutOptions = {},
): Rollouts {
  const attention = scope ? shown : 'hidden';
  const { run, training, dataset } = scope ?? {};
  const ofRun = run === undefined ? 'hidden' : attention;
  const { status, scored } = useProgress(run ?? '', ofRun);
  const ended = hasEnded(status);
  const [step, last] = (steps === undefined ? undefined : parseSteps(steps)) ?? [];
  const only = needsRewardsOnly && step === last ? step : undefined;
  const source = useMemo(() => {
    if (training !== undefined && only !== undefined) return stepTrajectories(training, only);
    return run === undefined ? trajectories.list({ training, dataset }) : trajectoriesOfRun(run, ended);
  }, [run, training, dataset, ended, only]);
  // The list of a file's rollouts uses this order, and may already have been read.
  const { file } = useWorkbench();
  const ordering = useOrderedSource(source, file && fileOrder);
  const live = useLive(ordering.query, attention);
  const list = usePagedList(ordering, live.data);
  const results = useLive(runResultsQuery(run ?? '', ended, { scored, rows: list.rows }), ofRun);
  const { isUnread, isReading } = useRest(scope !== undefined, list);
  const listed = useSettledRows(list.rows, isReading);
  const rewards = results.data?.rewards;
  const all = useMemo(
    () => ofSteps(ended && rewards ? withRunRewards(listed, rewards) : withRewards(listed, rewards), steps),
    [ended, listed, rewards, steps],
  );
  const { rows, words } = useFiltered(all, filter);
  const unreadable = list.dropped + (results.data?.unreadable ?? 0);
  const error = live.error ?? list.pageError ?? results.error;
  const { total, listed: rated } = results.data ?? {};
  const isWhole = rewards !== undefined && list.loaded && !isUnread && error === undefined;
  const extent = useMemo(
    () => (isWhole ? { status, total, listed: rated } : undefined),
    [isWhole, status, total, rated],
  );
  return {
    rows,
    loaded: list.loaded || rewards !== undefined,
    isReading: !list.loaded || isReading,
    run: filter === '' ? extent : undefined,
    error,
    notes: [
      ...words,
      ...(error && rows.length > 0 ? [error.message] : []),
      ...(isUnread && !isReading ? [`Only ${counted(list.rows.length, 'rollout')} were read: there are more`] : []),
      ...(isReading ? [`${counted(list.rows.length, 'rollout')} read so far`] : []),
      ...(unreadable > 0 ? [`${counted(unreadable, 'rollout')} could not be read`] : []),
      ...describeAnonymousRewards(rewards ?? []),
      ...describeUnlisted(all, extent),
      ...list.notes,
    ],
    parts: run === undefined ? [live] : [live, results],
    key: [...source.key, ...(steps === undefined ? [] : [steps]), ...(filter === '' ? [] : [{ filter }])],
  };
}
