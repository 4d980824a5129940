/** Actions on rows that belong to several resources. */
import type { ActionTable } from '../../../resources/action.ts';
import { resourceOfKind } from '../../../resources/catalogue.ts';
import type { Resource } from '../../../resources/define.ts';
import { checkpointActions, training } from '../../../resources/training.ts';
import type { Binding } from '../../keys/router.tsx';
import { type ActedRows, useActionsOfAll } from './use-actions.tsx';

/** Only the lists offer deletion, because they show more about the rows that would be lost. */
const withoutDeletion = ({ actions = {} }: Resource): ActionTable<object> =>
  Object.fromEntries(Object.entries(actions).filter(([, action]) => !action.destructive));

/** Undefined for a kind without actions, such as an upload. */
function actedKind(kind: string): Pick<ActedRows, 'resource' | 'actions'> | undefined {
  if (kind === 'checkpoint') return { resource: training, actions: checkpointActions } as unknown as ActedRows;
  const resource = resourceOfKind(kind);
  return resource && { resource, actions: withoutDeletion(resource) };
}

interface RowOfKind {
  readonly kind: string;
  /** Undefined if it has not been read. For a checkpoint, its training run with the checkpoint. */
  readonly record: object | undefined;
}

export function useActionsByKind(): (rows: readonly RowOfKind[]) => readonly Binding[] {
  const bindingsOf = useActionsOfAll();
  return rows => {
    const parts = [...Map.groupBy(rows, ({ kind }) => kind)].map(([kind, those]) => {
      const acted = actedKind(kind);
      return acted && { ...acted, rows: those.flatMap(({ record }) => record ?? []) };
    });
    if (parts.length === 0 || parts.includes(undefined)) return [];
    const bindings = bindingsOf(parts.filter(part => part !== undefined));
    const unread = rows.filter(({ record }) => record === undefined).length;
    const why =
      rows.length === 1 ? 'Its record has not been read yet' : `${unread} of the ${rows.length} have not been read yet`;
    return unread === 0 ? bindings : bindings.map(({ command }) => ({ command, why, run: () => {} }));
  };
}
