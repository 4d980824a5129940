/** The tree of everything: all benchmarks and their descendants. */
import { hashKey } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Benchmark } from '../../contract/benchmarks.ts';
import type { EvalRun } from '../../contract/evaluations.ts';
import { hasEnded } from '../../contract/status.ts';
import type { TrainingRun } from '../../contract/training.ts';
import { benchmarkList } from '../../queries/benchmarks.ts';
import { checkpointTimesQuery } from '../../queries/checkpoints.ts';
import { deploymentList } from '../../queries/deployments.ts';
import { listQuery } from '../../queries/lists/list-query.ts';
import { type ListData, type ListSource, rowsMadeElsewhere } from '../../queries/lists/list-source.ts';
import type { LiveQuery } from '../../queries/live-query.ts';
import { everyRun, runsOfBenchmark } from '../../queries/run-lists.ts';
import { everyTrainingRun, trainingRunsOf } from '../../queries/training.ts';
import { heldOutRewardsQuery } from '../../queries/training-curves.ts';
import { baselineOf } from '../../resources/baseline.ts';
import { placeOfReference, resourceAt } from '../../resources/catalogue.ts';
import { statedFacts } from '../../resources/line-state.ts';
import { traceDeployments } from '../../resources/origins.ts';
import { progressQuery } from '../../resources/rotation.ts';
import { elsewhereInWindow, windowMs } from '../../resources/rotation-budget.ts';
import {
  checkpointRowFacts,
  describeLeftOut,
  type KnownTraining,
  type TreeRow,
  treeColumns,
  treeKinds,
  treeRows,
  type UnreadList,
  unfoldedRows,
} from '../../resources/tree.ts';
import { treeKey } from '../../resources/tree-place.ts';
import { heldOutOf } from '../../resources/watch.ts';
import { counted } from '../../text/numbers.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useErrorBindings } from '../app/error-note.tsx';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { useListed } from '../data/use-list.ts';
import { useLive, useLives } from '../data/use-live.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { useKeyOf } from '../keys/router.tsx';
import { useMemory } from '../navigation/memory.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { treeCommands } from './commands.ts';
import { listNotes } from './list/list-messages.ts';
import { ResourceList } from './list/resource-list.tsx';
import { useActionsByKind } from './record/use-actions-by-kind.ts';
import { useAlarmed } from './record/use-alarmed.ts';
import { useMeans } from './runs/use-means.ts';

/** The tree's rows come from other lists. */
const source = rowsMadeElsewhere<TreeRow>(['tree'], row => row.key);

const ancestorsOf = ({ path }: TreeRow): readonly string[] => path;

/** Branches that need requests to open are closed at first. */
const isClosedAtFirst = (key: string): boolean => key.startsWith('benchmark ') || key.startsWith('training ');

const idsOf = (keys: ReadonlySet<string>, kind: 'benchmark' | 'training'): readonly string[] =>
  [...keys].filter(key => key.startsWith(treeKey(kind, ''))).map(key => key.slice(treeKey(kind, '').length));

interface OpenList extends Pick<UnreadList, 'kind' | 'benchmark'> {
  readonly source: ListSource<object>;
  readonly data: ListData<object> | undefined;
}

const asList = <Row extends object>(
  kind: UnreadList['kind'],
  source: ListSource<Row>,
  data: ListData<Row> | undefined,
  benchmark?: string,
): OpenList => ({ kind, source: source as unknown as ListSource<object>, data, benchmark });

/** Reads more of these lists on demand. Pages that have been read stay current while they are in the tree. */
function useReadingOn(lists: readonly OpenList[]) {
  const workbench = useWorkbench();
  const { toast } = useShell();
  const [reading, setReading] = useState<readonly ListSource<object>[]>([]);
  useEffect(() => {
    const viewer = {};
    const readers = lists.map(({ source, data }) => ({ reader: workbench.lists.of(source), rows: data?.rows ?? [] }));
    for (const { reader, rows } of readers) reader.see(viewer, rows);
    return () => {
      for (const { reader } of readers) reader.see(viewer, undefined);
    };
  });
  const isSame = (one: ListSource<object>, other: ListSource<object>): boolean =>
    hashKey(one.key) === hashKey(other.key);
  const unread = lists.flatMap(({ kind, benchmark, source, data }): UnreadList[] => {
    const isReading = reading.some(each => isSame(each, source));
    return data && !data.complete ? [{ kind, benchmark, read: data.rows.length, isReading }] : [];
  });
  const readOn = async ({ kind, benchmark }: UnreadList): Promise<void> => {
    const source = lists.find(list => list.kind === kind && list.benchmark === benchmark)?.source;
    if (!source) return;
    setReading(others => [...others, source]);
    const reader = workbench.lists.of(source);
    await reader.readOn();
    setReading(others => others.filter(each => !isSame(each, source)));
    const { error } = reader.state();
    if (error) toast({ kind: 'warning', text: `More ${treeKinds[kind].many} could not be read: ${error.message}` });
  };
  return { unread, readOn };
}

