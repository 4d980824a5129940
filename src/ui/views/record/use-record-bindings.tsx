/**
 * Bindings for any record: copy its id or JSON, pin it, open it in a pager or an editor, export it, step to its
 * neighbour, refresh it, choose an action.
 */

import { useLayoutEffect } from 'react';
import { errorMessage } from '../../../base/errors.ts';
import type { Place } from '../../../resources/place.ts';
import { treePlaceOf } from '../../../resources/tree-place.ts';
import type { ResourceRef } from '../../../store/store.ts';
import { jsonFileParts } from '../../../text/export.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { usePin, useWorkbench } from '../../data/workbench.tsx';
import { listCommands, recordCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import { type Binding, useRouter } from '../../keys/router.tsx';
import { useSiblings } from '../../navigation/memory.tsx';
import type { ExportOptions } from './export-window.tsx';
import { openInEditor, openInPager } from './open-external.ts';

const ActionMenu = lazyWindow(async () => (await import('../../windows/choice-window.tsx')).ActionMenu);
const ExportWindow = lazyWindow(async () => (await import('./export-window.tsx')).ExportWindow);

interface RecordOptions extends ExportOptions {
  /** The marked rows' ids, if there are several. */
  readonly marked?: readonly string[] | undefined;
  /** Names the records that the actions are on. */
  readonly subjects: readonly string[];
  readonly refresh: () => void;
  readonly actions: readonly Binding[];
  /** Other bindings of the view, which the menu of actions offers first. */
  readonly offered?: readonly Binding[] | undefined;
  /** The parent record, if `record` is a part of one. */
  readonly whole?: unknown;
  /** The resource to pin to Watch; undefined if this kind cannot be watched. */
  readonly pin?: ResourceRef | undefined;
  /** The resources to pin instead if rows are marked. */
  readonly markedPins?: readonly ResourceRef[] | undefined;
  /** The id whose neighbours to find, if it differs from the id of `record`. */
  readonly siblingId?: string | undefined;
}

/**
 * The keys that step to the neighbours in the list that the record was opened from.
 * @param shownAs how a neighbour is shown, if not as its record
 */
export function useSiblingBindings(
  resource: string | undefined,
  id: string | undefined,
  shownAs: (place: Place) => Place = place => place,
): readonly Binding[] {
  const { navigate, toast } = useShell();
  const { keyOf } = useRouter();
  const siblings = useSiblings();
  // A layout effect: rows that arrive later must not take the user back from where the last key led.
  useLayoutEffect(() => {
    if (resource === undefined || id === undefined) return undefined;
    siblings.arrive(resource, id);
    return () => siblings.leave(resource, id);
  }, [siblings, resource, id]);
  if (resource === undefined || id === undefined) return [];
  const go =
    (direction: -1 | 1) =>
    async ({ count = 1 }: KeyPress): Promise<void> => {
      const left = await siblings.walk(resource, id, direction * count, place => {
        const shown = shownAs(place);
        navigate({ kind: 'replace', place: shown, ...(shown !== place && { above: place }) });
      });
      if (left === 0) return;
      const last = siblings.isPartial(resource)
        ? `This is the last one read so far: ${keyOf(listCommands.bottom)} in the list reads the rest`
        : 'This is the last one';
      toast({ kind: 'info', text: left > 0 ? last : 'This is the first one' });
    };
  return [
    { command: recordCommands.previous, run: go(-1) },
    { command: recordCommands.next, run: go(1) },
  ];
}

export function useRecordBindings(options: RecordOptions): readonly Binding[] {
  const { record, marked = [], subjects, refresh, actions, pin, document, exportable } = options;
  const { markedPins: pins = pin ? [pin] : [] } = options;
  const { toast, showOverlay, navigate } = useShell();
  const { statuses, file } = useWorkbench();
  const belongsTo = pin && { ...pin, record: options.whole };
  const tree = record && treePlaceOf(record.json, belongsTo, ref => statuses.get(ref)?.parent);
  const { usable } = useRouter();
  const togglePin = usePin(pins);
  const copy = useCopy();
  const outside = useExternal(options);
  const stepping = useSiblingBindings(options.siblings, options.siblingId ?? record?.id);
  const enabled = record !== undefined;
  const yank = (): void => {
    if (marked.length > 1) copy(marked.join('\n'), `${marked.length} ids`);
    else if (record) copy(record.id, record.id);
  };
  const offered = [...(options.offered ?? []), ...actions].filter(usable);
  const showActions = (): void =>
    showOverlay('actions', close => <ActionMenu subjects={subjects} bindings={offered} onClose={close} />);
  const showExport = (): void => showOverlay('export', close => <ExportWindow {...options} onClose={close} />);
  const readable = enabled || document !== undefined;
  return [
    ...actions,
    { command: recordCommands.actions, run: showActions, enabled: enabled && offered.length > 0 },
    { command: recordCommands.yank, run: yank, enabled },
    {
      command: recordCommands.yankJson,
      run: () => record && copy(JSON.stringify(record.json, undefined, 2), 'JSON'),
      enabled,
    },
    {
      command: recordCommands.pin,
      enabled: enabled && pins.length > 0,
      why: file === undefined ? undefined : 'A file has no Watch: nothing in it runs',
      run: () => toast({ kind: 'info', text: togglePin() }),
    },
    { command: recordCommands.pager, run: () => outside('pager', openInPager), enabled: readable },
    { command: recordCommands.editor, run: () => outside('editor', openInEditor), enabled: readable },
    {
      command: recordCommands.tree,
      enabled: enabled && tree !== undefined,
      run: () => tree && navigate({ kind: 'open', place: tree }),
    },
    { command: recordCommands.export, run: showExport, enabled: enabled || exportable !== undefined },
    ...stepping,
    { command: recordCommands.refresh, run: refresh },
  ];
}

/** Returns a function that opens the record in another program, and reports a failure. */
function useExternal({ record, document }: RecordOptions) {
  const { toast, terminal } = useShell();
  return (program: string, open: typeof openInPager): void => {
    const name = `${record?.id ?? 'record'}.json`;
    const shown = document?.() ?? { name, parts: jsonFileParts(record?.json) };
    open(shown, terminal).catch((error: unknown) =>
      toast({ kind: 'warning', text: `The ${program} could not be opened: ${errorMessage(error)}` }),
    );
  };
}
