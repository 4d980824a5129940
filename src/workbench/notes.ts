/** Flags and notes on trajectories and runs: saved between starts, and observable. */
import { userInfo } from 'node:os';
import { Listeners } from '../base/listeners.ts';
import type { TriageSettings } from '../config/preferences.ts';
import { type Note, saysSomething } from '../store/notes.ts';
import type { RememberedStore } from '../store/store.ts';

/** The author of notes on this machine. */
export function authorOf({ author }: TriageSettings): string {
  if (author !== undefined) return author;
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the user database, as in most containers.
    return 'me';
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

  constructor(remembered: () => RememberedStore, triage: TriageSettings) {
    this.#remembered = remembered;
    this.author = authorOf(triage);
    this.flags = triage.flags;
  }

  readonly subscribe = this.#listeners.subscribe;

  /** The notes that are not empty, by the id of the resource; the same map until one changes. */
  readonly byId = (): ReadonlyMap<string, readonly Note[]> => {
    this.#byId ??= Map.groupBy((this.#remembered().notes.all() ?? []).filter(saysSomething), ({ id }) => id);
    return this.#byId;
  };

  /** This author's note on it. */
  own({ id, message = 0 }: Pick<Noted, 'id' | 'message'>): Note | undefined {
    return this.byId()
      .get(id)
      ?.find(note => note.author === this.author && note.message === message);
  }

  /** Replaces this author's notes on several resources; false if they could not be saved. */
  say(
    of: readonly Noted[],
    words: (before: Note | undefined) => Pick<Note, 'flag' | 'text'>,
    now = Date.now(),
  ): boolean {
    const notes = of.map(({ kind, id, label, message = 0 }): Note => {
      const before = this.own({ id, message });
      // If the clock was set back, this note must still be the newer one.
      const at = Math.max(now, (before?.at ?? 0) + 1);
      return { kind, id, label, message, author: this.author, ...words(before), at };
    });
    const isSaved = this.#remembered().notes.put(notes);
    this.readAgain();
    return isSaved;
  }

  /** Reads what other programs have written. */
  readAgain(): void {
    this.#byId = undefined;
    this.#listeners.notify();
  }
}
