/** The actions of a resource as keys: each opens its confirmation, its window or its place. */

import type { ReactNode } from 'react';
import type { ActionTable, ChangeAction } from '../../../resources/action.ts';
import type { ResourceOf } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useLastAnswer } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import type { ConfirmChangeProps } from '../../windows/confirm-change.tsx';
import { actionWindows } from '../action-windows.ts';

const ConfirmChange = lazyWindow(async () => (await import('../../windows/confirm-change.tsx')).ConfirmChange) as <
  Row extends object,
>(
  props: ConfirmChangeProps<Row>,
) => ReactNode;

export interface ActionsOptions<Row> {
  /** These replace all actions of the resource. */
  readonly actions?: ActionTable<Row> | undefined;
  /** Called after rows were deleted, e.g. to leave their view. */
  readonly onRemoved?: (() => void) | undefined;
}

/** Returns the bindings for some rows. */
export function useActions<Row extends object>(
  resource: Pick<ResourceOf<Row>, 'actions' | 'get' | 'label' | 'list' | 'names'>,
  { actions = resource.actions ?? {}, onRemoved }: ActionsOptions<Row> = {},
): (rows: readonly Row[]) => readonly Binding[] {
  const shell = useShell();
  const known = useLastAnswer();
  const workbench = useWorkbench();
  const confirm = (action: ChangeAction<Row>, rows: readonly Row[]): void => {
    const shown = { resource, action, rows, onRemoved };
    shell.showOverlay('confirm', close => <ConfirmChange {...shown} onClose={close} />);
  };
  const go = (place: Place): void => {
    // Chat is a section of its own.
    if (place.view === 'chat') shell.navigate({ kind: 'go', trail: [place] });
    else shell.open(place);
  };
  return chosen =>
    Object.values(actions).map(action => {
      const rows = chosen.length === 0 ? 'Nothing is selected' : action.to(chosen, known);
      if (typeof rows === 'string') return { command: action, why: rows, run: () => {} };
      if (action.change) return { command: action, run: () => confirm(action, rows) };
      const run = (): void => {
        const opened = action.opens(rows, workbench.remembered);
        if (typeof opened !== 'string') {
          go(opened);
          return;
        }
        const Window = actionWindows[opened];
        shell.showOverlay(opened, close => <Window row={rows[0] as never} onClose={close} />);
      };
      return { command: action, run };
    });
}
