/** Compares two runs task by task, largest loss first. */

import { useMemo } from 'react';
import { capitalised } from '../../../base/capitalised.ts';
import { type BySide, otherSide, type Side, sides } from '../../../base/sides.ts';
import { isRunning } from '../../../contract/status.ts';
import { type Fact, referenceFact } from '../../../present/fact.ts';
import { describeNotesOf } from '../../../present/notes.ts';
import { formatInterval } from '../../../present/number-columns.ts';
import { type ComparedRuns, ofSameRun } from '../../../present/statistics/comparison.ts';
import {
  type ComparedTask,
  compareTasks,
  comparison,
  isChanged,
  lostBy,
  rolloutsToShow,
} from '../../../queries/compare.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { answerEndsQuery } from '../../../resources/answer-ends.ts';
import {
  comparability,
  comparedFacts,
  compareRuns,
  comparisonColumns,
  comparisonOptions,
  describeFullRewards,
  describePaired,
  describeTally,
  describeUngraded,
  type NamedComparison,
} from '../../../resources/comparison.ts';
import { recordPlace } from '../../../resources/define.ts';
import type { NamedRun, Place } from '../../../resources/place.ts';
import { idsOf, pooledReason, poolingProblem } from '../../../resources/pools.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { difference } from '../../../text/numbers.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import type { StyleName, Theme } from '../../widgets/theme/theme.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { compareCommands, rolloutCommands, sideCommands } from '../commands.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { comparisonFiles } from '../record/rollout-files.ts';
import { pairOfTwins } from '../tasks/rollout-bindings.ts';
import { useNotes } from '../triage/use-triage.tsx';
import { comparedHeads, comparedNames, type HeadRoom, headIndent } from './compared-heads.ts';
import { graderLines, storedTasksReason, useRegraded, useRegradedBindings } from './use-regraded.ts';

const worstFirst = { column: 'difference', descending: false } as const;

/**
 * The rollout from the run that did worse on the task, or from the other run; each has the other as its twin.
 *
 * @param gradedAs the grade of a rollout in words, if the rewards are not the stored ones
 */
function rolloutPlace(
  row: ComparedTask,
  names: BySide<string>,
  isOther: boolean,
  gradedAs: (id: string | undefined) => string | undefined,
): Place<'record'> | undefined {
  const shown = rolloutsToShow(row);
  const lost = lostBy(row);
  const side = isOther ? otherSide(lost) : lost;
  const id = shown[side]?.trajectory_id;
  if (id === undefined) return isOther ? undefined : rolloutPlace(row, names, true, gradedAs);
  const other = otherSide(side);
  const twinId = shown[other]?.trajectory_id;
  const twin = { id: twinId, name: names[other], graded: gradedAs(twinId), of: names[side], isBase: other === 'base' };
  return { ...recordPlace(trajectories, id, row.task_id), twin, graded: gradedAs(id) };
}

/** A compared run by name, or several by id; each fact opens its run. */
const runFacts = (side: Side, run: NamedRun): readonly Fact[] =>
  idsOf(run).map(id => ({ ...referenceFact(side, 'runs', id), ...(!run.pool && { value: run.name }) }));

const notGraded = (): undefined => undefined;

/** The tasks of both runs, and their comparison. */
function useComparison(place: ViewProps<'compare'>['place']) {
  const { base, new: fresh, regrading } = place;
  const { compare } = useWorkbench();
  const regraded = useRegraded(place);
  const graded = regraded?.runs;
  const tasks = useMemo(() => {
    if (!graded) return undefined;
    const [before, after] = [base, fresh].map(({ id }) => graded.find(run => run.id === id)?.read);
    // Files of these rows name the grader, too.
    return (before && after ? compareTasks(before, after) : []).map(task => ({ ...task, grader: regrading?.grader }));
  }, [graded, base, fresh, regrading?.grader]);
  const id = regrading?.id;
  const source = useMemo(
    () =>
      id === undefined
        ? comparison(idsOf(base), idsOf(fresh))
        : rowsMadeElsewhere<ComparedTask>(['regraded comparison', id], row => row.task_id),
    [base, fresh, id],
  );
  const listed = useList(source, 'visible');
  const rows = tasks ?? listed.rows;
  const isSame = base.id === fresh.id;
  const [first] = rows;
  const hasEnded = first && !sides.some(side => isRunning(first.runs[side].status));
  const { data: ends } = useLive(answerEndsQuery([idsOf(base), idsOf(fresh)]), hasEnded ? 'visible' : 'hidden');
  const compared = useMemo(() => {
    const summary = compareRuns(rows, comparisonOptions(compare), ends);
    return isSame ? ofSameRun(summary) : summary;
  }, [rows, compare, isSame, ends]);
  return { source, rows, loaded: regraded ? rows.length > 0 : listed.loaded, compared, regraded };
}

