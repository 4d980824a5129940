/** A resource's actions as keys: each opens its confirmation, its window or its place. */

import { own } from '../../../base/own-property.ts';
import type { Command } from '../../../present/command.ts';
import type { ActionTable, Known, RowAction } from '../../../resources/action.ts';
import { labelOf, type Resource, type ResourceOf, singularName } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useLastAnswer } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { namesOf } from '../../windows/names.ts';
import { actionWindows } from '../action-windows.ts';

const ConfirmChange = lazyWindow(async () => (await import('../../windows/confirm-change.tsx')).ConfirmChange);

interface ActionsOptions<Row> {
  /** Replaces all of the resource's actions. */
  readonly actions?: ActionTable<Row> | undefined;
  /** Called after rows have been deleted, e.g. to leave their view. */
  readonly onRemoved?: (() => void) | undefined;
}

/** Rows of one resource, with the actions on them. */
export interface ActedRows extends Pick<ActionsOptions<never>, 'onRemoved'> {
  readonly resource: Pick<Resource, 'get' | 'label' | 'list' | 'names'>;
  readonly actions: ActionTable<object>;
  readonly rows: readonly object[];
}

/** Returns a function that makes the bindings for rows. */
export function useActions<Row extends object>(
  resource: Pick<ResourceOf<Row>, 'actions' | 'get' | 'label' | 'list' | 'names'>,
  { actions = resource.actions ?? {}, onRemoved }: ActionsOptions<Row> = {},
): (rows: readonly Row[]) => readonly Binding[] {
  const bindingsOf = useActionsOfAll();
  return rows => bindingsOf([{ resource, actions, onRemoved, rows } as unknown as ActedRows]);
}

/**
 * Returns a function that makes the bindings for rows of several resources: an action that all of these have applies to
 * all rows at once.
 */
export function useActionsOfAll(): (parts: readonly ActedRows[]) => readonly Binding[] {
  const shell = useShell();
  const known = useLastAnswer();
  const workbench = useWorkbench();
  const go = (place: Place): void => {
    // Chat is a section of its own.
    if (place.view === 'chat') shell.navigate({ kind: 'go', trail: [place] });
    else shell.open(place);
  };
  const bindingOf = (name: string, command: Command, parts: readonly ActedRows[]): Binding => {
    const targets = targetsOf(name, parts, known);
    if (typeof targets === 'string') return { command, why: targets, run: () => {} };
    const [change, ...changes] = targets.flatMap(({ action, ...part }) => (action.change ? [{ ...part, action }] : []));
    if (change) {
      const render = (close: () => void) => <ConfirmChange parts={[change, ...changes]} onClose={close} />;
      return { command, run: () => shell.showOverlay('confirm', render) };
    }
    const run = (): void => {
      const rows = targets.flatMap(target => target.rows);
      const opened = targets[0]?.action.opens?.(rows, workbench.remembered);
      if (opened === undefined) return;
      if (typeof opened !== 'string') {
        go(opened);
        return;
      }
      const Window = actionWindows[opened];
      shell.showOverlay(opened, close => <Window row={rows[0] as never} rows={rows as never} onClose={close} />);
    };
    return { command, run };
  };
  return parts => {
    const commands = new Map<string, Command>();
    for (const [name, action] of parts.flatMap(({ actions }) => Object.entries(actions)))
      if (!commands.has(name)) commands.set(name, action);
    return Array.from(commands, ([name, command]) => bindingOf(name, command, parts));
  };
}

interface ActionTarget extends ActedRows {
  readonly action: RowAction<object>;
  /** The other rows, and why the action does not apply to them; empty if there are none. */
  readonly leftOut: string;
}

/** If there are more rows, those that an action does not apply to are not named: finding them slows every render. */
const maxNamed = 200;

/** The rows that the action with this name applies to, or why it applies to none. */
function targetsOf(name: string, parts: readonly ActedRows[], known: Known): readonly ActionTarget[] | string {
  const targets: ActionTarget[] = [];
  for (const part of parts) {
    const action = own(part.actions, name);
    const labels = (rows: readonly object[]): string => namesOf(rows.map(row => labelOf(part.resource, row)));
    if (!action) return `This does not apply to ${singularName(part.resource)} ${labels(part.rows)}`;
    if (part.rows.length === 0) return 'Nothing is selected';
    const rows = action.appliesTo(part.rows, known);
    const isRefused = typeof rows === 'string';
    const whyNot = (row: object): string => {
      const why = action.appliesTo([row], known);
      return typeof why === 'string' ? why : '';
    };
    const applies = new Set(isRefused ? [] : rows);
    const others = part.rows.length > maxNamed ? [] : part.rows.filter(row => !applies.has(row));
    const reasons = Map.groupBy(others, whyNot);
    const isNamed = part.rows.length > 1 && (!isRefused || reasons.has(''));
    const named = [...reasons].filter(([why]) => isNamed && why !== '');
    const words = named.map(([why, those]) => `${labels(those)}: ${why}`).join('; ');
    if (isRefused) return words || rows;
    targets.push({ ...part, action, rows, leftOut: words });
  }
  const ways = new Set(targets.map(({ action }) => action.change?.verb ?? action.opens));
  if (ways.size > 1) return 'The marked lines are of different kinds: this works on one kind at a time';
  const [first, ...others] = targets;
  if (others.length === 0 || !first?.action.opens) return targets;
  // One window opens for all of them, so a limit on their number covers all.
  const together = first.action.appliesTo(
    targets.flatMap(({ rows }) => rows),
    known,
  );
  return typeof together === 'string' ? together : targets;
}
