/** Flags and notes that people put on trajectories, runs and messages. */
import { isRecord } from '../base/own-property.ts';
import { counted } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { Row, Run, Tables } from './tables.ts';

/** One author's flag and text on one resource or message. */
export interface Note {
  /** The resource's kind, e.g. `trajectory`. */
  readonly kind: string;
  readonly id: string;
  /** The number of a message in the resource, from 1; 0 for the whole resource. */
  readonly message: number;
  readonly author: string;
  /** Empty if there is none. */
  readonly flag: string;
  readonly text: string;
  /** The resource's name, e.g. its task. */
  readonly label: string;
  /**
   * When it was written, in epoch milliseconds; 0 if unknown, and then any other version is newer. A removed note
   * stays, without flag and text, so that a merge does not restore it.
   */
  readonly at: number;
  /** When its first version was written, in epoch milliseconds: other versions have the same time. 0 if unknown. */
  readonly since: number;
}

/** A note without its content: the resource or message, and the author. */
type NoteSubject = Omit<Note, 'flag' | 'text' | 'at' | 'since'>;

/** A change to a note. A missing field keeps its saved value. */
export type NoteChange = Partial<Pick<Note, 'flag' | 'text'>>;

/** The result of a merge. */
export interface MergeCounts {
  readonly added: number;
  readonly updated: number;
  /** Notes that are not newer than the saved ones. */
  readonly kept: number;
  /** Notes with an author's name that another note has; `author` is the name that each was given. */
  readonly renamed: readonly Note[];
}

const noteOf = ({ kind, id, message, author, flag, text, label, at, since }: Row): Note => ({
  ...{ kind: String(kind), id: String(id), message: Number(message), author: String(author) },
  ...{ flag: String(flag), text: String(text), label: String(label), at: Number(at), since: Number(since) },
});

/** In characters. Ids are as long as the service makes them. */
const longestText = 10_000;
const longestName = 200;

/** Why a note cannot have this flag or text, in words; undefined if it can. */
export function noteProblem({ flag = '', text = '', author = '' }: Partial<Note>): string | undefined {
  const tooLong = (what: string, most: number, { length }: string): string | undefined =>
    length <= most ? undefined : `${what} has at most ${counted(most, 'character')}; this one has ${length}`;
  if (sanitiseLine(flag) !== flag) return 'a flag has no hidden or control characters';
  return (
    tooLong('a note', longestText, text) ??
    tooLong('a flag', longestName, flag) ??
    tooLong('an author', longestName, author)
  );
}

/** The kinds of resources that take notes. */
export const noteKinds: readonly string[] = ['trajectory', 'run'];

export const takesNotes = (kind = ''): boolean => noteKinds.includes(kind);

/** How far an author's clock may be ahead, in milliseconds: a note from the future would win every merge. */
const maxAheadMs = 24 * 60 * 60 * 1000;

/** Parses a note from a file. Returns a problem in words if it is not a note. @param now epoch milliseconds */
export function parseNote(value: unknown, now = Date.now()): Note | string {
  const none = 'this is not a note';
  if (!isRecord(value)) return none;
  const { kind, id, message = 0, author, flag = '', text = '', label = '', at, since = null } = value;
  const isText = (each: unknown): each is string => typeof each === 'string';
  if (![kind, id, author].every(each => isText(each) && each !== '')) return none;
  if (!takesNotes(String(kind))) return `notes are only for trajectories and evaluation runs, not for a ${kind}`;
  if (!isText(flag) || !isText(text) || !isText(label)) return none;
  const problem = noteProblem({ flag, text, author: String(author) });
  if (problem !== undefined) return problem;
  if (typeof message !== 'number' || !Number.isSafeInteger(message) || message < 0) return none;
  const [time, begun] = [timeIn(at), timeIn(since)];
  if (time === undefined || begun === undefined) return 'the time of this note is not a date';
  if (time > now + maxAheadMs) return 'the time of this note is more than a day ahead of the clock here';
  return { ...(value as unknown as Note), message, flag, text, label, at: time, since: begun };
}

/** A time in a file, in epoch milliseconds. Exports use null for an unknown time, which is 0 here. */
function timeIn(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value === null ? 0 : value;
  return typeof time === 'number' && Number.isSafeInteger(time) && time >= 0 ? time : undefined;
}

export class NoteRecords {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /**
   * All notes, including removed ones, newest first; undefined if they cannot be read. An impossible time counts as
   * unknown.
   */
  all(now = Date.now()): Note[] | undefined {
    const sql = `select kind, id, message, author, flag, text, label, iif(at between 0 and ?, at, 0) as at, since from notes
      where service = ? order by 8 desc, kind, id, message, author`;
    return this.#tables.read(sql, now + maxAheadMs, this.#tables.service)?.map(noteOf);
  }

  /** Why there is no file for notes, in words; undefined if there is one, or none was wanted. */
  get unwritable(): string | undefined {
    return this.#tables.isOpen ? undefined : `Notes can neither be read nor saved. ${this.#tables.problem}`;
  }

  /** Why some notes cannot be read, in words; undefined if all can. */
  get lack(): string | undefined {
    if (this.unwritable !== undefined) return this.unwritable;
    if (!this.all()) return 'The notes on this machine cannot be read. Run benchtop doctor for details';
    const { setAside } = this.#tables;
    return setAside && `Notes may be missing. ${setAside}`;
  }

