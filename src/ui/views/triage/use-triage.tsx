/** Flags and notes on a list's rows, or on the open record. */
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { own } from '../../../base/own-property.ts';
import type { Column } from '../../../present/column.ts';
import { describeFlagCounts, noteColumns } from '../../../present/notes.ts';
import { type Note, type NoteChange, noteProblem } from '../../../store/notes.ts';
import { counted } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import type { Noted } from '../../../workbench/notes.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { formCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import { PlainFormWindow } from '../../windows/form-window.tsx';
import { triageCommands } from '../commands.ts';
import type { ShownMessage } from '../trajectories/use-reader.ts';

/** The non-empty notes, by resource id. */
export function useNotes(): ReadonlyMap<string, readonly Note[]> {
  const { notes } = useWorkbench();
  return useSyncExternalStore(notes.subscribe, notes.byId);
}

interface NoteWindowProps {
  readonly of: readonly Noted[];
  readonly messages: readonly ShownMessage[];
  readonly onClose: () => void;
}

/** The value that notes on several subjects have in common; otherwise, how they differ, in words. */
interface Shared {
  readonly value: string;
  readonly words?: string;
}

function sharedOf(values: readonly string[]): Shared {
  const filled = values.filter(value => value !== '');
  const distinct = new Set(filled).size;
  if (distinct > 1) return { value: '', words: `${distinct} different` };
  const isOnAll = filled.length === 0 || filled.length === values.length;
  return isOnAll ? { value: filled[0] ?? '' } : { value: '', words: `only on ${filled.length} of ${values.length}` };
}

/** The author's flag and note on the marked rows, or on one message. */
interface SavedNote {
  readonly message: number;
  /** Precedes the text of a new note: `> the words that it is about`. */
  readonly quote: string;
  readonly text: Shared;
  readonly flag: Shared;
}

/** The form's value for flags that differ: no real flag is a control character. */
const differingValue = '\0';
const initialFlag = ({ flag }: SavedNote): string => (flag.words === undefined ? flag.value : differingValue);

/** @param whole the note on the whole trajectory: text typed for it moves to a message that has no note yet */
function savedFields(note: SavedNote, flags: readonly string[], whole: SavedNote = note): readonly FieldSpec[] {
  const { message, quote, text, flag } = note;
  const when = ({ about = '0' }: FormValues): boolean => about === String(message);
  const moved = (name: string, saved: string, before: string, lead = '') =>
    note === whole || saved !== ''
      ? saved
      : (values: FormValues) => {
          const typed = own(values, `${name}0`) ?? '';
          return lead + (typed === before ? saved : typed);
        };
  return [
    {
      ...{ kind: 'text', name: `text${message}`, label: 'Note', multiline: true, when },
      initial: moved('text', text.value, whole.text.value, quote),
      check: value => noteProblem({ text: value }),
      ...(text.words !== undefined && { facts: `${text.words}, kept unless you type` }),
    },
    {
      ...{ kind: 'choice', name: `flag${message}`, label: 'Flag', when },
      options: [
        ...(flag.words === undefined ? [] : [{ value: differingValue, label: `${flag.words}, kept` }]),
        { value: '', label: 'none' },
        ...[...new Set([...flags, ...(flag.value ? [flag.value] : [])])].map(value => ({
          value,
          label: sanitiseLine(value),
        })),
      ],
      initial: moved('flag', initialFlag(note), initialFlag(whole)),
    },
  ];
}

/** The fields for all notes. If there are messages, the user first chooses what the note is about. */
function noteFields(
  saved: readonly SavedNote[],
  messages: readonly ShownMessage[],
  flags: readonly string[],
): readonly FieldSpec[] {
  const words = saved.flatMap(each => savedFields(each, flags, saved[0]));
  if (saved.length <= 1) return words;
  const options = messages.map(({ number, role }) => ({ value: String(number), label: `message ${number}, ${role}` }));
  const about = { kind: 'choice', name: 'about', label: 'About' } as const;
  return [{ ...about, options: [{ value: '0', label: 'all of it' }, ...options] }, ...words];
}

/** The change that the form's values make to a note; undefined if they make none. */
function changeIn(saved: readonly SavedNote[], values: FormValues) {
  const about = saved.find(each => String(each.message) === values['about']) ?? saved[0];
  if (!about) return undefined;
  const { message } = about;
  const [text = '', flag = ''] = [own(values, `text${message}`), own(values, `flag${message}`)];
  // A quote alone is not a note.
  const isKept = text === about.text.value || (about.text.value === '' && text === about.quote);
  const change: NoteChange = {
    ...(!isKept && { text: text.trim() }),
    ...(flag !== initialFlag(about) && { flag }),
  };
  return Object.keys(change).length === 0 ? undefined : { message, change };
}

/** Maximum cells for a changed note in the warning. */
const changedCells = 120;

/** Warns that another program has changed a note since the user last saw it. */
function describeConflict({ flag = '', text = '' }: Partial<Note> = {}, key: string): string {
  const now = sanitiseLine([flag, text].filter(Boolean).join(', ')) || 'empty';
  return `Changed elsewhere: ${truncate(now, changedCells)}. Press ${key} again to replace it`;
}