/**
 * Polls the tree's queries less often the more branches are open. Together they take half of the requests that the
 * background rounds leave to the view, because the section counts read the same lists.
 */
function budgetPolling({ poll, statuses }: Workbench, open: ReadonlySet<string>) {
  const lists = 2;
  const isPolled = (id: string): boolean => !hasEnded(statuses.get({ kind: 'training', id })?.status);
  const branches = idsOf(open, 'benchmark').length + idsOf(open, 'training').filter(isPolled).length;
  const leastMs = (2 * (lists + 2 * branches) * windowMs(poll)) / elsewhereInWindow;
  return <Data,>(query: LiveQuery<Data>): LiveQuery<Data> => ({
    ...query,
    leastMs: data => Math.max(leastMs, query.leastMs?.(data) ?? 0),
  });
}

const useEach = <Item, Data>(items: readonly Item[], queryOf: (item: Item) => LiveQuery<Data>) =>
  useLives<Data>(items.map(queryOf), 'visible');

/** The open training runs' checkpoints, with their held-out rewards. */
function useOpenedTraining(
  open: ReadonlySet<string>,
  known: readonly TrainingRun[],
  inBudget: ReturnType<typeof budgetPolling>,
) {
  const opened = idsOf(open, 'training').map(id => {
    const run = known.find(({ training_run_id }) => training_run_id === id);
    return { id, ended: hasEnded(run?.status) };
  });
  const checkpoints = useEach(opened, ({ id, ended }) => inBudget(checkpointTimesQuery(id, ended)));
  const heldOut = useEach(opened, ({ id, ended }) => inBudget(heldOutRewardsQuery(id, ended)));
  const parts = new Map<string, KnownTraining>();
  for (const [index, { id }] of opened.entries()) {
    const read = checkpoints[index]?.data;
    if (read) parts.set(id, { checkpoints: read, heldOut: heldOut[index]?.data ?? [] });
  }
  return { parts, lives: [...checkpoints, ...heldOut] };
}

/** The open benchmarks' runs and training runs. */
function useOpenedBenchmarks(ids: readonly string[], inBudget: ReturnType<typeof budgetPolling>) {
  const workbench = useWorkbench();
  const runs = useEach(ids, id => inBudget(listQuery(workbench, runsOfBenchmark(id))));
  const training = useEach(ids, id => inBudget(listQuery(workbench, trainingRunsOf(id))));
  const lists = ids.flatMap((id, index) => [
    asList('run', runsOfBenchmark(id), runs[index]?.data, id),
    asList('training', trainingRunsOf(id), training[index]?.data, id),
  ]);
  return { runs, training, lists };
}

/** How many runs the tree leaves out because their benchmark is unknown. */
function useUnplacedNotes(): readonly string[] {
  const ofUnknown = (rows: readonly { readonly bench_id?: string | null | undefined }[] = []): number =>
    rows.filter(({ bench_id }) => !bench_id).length;
  // The background rounds read the lists across benchmarks.
  return [
    describeLeftOut('run', ofUnknown(useListed(everyRun)?.rows)),
    describeLeftOut('training', ofUnknown(useListed(everyTrainingRun)?.rows)),
  ].filter(Boolean);
}

/** The part of the tree that has been read: the benchmarks and the open branches. */
function useLineage(open: ReadonlySet<string>) {
  const workbench = useWorkbench();
  const keyOf = useKeyOf();
  const listed = useListed(benchmarkList);
  const inBudget = budgetPolling(workbench, open);
  const withMeans = useMeans();
  const read = useLive(inBudget(listQuery(workbench, benchmarkList)), 'visible');
  const deployments = useLive(inBudget(listQuery(workbench, deploymentList)), 'visible');
  const listedRows = read.data?.rows ?? [];
  const benchIds = idsOf(open, 'benchmark');
  const unlisted = benchIds.filter(id => !listedRows.some(({ bench_id }) => bench_id === id));
  const benchmarks: readonly Benchmark[] = [
    ...unlisted.map(bench_id => ({ bench_id, label: workbench.benchmarkName(bench_id) })),
    ...listedRows,
  ];
  const { runs, training, lists: opened } = useOpenedBenchmarks(benchIds, inBudget);
  const lists = [
    asList('benchmark', benchmarkList, listed),
    asList('deployment', deploymentList, useListed(deploymentList)),
    ...opened,
  ];
  const { unread, readOn } = useReadingOn(lists);
  // The background rounds read the held-out rewards of runs whose branch is closed.
  useLive(progressQuery(workbench, benchIds), benchIds.length > 0 ? 'visible' : 'hidden');
  useSyncExternalStore(workbench.statuses.subscribe, () => workbench.statuses.all());
  const trained = training.flatMap(({ data }) => data?.rows ?? []);
  const openedTraining = useOpenedTraining(open, trained, inBudget);
  const lives = [...runs, ...training, ...openedTraining.lives];
  const isBaseline = (run: EvalRun): boolean => baselineOf(workbench.remembered, run.bench_id) === run.eval_run_id;
  return {
    rows: treeRows({
      benchmarks,
      training: trained,
      parts: openedTraining.parts,
      isBaseline,
      unread,
      deployments: traceDeployments(deployments.data?.rows ?? [], workbench.remembered),
      runs: withMeans(runs.flatMap(({ data }) => data?.rows ?? [])),
      heldOutOf: id => {
        const known = workbench.statuses.get({ kind: 'training', id });
        return (known && heldOutOf(known)) ?? undefined;
      },
    }),
    readOn,
    parts: [read, deployments, ...lives],
    loaded: read.data !== undefined,
    notes: [
      ...(unread.length > 0 ? ['Not everything has been read: lines that begin with … read the rest'] : []),
      ...useUnplacedNotes(),
      ...new Set(lists.flatMap(({ data }) => (data ? listNotes(data, keyOf) : []))),
    ],
    error: read.error ?? lives.find(({ error }) => error)?.error,
  };
}

