/** Positions in the tree. A separate file, so that records need not load the tree. */
import type { ResourceRef } from '../store/store.ts';
import type { Place } from './place.ts';

export type TreeKind = 'benchmark' | 'run' | 'training' | 'checkpoint' | 'deployment';

export const treeKey = (kind: TreeKind, id: string): string => `${kind} ${id}`;

type Ids = Partial<
  Record<'checkpoint_id' | 'training_run_id' | 'eval_run_id' | 'deployment_id' | 'bench_id', string | null>
>;

/**
 * A record's position in the tree, by its ids or else by the resource that it belongs to.
 *
 * @param whole the resource that the record belongs to or is, with its record if that is known
 * @param parentOf returns the id of a run's benchmark, if known
 */
export function treePlaceOf(
  record: unknown,
  whole: (Pick<ResourceRef, 'kind' | 'id'> & { readonly record?: unknown }) | undefined,
  parentOf: (run: Pick<ResourceRef, 'kind' | 'id'>) => string | undefined,
): Place<'tree'> | undefined {
  const {
    record: inner,
    run,
    checkpoint_id,
    training_run_id,
    eval_run_id,
    deployment_id,
    bench_id,
  } = record as Ids & { readonly record?: object; readonly run?: unknown };
  const of = (whole?.record ?? {}) as Ids;
  // It is a row of the tree itself.
  if (inner !== undefined && run !== undefined) return undefined;
  const training = training_run_id ?? of.training_run_id ?? (whole?.kind === 'training' ? whole.id : undefined);
  const benchmark = bench_id ?? parentOf({ kind: 'training', id: training ?? '' }) ?? (whole && parentOf(whole));
  const deepestFirst: readonly (readonly [TreeKind, string | null | undefined])[] = [
    ['deployment', deployment_id],
    ['run', eval_run_id],
    ['checkpoint', checkpoint_id],
    ['training', training],
    ['benchmark', benchmark],
  ];
  const [kind, id] = deepestFirst.find(([, each]) => each) ?? [];
  if (!kind || !id) return undefined;
  return { view: 'tree', ...(benchmark && { benchmark }), ...(training && { training }), at: treeKey(kind, id) };
}
