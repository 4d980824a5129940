/** The actions on rows of several resources. */
import type { ActionTable } from '../../../resources/action.ts';
import { resourceAt } from '../../../resources/catalogue.ts';
import type { Resource } from '../../../resources/define.ts';
import { type CheckpointSource, checkpointActions, training } from '../../../resources/training.ts';
import type { Binding } from '../../keys/router.tsx';
import { useActions } from './use-actions.tsx';

/** Only the lists offer deletion, because they show more about what would be lost. */
const withoutDeletion = ({ actions = {} }: Resource): ActionTable<object> =>
  Object.fromEntries(Object.entries(actions).filter(([, action]) => !action.destructive));

function useActionsOf(name: string): (rows: readonly object[]) => readonly Binding[] {
  const resource = resourceAt({ view: 'list', resource: name });
  return useActions(resource, { actions: withoutDeletion(resource) });
}

export interface RowOfKind {
  readonly kind: string;
  /** Undefined if it has not been read. For a checkpoint, its training run with the checkpoint. */
  readonly record: object | undefined;
}

export function useActionsByKind(): (rows: readonly RowOfKind[]) => readonly Binding[] {
  const ofCheckpoint = useActions<CheckpointSource>(training, { actions: checkpointActions });
  const byKind = new Map<string, (rows: readonly object[]) => readonly Binding[]>([
    ['training', useActionsOf('training')],
    ['run', useActionsOf('runs')],
    ['deployment', useActionsOf('deployments')],
    ['benchmark', useActionsOf('benchmarks')],
    ['checkpoint', rows => ofCheckpoint(rows as readonly CheckpointSource[])],
  ]);
  return rows => {
    const [first] = rows;
    const bindingsOf = byKind.get(first?.kind ?? '');
    if (!first || !bindingsOf) return [];
    const records = rows.flatMap(({ record }) => record ?? []);
    const bindings = bindingsOf(records);
    const why = rows.some(({ kind }) => kind !== first.kind)
      ? 'The marked lines are of different kinds'
      : records.length < rows.length
        ? 'Its record has not been read yet'
        : undefined;
    return why === undefined ? bindings : bindings.map(({ command }) => ({ command, why, run: () => {} }));
  };
}
