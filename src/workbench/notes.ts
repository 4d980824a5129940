/** Flags and notes on trajectories and runs: saved between sessions, and observable. */
import { hostname, userInfo } from 'node:os';
import { Listeners } from '../base/listeners.ts';
import type { TriageSettings } from '../config/preferences.ts';
import { type Note, type NoteChange, savedNotes } from '../store/notes.ts';
import type { RememberedStore } from '../store/store.ts';

/** The author of notes on this machine, unless the settings name one. */
export function defaultAuthor(): string {
  // Several machines may have a user with the same name, such as root. The domain depends on the network.
  const [host] = hostname().split('.');
  try {
    return `${userInfo().username}@${host}`;
  } catch {
    // In most containers, the user has no entry in the user database.
    return `me@${host}`;
  }
}

/** The subject of a note. */
export type Noted = Pick<Note, 'kind' | 'id' | 'label'> & { readonly message?: number };

export class Notes {
  readonly author: string;
  readonly flags: readonly string[];
  readonly #remembered: () => RememberedStore;
  readonly #listeners = new Listeners();
  #byId: ReadonlyMap<string, readonly Note[]> | undefined;
  #replaced: ReadonlyMap<string, readonly Noted[]> | undefined;

  constructor(remembered: () => RememberedStore, triage: TriageSettings) {
    this.#remembered = remembered;
    this.author = triage.author ?? defaultAuthor();
    // Each flag has one digit.
    this.flags = [...new Set(triage.flags)];
  }

  readonly subscribe = this.#listeners.subscribe;

  /** The notes that are not empty, by resource id; the same map until one changes. */
  readonly byId = (): ReadonlyMap<string, readonly Note[]> => {
    this.#byId ??= savedNotes(this.#remembered());
    return this.#byId;
  };

  /** This author's note on a subject. */
  own({ id, message = 0 }: Pick<Noted, 'id' | 'message'>): Note | undefined {
    return this.byId()
      .get(id)
      ?.find(note => note.author === this.author && note.message === message);
  }

  /** Changes this author's notes on several subjects. @returns why they could not be saved, in words */
  say(subjects: readonly Noted[], change: NoteChange, now = Date.now()): string | undefined {
    const { author } = this;
    const remembered = this.#remembered();
    if (change.flag !== undefined) this.#replaced = Map.groupBy(subjects, each => this.own(each)?.flag ?? '');
    const keys = subjects.map(({ kind, id, label, message = 0 }) => ({ kind, id, label, message, author }));
    const isSaved = remembered.notes.change(keys, change, now);
    this.readAgain();
    return isSaved ? undefined : (remembered.file.problem ?? 'The note could not be saved');
  }

  /** The subjects of the last change to flags, by their previous flag. */
  get replaced(): ReadonlyMap<string, readonly Noted[]> {
    return this.#replaced ?? new Map();
  }

  /** Undoes the last change to flags, once. @returns false if there is none, or it could not be saved */
  takeBack(): boolean {
    const replaced = this.#replaced;
    const isSaved = replaced !== undefined && [...replaced].every(([flag, of]) => !this.say(of, { flag }));
    this.#replaced = undefined;
    return isSaved;
  }

  /** Reads the notes again, because other processes write to the same file. */
  readAgain(): void {
    this.#byId = undefined;
    this.#listeners.notify();
  }
}
