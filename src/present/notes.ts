/** Shows flags and notes as columns, facts and counts. */
import { maxOf } from '../base/many.ts';
import { sanitise, sanitiseLine } from '../text/sanitise.ts';
import { displayWidth } from '../text/width.ts';
import { type Column, plainColumn } from './column.ts';
import type { Fact } from './fact.ts';

/** A note by one author. */
interface AuthoredNote {
  readonly message: number;
  readonly author: string;
  readonly flag: string;
  readonly text: string;
}

export type NotesById<Note extends AuthoredNote = AuthoredNote> = ReadonlyMap<string, readonly Note[]>;

/** The distinct flags. A message's flag includes the message number: `bad #3`. */
function flagsOf(notes: readonly AuthoredNote[] = []): string {
  const flags = notes.flatMap(({ flag, message }) => (flag === '' ? [] : message === 0 ? flag : `${flag} #${message}`));
  return [...new Set(flags)].join(', ');
}

/** The notes. One on a message begins with the message number: `#3: it counts`. */
const textsOf = (notes: readonly AuthoredNote[] = []): string =>
  notes
    .flatMap(({ text, message }) => (text === '' || message === 0 ? text || [] : `#${message}: ${text}`))
    .join(' · ');

/** The flags and the notes in a line each. */
export const describeNote = (notes?: readonly AuthoredNote[]): readonly string[] => {
  const [flags, texts] = [flagsOf(notes), textsOf(notes)];
  return [...(flags === '' ? [] : [`flagged ${sanitiseLine(flags)}`]), ...(texts === '' ? [] : [sanitiseLine(texts)])];
};

/** The flags and notes of each run, or of the runs of each pool, in a line: `base: flagged gamed · too short`. */
export const describeNotesOf = (
  runs: readonly (readonly [name: string, ids: readonly string[]])[],
  byId: NotesById,
): readonly string[] =>
  runs.flatMap(([name, ids]) => {
    const words = describeNote(ids.flatMap(id => byId.get(id) ?? []));
    return words.length === 0 ? [] : `${sanitiseLine(name)}: ${words.join(' · ')}`;
  });

/** Cells within which a flag is not cut, while there is room for the columns before it. */
const uncutFlag = 13;

export function noteColumns<Row>(byId: NotesById, id: (row: Row) => string): readonly Column<Row>[] {
  const widths = [...byId.values()].map(notes => displayWidth(sanitiseLine(flagsOf(notes))));
  const min = Math.max(5, Math.min(uncutFlag, maxOf(widths) ?? 0));
  const hasNone = byId.size === 0;
  return [
    {
      ...{ id: 'flag', title: 'FLAG', width: { min, max: 24, grow: 1 }, ifAny: true, hasNone },
      value: row => flagsOf(byId.get(id(row))) || undefined,
      // Most lists have no room for the notes.
      text: row => flagsOf(byId.get(id(row))) || (textsOf(byId.get(id(row))) && 'note'),
    },
    plainColumn('note', 'NOTE', { min: 8, max: 80, grow: 1 }, row => textsOf(byId.get(id(row))) || undefined, {
      ifAny: true,
      hasNone,
      wide: true,
      cutAt: 'end',
    }),
  ];
}

/** Notes as facts: author, part, flag and text. */
export const noteFacts = (notes: readonly AuthoredNote[] = []): readonly Fact[] =>
  notes.map(({ message, author, flag, text }) => ({
    label: message === 0 ? `says ${author}` : `message ${message}`,
    value: [message === 0 ? '' : `${author}:`, flag, flag && text ? '-' : '', text].filter(Boolean).join(' '),
    group: 'Notes',
  }));

/** Each message's notes as lines: `note by me: bad - it counts on`. */
export function messageNotes(notes: readonly AuthoredNote[] = []): ReadonlyMap<number, readonly string[]> {
  const lines = new Map<number, readonly string[]>();
  for (const { message, author, flag, text } of notes) {
    const words = sanitise([flag, text].filter(Boolean).join(' - '), { multiline: true });
    const said = `note by ${sanitiseLine(author)}: ${words}`.split('\n');
    if (message > 0) lines.set(message, [...(lines.get(message) ?? []), ...said]);
  }
  return lines;
}

/** `flagged: 3 gamed, 1 good; 2 flagged differently by several people`; empty without flags. */
export function describeFlagCounts(all: Iterable<readonly AuthoredNote[]>): string {
  const counts = new Map<string, number>();
  let conflicts = 0;
  for (const notes of all) {
    const flags = new Set(notes.flatMap(({ flag }) => flag || []));
    for (const flag of flags) counts.set(flag, (counts.get(flag) ?? 0) + 1);
    const whole = new Set(notes.flatMap(({ flag, message }) => (message === 0 && flag ? flag : [])));
    if (whole.size > 1) conflicts += 1;
  }
  if (counts.size === 0) return '';
  const words = [...counts].sort(([, one], [, other]) => other - one).map(([flag, count]) => `${count} ${flag}`);
  const differ = conflicts > 0 ? `; ${conflicts} flagged differently by several people` : '';
  return `flagged: ${words.join(', ')}${differ}`;
}
