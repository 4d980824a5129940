/** The lengths of rollouts: from their list, from the search index, or by reading a sample of them or all. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { errorMessage } from '../../../base/errors.ts';
import { isRunning } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { type Length, lengthOf } from '../../../present/reward-length.ts';
import { tokensOf } from '../../../present/task-groups.ts';
import { storedLengths } from '../../../resources/stored-text.ts';
import { readAllInFull } from '../../../rollouts/in-full.ts';
import { ServiceError } from '../../../service/errors.ts';
import { counted } from '../../../text/numbers.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import { lengthCommands } from '../commands.ts';
import type { Rollouts } from './use-rollouts.ts';

/** How many rollouts to read without being asked. */
const sampleSize = 48;
/** Rollouts with more steps are too large to read without being asked. */
const maxSteps = 500;
/** How often the screen is updated, in milliseconds. */
const updateMs = 250;
/**
 * The points are recomputed each time the number of rollouts read has grown by this factor, because recomputing them is
 * slow and changes little.
 */
const growth = 1.2;
/** The golden ratio: any number of its multiples, modulo 1, is spread evenly. */
const goldenRatio = 0.618_033_988_75;

const isLarge = ({ num_steps }: Trajectory): boolean => (num_steps ?? 0) > maxSteps;

/** Orders rows so that the first rows are an even sample, for any number of them. Large ones come last. */
function spread(rows: readonly Trajectory[]): readonly Trajectory[] {
  const placed = rows.map((row, index) => ({ row, at: ((index * goldenRatio) % 1) + Number(isLarge(row)) }));
  return placed.sort((one, other) => one.at - other.at).map(({ row }) => row);
}

/** The lengths read from each rollout; undefined for one that could not be read. */
type Read = Map<string, Partial<Trajectory> | undefined>;

/** @param length read for a sample of the rollouts, or for all, if neither the list nor the search index has it */
export function useLengthReader({ rows, key, isReading: isListing }: Rollouts, length: Length) {
  const workbench = useWorkbench();
  const keyOf = useKeyOf();
  // The cache keeps what was read until the user comes back.
  const [read] = useState(() => {
    const place = [...key, 'lengths', 'read'];
    const kept = workbench.cache.getQueryData<Read>(place) ?? new Map();
    workbench.cache.setQueryData(place, kept);
    return kept;
  });
  const isNeeded = !isListing && length !== 'steps';
  const stored = useMemo(
    () => (isNeeded ? storedLengths(rows, length, workbench.texts) : undefined),
    [rows, isNeeded, length, workbench],
  );
  const wantedOf = useCallback(
    (isAll: boolean) => (isNeeded ? rolloutsToRead(withLengths(rows, length, read, stored), length, read, isAll) : []),
    [rows, isNeeded, length, read, stored],
  );
  const { done, of, problem, setAll } = useReading(read, wantedOf);
  const isReading = of > 0;
  const drawn = isReading ? Math.floor(Math.log(1 + done) / Math.log(growth)) : `all ${done}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` changes once enough more has been read
  const shown = useMemo(() => withLengths(rows, length, read, stored), [rows, length, read, stored, drawn]);
  const left = isNeeded ? unknownOf(shown, length, read).length : 0;
  const failed = [...read.values()].filter(each => each === undefined).length;
  const whole = read.size - failed;
  const purpose = `read for their ${length}`;
  return {
    /** All rollouts, with their lengths where known. */
    rows: shown,
    isReading: isListing || isReading,
    /** How many lengths have not been read. */
    left,
    notes: [
      isReading ? `${done} of ${counted(of, 'rollout')} ${purpose}: ${keyOf(lengthCommands.stop)} stops` : '',
      !isReading && whole > 0 && length !== 'steps'
        ? `${counted(whole, 'rollout was', 'rollouts were')} ${purpose}, which the list does not report`
        : '',
      left > 0 && !isReading ? `an even sample: ${keyOf(lengthCommands.all)} reads the other ${left}` : '',
      failed > 0 ? `${counted(failed, 'rollout')} could not be read` : '',
      problem ?? '',
    ].filter(Boolean),
    bindings: [
      {
        command: lengthCommands.all,
        why: left > 0 ? undefined : 'There are no other rollouts to read',
        run: () => setAll(true),
      },
      { command: lengthCommands.stop, enabled: isReading, run: () => setAll(false) },
    ],
  };
}

function withLengths(
  rows: readonly Trajectory[],
  length: Length,
  read: Read,
  stored: ReadonlyMap<string, Partial<Trajectory>> | undefined,
): readonly Trajectory[] {
  return rows.map(row => {
    if (lengthOf(row, length) !== undefined) return row;
    const found = read.get(row.trajectory_id) ?? stored?.get(row.trajectory_id);
    return found ? { ...row, ...found } : row;
  });
}

const isRated = (row: Trajectory): boolean => row.reward != null && !isRunning(row.status);

/** The rollouts that must be read to learn their length. */
const unknownOf = (rows: readonly Trajectory[], length: Length, read: Read): readonly Trajectory[] =>
  rows.filter(row => isRated(row) && lengthOf(row, length) === undefined && !read.has(row.trajectory_id));

/** The rollouts to read for their length: an even sample, or all. */
function rolloutsToRead(
  rows: readonly Trajectory[],
  length: Length,
  read: Read,
  isAll: boolean,
): readonly Trajectory[] {
  const unread = spread(unknownOf(rows, length, read));
  if (isAll) return unread;
  const known = rows.filter(isRated).length - unread.length;
  return unread.slice(0, Math.max(0, sampleSize - known)).filter(row => !isLarge(row));
}

/** Reads rollouts while the view is on screen, and reports the progress. @param wantedOf which ones to read */
function useReading(read: Read, wantedOf: (isAll: boolean) => readonly Trajectory[]) {
  const workbench = useWorkbench();
  const [isAll, setAll] = useState(false);
  const [progress, setProgress] = useState({ done: read.size, of: 0 });
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const wanted = wantedOf(isAll);
    if (wanted.length === 0) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const of = read.size + wanted.length;
    const update = (): void => setProgress({ done: read.size, of });
    const timer = setInterval(update, updateMs);
    const end = (error?: unknown): void => {
      clearInterval(timer);
      if (signal.aborted) return;
      setProblem(error === undefined ? undefined : errorMessage(error));
      setProgress({ done: read.size, of: 0 });
      setAll(false);
    };
    update();
    void workbench
      .service()
      .then(service => readInto(read, wanted, workbench.contextFor(service, signal)))
      .then(() => end(), end);
    return () => {
      controller.abort();
      clearInterval(timer);
      setProgress({ done: read.size, of: 0 });
    };
  }, [workbench, wantedOf, read, isAll]);
  return { ...progress, problem, setAll };
}

/** @throws ServiceError */
async function readInto(
  read: Read,
  rows: readonly Trajectory[],
  context: Parameters<typeof readAllInFull>[1],
): Promise<void> {
  const ids = rows.map(({ trajectory_id }) => trajectory_id);
  const next = ids.values();
  for await (const each of readAllInFull(ids, context)) {
    const id = next.next().value ?? '';
    if (each instanceof ServiceError) read.set(id, undefined);
    else {
      const { execution_metrics, metrics } = each;
      read.set(id, { execution_metrics, metrics, completion_tokens: tokensOf(each) });
    }
  }
}