/** The record that a row's actions apply to. */
const recordOf = ({ kind, run, record, unread }: TreeRow): object | undefined =>
  unread ? undefined : kind === 'checkpoint' ? { ...run, checkpoint: record } : record;

/** The open branches; at first, those that the place names. */
function useFolds({ benchmark, training }: ViewProps<'tree'>['place']) {
  const [before, remember] = useMemory<ReadonlySet<string>>('open');
  const [toggled, setToggled] = useState<ReadonlySet<string>>(
    () =>
      before ??
      new Set([
        ...(benchmark === undefined ? [] : [treeKey('benchmark', benchmark)]),
        ...(training === undefined ? [] : [treeKey('training', training)]),
      ]),
  );
  return {
    open: useMemo(() => new Set([...toggled].filter(isClosedAtFirst)), [toggled]),
    isOpen: (key: string): boolean => toggled.has(key) === isClosedAtFirst(key),
    toggle: (key: string): void => {
      const next = new Set(toggled);
      if (!next.delete(key)) next.add(key);
      setToggled(next);
      remember(next);
    },
  };
}

const referenceOf = ({ kind, id, run }: TreeRow) => ({
  resource: treeKinds[kind].resource,
  id,
  ...(run && { within: run.training_run_id }),
});

export function TreeView({ place }: ViewProps<'tree'>) {
  const theme = useTheme();
  const { rewardRange } = useWorkbench().compare;
  const actionsOf = useActionsByKind();
  const keyOf = useKeyOf();
  const { open, isOpen, toggle } = useFolds(place);
  const lineage = useLineage(open);
  const alarmOf = useAlarmed();
  const closed = lineage.rows.filter(({ hasParts, key }) => hasParts && isClosedAtFirst(key) && !isOpen(key));
  const branches = counted(closed.length, 'closed branch', 'closed branches');
  const unsearched = closed.length === 0 ? undefined : `without ${branches}: ${keyOf(treeCommands.fold)} opens one`;
  const mark = ({ hasParts, key }: TreeRow): string => {
    if (!hasParts) return '  ';
    return `${isOpen(key) ? theme.glyphs.opened : theme.glyphs.closed} `;
  };
  return (
    <ResourceList<TreeRow>
      name="tree"
      source={source}
      parts={lineage.parts}
      rows={lineage.rows}
      groups={{ rows: unfoldedRows(lineage.rows, isOpen), ancestorsOf, unsearched }}
      columns={treeColumns(rewardRange, mark, alarmOf)}
      initial={place}
      emptyText={lineage.loaded ? 'No benchmarks yet' : ''}
      bindings={useErrorBindings(lineage.error)}
      notes={lineage.error ? [...lineage.notes, lineage.error.message] : lineage.notes}
      open={row => {
        const { unread, run, name } = row;
        if (unread) return () => void lineage.readOn(unread);
        return placeOfReference(referenceOf(row), run?.display_name ?? name);
      }}
      facts={row => {
        if (row.unread) return [{ label: 'more', value: `${row.name.slice(2)}: ${row.about}` }];
        if (row.kind === 'checkpoint') return checkpointRowFacts(row);
        const { facts } = resourceAt({ view: 'list', resource: treeKinds[row.kind].resource });
        return statedFacts(facts(row.record), alarmOf(row));
      }}
      refOf={({ kind, id, name, unread }) => ({
        id,
        label: name,
        kind: unread || kind === 'checkpoint' ? undefined : kind,
      })}
      actions={(targets, { current, dispatch, isGrouped }) => [
        ...actionsOf(targets.map(row => ({ kind: row.kind, record: recordOf(row) }))),
        {
          command: treeCommands.fold,
          enabled: isGrouped && current !== undefined,
          run: () => {
            // A row without children folds its parent.
            const key = current?.hasParts ? current.key : current?.path.at(-1);
            if (key === undefined) return;
            dispatch({ kind: 'select', id: key });
            toggle(key);
          },
        },
      ]}
    />
  );
}