function NoteWindow({ of, messages, onClose }: NoteWindowProps) {
  const shell = useShell();
  const { notes } = useWorkbench();
  const keyOf = useKeyOf();
  const ownOn = (message: number) => of.map(({ id }) => notes.own({ id, message }));
  // The saved notes as the user last saw them: another program may change them while the window is open.
  const [known] = useState(() => new Map([0, ...messages.map(({ number }) => number)].map(at => [at, ownOn(at)])));
  // The saved values when the window opened: only fields that the user changes are saved.
  const [saved] = useState(() =>
    [...known].map(([number, before]): SavedNote => {
      const text = sharedOf(before.map(note => note?.text ?? ''));
      const quoted = messages.find(each => each.number === number)?.quote() ?? '';
      const quote = quoted === '' ? '' : `> ${quoted}\n`;
      return { message: number, quote, text, flag: sharedOf(before.map(note => note?.flag ?? '')) };
    }),
  );
  const fields = useMemo(() => noteFields(saved, messages, notes.flags), [notes, saved, messages]);
  const name = of.length === 1 ? sanitiseLine(of[0]?.label ?? '') : `${of.length} marked`;
  const warningOf = (values: FormValues): string | undefined => {
    const { message = 0, change = {} } = changeIn(saved, values) ?? {};
    notes.readAgain();
    const before = known.get(message) ?? [];
    const now = ownOn(message);
    known.set(message, now);
    const names = Object.keys(change) as (keyof NoteChange)[];
    const at = now.findIndex((note, index) =>
      names.some(name => (note?.[name] ?? '') !== (before[index]?.[name] ?? '')),
    );
    return at === -1 ? undefined : describeConflict(now[at], keyOf(formCommands.submit));
  };
  const submit = (values: FormValues): string | undefined => {
    const changed = changeIn(saved, values);
    if (!changed) return undefined;
    const { message, change } = changed;
    const subjects = of.map(each => ({ ...each, message }));
    const problem = notes.say(subjects, change);
    if (problem !== undefined) return problem;
    shell.toast({ kind: 'success', text: change.text === '' ? 'Note removed' : 'Note saved' });
    return undefined;
  };
  return (
    <PlainFormWindow
      verb="save"
      title={`Note on ${name}`}
      fields={fields}
      start={saved.length > 1 ? 1 : 0}
      warningOf={warningOf}
      onSubmit={submit}
      onClose={onClose}
    />
  );
}

/** Returns a function that binds the digits that flag, and the key for a note. */
export function useTriage(): (of: readonly Noted[], messages?: readonly ShownMessage[]) => readonly Binding[] {
  const shell = useShell();
  const { notes, file, remembered } = useWorkbench();
  const keyOf = useKeyOf();
  return (of, messages = []) => {
    const flag = (digit: number, ifNumber: KeyPress['ifNumber'] = () => {}): void => {
      const wanted = notes.flags[digit - 1];
      if (wanted === undefined) {
        const all = notes.flags.map((each, index) => `${index + 1} ${sanitiseLine(each)}`).join(', ');
        shell.toast({ kind: 'info', text: `No flag has the digit ${digit}: ${all}` });
        ifNumber(() => {});
        return;
      }
      const isSet = of.every(each => notes.own(each)?.flag === wanted);
      const problem = notes.say(of, { flag: isSet ? '' : wanted });
      if (problem !== undefined) {
        shell.toast({ kind: 'danger', text: problem });
        return;
      }
      ifNumber(() => {
        notes.takeBack();
        shell.toast({ kind: 'info', text: 'This is a row number, so nothing is flagged: G goes to that row' });
      });
      const instead = [...notes.replaced].flatMap(([before, { length }]) => {
        if (before === '' || before === wanted) return [];
        return length === of.length ? ` instead of ${before}` : `, ${length} of ${of.length} instead of ${before}`;
      });
      const words = sanitiseLine(isSet ? `No longer ${wanted}` : `Flagged ${wanted}${instead.join('')}`);
      shell.toast({ kind: 'info', text: `${words}: ${keyOf(triageCommands.undo)} undoes it` });
    };
    const enabled = of.length > 0;
    const why = file
      ? 'Flags and notes on a file are not kept: benchtop upload sends the file'
      : remembered.notes.unwritable;
    return [
      { command: triageCommands.flag, enabled, why, run: ({ name, ifNumber }) => flag(Number(name), ifNumber) },
      {
        command: triageCommands.undo,
        enabled,
        why,
        run: () => {
          const text = notes.takeBack() ? 'Undone' : 'Nothing to undo';
          shell.toast({ kind: 'info', text });
        },
      },
      {
        command: triageCommands.note,
        enabled,
        why,
        run: () => {
          notes.readAgain();
          shell.showOverlay('note', close => <NoteWindow {...{ of, messages }} onClose={close} />);
        },
      },
    ];
  };
}

/** The columns that notes add to a list, and counts below the rows. */
export function useNoted<Row>(columns: readonly Column<Row>[], id: (row: Row) => string, rows: readonly Row[]) {
  const byId = useNotes();
  const ofRow = useCallback((row: Row) => byId.get(id(row)), [byId, id]);
  return {
    columns: useMemo(() => {
      const [first, ...others] = columns;
      return first ? [first, ...noteColumns(byId, id), ...others] : columns;
    }, [columns, byId, id]),
    words: useMemo(() => {
      if (byId.size === 0) return [];
      const words = describeFlagCounts(rows.flatMap(row => (ofRow(row) ? [ofRow(row) ?? []] : [])));
      return words === '' ? [] : [`${sanitiseLine(words)} of the ${counted(rows.length, 'row')} read`];
    }, [byId, rows, ofRow]),
    ofRow,
  };
}