export function CompareView({ place }: ViewProps<'compare'>) {
  const { base, new: fresh, isUndated = false, regrading } = place;
  const { navigate, open } = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const keyOf = useKeyOf();
  const { source, rows, loaded, compared, regraded } = useComparison(place);
  const regradedBindings = useRegradedBindings(place, regraded);
  const names = comparedNames(place);
  const swapped = { view: 'compare', base: fresh, new: base, ...(regrading && { regrading }) } as const;
  const runNames = { base: base.name, new: fresh.name };
  const room = { width: pane.width - 2, isLow: pane.height < 18 };
  const heads = loaded ? comparisonLines(compared, names, room, theme, rows[0]?.runs) : [];
  const undated = `${headIndent}The start times are unknown: ${keyOf(compareCommands.swap)} swaps`;
  const noted = describeNotesOf(
    sides.map(side => [side, idsOf(place[side])]),
    useNotes(),
  );
  const cautions = [comparability([base, fresh]).note ?? '', ...noted];
  const warnings = cautions.flatMap(words => wrap(words, room.width - headIndent.length)).filter(Boolean);
  const notes = [
    ...warnings.map(line => theme.styles.warning(`${headIndent}${line}`)),
    ...(isUndated ? [theme.styles.muted(truncate(undated, room.width))] : []),
  ].filter(() => loaded);
  const lines = [...graderLines(regraded, room, theme), ...heads, ...notes];
  const { gradedAs = notGraded } = regraded ?? {};
  return (
    <ResourceList<ComparedTask>
      name="compared"
      source={source}
      {...(regraded && { rows, notes: regraded.notes, parts: [regraded.part] })}
      columns={comparisonColumns}
      initial={{ sort: worstFirst, at: place.at }}
      emptyText={regraded?.emptyText ?? 'Neither run has a trajectory that names its task'}
      open={row => rolloutPlace(row, runNames, false, gradedAs)}
      opens={[
        { command: compareCommands.other, place: row => rolloutPlace(row, runNames, true, gradedAs) },
        {
          command: sideCommands.pair,
          place: row => pairOfTwins(rolloutPlace(row, runNames, false, gradedAs)),
          why: 'One of the runs has no rollout of this task',
        },
      ]}
      neighbours={{ kind: 'changed', has: isChanged }}
      facts={comparedFacts}
      about={() => ({
        lines: ['', theme.styles.header('RUNS')],
        facts: sides.flatMap(side => runFacts(side, place[side])),
      })}
      bindings={[
        { command: compareCommands.pool, why: poolingProblem([base, fresh]), run: () => {} },
        {
          command: compareCommands.swap,
          run: () => navigate({ kind: 'replace', place: swapped }),
        },
        ...regradedBindings,
        {
          command: rolloutCommands.tasks,
          run: () => open({ view: 'tasks', scope: { run: fresh.id }, label: fresh.name, base }),
          ...(regraded && { why: storedTasksReason }),
          ...((base.pool ?? fresh.pool) && { why: pooledReason }),
        },
      ]}
      // A report has the stored rewards.
      files={() => (regraded ? [] : comparisonFiles([base, fresh], base.id))}
      header={lines.length > 0 ? [...lines, ''] : []}
    />
  );
}

const verdictStyles: Readonly<Record<ComparedRuns['verdict']['kind'], StyleName>> = {
  better: 'success',
  worse: 'danger',
  equal: 'info',
  undecided: 'warning',
};

/**
 * The means, the paired difference with its interval, the verdict, and the number of tasks on which each run is better.
 */
export function comparisonLines(
  compared: NamedComparison,
  names: BySide<string>,
  room: HeadRoom,
  theme: Theme,
  runs?: ComparedTask['runs'],
): string[] {
  const { verdict, interval } = compared;
  const heads = comparedHeads(compared, names, runs, room, theme);
  const between = interval && formatInterval(interval, difference);
  const ungraded = describeUngraded(compared);
  const full = describeFullRewards(compared);
  const sum = compared.difference === undefined ? '' : difference(compared.difference);
  const { [verdictStyles[verdict.kind]]: result, warning } = theme.styles;
  const sentences: readonly (readonly [words: string, style: typeof result])[] = [
    [[sum, between].filter(Boolean).join('  '), result],
    [capitalised(verdict.words), result],
    [describePaired(compared), result],
    [capitalised(compared.endsText ?? ''), warning],
    [ungraded === '' ? '' : `not graded: ${ungraded}`, result],
    [compared.pairs === 0 ? '' : describeTally(compared), result],
    [full === '' ? '' : `full reward: ${full}`, result],
    [capitalised(compared.caution), warning],
  ];
  const lines = sentences
    .filter(([words]) => words !== '')
    .flatMap(([words, style]) => wrap(words, room.width - headIndent.length).map(line => [line, style] as const));
  return [...heads, ...lines.map(([line, style], index) => style(`${index === 0 ? 'diff  ' : headIndent}${line}`))];
}
