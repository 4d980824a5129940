/** Looks for a name that this machine has not seen in the service's lists of benchmarks and training runs. */
import { useEffect, useState } from 'react';
import { asError } from '../../base/errors.ts';
import { listQuery } from '../../queries/lists/list-query.ts';
import { cachedQuery, fetchOnce } from '../../queries/live-query.ts';
import { idOf, labelOf, pluralName, type Resource, singularName } from '../../resources/define.ts';
import { benchmarks, training } from '../../resources/index.ts';
import { isWhole } from '../../store/lists.ts';
import { counted } from '../../text/numbers.ts';
import { clean } from '../../text/sanitise.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useListed } from '../data/use-list.ts';
import { useSettled } from '../data/use-settled.ts';
import { useWorkbench } from '../data/workbench.tsx';
import type { KnownRecord } from '../navigation/palette-records.ts';

/** A shorter text is the beginning of a command. */
const shortestName = 3;
/**
 * A list is read up to this many pages, however often the palette is opened. Of a list whose pages take many requests,
 * only the first is read.
 */
const maxPages = 5;
/** Maximum number of names of a kind to offer. */
const maxFound = 50;

const [ofBenchmarks, ofTraining] = [benchmarks, training].map(each => {
  const resource = each as unknown as Resource;
  return { resource, source: resource.list({}) };
}) as [Searched, Searched];

interface Searched {
  readonly resource: Resource;
  readonly source: ReturnType<Resource['list']>;
}

/** Reads the names in a list, unless it has been read. @throws any error from the first page */
async function readNames({ source }: Searched, workbench: Workbench): Promise<void> {
  const { dataUpdatedAt = 0 } = cachedQuery(workbench, source.key)?.state ?? {};
  if (dataUpdatedAt < workbench.openedAt) await fetchOnce(workbench, listQuery(workbench, source));
  if (source.costly) return;
  const reader = workbench.lists.of(source);
  for (let before = 0; reader.pageCount > before && reader.pageCount < maxPages && !isWhole(reader.data); ) {
    before = reader.pageCount;
    await reader.readOn();
  }
}

/** Whether a request would be sent at once. */
function isOnline({ connection, gate, paused }: Workbench): boolean {
  const state = gate.state();
  const isOpen = state.kind === 'open' && state.failing !== true;
  return connection.state.kind === 'connected' && isOpen && !paused;
}

/** The names in both lists, as far as they have been read. */
export function useListedNames() {
  const [listedBenchmarks, listedTraining] = [useListed(ofBenchmarks.source), useListed(ofTraining.source)];
  const lists = [
    { ...ofBenchmarks, data: listedBenchmarks },
    { ...ofTraining, data: listedTraining },
  ] as const;
  return {
    /** Those that contain this text. */
    containing: (text: string): readonly KnownRecord[] => {
      const wanted = text.toLowerCase();
      return lists.flatMap(({ resource, data }) =>
        (data?.rows ?? [])
          .filter(row => labelOf(resource, row).toLowerCase().includes(wanted))
          .slice(0, maxFound)
          .map(row => ({ kind: resource.kind ?? '', id: idOf(resource, row), label: labelOf(resource, row) })),
      );
    },
    /** `7 benchmarks and 120 training runs read so far` */
    words: `${lists
      .map(({ resource, data }) => counted(data?.rows.length ?? 0, singularName(resource), pluralName(resource)))
      .join(' and ')}${lists.every(({ data }) => isWhole(data)) ? '' : ' read so far'}`,
  };
}

/**
 * Reads the lists once the user rests on a text that neither a command nor a known name contains.
 *
 * @param isKnown whether one of them contains it
 * @returns what is being done, in words; empty if nothing
 */
export function useNameSearch(text: string, isKnown: boolean, listed: string): string {
  const workbench = useWorkbench();
  const [state, setState] = useState<'searching' | 'searched' | Error>();
  const mayBeSearched = text.length >= shortestName && !isKnown && workbench.file === undefined;
  const isWanted = useSettled(text) === text && mayBeSearched;
  const canAsk = isWanted && state === undefined && isOnline(workbench);
  useEffect(() => {
    if (!canAsk) return;
    setState('searching');
    Promise.all([ofBenchmarks, ofTraining].map(each => readNames(each, workbench))).then(
      () => setState('searched'),
      (error: unknown) => setState(asError(error)),
    );
  }, [canAsk, workbench]);
  if (!isWanted) return '';
  if (state === 'searching') return 'Searching the names of benchmarks and training runs…';
  if (state === 'searched') return `No match in ${listed}`;
  if (state) return clean`The names could not be read: ${state.message}`;
  return canAsk ? '' : 'Not searched: the service cannot be asked now';
}
