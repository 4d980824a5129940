/** The tree of scopes, nested like the screen, and the scopes that may handle a key. */
import type { Command, HintRank } from '../../present/command.ts';
import type { KeyPress } from './key.ts';

/** Binds a command to its effect in a scope. */
export interface Binding {
  readonly command: Command;
  /** Runs the command; returning `false` leaves the key to the surrounding scopes. */
  readonly run: (press: KeyPress) => unknown;
  /** What it acts on, for a menu with actions on several things. */
  readonly on?: string;
  /** Replaces the command's hint rank in this view. */
  readonly rank?: HintRank;
  /** Called before the command runs, e.g. to keep the cursor on its row. */
  readonly before?: () => void;
  /** False while the command is disabled: its key then passes through, and no menu or hint offers it. */
  readonly enabled?: boolean;
  /** Why it is disabled now; shown if nothing else takes its key. */
  readonly why?: string | undefined;
}

/** A focused text field. */
export interface FieldHandlers {
  /** Whether the field handles a press. Must not change until the next frame is drawn. */
  readonly takes: (press: KeyPress) => boolean;
  /** Edits the field; several characters from one read come as one press. Only dispatches. */
  readonly type: (press: KeyPress) => void;
}

export interface ScopeHandlers {
  readonly bindings?: readonly Binding[];
  /** Handles typed text before the bindings do. */
  readonly field?: FieldHandlers | undefined;
  /** Returns whether it handled the paste. */
  readonly onPaste?: (text: string) => boolean;
}

export interface ScopeOptions extends ScopeHandlers {
  /** The surrounding scope's id. */
  readonly parent?: string | undefined;
  /** Whether it and the scopes in it get keys; true by default. */
  readonly active?: boolean;
  /** Whether it lets no key through to other scopes. */
  readonly modal?: boolean;
  /** Whether it ignores the other keys in the read that opened it: they were meant for something else. */
  readonly guarded?: boolean;
}

interface Scope extends ScopeOptions {
  readonly id: string;
  /** Higher for newer scopes: of two scopes at the same depth, the newer one gets the keys. */
  readonly sequence: number;
  /** When the press that opened it was read. */
  readonly openedAt: number | undefined;
}

export class Scopes {
  readonly #scopes = new Map<string, Scope>();
  #sequence = 0;

  /** Adds or updates a scope. @param at when the last press was read */
  set(id: string, options: ScopeOptions, at?: number): void {
    const known = this.#scopes.get(id);
    if (!known) this.#sequence += 1;
    const openedAt = known ? known.openedAt : at;
    this.#scopes.set(id, { ...options, id, openedAt, sequence: known?.sequence ?? this.#sequence });
  }

  remove(id: string): void {
    this.#scopes.delete(id);
  }

  /** Whether a press belongs to the read that opened a guarded scope. */
  isGuardedFrom({ at }: KeyPress): boolean {
    return at !== undefined && this.path().some(({ guarded, openedAt }) => guarded && openedAt === at);
  }

  /** Scopes that may handle a key, deepest first. */
  path(): readonly Scope[] {
    const live = [...this.#scopes.values()]
      .flatMap(scope => {
        const depth = this.#depthOf(scope);
        return depth === undefined ? [] : [{ scope, depth }];
      })
      .sort((left, right) => right.depth - left.depth || right.scope.sequence - left.scope.sequence)
      .map(({ scope }) => scope);
    const modals = live.filter(scope => scope.modal).sort((left, right) => right.sequence - left.sequence);
    // The newest window has the keys or, if windows are nested, the inner one.
    const modal = modals.find(each => !modals.some(other => other !== each && this.#isWithin(other, each)));
    if (!modal) return live;
    return live.filter(scope => scope === modal || this.#isWithin(scope, modal));
  }

  /** A scope's depth; undefined if it or a surrounding one is inactive or not on screen. */
  #depthOf(scope: Scope): number | undefined {
    let depth = 0;
    let at: Scope | undefined = scope;
    while (at && at.active !== false) {
      if (at.parent === undefined) return depth;
      at = this.#scopes.get(at.parent);
      depth += 1;
    }
    return undefined;
  }

  #isWithin(scope: Scope, ancestor: Scope): boolean {
    for (let at = scope.parent; at !== undefined; at = this.#scopes.get(at)?.parent) {
      if (at === ancestor.id) return true;
    }
    return false;
  }
}
