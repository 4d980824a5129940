/** The deployments named in windows about production, with their origins. */
import { useMemo, useState } from 'react';
import type { Deployment } from '../../../contract/deployments.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { surelyInProduction } from '../../../resources/deployments.ts';
import { traceDeployments } from '../../../resources/origins.ts';
import { type Entry, type ReplacementText, recheckReplaced, replacement } from '../../../resources/production.ts';
import type { CheckInput } from '../../data/use-action.ts';
import { useList } from '../../data/use-list.ts';
import { useOrigins } from '../../data/use-origins.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** The listed deployments. Searches for the origins of those in production. @param also another one to search for */
export function useListedDeployments(also?: Deployment) {
  const { remembered } = useWorkbench();
  const listed = useList(deploymentList, 'visible');
  const named = useMemo(
    () => [...(also ? [also] : []), ...listed.rows.filter(row => surelyInProduction(row) === true)],
    [also, listed.rows],
  );
  const { searchedAt } = useOrigins(named, 'visible');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the search adds to what is remembered
  const rows = useMemo(() => traceDeployments(listed.rows, remembered), [listed.rows, remembered, searchedAt]);
  return { ...listed, rows };
}

/** What leaves production, as listed; or as read again after a confirmation, until the list or the entry changes. */
export function useReplaced({ rows, complete }: Pick<ReturnType<typeof useListedDeployments>, 'rows' | 'complete'>) {
  const [found, setFound] = useState<{ readonly instead: string; readonly now: ReplacementText }>();
  const shown = (entry: Entry) => {
    const known = replacement(entry, rows, complete);
    // Without origins, which may be read later, except the entry's own.
    const instead = `${known.plain} ${entry.from_run?.bench_id}`;
    return { instead, replaced: found?.instead === instead ? found.now : known };
  };
  const check: CheckInput<Entry> = async (entry, context) => {
    const { instead, replaced } = shown(entry);
    const { now, objection } = await recheckReplaced(entry, replaced, context);
    if (objection !== undefined) setFound({ instead, now });
    return objection;
  };
  return { wordsOf: (entry: Entry): string => shown(entry).replaced.words, check };
}
