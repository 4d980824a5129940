/** Positions in the tree. Separate from the tree, so that records need not load it. */
import type { ResourceRef } from '../store/store.ts';
import type { Place } from './place.ts';

export type TreeKind = 'benchmark' | 'run' | 'training' | 'checkpoint' | 'deployment';

export const treeKey = (kind: TreeKind, id: string): string => `${kind} ${id}`;

/**
 * The position of a record in the tree: by the ids that it contains, otherwise by the resource it is part of.
 *
 * @param whole the resource it is part of, or itself
 * @param parentOf the id of the benchmark of a run, if known
 */
export function treePlaceOf(
  record: unknown,
  whole: Pick<ResourceRef, 'kind' | 'id'> | undefined,
  parentOf: (of: Pick<ResourceRef, 'kind' | 'id'>) => string | undefined,
): Place<'tree'> | undefined {
  const {
    record: inner,
    run,
    checkpoint_id,
    training_run_id,
    eval_run_id,
    deployment_id,
    bench_id,
  } = record as Partial<
    Record<'checkpoint_id' | 'training_run_id' | 'eval_run_id' | 'deployment_id' | 'bench_id', string | null> & {
      readonly record: object;
      readonly run: unknown;
    }
  >;
  // A row of the tree already is in the tree.
  if (inner !== undefined && run !== undefined) return undefined;
  const training = training_run_id ?? (whole?.kind === 'training' ? whole.id : undefined);
  const benchmark = bench_id ?? parentOf({ kind: 'training', id: training ?? '' }) ?? (whole && parentOf(whole));
  const at = deployment_id
    ? treeKey('deployment', deployment_id)
    : eval_run_id
      ? treeKey('run', eval_run_id)
      : checkpoint_id
        ? treeKey('checkpoint', checkpoint_id)
        : training
          ? treeKey('training', training)
          : benchmark
            ? treeKey('benchmark', benchmark)
            : undefined;
  if (at === undefined) return undefined;
  return { view: 'tree', ...(benchmark && { benchmark }), ...(training && { training }), at };
}
