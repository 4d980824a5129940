/** Joins a list's rows with the status store's data about their resources. */
import { useCallback, useState, useSyncExternalStore } from 'react';
import { perInputs } from '../../base/memo.ts';
import type { KnownResource } from '../../queries/statuses/known-resource.ts';
import type { StatusStore } from '../../queries/statuses/store.ts';
import { useWorkbench } from './workbench.tsx';

/** How to join the rows for one kind of resource. Must be the same object in every render. */
export interface StatusJoin<Row, Known, Joined> {
  readonly kind: string;
  readonly id: (row: Row) => string;
  /** The data to join; undefined for none. */
  readonly pick: (known: KnownResource) => Known | undefined;
  readonly join: (row: Row, known: Known) => Joined;
}

const areSame = <Known extends object>(left: Known, right: Known): boolean =>
  (Object.keys(right) as (keyof Known)[]).every(name => left[name] === right[name]);

/** Returns a function that reads the known data by id: the same map until some of it changes. */
function knownData<Known extends object>(
  statuses: StatusStore,
  { kind, pick }: Pick<StatusJoin<never, Known, never>, 'kind' | 'pick'>,
): () => ReadonlyMap<string, Known> {
  let last: ReadonlyMap<string, Known> = new Map();
  return () => {
    const next = new Map<string, Known>();
    for (const resource of statuses.all()) {
      const known = resource.kind === kind ? pick(resource) : undefined;
      if (!known) continue;
      const before = last.get(resource.id);
      next.set(resource.id, before && areSame(before, known) ? before : known);
    }
    const isSame = next.size === last.size && [...next].every(([id, known]) => last.get(id) === known);
    if (!isSame) last = next;
    return last;
  };
}

/** Returns the same function until some of the data changes. Rows without new data keep their identity. */
export function useStatusJoin<Row extends object, Known extends object, Joined extends object>(
  of: StatusJoin<Row, Known, Joined>,
): (rows: readonly Row[]) => readonly (Row | Joined)[] {
  const { statuses } = useWorkbench();
  const [read] = useState(() => knownData(statuses, of));
  const known = useSyncExternalStore(statuses.subscribe, read);
  const [joined] = useState(() => perInputs<Row, Joined>());
  return useCallback(
    rows =>
      rows.map(row => {
        const by = known.get(of.id(row));
        return by ? joined(row, [by], () => of.join(row, by)) : row;
      }),
    [known, joined, of],
  );
}
