/** What can be done with any thing: copy its id or its JSON, ask for it anew, choose among its actions. */
import { copySequence } from '../../../text/clipboard.ts';
import { useShell } from '../../app/shell-context.tsx';
import { thingCommands } from '../../keys/general.ts';
import type { Binding } from '../../keys/router.tsx';
import { ActionMenu } from './windows.tsx';

export interface ThingOptions {
  /** The id, and the thing itself; undefined while there is none. */
  readonly thing: { readonly id: string; readonly json: unknown } | undefined;
  readonly title: string;
  readonly refresh: () => void;
  readonly actions: readonly Binding[];
}

export function useThingBindings({ thing, title, refresh, actions }: ThingOptions): readonly Binding[] {
  const { toast, terminal, showOverlay } = useShell();
  const copy = (text: string, what: string): void => {
    const copied = copySequence(text, process.env);
    if (copied.ok) terminal.writeRaw(copied.sequence);
    toast(copied.ok ? { kind: 'info', text: `Copied ${what}` } : { kind: 'warning', text: copied.message });
  };
  const enabled = thing !== undefined;
  const usable = actions.filter(action => action.enabled ?? true);
  return [
    ...actions,
    {
      command: thingCommands.actions,
      run: () =>
        showOverlay({
          id: 'actions',
          render: close => <ActionMenu title={title} bindings={usable} onClose={close} />,
        }),
      enabled: enabled && usable.length > 0,
    },
    { command: thingCommands.yank, run: () => thing && copy(thing.id, thing.id), enabled },
    {
      command: thingCommands.yankJson,
      run: () => thing && copy(JSON.stringify(thing.json, undefined, 2), 'as JSON'),
      enabled,
    },
    { command: thingCommands.refresh, run: refresh },
  ];
}
