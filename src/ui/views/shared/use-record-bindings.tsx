/**
 * Bindings for any record: copy its id or JSON, pin it, open it in a pager or an editor, export it, step to its
 * neighbour, refresh it, choose an action.
 */

import type { Background } from '../../../queries/lists/rest.ts';
import type { ResourceRef } from '../../../queries/remembered/store.ts';
import { usePin } from '../../../queries/use-workbench.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { errorMessage } from '../../../text/errors.ts';
import { type ExportFormat, exportFileName, exportFormats } from '../../../text/export.ts';
import { safeJson } from '../../../text/sanitise.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { listCommands, recordCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import { type Binding, useRouter } from '../../keys/router.tsx';
import { useSiblings } from '../../navigation/memory.tsx';
import {
  type Document,
  type Exportable,
  type ExportTitle,
  exportToFile,
  openInEditor,
  openInPager,
  saveFile,
} from './open-external.ts';

const ActionMenu = lazyWindow(async () => (await import('./windows.tsx')).ActionMenu);
const ExportWindow = lazyWindow(async () => (await import('./export-window.tsx')).ExportWindow);

export interface RecordOptions {
  /** The id and the record; undefined while there is none. */
  readonly record: { readonly id: string; readonly json: unknown } | undefined;
  /** Ids of the marked rows, if there are several. */
  readonly marked?: readonly string[] | undefined;
  readonly title: string;
  readonly refresh: () => void;
  readonly actions: readonly Binding[];
  /** The reference for pinning it to Watch; undefined if its kind is not watched. */
  readonly pin?: ResourceRef | undefined;
  /** The record for reading, if that is not its JSON. */
  readonly document?: (() => Document) | undefined;
  /** Rows to export, and how they are read to the last one; the record itself, if it is missing. */
  readonly exportable?: ExportableRows | undefined;
  /** Its resource, to step to neighbours in the list it was opened from. */
  readonly siblings?: string | undefined;
  /** The id whose neighbours are meant, if not that of `record`. */
  readonly siblingId?: string | undefined;
}

export interface ExportableRows extends ExportTitle {
  /** @throws Error saying why they are not all */
  readonly read: (background: Background) => Promise<Exportable<never>>;
}

const formatWords: Readonly<Record<ExportFormat, string>> = {
  json: 'JSON',
  jsonl: 'JSON Lines, a row a line',
  csv: 'CSV, as the table shows it',
  markdown: 'Markdown table',
};

const noStep = { place: undefined, steps: 0 } as const;

/** The forms in which the record, or the rows, can be saved. */
function useFileFormats({ record, document, exportable, siblings }: RecordOptions) {
  const { toast } = useShell();
  const { exports } = useWorkbench();
  const saving = async (save: () => Promise<string>): Promise<void> => {
    try {
      toast({ kind: 'success', text: `Saved ${await save()}`, news: true });
    } catch (error) {
      const reason = errorMessage(error);
      toast({ kind: 'danger', text: `Nothing was saved: ${reason}`, news: true });
    }
  };
  const saveAs = (key: string, label: string, save: () => Promise<string>) => ({
    key,
    label,
    value: () => void saving(save),
  });
  if (exportable) {
    return exportFormats.map(format =>
      saveAs(format, formatWords[format], () =>
        exports.run(exportable.kind, async background =>
          exportToFile(await exportable.read(background), format, background.signal),
        ),
      ),
    );
  }
  return [
    ...(document ? [saveAs('text', 'Plain text', () => saveFile(document()))] : []),
    saveAs('json', 'JSON', () =>
      saveFile({
        name: exportFileName(siblings ?? 'record', record?.id ?? '', 'json', new Date()),
        text: `${safeJson(record?.json, 2)}\n`,
      }),
    ),
  ];
}

/** The keys that step to the neighbours in the list that the record was opened from. */
function useSiblingBindings(resource: string | undefined, id: string | undefined): readonly Binding[] {
  const { navigate, toast } = useShell();
  const { keyOf } = useRouter();
  const siblings = useSiblings();
  if (resource === undefined) return [];
  const go =
    (direction: -1 | 1) =>
    ({ count = 1 }: KeyPress): void => {
      const { place, steps } = id === undefined ? noStep : siblings.step(resource, id, direction * count);
      if (place) navigate({ kind: 'replace', place });
      if (steps < count) {
        const last = siblings.isPartial(resource)
          ? `This is the last one of those read: ${keyOf(listCommands.bottom)} in the list reads the rest`
          : 'This is the last one';
        toast({ kind: 'info', text: direction === 1 ? last : 'This is the first one' });
      }
    };
  return [
    { command: recordCommands.previous, run: go(-1) },
    { command: recordCommands.next, run: go(1) },
  ];
}

export function useRecordBindings(options: RecordOptions): readonly Binding[] {
  const { record, marked = [], title, refresh, actions, pin, document, exportable } = options;
  const { toast, terminal, showOverlay } = useShell();
  const router = useRouter();
  const togglePin = usePin(pin);
  const copy = useCopy();
  const asDocument = (): Document =>
    document?.() ?? { name: `${record?.id ?? 'record'}.json`, text: `${safeJson(record?.json, 2)}\n` };
  const outside = async (program: string, open: typeof openInPager): Promise<void> => {
    try {
      await open(asDocument(), terminal);
    } catch (error) {
      toast({ kind: 'warning', text: `The ${program} could not be used: ${errorMessage(error)}` });
    }
  };
  const formats = useFileFormats(options);
  const stepping = useSiblingBindings(options.siblings, options.siblingId ?? record?.id);
  const enabled = record !== undefined;
  const yank = (): void => {
    if (marked.length > 1) copy(marked.join('\n'), `${marked.length} ids`);
    else if (record) copy(record.id, record.id);
  };
  const usable = actions.filter(router.usable);
  return [
    ...actions,
    {
      command: recordCommands.actions,
      run: () =>
        showOverlay({
          id: 'actions',
          render: close => <ActionMenu title={title} bindings={usable} onClose={close} />,
        }),
      enabled: enabled && usable.length > 0,
    },
    { command: recordCommands.yank, run: yank, enabled },
    {
      command: recordCommands.yankJson,
      run: () => record && copy(JSON.stringify(record.json, undefined, 2), 'JSON'),
      enabled,
    },
    {
      command: recordCommands.pin,
      enabled: enabled && pin !== undefined,
      run: () => toast({ kind: 'info', text: togglePin() }),
    },
    {
      command: recordCommands.pager,
      run: () => void outside('pager', openInPager),
      enabled: enabled || document !== undefined,
    },
    {
      command: recordCommands.editor,
      run: () => void outside('editor', openInEditor),
      enabled: enabled || document !== undefined,
    },
    {
      command: recordCommands.export,
      enabled: enabled || exportable !== undefined,
      run: () =>
        showOverlay({
          id: 'export',
          render: close => <ExportWindow formats={formats} onClose={close} />,
        }),
    },
    ...stepping,
    { command: recordCommands.refresh, run: refresh },
  ];
}
