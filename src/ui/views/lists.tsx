/** The lists that show more than their resource declares. */
import { useState } from 'react';
import type { EvalRun } from '../../contract/evaluations.ts';
import { benchmarkActions, benchmarks, images } from '../../resources/benchmarks.ts';
import { datasets } from '../../resources/datasets.ts';
import { runs } from '../../resources/runs.ts';
import { training } from '../../resources/training.ts';
import { trajectories, trajectoryFacts } from '../../resources/trajectories.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { useListedRows } from '../data/use-list.ts';
import { ResourceListView } from './list/list-view.tsx';
import { flaggedFiles, flaggedRollouts } from './record/rollout-files.ts';
import { useActions } from './record/use-actions.tsx';
import { useRolloutFiles } from './record/use-rollout-files.tsx';
import { RunPreview } from './runs/preview.tsx';
import { useRegradeBinding } from './runs/use-regrade-binding.tsx';
import { useRunList } from './runs/use-run-list.ts';
import { onRollouts, opensRollouts, rolloutBindings, rolloutMenu } from './tasks/rollout-bindings.ts';
import { useRolloutList } from './tasks/use-rollout-list.ts';
import { TrajectoryPreview } from './trajectories/preview.tsx';
import { useNotes } from './triage/use-triage.tsx';

const rolloutsOf = ({ eval_run_id: run, display_name }: EvalRun) => ({ scope: { run }, label: display_name ?? run });
const ofRun = opensRollouts(rolloutsOf);

export function RunsView({ place }: ViewProps<'list'>) {
  const list = useRunList(place.scope?.benchmark !== undefined);
  const regrade = useRegradeBinding();
  return (
    <ResourceListView
      resource={runs}
      place={place}
      {...list}
      actions={rows => [...list.actions(rows), regrade(runs, rows)]}
      preview={RunPreview}
      opens={ofRun}
      texts={rolloutsOf}
    />
  );
}

export function TrajectoriesView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const { scope, label } = place;
  const actions = useActions(trajectories);
  const [source] = useState(() => trajectories.list(scope ?? {}));
  const list = useRolloutList(trajectories.columns, trajectoryFacts, useListedRows(source));
  const withNotes = [...useNotes()].filter(([, [note]]) => note?.kind === 'trajectory');
  const flagged = withNotes.flatMap(([id, notes]) => (notes.some(({ flag }) => flag !== '') ? id : []));
  const filesOf = useRolloutFiles();
  const regrade = useRegradeBinding();
  const { dataset, training: of } = scope ?? {};
  const regrades = [
    ...(dataset === undefined ? [] : [regrade(datasets, [{ dataset_id: dataset, dataset_name: dataset }])]),
    ...(of === undefined ? [] : [regrade(training, [{ training_run_id: of, display_name: label }])]),
  ];
  return (
    <ResourceListView
      resource={trajectories}
      {...list}
      place={place}
      preview={TrajectoryPreview}
      keepsPreview
      files={rows => [
        ...list.files(rows),
        ...(flagged.length > 0 ? filesOf(flaggedRollouts(flagged)) : []),
        ...flaggedFiles(withNotes.length),
      ]}
      texts={{ scope: scope ?? {}, label: label ?? (scope ? Object.values(scope).join(' ') : 'all trajectories') }}
      menu={scope && { title: label ?? Object.values(scope).join(' '), commands: rolloutMenu }}
      actions={rows => {
        const all = [...actions(rows), ...list.actions(rows)];
        return scope ? onRollouts(rows, all) : all;
      }}
      bindings={({ filter }) => [
        ...rolloutBindings(scope && { scope, filter, ...(label !== undefined && { label }) }, shell.open),
        ...regrades,
      ]}
    />
  );
}

/** A benchmark's images, which can be built again. */
export function ImagesView({ place }: ViewProps<'list'>) {
  const build = useActions(benchmarks, { actions: { build: benchmarkActions.build } });
  const benchmark = { bench_id: place.scope?.benchmark ?? '', label: place.label };
  return <ResourceListView resource={images} place={place} bindings={build([benchmark])} />;
}
