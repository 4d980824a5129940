/** Compares several runs with one of them, and shows the tasks on which they differ most. */
import { useMemo } from 'react';
import { isRunning } from '../../../contract/status.ts';
import type { NotesById } from '../../../present/notes.ts';
import { comparisonDefaults } from '../../../present/statistics/comparison.ts';
import { type ComparedRun, comparedRuns } from '../../../queries/compare.ts';
import { type ListSource, rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { answerEndsQuery } from '../../../resources/answer-ends.ts';
import { comparability, comparisonOptions } from '../../../resources/comparison.ts';
import {
  describeFamilyIntervals,
  type Grid,
  type GridRow,
  gridColumns,
  gridFacts,
  gridOf,
  gridTasks,
  gridVerdicts,
  taskColumns,
} from '../../../resources/comparison-grid.ts';
import type { NamedRun } from '../../../resources/place.ts';
import {
  describeSameSeed,
  idsOf,
  pooledPlace,
  pooledReason,
  pooledRuns,
  poolingProblem,
} from '../../../resources/pools.ts';
import { counted } from '../../../text/numbers.ts';
import { firstLines, wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import { tableLines } from '../../widgets/table/table-lines.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { compareCommands, rolloutCommands } from '../commands.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { comparisonFiles } from '../record/rollout-files.ts';
import { useNotes } from '../triage/use-triage.tsx';
import { graderLines, storedTasksReason, useRegraded, useRegradedBindings } from './use-regraded.ts';

/** Each run's letter, flags and verdict, wrapped. */
function verdictLines(grid: Grid, notes: NotesById, width: number): readonly string[] {
  return gridVerdicts(grid, notes).flatMap(({ letter, words }) => {
    const [first = '', ...rest] = wrap(words, width - letter.length - 1);
    return [`${letter} ${first}`, ...rest.map(line => `${' '.repeat(letter.length)} ${line}`)];
  });
}

/** Tells the user that some runs can be pooled. */
const describePools = (runs: readonly NamedRun[], keyOf: ReturnType<typeof useKeyOf>): string =>
  `${runs.length} runs in ${counted(pooledRuns(runs).length, 'group')} that differ only in the seed: ${keyOf(compareCommands.pool)} pools each group`;

/** The list that reads the runs, their comparison with the base, and the tasks on which they differ most. */
function useGrid(place: ViewProps<'compare-many'>['place']) {
  const { runs, base, regrading } = place;
  const { compare } = useWorkbench();
  const regraded = useRegraded(place);
  const id = regrading?.id;
  const source = useMemo(
    () =>
      id === undefined
        ? comparedRuns(runs)
        : rowsMadeElsewhere<ComparedRun>(['regraded comparison', id], row => row.id),
    [runs, id],
  );
  const listed = useList(source, 'visible');
  const read = regraded?.runs ?? listed.rows;
  const haveEnded = read.length > 0 && !read.some(run => isRunning(run.read.status));
  const { data: ends } = useLive(answerEndsQuery(runs.map(idsOf)), haveEnded ? 'visible' : 'hidden');
  const grid = useMemo(() => gridOf(read, base, comparisonOptions(compare), ends), [read, base, compare, ends]);
  const { confidence } = grid;
  const columns = useMemo(() => gridColumns(confidence), [confidence]);
  const tasks = useMemo(() => gridTasks(read), [read]);
  // Files of these rows name the grader, too.
  const rows = useMemo(
    () => (regrading ? grid.rows.map(row => ({ ...row, grader: regrading.grader })) : grid.rows),
    [grid, regrading],
  );
  return { source, grid, rows, columns, tasks, regraded };
}

export function CompareManyView({ place }: ViewProps<'compare-many'>) {
  const { runs, base, regrading } = place;
  const { navigate, open } = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const keyOf = useKeyOf();
  const { source, grid, rows, columns, tasks, regraded } = useGrid(place);
  const regradedBindings = useRegradedBindings(place, regraded);
  const baseRun = runs.find(({ id }) => id === base);
  const { note = '' } = comparability(runs);
  const pools = pooledPlace(runs, base);
  const words = [
    note,
    describeFamilyIntervals(grid, comparisonDefaults.confidence),
    pools ? describePools(runs, keyOf) : '',
    describeSameSeed(runs),
  ].filter(Boolean);
  const width = pane.width - 2;
  const grader = graderLines(regraded, { width, isLow: pane.height < 18 }, theme);
  const verdicts = verdictLines(grid, useNotes(), width);
  return (
    <ResourceList<GridRow>
      name="compared-runs"
      // Only its type differs: `rows` replaces its rows.
      source={source as unknown as ListSource<GridRow>}
      rows={rows}
      {...(regraded && { notes: regraded.notes, parts: [regraded.part] })}
      columns={columns}
      emptyText={regraded?.emptyText ?? 'None of these runs has a reward'}
      open={row => {
        const run = runs.find(({ id }) => id === row.id);
        if (!run || !baseRun || run === baseRun) return undefined;
        const by = regrading && { regrading: { id: regrading.id, grader: regrading.grader } };
        return { view: 'compare', base: baseRun, new: run, ...by };
      }}
      facts={gridFacts}
      opens={[
        {
          command: rolloutCommands.tasks,
          place: ({ id, name, pool }) =>
            pool || baseRun?.pool || regrading
              ? undefined
              : {
                  ...{ view: 'tasks', scope: { run: id }, label: name },
                  ...(baseRun && baseRun.id !== id && { base: baseRun }),
                },
          why: regrading ? storedTasksReason : pooledReason,
        },
      ]}
      refOf={({ name }) => ({ label: name })}
      header={[...grader, ...words.flatMap(line => wrap(line, width)).map(line => theme.styles.muted(line))]}
      // A report has the stored rewards.
      files={() => (regraded ? [] : comparisonFiles(runs, base))}
      footer={height => [
        ...firstLines(verdicts, height),
        '',
        ...tableLines(tasks, taskColumns(grid.rows), { width, height: height - verdicts.length - 1, theme }),
      ]}
      bindings={[
        {
          command: compareCommands.pool,
          why: poolingProblem(runs),
          run: () => pools && open(pools),
        },
        ...regradedBindings,
      ]}
      actions={([row]) => [
        {
          command: compareCommands.baseline,
          why: row && row.id !== base ? undefined : 'This run is the baseline',
          run: () => row && navigate({ kind: 'replace', place: { ...place, base: row.id } }),
        },
      ]}
    />
  );
}
