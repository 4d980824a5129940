/** Compared runs by the rewards of another grader. */
import { useMemo } from 'react';
import type { Command } from '../../../present/command.ts';
import type { ComparedRun } from '../../../queries/compare.ts';
import { describeGraded, regradedRuns } from '../../../rollouts/regrade.ts';
import { describeRewardsBy } from '../../../rollouts/regraders.ts';
import {
  type Comparison,
  describeKept,
  describeNoGrades,
  describeProgress,
  isUnderWay,
} from '../../../rollouts/regrading.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { firstLines, wrap } from '../../../text/wrap.ts';
import { useShell } from '../../app/shell-context.tsx';
import { workPart } from '../../data/use-live.ts';
import { recordCommands } from '../../keys/general.ts';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import type { Theme } from '../../widgets/theme/theme.tsx';
import { compareCommands, regradeCommands } from '../commands.ts';
import type { HeadRoom } from './compared-heads.ts';
import { useRegrade } from './regrade-window.tsx';
import { useRegrading } from './regradings.ts';
import { useRegradeForm } from './use-regrade-binding.tsx';

/** The key leads to other rewards, and back, so a comparison names it. */
const regradeAll: Command = { ...regradeCommands.open, hint: 'regrade', rank: 'second' };

/** Maximum lines for the grader, and for its error. */
const maxGraderLines = 3;

const noRuns: readonly ComparedRun[] = [];

/** Why the tasks of a regraded comparison do not open. */
export const storedTasksReason = 'The tasks have the stored rewards';

/** The runs of a comparison by another grader, none before it has ended; undefined for the stored rewards. */
export function useRegraded(place: Comparison) {
  const { regrading: shown } = place;
  const again = useRegrade();
  const keyOf = useKeyOf();
  const { regrading, state, stop } = useRegrading(shown?.id);
  const regraded = useMemo(() => (state && !isUnderWay(state) ? regradedRuns(state.runs, state.grades) : []), [state]);
  const runs = useMemo(() => (regraded.length > 0 ? regraded.map(({ run }) => run) : noRuns), [regraded]);
  const grades = useMemo(() => new Map(state?.rows.map(row => [row.trajectory_id, row])), [state]);
  if (!shown) return undefined;
  return {
    runs,
    regrading,
    stop,
    words: [
      describeRewardsBy(shown.grader),
      ...(state ? [describeProgress(state), describeKept(state, keyOf(recordCommands.refresh))] : []),
      state?.error?.message ?? '',
    ],
    emptyText: state && isUnderWay(state) ? 'The rewards follow when all is graded' : describeNoGrades(state),
    notes: [...(state?.notes ?? []), ...regraded.flatMap(({ isWhole, words }) => (isWhole ? [] : words))],
    gradedAs: (id: string | undefined) => {
      const row = grades.get(id ?? '');
      return row ? describeGraded(row) : 'Not regraded';
    },
    part: workPart(
      () => {
        if (regrading && !regrading.isRunning) again(regrading.again(place), true);
      },
      state !== undefined && isUnderWay(state),
    ),
  };
}

type RegradedComparison = ReturnType<typeof useRegraded>;

/** The grader, how far it is, and its error. */
export const graderLines = (regraded: RegradedComparison, { width, isLow }: HeadRoom, theme: Theme): string[] =>
  (regraded?.words ?? [])
    .map(words => sanitiseLine(words))
    .filter(words => words !== '')
    // The verdict must stay in sight below a long command.
    .flatMap(words => (isLow ? truncate(words, width) : firstLines(wrap(words, width), maxGraderLines)))
    .map(theme.styles.warning);

/** The key that regrades a comparison, or those of a regraded one. */
export function useRegradedBindings(place: Comparison, regraded: RegradedComparison): readonly Binding[] {
  const { navigate } = useShell();
  const openForm = useRegradeForm();
  if (!regraded) return [{ command: regradeAll, run: () => openForm(place) }];
  const { regrading: by, ...stored } = place;
  const { stop, regrading } = regraded;
  const toStored = (): void => {
    if (regrading && by?.isAboveStored) navigate({ kind: 'leave' });
    // The sides may have been swapped.
    navigate({ kind: 'replace', place: stored });
  };
  return [stop, { command: compareCommands.stored, run: toStored }];
}
