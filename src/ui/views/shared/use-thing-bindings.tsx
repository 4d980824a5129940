/**
 * What can be done with any thing: copy its id or its JSON, pin it, read it in a pager or an editor, export it, go to its
 * neighbour, ask for it anew, choose among its actions.
 */

import type { PinnedThing } from '../../../queries/remembered/store.ts';
import { usePin } from '../../../queries/use-pin.ts';
import { errorMessage } from '../../../text/errors.ts';
import { type ExportFormat, exportFileName, exportFormats } from '../../../text/export.ts';
import { safeJson } from '../../../text/sanitise.ts';
import { lateWindow } from '../../app/late.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { thingCommands } from '../../keys/general.ts';
import { type Binding, useRouter } from '../../keys/router.tsx';
import { useSiblings } from '../../navigation/memory.tsx';
import { type Document, type Exportable, exportToFile, type Reader, readOutside, saveFile } from './outlets.ts';

const ActionMenu = lateWindow(async () => (await import('./windows.tsx')).ActionMenu);
const ExportWindow = lateWindow(async () => (await import('./windows.tsx')).ChoiceWindow<() => Promise<string>>);

export interface ThingOptions {
  /** The id, and the thing itself; undefined while there is none. */
  readonly thing: { readonly id: string; readonly json: unknown } | undefined;
  /** Ids of what is marked, where that is more than one. */
  readonly marked?: readonly string[] | undefined;
  readonly title: string;
  readonly refresh: () => void;
  readonly actions: readonly Binding[];
  /** As what it is pinned to Watch; what is not watched has none. */
  readonly pin?: PinnedThing | undefined;
  /** The thing to be read by people, where that is not its JSON. */
  readonly document?: (() => Document) | undefined;
  /** Rows to export; the thing itself, where it is missing. */
  readonly exportable?: (() => Promise<Exportable<never>>) | undefined;
  /** The view that shows it and its neighbours in the list that it was opened from. */
  readonly siblings?: string | undefined;
  /** Whose neighbours those are, where that is not `thing`. */
  readonly siblingId?: string | undefined;
}

const formatWords: Readonly<Record<ExportFormat, string>> = {
  json: 'JSON',
  jsonl: 'JSON Lines, a row a line',
  csv: 'CSV, as the table shows it',
  markdown: 'Markdown table',
};

export function useThingBindings(options: ThingOptions): readonly Binding[] {
  const {
    thing,
    marked = [],
    title,
    refresh,
    actions,
    pin,
    document,
    exportable,
    siblings: siblingView,
    siblingId = thing?.id,
  } = options;
  const shell = useShell();
  const { toast, terminal, showOverlay } = shell;
  const pinned = usePin(pin);
  const copy = useCopy();
  const asDocument = (): Document =>
    document?.() ?? { name: `${thing?.id ?? 'thing'}.json`, text: `${safeJson(thing?.json, 2)}\n` };
  const read = (reader: Reader) => async (): Promise<void> => {
    const warn = (reason: string): void =>
      toast({ kind: 'warning', text: `The ${reader} could not be used: ${reason}` });
    try {
      const fault = await readOutside(asDocument(), reader, terminal);
      if (fault) warn(fault);
    } catch (error) {
      warn(errorMessage(error));
    }
  };
  const saving = async (save: () => Promise<string>): Promise<void> => {
    try {
      toast({ kind: 'success', text: `Saved ${await save()}` });
    } catch (error) {
      const reason = errorMessage(error);
      toast({ kind: 'danger', text: `Nothing was saved: ${reason}` });
    }
  };
  const choices = [
    ...(exportable
      ? exportFormats.map(format => ({
          key: format,
          label: formatWords[format],
          value: async () => exportToFile(await exportable(), format),
        }))
      : [
          ...(document ? [{ key: 'text', label: 'Text, as it is read', value: async () => saveFile(document()) }] : []),
          {
            key: 'json',
            label: 'JSON',
            value: async () =>
              saveFile({
                name: exportFileName(siblingView ?? 'thing', thing?.id ?? '', 'json', new Date()),
                text: `${safeJson(thing?.json, 2)}\n`,
              }),
          },
        ]),
  ];
  const siblings = useSiblings();
  const goToSibling = (direction: -1 | 1) => () => {
    const next =
      siblingView !== undefined && siblingId !== undefined
        ? siblings.next(siblingView, siblingId, direction)
        : undefined;
    if (next === undefined) {
      const partial = siblingView !== undefined && siblings.isPartial(siblingView);
      const last = partial
        ? 'This is the last one of those read: G in the list reads the rest'
        : 'This is the last one';
      toast({ kind: 'info', text: direction === 1 ? last : 'This is the first one' });
      return;
    }
    shell.navigate({ kind: 'replace', location: next });
  };
  const enabled = thing !== undefined;
  const yank = (): void => {
    if (marked.length > 1) copy(marked.join('\n'), `${marked.length} ids`);
    else if (thing) copy(thing.id, thing.id);
  };
  const usable = actions.filter(useRouter().usable);
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
    { command: thingCommands.yank, run: yank, enabled },
    {
      command: thingCommands.yankJson,
      run: () => thing && copy(JSON.stringify(thing.json, undefined, 2), 'JSON'),
      enabled,
    },
    {
      command: thingCommands.pin,
      enabled: enabled && pin !== undefined,
      run: () => toast({ kind: 'info', text: pinned.toggle() ? 'Pinned to Watch' : 'No longer pinned' }),
    },
    { command: thingCommands.pager, run: () => void read('pager')(), enabled: enabled || document !== undefined },
    { command: thingCommands.editor, run: () => void read('editor')(), enabled: enabled || document !== undefined },
    {
      command: thingCommands.export,
      enabled: enabled || exportable !== undefined,
      run: () =>
        showOverlay({
          id: 'export',
          render: close => (
            <ExportWindow
              title="Export as"
              choices={choices}
              emptyWords="There is nothing to export."
              onChoose={save => void saving(save)}
              onClose={close}
            />
          ),
        }),
    },
    ...(siblingView !== undefined
      ? [
          { command: thingCommands.previous, run: goToSibling(-1) },
          { command: thingCommands.next, run: goToSibling(1) },
        ]
      : []),
    { command: thingCommands.refresh, run: refresh },
  ];
}
