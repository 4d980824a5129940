/** The lengths of rollouts: from their list, from the search index, or by reading a sample of them or all. */
import { useEffect, useMemo, useState } from 'react';
import { errorMessage } from '../../../base/errors.ts';
import { isRunning } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { type Length, lengthOf } from '../../../present/reward-length.ts';
import { tokensOf } from '../../../present/task-groups.ts';
import { storedLengths } from '../../../resources/text-search.ts';
import { readAllInFull } from '../../../rollouts/in-full.ts';
import { ServiceError } from '../../../service/errors.ts';
import { counted } from '../../../text/numbers.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { lengthCommands } from '../commands.ts';
import type { Rollouts } from './use-rollouts.ts';

/** How many rollouts to read without being asked. */
const sampleSize = 48;
/** Rollouts with more steps are too large to read without being asked. */
const mostSteps = 500;
/** How often the screen is updated, in milliseconds. */
const updateMs = 250;
/**
 * The points are recomputed each time the number of rollouts read has grown by this factor: that is slow, and changes
 * little.
 */
const growth = 1.2;
/** The golden ratio: any number of its multiples, modulo 1, is spread evenly. */
const golden = 0.618_033_988_75;

const isLarge = ({ num_steps }: Trajectory): boolean => (num_steps ?? 0) > mostSteps;

/** Orders rows so that the first few, however many, are an even sample. Large ones come last. */
function spread(rows: readonly Trajectory[]): readonly Trajectory[] {
  const placed = rows.map((row, index) => ({ row, at: ((index * golden) % 1) + Number(isLarge(row)) }));
  return placed.sort((one, other) => one.at - other.at).map(({ row }) => row);
}

/** The lengths read from each rollout; undefined for one that could not be read. */
type Read = Map<string, Partial<Trajectory> | undefined>;

export interface LengthReader {
  /** All rollouts, with their lengths where known. */
  readonly rows: readonly Trajectory[];
  /** Whether more lengths are still being read. */
  readonly isReading: boolean;
  readonly notes: readonly string[];
  readonly bindings: readonly Binding[];
}

/** @param length read for a sample of the rollouts, or for all, if neither the list nor the search index has it */
export function useLengthReader({ rows, key, isReading: isListing }: Rollouts, length: Length): LengthReader {
  const workbench = useWorkbench();
  const keyOf = useKeyOf();
  // Kept for when the user comes back.
  const [read] = useState(() => {
    const place = [...key, 'lengths', 'read'];
    const kept = workbench.cache.getQueryData<Read>(place) ?? new Map();
    workbench.cache.setQueryData(place, kept);
    return kept;
  });
  const [isAll, setAll] = useState(false);
  const [reading, setReading] = useState({ done: read.size, of: 0 });
  const [problem, setProblem] = useState<string>();
  const stored = useMemo(
    () => (isListing || length === 'steps' ? undefined : storedLengths(rows, length, workbench.texts)),
    [rows, isListing, length, workbench],
  );
  useEffect(() => {
    if (isListing || length === 'steps') return undefined;
    const unread = spread(unknownOf(withLengths(rows, length, read, stored), length, read));
    const known = rows.filter(isRated).length - unread.length;
    const sample = unread.slice(0, Math.max(0, sampleSize - known)).filter(row => !isLarge(row));
    const wanted = isAll ? unread : sample;
    if (wanted.length === 0) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const of = read.size + wanted.length;
    const update = (): void => setReading({ done: read.size, of });
    const timer = setInterval(update, updateMs);
    const end = (error?: unknown): void => {
      clearInterval(timer);
      if (signal.aborted) return;
      setProblem(error === undefined ? undefined : errorMessage(error));
      setReading({ done: read.size, of: 0 });
      setAll(false);
    };
    update();
    void workbench
      .service()
      .then(service => readInto(read, wanted, { service, signal, memory: workbench.remembered }))
      .then(() => end(), end);
    return () => {
      controller.abort();
      clearInterval(timer);
      setReading({ done: read.size, of: 0 });
    };
  }, [workbench, rows, isListing, length, stored, read, isAll]);
  const isReading = reading.of > 0;
  const drawn = isReading ? Math.floor(Math.log(1 + reading.done) / Math.log(growth)) : `all ${reading.done}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` changes once enough more has been read
  const shown = useMemo(() => withLengths(rows, length, read, stored), [rows, length, read, stored, drawn]);
  const left = isListing || length === 'steps' ? 0 : unknownOf(shown, length, read).length;
  const failed = [...read.values()].filter(each => each === undefined).length;
  const whole = read.size - failed;
  const purpose = `read for their ${length}`;
  return {
    rows: shown,
    isReading: isListing || isReading,
    notes: [
      isReading
        ? `${reading.done} of ${counted(reading.of, 'rollout')} ${purpose}: ${keyOf(lengthCommands.stop)} stops`
        : '',
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
