/** The tasks in a run, a dataset or a training run, worst first, and the rollouts of one task. */
import { useMemo, useState } from 'react';
import type { EvalRun } from '../../../contract/evaluations.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { inClass } from '../../../present/outcome-classes.ts';
import type { TaskGroup } from '../../../present/task-groups.ts';
import { comparison, rolloutsToShow } from '../../../queries/compare.ts';
import { evalRunQuery } from '../../../queries/evaluations.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import type { Attention } from '../../../queries/polling.ts';
import { baselineOf } from '../../../resources/baseline.ts';
import { comparability } from '../../../resources/comparison.ts';
import { recordPlace } from '../../../resources/define.ts';
import type { NamedRun, Place } from '../../../resources/place.ts';
import { namedRun } from '../../../resources/run-places.ts';
import { describeGroups, groupFacts, groupsOf, taskColumn } from '../../../resources/task-groups.ts';
import { trajectories, trajectoryFacts } from '../../../resources/trajectories.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Size } from '../../app/layout.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { usePromptBinding } from '../chat/use-prompt-binding.ts';
import { readerCommands, sideCommands, tasksCommands } from '../commands.ts';
import { useListProps } from '../list/list-view.tsx';
import { ResourceList } from '../list/resource-list.tsx';
import { RunChoice } from '../runs/compare-window.tsx';
import { TrajectoryPreview } from '../trajectories/preview.tsx';
import { drawnColumns } from './group-columns.ts';
import { StepsPreview } from './reward-chart.tsx';
import { pairBinding, pairOfTwins, textsIn, worstAndBest } from './rollout-bindings.ts';
import { useRolloutList } from './use-rollout-list.ts';
import { emptyRollouts, useRollouts } from './use-rollouts.ts';
import { useStepsChoice } from './use-steps-choice.tsx';

const byMean = { column: 'mean', descending: false } as const;
const byDifference = { column: 'difference', descending: false } as const;
const byReward = { column: 'reward', descending: false } as const;

/** The run to compare with: the chosen one, or the benchmark's baseline. */
function useBase({ scope, base }: ViewProps<'tasks'>['place']) {
  const { remembered } = useWorkbench();
  const { data: run } = useLive(evalRunQuery(scope.run ?? ''), scope.run ? 'visible' : 'hidden');
  const baseline = baselineOf(remembered, run?.bench_id);
  if (base) return { run, base: base.id, name: base.name };
  const known = baseline === scope.run ? undefined : baseline;
  return { run, base: known, name: (known && remembered.seen.find('run', known)?.label) ?? known };
}

/** The key that chooses the run to compare with. */
function useBaseChoice(place: ViewProps<'tasks'>['place'], run: EvalRun | undefined): Binding {
  const shell = useShell();
  const choose = (base: EvalRun): void => {
    shell.navigate({ kind: 'replace', place: { ...place, base: namedRun(base) } });
  };
  return {
    command: tasksCommands.base,
    why: run?.bench_id ? undefined : 'Its benchmark is unknown',
    run: () => run && shell.showOverlay('compare', close => <RunChoice run={run} onClose={close} onChoose={choose} />),
  };
}

/** The key that follows a task through a training run. */
function useLifeBinding({ scope: { training } }: ViewProps<'tasks'>['place']): (row: TaskGroup | undefined) => Binding {
  const { open } = useShell();
  return row => ({
    command: tasksCommands.life,
    enabled: row !== undefined,
    why: training === undefined ? "Only a training run's tasks change from step to step" : undefined,
    run: () => row && training && open({ view: 'task-life', trainingRunId: training, task: row.task_id }),
  });
}

/** The key that opens the comparison of the two runs at a task; undefined without a base. */
function useCompareBinding(run: EvalRun | undefined, base: NamedRun | undefined) {
  const { open } = useShell();
  return (row: TaskGroup | undefined): Binding | undefined =>
    run && base && row
      ? {
          command: sideCommands.pair,
          run: () => open({ view: 'compare', base, new: namedRun(run), at: row.task_id }),
        }
      : undefined;
}

/** The tasks, compared with those of the run `base`, if there is one. */
function useTasks({ scope, steps, filter }: Place<'tasks'>, base: string | undefined, attention: Attention) {
  const { rewardRange } = useWorkbench().compare;
  const rollouts = useRollouts(scope, attention, { steps, filter });
  const other = useRollouts(base === undefined ? undefined : { run: base }, attention, { filter });
  const { rows, run } = rollouts;
  const ofBase = base === undefined ? undefined : other.rows;
  const tasks = useMemo(
    () => groupsOf(rows, { run, range: rewardRange, base: ofBase }),
    [rows, run, rewardRange, ofBase],
  );
  return { rollouts, tasks };
}

/** The lines above the tasks. @param most how many of them a low pane shows, each cut to its width */
function headerOf(
  title: string,
  lines: readonly string[],
  most: number,
  pane: Size,
  { styles }: Theme,
): readonly string[] {
  const width = pane.width - 2;
  const isLow = pane.height < 18;
  const shown = isLow
    ? lines.slice(0, most).map(line => truncate(line, width))
    : lines.flatMap(line => wrap(line, width));
  return [
    styles.title(truncate(sanitiseLine(title), width)),
    ...shown.map(styles.muted),
    ...(shown.length > 0 ? [''] : []),
  ];
}