  /**
   * Changes all notes in one transaction, based on their saved versions: another program may have changed them. False
   * if they could not be saved.
   */
  change(subjects: readonly NoteSubject[], change: NoteChange, now = Date.now()): boolean {
    return this.#tables.atOnce(run => {
      const saved = this.#byKey();
      for (const subject of subjects) {
        const before = saved.get(keyOf(subject));
        // If the clock was set back, this note must still be the newer one.
        const at = Math.max(now, (before?.at ?? 0) + 1);
        const { flag = before?.flag ?? '', text = before?.text ?? '' } = change;
        if (!before && !saysSomething({ flag, text })) continue;
        // A resource that was never seen is named by its id.
        const label = subject.label === subject.id ? (before?.label ?? subject.label) : subject.label;
        this.#replace(run, { ...subject, label, flag, text, at, since: before?.since || at });
      }
    });
  }

  #replace(run: Run, { kind, id, message, author, flag, text, label, at, since }: Note): void {
    const { service } = this.#tables;
    // Also delete a note under another kind, which was guessed from the id.
    run('delete from notes where service = ? and id = ? and message = ? and author = ?', service, id, message, author);
    const sql = `insert into notes (service, kind, id, message, author, flag, text, label, at, since)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    run(sql, service, kind, id, message, author, flag, text, label.slice(0, longestName), at, since);
  }

  /** @throws Error if they cannot be read */
  #byKey(): Map<string, Note> {
    const all = this.all();
    if (!all) throw new Error('the notes cannot be read');
    // The last note with a key wins, so put the newest last.
    return new Map(all.toReversed().map(note => [keyOf(note), note]));
  }

  /**
   * Adds unknown notes and replaces older versions. Two notes with one author's name are both kept, the new one under a
   * name with a number. Undefined if the notes could not be read or saved.
   */
  merge(notes: readonly Note[]): MergeCounts | undefined {
    let [added, updated, kept] = [0, 0, 0];
    const renamed: Note[] = [];
    const isSaved = this.#tables.atOnce(run => {
      const newest = this.#byKey();
      const versions = new Map([...newest.values()].map(note => [versionOf(note), note]));
      for (const note of notes) {
        const namesake = newest.get(keyOf(note));
        const before = (note.since > 0 && versions.get(versionOf(note))) || (saysSame(note, namesake) && namesake);
        if (before && before.at >= note.at) {
          kept += 1;
          continue;
        }
        const saved = { ...note, author: before ? before.author : freeName(note, newest) };
        if (before) updated += 1;
        else added += 1;
        if (namesake && !before && saysSomething(namesake) && saysSomething(note)) renamed.push(saved);
        newest.set(keyOf(saved), saved);
        versions.set(versionOf(saved), saved);
        this.#replace(run, saved);
      }
    });
    return isSaved ? { added, updated, kept, renamed } : undefined;
  }
}

/** An author's name without the number that a merge has added. */
const nameOf = (author: string): string => author.replace(/ \(\d+\)$/, '');

/** The author's name for a new note, with a number if a note on the same subject has that name. */
function freeName(note: NoteSubject, taken: ReadonlyMap<string, Note>): string {
  let { author } = note;
  for (let number = 2; taken.has(keyOf({ ...note, author })); number += 1)
    author = `${nameOf(note.author)} (${number})`;
  return author;
}

const saysSame = ({ flag, text }: Note, other: Note | undefined): boolean =>
  other?.flag === flag && other.text === text;

/** Identifies a note in all its versions. */
const versionOf = ({ id, message, author, since }: Note): string =>
  JSON.stringify([id, message, nameOf(author), since]);

/** Leaves out the kind, which is a guess for an id that was never seen. */
const keyOf = ({ id, message, author }: NoteSubject): string => JSON.stringify([id, message, author]);

/** False for a removed note. */
export const saysSomething = ({ flag, text }: Pick<Note, 'flag' | 'text'>): boolean => flag !== '' || text !== '';

/** The notes that are not empty, by resource id. */
export const savedNotes = (remembered: { readonly notes: { all(): readonly Note[] | undefined } }) =>
  Map.groupBy((remembered.notes.all() ?? []).filter(saysSomething), ({ id }) => id);

/** The field of an exported trajectory that has its flags and notes. */
const notesField = 'benchtop_notes';

/** A trajectory to export, with its flags and notes if it has any. */
export const withNotes = <Row extends object>(row: Row, notes: readonly Note[] = []): Row | object =>
  notes.length === 0
    ? row
    : { ...row, [notesField]: notes.map(({ message, author, flag, text }) => ({ message, author, flag, text })) };

/** A trajectory to upload: notes stay on this machine. */
export function withoutNotes(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { [notesField]: _, ...rest } = row;
  return rest;
}

/** The notes on each resource or message that authors flag differently. */
export function conflictsIn(notes: readonly Note[]): readonly (readonly Note[])[] {
  const bySubject = Map.groupBy(
    notes.filter(({ flag }) => flag !== ''),
    ({ id, message }) => JSON.stringify([id, message]),
  );
  return [...bySubject.values()].filter(all => new Set(all.map(({ flag }) => flag)).size > 1);
}
