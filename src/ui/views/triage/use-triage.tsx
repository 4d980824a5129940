/** Flags and notes on the rows of a list, or on the open record. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Column } from '../../../present/column.ts';
import { flagCountWords, noteColumns } from '../../../present/notes.ts';
import type { Note } from '../../../store/notes.ts';
import { counted } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import type { Noted } from '../../../workbench/notes.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { PlainFormWindow } from '../../windows/form-window.tsx';
import { triageCommands } from '../commands.ts';

/** The notes that are not empty, by the id of the resource. */
export function useNotes(): ReadonlyMap<string, readonly Note[]> {
  const { notes } = useWorkbench();
  return useSyncExternalStore(notes.subscribe, notes.byId);
}

interface NoteWindowProps {
  readonly of: readonly Noted[];
  /** The number and role of the message on screen; 0 for none. */
  readonly message?: number;
  readonly onClose: () => void;
}

function NoteWindow({ of, message = 0, onClose }: NoteWindowProps) {
  const { notes } = useWorkbench();
  const save = useSave();
  const [first] = of;
  const before = first && notes.own(first);
  const fields = useMemo((): readonly FieldSpec[] => {
    const flags = [...new Set([...notes.flags, ...(before?.flag ? [before.flag] : [])])];
    return [
      { kind: 'text', name: 'text', label: 'Note', initial: before?.text ?? '', multiline: true },
      {
        kind: 'choice',
        name: 'flag',
        label: 'Flag',
        options: [{ value: '', label: 'none' }, ...flags.map(flag => ({ value: flag, label: sanitiseLine(flag) }))],
        initial: before?.flag ?? '',
      },
      ...(message > 0
        ? [
            {
              ...{ kind: 'choice' as const, name: 'about', label: 'About' },
              options: [
                { value: '0', label: 'all of it' },
                { value: String(message), label: `message ${message}` },
              ],
              initial: '0',
            },
          ]
        : []),
    ];
  }, [notes, before, message]);
  const name = of.length === 1 ? sanitiseLine(first?.label ?? '') : `${of.length} marked`;
  return (
    <PlainFormWindow
      title={`Note on ${name}`}
      fields={fields}
      onSubmit={({ flag = '', text = '', about = '0' }) =>
        save(
          of.map(each => ({ ...each, message: Number(about) })),
          () => ({ flag, text: text.trim() }),
        )
      }
      onClose={onClose}
    />
  );
}

type Save = (of: readonly Noted[], words: (before: Note | undefined) => Pick<Note, 'flag' | 'text'>) => void;

function useSave(): Save {
  const shell = useShell();
  const { notes, remembered } = useWorkbench();
  return (of, words) => {
    if (notes.say(of, words)) return;
    shell.toast({ kind: 'danger', text: remembered.problem ?? 'The note could not be saved' });
  };
}

/** The digits that flag, and the key for a note. */
export function useTriage(): (of: readonly Noted[], message?: number) => readonly Binding[] {
  const shell = useShell();
  const { notes } = useWorkbench();
  const save = useSave();
  return (of, message) => {
    const flag = (digit: number): void => {
      const wanted = notes.flags[digit - 1];
      if (wanted === undefined) {
        const all = notes.flags.map((each, index) => `${index + 1} ${sanitiseLine(each)}`).join(', ');
        shell.toast({ kind: 'info', text: `No flag has the digit ${digit}: ${all}` });
        return;
      }
      const isSet = of.every(each => notes.own(each)?.flag === wanted);
      save(of, before => ({ flag: isSet ? '' : wanted, text: before?.text ?? '' }));
    };
    const enabled = of.length > 0;
    return [
      { command: triageCommands.flag, enabled, run: ({ name }) => flag(Number(name)) },
      {
        command: triageCommands.note,
        enabled,
        run: () =>
          shell.showOverlay('note', close => (
            <NoteWindow of={of} {...(message !== undefined && { message })} onClose={close} />
          )),
      },
    ];
  };
}

/** What notes add to a list: columns, and counts below the rows. */
export function useNoted<Row>(columns: readonly Column<Row>[], id: (row: Row) => string, rows: readonly Row[]) {
  const byId = useNotes();
  const ofRow = useCallback((row: Row) => byId.get(id(row)), [byId, id]);
  return {
    columns: useMemo(() => {
      if (byId.size === 0) return columns;
      const [first, ...others] = columns;
      return first ? [first, ...noteColumns(byId, id), ...others] : columns;
    }, [columns, byId, id]),
    words: useMemo(() => {
      if (byId.size === 0) return [];
      const words = flagCountWords(rows.flatMap(row => (ofRow(row) ? [ofRow(row) ?? []] : [])));
      return words === '' ? [] : [`${sanitiseLine(words)} of the ${counted(rows.length, 'row')} read`];
    }, [byId, rows, ofRow]),
    ofRow,
  };
}