export function TasksView({ place }: ViewProps<'tasks'>) {
  const { scope, label, steps, filter } = place;
  const shell = useShell();
  const pane = usePane('main');
  const theme = useTheme();
  const { run, base, name } = useBase(place);
  const promptBinding = usePromptBinding();
  const { rollouts, tasks } = useTasks(place, base, pane.attention);
  const columns = useMemo(() => [taskColumn, ...drawnColumns(theme)], [theme]);
  // A view shows one place from mount to unmount.
  const [source] = useState(() => rowsMadeElsewhere<TaskGroup>([...rollouts.key, 'tasks'], row => row.task_id));
  const title = label ?? run?.display_name ?? scope.run ?? scope.dataset ?? '';
  const against = base === undefined ? undefined : (place.base ?? { id: base, name: name ?? base });
  const againstNotes = against ? [`DIFF is the mean minus the mean of ${sanitiseLine(against.name)}`] : [];
  const { why, note = why } = comparability(run && place.base ? [namedRun(run), place.base] : []);
  const words = [...(note === undefined ? [] : [note]), ...describeGroups(tasks), ...againstNotes];
  // The note, the counts, and pass@k of each run or of the first models.
  const shownLow = (against || tasks.models.length > 0 ? 3 : 2) + (note === undefined ? 0 : 1);
  const choices = [useBaseChoice(place, run), useStepsChoice(place, rollouts.rows)];
  const lifeBinding = useLifeBinding(place);
  const compareBinding = useCompareBinding(run, against);
  return (
    <ResourceList<TaskGroup>
      name="tasks"
      source={source}
      texts={textsIn(place)}
      rows={tasks.groups}
      parts={rollouts.parts}
      columns={columns}
      initial={{ sort: place.base ? byDifference : byMean }}
      emptyText={emptyRollouts(
        rollouts,
        rollouts.rows.length === 0
          ? steps
            ? `There are no rollouts in steps ${steps}`
            : 'There are no rollouts'
          : 'No rollout names its task',
      )}
      open={({ task_id: task, rollouts: of }) =>
        of.length === 0
          ? undefined
          : {
              ...({ view: 'rollouts', scope, task, filter, ...(steps && { steps }), ...(label && { label }) } as const),
              ...(against && { base: against }),
            }
      }
      actions={([row]) => [
        lifeBinding(row),
        compareBinding(row) ??
          pairBinding(worstAndBest(row?.rollouts ?? []), 'It has fewer than two rollouts with a reward', shell.open),
        promptBinding(row?.rollouts.find(({ trajectory_id }) => trajectory_id)?.trajectory_id),
      ]}
      facts={groupFacts}
      {...(tasks.steps.size > 1 && { preview: StepsPreview })}
      notes={rollouts.notes}
      header={headerOf(title, words, shownLow, pane, theme)}
      bindings={choices}
    />
  );
}

/**
 * Returns a function that finds a rollout's place. If the task is compared with another run, the rollout that shows the
 * difference is its twin.
 */
function useTwinOpening({ scope: { run = '' }, label = run, task, base }: ViewProps<'rollouts'>['place']) {
  const source = useMemo(() => comparison([base?.id ?? ''], [run]), [base?.id, run]);
  const { rows } = useList(source, base ? 'visible' : 'hidden');
  const row = rows.find(({ task_id }) => task_id === task);
  const twin = row && base && { id: rolloutsToShow(row).base?.trajectory_id, name: base.name, of: label, isBase: true };
  return (rollout: Trajectory): Place<'record'> => ({
    ...recordPlace(trajectories, rollout.trajectory_id, rollout.task_id ?? undefined),
    ...(twin && { twin }),
  });
}

/** The same task's rollouts in the run that it is compared with, which are compared with these. */
function rolloutsOfBase(place: Place<'rollouts'>): Place<'rollouts'> | undefined {
  const { scope, label, base } = place;
  if (!base || scope.run === undefined) return undefined;
  const other = { id: scope.run, name: label ?? scope.run };
  return { ...place, scope: { run: base.id }, label: base.name, base: other };
}

export function RolloutsView({ place }: ViewProps<'rollouts'>) {
  const { scope, task, ended, steps, base, filter } = place;
  const { navigate } = useShell();
  const twin = rolloutsOfBase(place);
  const pane = usePane('main');
  const rollouts = useRollouts(scope, pane.attention, { steps, filter });
  const { rows: all, parts, notes, key } = rollouts;
  const rows = useMemo(() => {
    const isOne = ended ? inClass(all, ended) : () => true;
    return all.filter(row => (task === undefined || row.task_id === task) && isOne(row));
  }, [all, task, ended]);
  const list = useRolloutList(trajectories.columns, trajectoryFacts, rows);
  const open = useTwinOpening(place);
  const [source] = useState(() =>
    rowsMadeElsewhere<Trajectory>([...key, 'rollouts', task, ended], row => row.trajectory_id),
  );
  return (
    <ResourceList<Trajectory>
      {...useListProps(trajectories)}
      source={source}
      texts={textsIn(place)}
      rows={rows}
      parts={parts}
      {...list}
      open={open}
      // A single rollout opens beside its twin.
      actions={some =>
        list.actions(some).filter(({ command }) => !base || some.length > 1 || command !== sideCommands.pair)
      }
      opens={
        base
          ? [
              {
                command: sideCommands.pair,
                place: row => pairOfTwins(open(row)),
                why: clean`${base.name} has no rollout of this task to open`,
              },
            ]
          : []
      }
      bindings={twin ? [{ command: readerCommands.twin, run: () => navigate({ kind: 'replace', place: twin }) }] : []}
      notes={[...notes, ...list.notes]}
      initial={{ sort: byReward }}
      emptyText={emptyRollouts(rollouts, 'No rollout matches')}
      preview={TrajectoryPreview}
      keepsPreview
    />
  );
}
