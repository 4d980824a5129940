/** The actions of a resource as keys: each opens its confirmation, its window or its place. */

import type { ReactNode } from 'react';
import { useLastAnswer } from '../../../queries/use-workbench.ts';
import type { ActionTable, Change } from '../../../resources/action.ts';
import { changeTitle, doneWords, outageWords } from '../../../resources/change-words.ts';
import { labelOf, type ResourceOf } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { actionWindows } from '../action-windows.ts';
import type { ConfirmProps } from './confirm.tsx';
import { namesOf } from './list-words.ts';

const Confirm = lazyWindow(async () => (await import('./confirm.tsx')).Confirm) as <Row>(
  props: ConfirmProps<Row>,
) => ReactNode;

export interface ActionsOptions<Row> {
  /** In place of all actions of the resource. */
  readonly actions?: ActionTable<Row> | undefined;
  /** Called after rows were deleted, e.g. to leave their view. */
  readonly onRemoved?: (() => void) | undefined;
}

/** Returns the bindings for some rows. */
export function useActions<Row extends object>(
  resource: Pick<ResourceOf<Row>, 'actions' | 'label' | 'list' | 'names'>,
  { actions = resource.actions ?? {}, onRemoved }: ActionsOptions<Row> = {},
): (rows: readonly Row[]) => readonly Binding[] {
  const shell = useShell();
  const known = useLastAnswer();
  const label = (row: Row): string => labelOf(resource, row);
  const confirm = (change: Change<Row>, rows: readonly Row[]): void => {
    const names = namesOf(rows.map(label));
    const slugs = change.outage?.(rows);
    const asked: Omit<ConfirmProps<Row>, 'onClose'> = {
      title: changeTitle(change, resource, rows.length),
      question: `${outageWords(slugs)}${names}: ${change.loses}`,
      typed: slugs?.join(' '),
      verb: change.verb,
      past: change.past,
      action: change.send,
      rows,
      labelOf: label,
      onDone: () => {
        shell.toast({ kind: 'success', text: doneWords(change, names) });
        if (change.send.removes) onRemoved?.();
      },
    };
    shell.showOverlay({ id: 'confirm', render: close => <Confirm {...asked} onClose={close} /> });
  };
  const go = (place: Place): void => {
    // Chat is a section of its own.
    if (place.view === 'chat') shell.navigate({ kind: 'go', trail: [place] });
    else shell.open(place);
  };
  return chosen =>
    Object.values(actions).map(action => {
      const rows = chosen.length === 0 ? 'There is nothing here to do it to' : action.to(chosen, known);
      if (typeof rows === 'string') return { command: action, why: rows, run: () => {} };
      if (action.change) return { command: action, run: () => confirm(action.change, rows) };
      const run = (): void => {
        const opened = action.opens(rows);
        if (typeof opened !== 'string') {
          go(opened);
          return;
        }
        const Window = actionWindows[opened];
        shell.showOverlay({ id: opened, render: close => <Window row={rows[0] as never} onClose={close} /> });
      };
      return { command: action, run };
    });
}
