/** A list of evaluation runs with data that their records lack: means, held-out splits, and the baseline. */
import { useCallback, useMemo, useReducer, useState } from 'react';
import { perInputs } from '../../../base/memo.ts';
import type { EvalRun } from '../../../contract/evaluations.ts';
import { noteFacts } from '../../../present/notes.ts';
import { evaluationKeys } from '../../../queries/evaluations.ts';
import type { RunDifference } from '../../../queries/run-difference.ts';
import type { RunResults } from '../../../queries/run-results.ts';
import {
  type BasedRun,
  baselineOf,
  type FromBaseline,
  fromBaseline,
  knownFromBaseline,
  toggleBaseline,
} from '../../../resources/baseline.ts';
import type { MeasuredRun } from '../../../resources/measured-run.ts';
import { runListColumns } from '../../../resources/run-columns.ts';
import { compareManyPlace } from '../../../resources/run-places.ts';
import { baselineCommand, runs } from '../../../resources/runs.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useBenchmarkNames } from '../../data/use-benchmark-names.ts';
import { type StatusJoin, useStatusJoin } from '../../data/use-status-join.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import type { ListedRows } from '../list/list-props.ts';
import { comparisonFiles, ownerReport } from '../record/rollout-files.ts';
import { useActions } from '../record/use-actions.tsx';
import { runId, runNoted } from '../triage/noted.ts';
import { useNoted, useTriage } from '../triage/use-triage.tsx';
import { useMeans } from './use-means.ts';

/** Returns a function that makes the binding that sets a run as the baseline. */
export function useBaselineBinding(onChange?: () => void): (rows: readonly EvalRun[]) => Binding {
  const { remembered } = useWorkbench();
  const { toast } = useShell();
  return ([run, other]) => {
    const why = run === undefined ? 'Nothing is selected' : 'Mark only one run: a benchmark has one baseline';
    if (run === undefined || other !== undefined) return { command: baselineCommand, why, run: () => {} };
    return {
      command: baselineCommand,
      run: () => {
        toast({ kind: 'success', text: toggleBaseline(remembered, run) });
        onChange?.();
      },
    };
  };
}

interface KnownDifference {
  readonly difference: RunDifference;
}

const differences: StatusJoin<MeasuredRun, KnownDifference, KnownDifference> = {
  kind: 'run',
  id: ({ eval_run_id }) => eval_run_id,
  pick: ({ difference }) => difference && { difference },
  join: (_, known) => known,
};

/** Returns a function that adds the difference from the baseline, and one to call when the baseline has changed. */
function useBaselines(): readonly [join: (rows: readonly MeasuredRun[]) => readonly BasedRun[], changed: () => void] {
  const { remembered, compare, cache } = useWorkbench();
  const [changes, changed] = useReducer((count: number) => count + 1, 0);
  const withDifferences = useStatusJoin(differences);
  const [made] = useState(() => perInputs<MeasuredRun, BasedRun>());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed baseline changes the rows
  const join = useCallback(
    (rows: readonly MeasuredRun[]): readonly BasedRun[] => {
      const byId = new Map(rows.map(row => [row.eval_run_id, row]));
      const ids = new Map<string, string | undefined>();
      const baseOf = (benchId: string): MeasuredRun | undefined => {
        if (!ids.has(benchId)) ids.set(benchId, baselineOf(remembered, benchId));
        const id = ids.get(benchId);
        if (id === undefined) return undefined;
        return byId.get(id) ?? { ...remembered.seen.find('run', id)?.record, eval_run_id: id, bench_id: benchId };
      };
      const rewardsOf = (run: MeasuredRun) => cache.getQueryData<RunResults>(evaluationKeys.results(run.eval_run_id));
      const known = withDifferences(rows);
      return rows.map((run, index) => {
        const base = run.bench_id ? baseOf(run.bench_id) : undefined;
        if (!base) return run;
        const { difference } = known[index] === run ? {} : (known[index] as KnownDifference);
        const rewards = { base: rewardsOf(base), new: rewardsOf(run) };
        const inputs = [
          base.eval_run_id,
          base.reward_mean,
          base.reward_count,
          rewards.base?.rewards,
          rewards.new?.rewards,
          difference,
        ];
        return made(run, inputs, () => {
          const kept = rewards.base && rewards.new ? undefined : knownFromBaseline(difference, { base, run }, compare);
          const from_baseline: FromBaseline =
            kept ?? fromBaseline({ run: base, rewards: rewards.base }, { run, rewards: rewards.new }, compare);
          return { ...run, from_baseline };
        });
      });
    },
    [remembered, compare, cache, withDifferences, made, changes],
  );
  return [join, changed];
}

const noRuns: readonly EvalRun[] = [];

/** The properties for a list of runs. @param isOfOne whether all are on one benchmark */
export function useRunList(isOfOne: boolean) {
  const { compare, remembered } = useWorkbench();
  const nameOf = useBenchmarkNames();
  const withMeans = useMeans();
  const [withBaselines, changed] = useBaselines();
  const actions = useActions(runs);
  const baseline = useBaselineBinding(changed);
  const triage = useTriage();
  const noted = useNoted(
    useMemo(() => runListColumns(compare.rewardRange, isOfOne, nameOf), [compare, isOfOne, nameOf]),
    runId,
    noRuns,
  );
  return {
    columns: noted.columns,
    facts: (row: EvalRun) => [...noteFacts(noted.ofRow(row)), ...runs.facts(row)],
    join: useCallback((rows: readonly EvalRun[]) => withBaselines(withMeans(rows)), [withBaselines, withMeans]),
    actions: (rows: readonly EvalRun[]) => [...actions(rows), baseline(rows), ...triage(rows.map(runNoted))],
    files: ({ marked, current }: ListedRows<EvalRun>) => {
      const [run = current] = marked;
      if (marked.length < 2) return run ? ownerReport('runs', run.eval_run_id, run) : [];
      const { runs: named, base } = compareManyPlace(marked, remembered);
      return comparisonFiles(named, base);
    },
  };
}
