/** Compares two runs task by task, largest loss first. */

import { useMemo } from 'react';
import { capitalised } from '../../../base/capitalised.ts';
import { type BySide, otherSide, type Side, sides } from '../../../base/sides.ts';
import { isRunning } from '../../../contract/status.ts';
import { type Fact, referenceFact } from '../../../present/fact.ts';
import { describeNotesOf } from '../../../present/notes.ts';
import { formatInterval } from '../../../present/number-columns.ts';
import { type ComparedRuns, ofSameRun } from '../../../present/statistics/comparison.ts';
import { type ComparedTask, comparison, isChanged, lostBy, rolloutsToShow } from '../../../queries/compare.ts';
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

const worstFirst = { column: 'difference', descending: false } as const;

/** The rollout from the run that did worse on the task, or from the other run; each has the other as its twin. */
function rolloutPlace(row: ComparedTask, names: BySide<string>, isOther: boolean): Place<'record'> | undefined {
  const shown = rolloutsToShow(row);
  const lost = lostBy(row);
  const side = isOther ? otherSide(lost) : lost;
  const id = shown[side]?.trajectory_id;
  if (id === undefined) return isOther ? undefined : rolloutPlace(row, names, true);
  const other = otherSide(side);
  const twin = { id: shown[other]?.trajectory_id, name: names[other], of: names[side], isBase: other === 'base' };
  return { ...recordPlace(trajectories, id, row.task_id), twin };
}

/** A compared run by name, or several by id; each fact opens its run. */
const runFacts = (side: Side, run: NamedRun): readonly Fact[] =>
  idsOf(run).map(id => ({ ...referenceFact(side, 'runs', id), ...(!run.pool && { value: run.name }) }));

/** The tasks of both runs, and their comparison. */
function useComparison({ base, new: fresh }: ViewProps<'compare'>['place']) {
  const { compare } = useWorkbench();
  const source = useMemo(() => comparison(idsOf(base), idsOf(fresh)), [base, fresh]);
  const { rows, loaded } = useList(source, 'visible');
  const isSame = base.id === fresh.id;
  const [first] = rows;
  const hasEnded = first && !sides.some(side => isRunning(first.runs[side].status));
  const { data: ends } = useLive(answerEndsQuery([idsOf(base), idsOf(fresh)]), hasEnded ? 'visible' : 'hidden');
  const compared = useMemo(() => {
    const summary = compareRuns(rows, comparisonOptions(compare), ends);
    return isSame ? ofSameRun(summary) : summary;
  }, [rows, compare, isSame, ends]);
  return { source, rows, loaded, compared };
}

export function CompareView({ place }: ViewProps<'compare'>) {
  const { base, new: fresh, isUndated = false } = place;
  const { navigate, open } = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const keyOf = useKeyOf();
  const { source, rows, loaded, compared } = useComparison(place);
  const names = comparedNames(place);
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
  const lines = [...heads, ...notes, ...(loaded ? [''] : [])];
  return (
    <ResourceList<ComparedTask>
      name="compared"
      source={source}
      columns={comparisonColumns}
      initial={{ sort: worstFirst, at: place.at }}
      emptyText="Neither run has a trajectory that names its task"
      open={row => rolloutPlace(row, runNames, false)}
      opens={[
        { command: compareCommands.other, place: row => rolloutPlace(row, runNames, true) },
        {
          command: sideCommands.pair,
          place: row => pairOfTwins(rolloutPlace(row, runNames, false)),
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
          run: () => navigate({ kind: 'replace', place: { view: 'compare', base: fresh, new: base } }),
        },
        {
          command: rolloutCommands.tasks,
          run: () => open({ view: 'tasks', scope: { run: fresh.id }, label: fresh.name, base }),
          ...((base.pool ?? fresh.pool) && { why: pooledReason }),
        },
      ]}
      files={() => comparisonFiles([base, fresh], base.id)}
      header={lines}
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
    [describePaired(compared), result],
    [capitalised(verdict.words), result],
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
