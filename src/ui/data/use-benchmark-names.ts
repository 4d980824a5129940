/** Benchmark names, for columns that would otherwise show ids. */
import { useMemo } from 'react';
import { perArguments } from '../../base/memo.ts';
import { benchmarkList } from '../../queries/benchmarks.ts';
import { useListedRows } from './use-list.ts';
import { useWorkbench } from './workbench.tsx';

/**
 * Returns the same function until the list of benchmarks changes. Looks up each name once, because a list may be long.
 */
export function useBenchmarkNames(): (id: string) => string | undefined {
  const workbench = useWorkbench();
  const listed = useListedRows(benchmarkList);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list has the names
  return useMemo(
    () => perArguments((id: string) => workbench.benchmarkName(id), Number.POSITIVE_INFINITY),
    [workbench, listed],
  );
}
