/** The tree of everything: the lineage of all benchmarks. */
import { useMemo, useState } from 'react';
import type { Benchmark } from '../../contract/benchmarks.ts';
import type { EvalRun } from '../../contract/evaluations.ts';
import { hasEnded } from '../../contract/status.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../../contract/training.ts';
import { benchmarkList } from '../../queries/benchmarks.ts';
import { deploymentList } from '../../queries/deployments.ts';
import { runsOfBenchmark } from '../../queries/evaluations.ts';
import { isWhole, listQuery } from '../../queries/lists/list-query.ts';
import { type ListSource, wholePage } from '../../queries/lists/list-source.ts';
import { checkpointTimesQuery, heldOutRewardsQuery, trainingRunsOf } from '../../queries/training.ts';
import { baselineOf } from '../../resources/baseline.ts';
import { placeOfReference, resourceAt } from '../../resources/catalogue.ts';
import {
  checkpointRowFacts,
  type KnownTraining,
  type TreeRow,
  treeColumns,
  treeKinds,
  treeRows,
  unfolded,
} from '../../resources/tree.ts';
import { treeKey } from '../../resources/tree-place.ts';
import type { ViewProps } from '../app/registry.ts';
import { useList } from '../data/use-list.ts';
import { useLives } from '../data/use-live.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { useMemory } from '../navigation/memory.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { treeCommands } from './commands.ts';
import { ResourceList } from './list/resource-list.tsx';
import { useActionsByKind } from './record/use-actions-by-kind.ts';

/** Its rows come from other lists. */
const source: ListSource<TreeRow> = {
  key: ['tree'],
  id: row => row.key,
  derived: true,
  readPage: async () => wholePage<TreeRow>([]),
  activity: () => 'settled',
};

/** Branches that take requests to open are closed at first. */
const isClosedAtFirst = (key: string): boolean => key.startsWith('benchmark ') || key.startsWith('training ');

const idsOf = (keys: ReadonlySet<string>, kind: 'benchmark' | 'training'): readonly string[] =>
  [...keys].filter(key => key.startsWith(treeKey(kind, ''))).map(key => key.slice(treeKey(kind, '').length));

/** The read part of the tree: the benchmarks and the open branches. */
function useLineage(open: ReadonlySet<string>) {
  const workbench = useWorkbench();
  const listed = useList(benchmarkList, 'visible');
  const deployments = useList(deploymentList, 'visible');
  const benchIds = idsOf(open, 'benchmark');
  const unlisted = benchIds.filter(id => !listed.rows.some(({ bench_id }) => bench_id === id));
  const benchmarks: readonly Benchmark[] = [
    ...unlisted.map(bench_id => ({ bench_id, label: workbench.benchmarkName(bench_id) })),
    ...listed.rows,
  ];
  const runs = useLives(
    benchIds.map(id => listQuery<EvalRun>(workbench, runsOfBenchmark(id))),
    'visible',
  );
  const training = useLives(
    benchIds.map(id => listQuery<TrainingRun>(workbench, trainingRunsOf(id))),
    'visible',
  );
  const trained = training.flatMap(({ data }) => data?.rows ?? []);
  const opened = idsOf(open, 'training').map(id => {
    const run = trained.find(({ training_run_id }) => training_run_id === id);
    return { id, ended: hasEnded(run?.status) };
  });
  const checkpoints = useLives<readonly Checkpoint[]>(
    opened.map(({ id, ended }) => checkpointTimesQuery(id, ended)),
    'visible',
  );
  const heldOut = useLives<readonly HeldOutReward[]>(
    opened.map(({ id, ended }) => heldOutRewardsQuery(id, ended)),
    'visible',
  );
  const parts = new Map<string, KnownTraining>();
  for (const [index, { id }] of opened.entries()) {
    const read = checkpoints[index]?.data;
    if (read) parts.set(id, { checkpoints: read, heldOut: heldOut[index]?.data ?? [] });
  }
  const lives = [...runs, ...training, ...checkpoints, ...heldOut];
  const isPartial = [...runs, ...training].some(({ data }) => data && !isWhole(data));
  const isBaseline = (run: EvalRun): boolean => baselineOf(workbench.remembered, run.bench_id) === run.eval_run_id;
  return {
    rows: treeRows({
      ...{ benchmarks, training: trained, parts, isBaseline, deployments: deployments.rows },
      runs: runs.flatMap(({ data }) => data?.rows ?? []),
    }),
    parts: lives,
    loaded: listed.loaded,
    notes: [
      ...(isPartial ? ['Only the newest runs of each benchmark are here: its list has the others'] : []),
      ...(listed.complete || !listed.loaded ? [] : [`Only ${listed.rows.length} benchmarks are here`]),
    ],
    error: listed.error ?? lives.find(({ error }) => error)?.error,
  };
}

/** The record for the actions of a row. */
const recordOf = ({ kind, run, record }: TreeRow): object =>
  kind === 'checkpoint' ? { ...run, checkpoint: record } : record;

export function TreeView({ place }: ViewProps<'tree'>) {
  const theme = useTheme();
  const actionsOf = useActionsByKind();
  const [before, remember] = useMemory<ReadonlySet<string>>('open');
  const [toggled, setToggled] = useState<ReadonlySet<string>>(
    () =>
      before ??
      new Set([
        ...(place.benchmark === undefined ? [] : [treeKey('benchmark', place.benchmark)]),
        ...(place.training === undefined ? [] : [treeKey('training', place.training)]),
      ]),
  );
  const isOpen = (key: string): boolean => toggled.has(key) === isClosedAtFirst(key);
  const open = useMemo(() => new Set([...toggled].filter(isClosedAtFirst)), [toggled]);
  const lineage = useLineage(open);
  const toggle = (key: string): void => {
    const next = new Set(toggled);
    if (!next.delete(key)) next.add(key);
    setToggled(next);
    remember(next);
  };
  const mark = ({ hasParts, key }: TreeRow): string => {
    if (!hasParts) return '  ';
    return `${isOpen(key) ? theme.glyphs.unfolded : theme.glyphs.folded} `;
  };
  return (
    <ResourceList<TreeRow>
      name="tree"
      source={source}
      parts={lineage.parts}
      rows={lineage.rows}
      grouped={unfolded(lineage.rows, isOpen)}
      columns={treeColumns(mark)}
      startAt={place.at}
      emptyWords={lineage.loaded ? 'No benchmarks yet' : ''}
      headerError={lineage.error}
      notes={lineage.error ? [...lineage.notes, lineage.error.message] : lineage.notes}
      open={row => placeOfReference(referenceOf(row), row.run?.display_name ?? row.name)}
      facts={row => {
        if (row.kind === 'checkpoint') return checkpointRowFacts(row);
        return resourceAt({ view: 'list', resource: treeKinds[row.kind].resource }).facts(row.record);
      }}
      label={({ name }) => name}
      serviceId={({ id }) => id}
      pin={({ kind, id, name }) => (kind === 'checkpoint' ? undefined : { kind, id, label: name })}
      actions={(targets, _list, { current, dispatch, isGrouped }) => [
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

  function referenceOf({ kind, id, run }: TreeRow) {
    const resource = treeKinds[kind].resource;
    return { resource, id, ...(run && { within: run.training_run_id }) };
  }
}
