/** Counts how the rollouts of compared runs ended: at the token limit, or with tool errors. */
import { enumerated } from '../base/enumerated.ts';
import { errorMessage } from '../base/errors.ts';
import { perArguments } from '../base/memo.ts';
import { type BySide, otherSide, type Side, sides } from '../base/sides.ts';
import { earlyEndOf } from '../contract/finish-reason.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { finishOf, toolErrorOf } from '../present/outcome-classes.ts';
import { evaluationKeys } from '../queries/evaluations.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { firstRollouts } from '../queries/trajectories.ts';
import { ifThere } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { duration } from '../text/time.ts';
import { patienceMs } from './origins.ts';
import { hasRolloutEnded } from './rollout-ends.ts';

/** How many rollouts ended in a certain way, and the number of rollouts whose end the service reports. */
interface Counted {
  readonly count: number;
  readonly of: number;
}

export interface AnswerEnds {
  /** Rollouts whose last answer was cut off at the token limit. */
  readonly cutOff: Counted;
  readonly toolErrors: Counted;
  /** Whether all rollouts were read. */
  readonly isWhole: boolean;
  /** Why the rollouts could not be read. */
  readonly problem?: string;
}

function countedIn(
  rows: readonly Trajectory[],
  isReported: (row: Trajectory) => boolean,
  test: (row: Trajectory) => boolean,
): Counted {
  const reported = rows.filter(isReported);
  return { count: reported.filter(test).length, of: reported.length };
}

type FirstRollouts = Awaited<ReturnType<typeof firstRollouts>>;

const countedCutOff = (rows: readonly Trajectory[]): Counted =>
  countedIn(
    rows,
    row => finishOf(row) !== undefined,
    row => earlyEndOf(finishOf(row)) === 'token limit',
  );

/** `80 of 80 answers were cut off`; empty if none was. */
export function cutOffMessage(rows: readonly Trajectory[], isWhole: boolean): string {
  const { count, of } = countedCutOff(rows.filter(hasRolloutEnded));
  return count === 0 ? '' : `${count} of ${counted(of, 'answer')}${isWhole ? '' : ' read'} were cut off`;
}

function endsIn(read: readonly FirstRollouts[]): AnswerEnds {
  const rows = read.flatMap(run => run.rows).filter(hasRolloutEnded);
  return {
    cutOff: countedCutOff(rows),
    // A service that reports tool errors sends null or an empty text for none.
    toolErrors: countedIn(
      rows,
      row => row['tool_error'] !== undefined,
      row => toolErrorOf(row) !== undefined,
    ),
    isWhole: read.every(run => run.isWhole),
  };
}

/**
 * How the rollouts of compared runs ended; each is given as the ids of one or several pooled runs. Read only once. The
 * comparison works without it: there are no counts for a run that the service does not list, and a problem for a run
 * that cannot be read in time.
 */
export const answerEndsQuery = (compared: readonly (readonly string[])[]): LiveQuery<readonly AnswerEnds[]> => ({
  key: [...evaluationKeys.all, 'answer-ends', compared],
  activity: () => 'settled',
  settledForMs: 5 * 60_000,
  read: async context => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), patienceMs);
    const signal = AbortSignal.any([context.signal, late.signal]);
    const progressed = (): void => {
      timer.refresh();
      context.progressed?.();
    };
    const rolloutsOf = perArguments((id: string) => firstRollouts(id, { ...context, signal, progressed }));
    const readEnds = async (runs: readonly string[]): Promise<AnswerEnds> => {
      try {
        return endsIn((await ifThere(() => Promise.all(runs.map(id => rolloutsOf(id))))) ?? []);
      } catch (error) {
        context.signal.throwIfAborted();
        const isLate = late.signal.aborted;
        return { ...endsIn([]), problem: isLate ? `no response within ${duration(patienceMs)}` : errorMessage(error) };
      }
    };
    return Promise.all(compared.map(readEnds)).finally(() => clearTimeout(timer));
  },
});

/** The same for a command or a report. Notes what could not be read. */
export async function readAnswerEnds(
  compared: readonly (readonly string[])[],
  context: QueryContext,
  note: (words: string) => void,
): Promise<readonly AnswerEnds[]> {
  const ends = await answerEndsQuery(compared).read(context);
  for (const [index, { problem }] of ends.entries()) {
    const runs = enumerated(compared[index] ?? []);
    if (problem !== undefined) note(clean`How the answers of ${runs} ended could not be read: ${problem}`);
  }
  return ends;
}

/** The counts for programs: null if the service reports nothing, or the error if they could not be read. */
export function answerEndsFields(ends: AnswerEnds | undefined) {
  if (ends?.problem !== undefined) return { error: ends.problem };
  if (!ends || ends.cutOff.of + ends.toolErrors.of === 0) return null;
  const { cutOff, toolErrors, isWhole } = ends;
  return {
    ...(cutOff.of > 0 && { answers: cutOff.of, cut_off: cutOff.count }),
    ...(toolErrors.of > 0 && { rollouts: toolErrors.of, tool_errors: toolErrors.count }),
    complete: isWhole,
  };
}

const largeShare = 0.5;
const noticeableDifference = 0.05;

const shareOf = ({ count, of }: Counted): number => count / of;

/** Whether two shares differ noticeably, and by more than two standard errors of their difference. */
function differ(one: Counted, other: Counted): boolean {
  const share = (one.count + other.count) / (one.of + other.of);
  const error = Math.sqrt(share * (1 - share) * (1 / one.of + 1 / other.of));
  return Math.abs(shareOf(one) - shareOf(other)) > Math.max(noticeableDifference, 2 * error);
}

const runLabels: BySide<string> = { base: 'the base', new: 'the new run' };

/**
 * How the answers of two runs ended, if a large share was cut off or they differ noticeably: `79 of 80 answers of the
 * new run were cut off at the token limit (40 of 80 in the base)`. Claims nothing that the service does not report.
 */
export function describeAnswerEnds(base: AnswerEnds | undefined, fresh: AnswerEnds | undefined): string {
  const ends = { base, new: fresh };
  const unread = sides.filter(side => ends[side]?.problem).map(side => runLabels[side]);
  const words = (kind: 'cutOff' | 'toolErrors', noun: string, ended: string): string => {
    const known = (side: Side): Counted | undefined => {
      const counts = ends[side]?.[kind];
      return counts && counts.of > 0 ? counts : undefined;
    };
    const first: Side = known('new') ? 'new' : 'base';
    const [one, other] = [known(first), known(otherSide(first))];
    if (!one) return '';
    const isLarge = [one, other].some(each => each && shareOf(each) >= largeShare);
    if (!isLarge && !(other && differ(one, other))) return '';
    const counts = (side: Side, { count, of }: Counted, what = ''): string =>
      `${count} of ${of}${what}${ends[side]?.isWhole ? '' : ' read'}`;
    const second = otherSide(first);
    const aside = other ? counts(second, other) : ends[second]?.problem ? 'not read' : 'not reported';
    return `${counts(first, one, ` ${noun}`)} of ${runLabels[first]} ${ended} (${aside} in ${runLabels[second]})`;
  };
  return [
    words('cutOff', 'answers', 'were cut off at the token limit'),
    words('toolErrors', 'rollouts', 'had a tool error'),
    unread.length > 0 && `how the answers of ${enumerated(unread)} ended could not be read`,
  ]
    .filter(Boolean)
    .join('; ');
}
