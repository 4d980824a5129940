/**
 * Routes every key. Scopes nest like the screen; a key goes to the deepest active scope first, which handles it or
 * leaves it to the surrounding scope, as events bubble in a browser. A modal scope lets nothing through. Bindings are
 * read when a key arrives, not when a scope is drawn: each key in a read sees the effects of the previous ones.
 */

import { Listeners } from '../../base/listeners.ts';
import { pushAll } from '../../base/many.ts';
import { own } from '../../base/own-property.ts';
import type { Command } from '../../present/command.ts';
import type { KeyOverrides } from './key.ts';
import { type KeyPress, keyLabel, pressOf } from './key.ts';
import { type Binding, type FieldHandlers, type ScopeHandlers, type ScopeOptions, Scopes } from './scopes.ts';
import { TypedNumber } from './typed-number.ts';

/** A command that is available now. */
export interface Offer {
  readonly binding: Binding;
  /** Its current keys, in key map order; never empty. */
  readonly keys: readonly string[];
}

/** A command that was refused, and why; if there is no reason, because the program is read-only. */
interface Refusal {
  readonly command: Command;
  readonly why?: string | undefined;
  /** The key has turned out to be the first digit of a number. */
  readonly isNumber?: true;
}

/** A command's key for use in a sentence: the user may have chosen another. */
export type KeyOf = (command: Command) => string;

interface RouterOptions {
  readonly overrides: KeyOverrides;
  readonly readOnly: boolean;
  /** Called with a handler's error. If it is missing, `press` throws. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** A queued key, or a paste, which is one string. */
type Input = { readonly kind: 'press'; readonly press: KeyPress } | { readonly kind: 'paste'; readonly text: string };

/** Keys that open a window, or move within one. */
const harmless = /^([:/?]|(shift-)?tab|up|down|pageup|pagedown|home|end)$/;
/** Readline's keys that fields do not have. */
const readlineKeys = /^alt-[\dclnprtuy.<>*#&~-]$/;

/** Routes keys to scopes; independent of React. */
export class Router {
  readonly #scopes = new Scopes();
  readonly #listeners = new Listeners();
  readonly #presses = new Listeners();
  readonly #refusals = new Listeners<Refusal>();
  readonly #options: RouterOptions;
  readonly #queue: Input[] = [];
  readonly #number = new TypedNumber();
  /** Whether something dispatched is not on screen yet. */
  #undrawn = false;
  /** Whether a command's effect must be on screen before the next key. */
  #blocked = false;
  /** How many targets of the next keys are still loading: the keys wait for them. */
  #holds = 0;
  #draw: ((then: () => void) => void) | undefined;
  #offered: readonly Offer[] | undefined;
  /** The time at which the last handled press was read. */
  #pressedAt: number | undefined;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** Adds or updates a scope; notifies the listeners if the available commands have changed. */
  set(id: string, options: ScopeOptions): void {
    this.#scopes.set(id, options, this.#pressedAt);
    this.#changed();
  }

  remove(id: string): void {
    this.#scopes.remove(id);
    this.#changed();
  }

  /** Routes one press. Returns whether it was handled. */
  press(pressed: KeyPress): boolean {
    this.#presses.notify();
    this.#pressedAt = pressed.at;
    const isText = this.#typedBy(pressed) !== undefined;
    if (isText) this.#number.clear();
    const press = isText ? pressed : this.#number.read(pressed);
    if (!press) return true;
    let refused: Refusal | undefined;
    for (const handlers of this.#scopes.path()) {
      const { field } = handlers;
      const bound = this.#boundTo(press.name, handlers);
      if (field && this.#isTyped(press, field, bound.length > 0)) {
        this.#guarded(() => field.type(press));
        return true;
      }
      if (bound.some(binding => this.#perform(binding, press) !== false)) return true;
      refused ??= this.#refusedBy(press.name, handlers);
    }
    if (refused) this.#refusals.notify(refused);
    if (refused) press.ifNumber?.(() => this.#refusals.notify({ ...refused, isNumber: true }));
    return false;
  }

  /** The command that a key would run if it were not disabled, and the program not read-only. */
  #refusedBy(key: string, { bindings = [] }: ScopeHandlers): Refusal | undefined {
    const bound = bindings.filter(({ command }) => this.keysOf(command).includes(key));
    const refused = bound.find(
      ({ command, enabled = true, why }) => enabled && (why !== undefined || !this.allows(command)),
    );
    return refused && (this.allows(refused.command) ? refused : { command: refused.command });
  }

  /** Subscribes to every key press, before it takes effect. */
  readonly onPress = this.#presses.subscribe;

  /** Subscribes to key presses for commands that are disabled for a reason. */
  readonly onRefused = this.#refusals.subscribe;

  #boundTo(key: string, { bindings = [] }: ScopeHandlers): readonly Binding[] {
    return bindings.filter(binding => this.usable(binding) && this.keysOf(binding.command).includes(key));
  }

  /** A field takes all characters; for other keys, the bindings take precedence. */
  #isTyped(press: KeyPress, field: FieldHandlers | undefined, bound: boolean): boolean {
    return field !== undefined && (press.text !== '' || !bound) && field.takes(press);
  }

  #perform({ before, run }: Binding, press: KeyPress): unknown {
    return this.#guarded(() => {
      before?.();
      return run(press);
    });
  }

  /** Runs a handler. If it fails, the key counts as handled, so no other scope acts on it. */
  #guarded(handle: () => unknown): unknown {
    const { onFailure } = this.#options;
    try {
      const result = handle();
      if (onFailure && result instanceof Promise) result.catch(onFailure);
      return result;
    } catch (error) {
      if (!onFailure) throw error;
      onFailure(error);
      return true;
    }
  }

  /** Whether a press and its neighbours can be handled without a frame in between. */
  repeats(press: KeyPress): boolean {
    const target = this.#targetOf(press);
    return !target || 'type' in target || target.command.repeats === true;
  }

  /** The field that a press types into, or the binding that it runs; undefined if there is neither. */
  #targetOf(press: KeyPress): FieldHandlers | Binding | undefined {
    for (const handlers of this.#scopes.path()) {
      const [binding] = this.#boundTo(press.name, handlers);
      const { field } = handlers;
      if (field && this.#isTyped(press, field, binding !== undefined)) return field;
      if (binding) return binding;
    }
    return undefined;
  }

  /**
   * Handles presses in order. If the screen must be drawn in between, the rest wait until `draw` calls back, once
   * everything dispatched is on screen.
   */
  send(presses: readonly KeyPress[], draw: (then: () => void) => void): void {
    this.#enqueue(
      presses.map(press => ({ kind: 'press', press })),
      draw,
    );
  }

  /** Handles a paste after the keys before it, which may open its target. */
  sendPaste(text: string, draw: (then: () => void) => void): void {
    this.#enqueue([{ kind: 'paste', text }], draw);
  }

  #enqueue(inputs: readonly Input[], draw: (then: () => void) => void): void {
    this.#draw = draw;
    pushAll(this.#queue, inputs);
    this.#drain(draw);
  }

  /** Holds the keys while a view is loading, so that type-ahead is not lost. Returns a function that releases them. */
  hold(): () => void {
    this.#holds += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      if (this.#draw) this.#drain(this.#draw);
    };
  }

  #drain(draw: (then: () => void) => void): void {
    while (!this.#blocked && this.#holds === 0) {
      const input = this.#queue[0];
      if (input === undefined) return;
      const apart = input.kind === 'press' ? this.#apart(input.press, this.#queue[1]) : [];
      if (apart.length > 0) {
        this.#queue.shift();
        for (const press of apart.toReversed()) this.#queue.unshift({ kind: 'press', press });
        continue;
      }
      const repeats = input.kind === 'press' && this.repeats(input.press);
      if (!repeats && this.#undrawn) return;
      this.#queue.shift();
      if (input.kind === 'press' && this.#scopes.isGuardedFrom(input.press)) continue;
      if (input.kind === 'press') this.press(this.#counted(this.#withText(input.press)));
      else this.paste(input.text);
      this.#blocked = !repeats;
      if (this.#undrawn) continue;
      this.#undrawn = true;
      draw(() => {
        this.#undrawn = false;
        this.#blocked = false;
        this.#drain(draw);
      });
    }
  }

  /**
   * The two presses that an unused key with alt may be: an escape and a key that arrive in one read, as over a slow line,
   * look the same. They are two if the key does no harm, or if keys follow in the read, which would reach the wrong
   * place; but not what readline edits with, nor what begins or ends a sequence of the terminal.
   */
  #apart(press: KeyPress, next: Input | undefined): readonly KeyPress[] {
    const [, ctrl = '', key] =
      /^(ctrl-)?alt-([^\s[\]\\OPX^_]|[a-z-]{2,})$/u.exec(press.escaped ? press.name : '') ?? [];
    if (key === undefined) return [];
    const follows = next?.kind === 'press' && next.press.at === press.at && !next.press.escaped;
    if (!follows && !harmless.test(key)) return [];
    if (readlineKeys.test(press.name) && this.#scopes.path().some(({ field }) => field)) return [];
    const isChosen = Object.values(this.#options.overrides).some(keys => keys.includes(press.name));
    if (isChosen || this.#targetOf(press)) return [];
    return ['esc', ctrl + key].map(name => ({ ...pressOf(name), ...(press.at !== undefined && { at: press.at }) }));
  }

  /** The field that a press types into; undefined if it is a command's key. */
  #typedBy(press: KeyPress): FieldHandlers | undefined {
    const target = this.#targetOf(press);
    return target && 'type' in target ? target : undefined;
  }

  /** Merges a press with the queued characters for the same field: one edit per read of any length. */
  #withText(press: KeyPress): KeyPress {
    const field = press.text === '' ? undefined : this.#typedBy(press);
    if (!field) return press;
    const more: string[] = [];
    for (const input of this.#queue) {
      if (input.kind !== 'press' || input.press.text === '' || this.#typedBy(input.press) !== field) break;
      more.push(input.press.text);
    }
    this.#queue.splice(0, more.length);
    return { name: press.name, text: press.text + more.join('') };
  }

  /** Merges a press with queued presses of the same key, for a command that counts them. */
  #counted(press: KeyPress): KeyPress {
    const counts = this.#scopes.path().some(handlers => {
      return this.#boundTo(press.name, handlers).some(({ command }) => command.counts);
    });
    if (!counts || this.#typedBy(press)) return press;
    const more = this.#queue.findIndex(input => input.kind !== 'press' || input.press.name !== press.name);
    const same = this.#queue.splice(0, more === -1 ? this.#queue.length : more);
    return { ...press, count: 1 + same.length };
  }

  paste(text: string): boolean {
    return this.#scopes.path().some(({ onPaste }) => this.#guarded(() => onPaste?.(text)) === true);
  }

  keysOf(command: Command): readonly string[] {
    return own(this.#options.overrides, command.id) ?? command.keys;
  }

  /** A command's key for a sentence: its first key, or its id if it has none. */
  readonly keyOf: KeyOf = command => keyLabel(this.keysOf(command)[0] ?? command.id);

  /**
   * The available commands, innermost first, without keys that an inner scope handles or a field takes as text. The
   * same array until the commands, their keys or their ranks change.
   */
  readonly offered = (): readonly Offer[] => {
    this.#offered ??= this.offers();
    return this.#offered;
  };

  /** Like `offered`, but with the bindings as last drawn, so that one of them can be run. */
  offers(): readonly Offer[] {
    const taken = new Set<string>();
    const fields: FieldHandlers[] = [];
    const offers: Offer[] = [];
    for (const { bindings = [], field } of this.#scopes.path()) {
      for (const binding of bindings) {
        if (!this.usable(binding)) continue;
        const keys = this.keysOf(binding.command).filter(key => {
          if (taken.has(key)) return false;
          const press = pressOf(key);
          return !this.#isTyped(press, field, true) && !fields.some(inner => inner.takes(press));
        });
        for (const key of keys) taken.add(key);
        if (keys.length > 0) offers.push({ binding, keys });
      }
      if (field) fields.push(field);
    }
    return offers;
  }

  /** Commands that write are disabled in a read-only program. */
  allows = (command: Command): boolean => !(this.#options.readOnly && command.writes);

  /** Whether a binding can be used now, by key, menu, palette or hint line. */
  usable = ({ command, enabled = true, why }: Binding): boolean => enabled && why === undefined && this.allows(command);

  /** Runs a binding that was not chosen by its key, if it can be used. */
  run(binding: Binding, press: KeyPress): unknown {
    return this.usable(binding) ? this.#perform(binding, press) : undefined;
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Notifies the listeners if the available commands or their ranks have changed; new closures do not count. */
  #changed(): void {
    const before = this.#offered;
    const after = this.offers();
    if (before && sameOffers(before, after)) return;
    this.#offered = after;
    this.#listeners.notify();
  }
}

function sameOffers(left: readonly Offer[], right: readonly Offer[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ binding, keys }, index) => {
      const other = right[index];
      const isSame = binding.command === other?.binding.command && binding.rank === other.binding.rank;
      return isSame && keys.join(' ') === other.keys.join(' ');
    })
  );
}
