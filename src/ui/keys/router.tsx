/**
 * One router for every key. Scopes nest as the screen does; a key goes to the deepest active scope first, which takes it
 * or leaves it to the scope around it, as events bubble in a browser. A modal scope lets nothing through.
 *
 * Bindings are read when a key arrives, not when a scope was drawn, and they dispatch: so several keys of one read each
 * see what the one before has done.
 */
import { useInput, usePaste } from 'ink';
import {
  createContext,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Command, KeyOverrides } from './command.ts';
import { type KeyPress, keyPresses } from './key.ts';

/** What a command does here. */
export interface Binding {
  readonly command: Command;
  /** Runs the command; returning `false` leaves the key to the scopes around. */
  readonly run: (press: KeyPress) => unknown;
  /** False where the command does not apply now: its key is left alone and nothing offers it. */
  readonly enabled?: boolean;
}

export interface ScopeHandlers {
  readonly bindings?: readonly Binding[];
  /**
   * Takes presses before the bindings do; for text fields. Returns whether it took the press. Only dispatches: what it
   * decides on must not change before the next drawing.
   */
  readonly onText?: (press: KeyPress) => boolean;
  /** Takes a paste. Returns whether it took it. */
  readonly onPaste?: (text: string) => boolean;
}

interface Scope {
  readonly id: string;
  readonly parent: string | undefined;
  readonly depth: number;
  /** Counts up: of two scopes at one depth the younger has the keys. */
  readonly born: number;
  active: boolean;
  modal: boolean;
  handlers: ScopeHandlers;
}

export interface RouterOptions {
  readonly overrides: KeyOverrides;
  readonly readOnly: boolean;
}

/** The tree of scopes and the way of a key through it; knows nothing of React. */
export class Router {
  readonly #scopes = new Map<string, Scope>();
  readonly #listeners = new Set<() => void>();
  readonly #options: RouterOptions;
  readonly #queue: KeyPress[] = [];
  /** Something was dispatched that is not on screen yet. */
  #undrawn = false;
  /** A command ran whose effect must be on screen before any other key. */
  #blocked = false;
  /** Something is on its way that the keys may be meant for: they wait for it. */
  #holds = 0;
  #draw: ((then: () => void) => void) | undefined;
  #born = 0;
  #offered: Binding[] | undefined;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** Makes a scope known, so that the ones inside it find their depth. Tells nobody: `set` does, once it is on screen. */
  add(id: string, parent: string | undefined, active: boolean, modal: boolean, handlers: ScopeHandlers): Scope {
    const known = this.#scopes.get(id);
    if (known) return known;
    const depth = parent === undefined ? 0 : (this.#scopes.get(parent)?.depth ?? 0) + 1;
    this.#born += 1;
    const scope = { id, parent, depth, born: this.#born, active, modal, handlers };
    this.#scopes.set(id, scope);
    return scope;
  }

  /** Says anew what a scope does; tells the listeners when what is offered has changed. */
  set(id: string, parent: string | undefined, active: boolean, modal: boolean, handlers: ScopeHandlers): void {
    Object.assign(this.add(id, parent, active, modal, handlers), { active, modal, handlers });
    this.#changed();
  }

  remove(id: string): void {
    this.#scopes.delete(id);
    this.#changed();
  }

  /** Scopes that may see a key, the first one first. */
  path(): readonly Scope[] {
    const live = [...this.#scopes.values()]
      .filter(scope => this.#isLive(scope))
      .sort((left, right) => right.depth - left.depth || right.born - left.born);
    const modals = live.filter(scope => scope.modal).sort((left, right) => right.born - left.born);
    const modal = modals[0];
    if (!modal) return live;
    return live.filter(scope => scope === modal || this.#isWithin(scope, modal));
  }

  /** Sends one press on its way. Returns whether something took it. */
  press(press: KeyPress): boolean {
    for (const { handlers } of this.path()) {
      const bound = handlers.bindings?.some(
        binding => this.#applies(binding) && this.keysOf(binding.command).includes(press.name),
      );
      // A field gives up none of its characters, but a key that writes nothing is first what it is bound to.
      if ((press.text !== '' || !bound) && handlers.onText?.(press)) return true;
      for (const binding of handlers.bindings ?? []) {
        if (this.#applies(binding) && this.keysOf(binding.command).includes(press.name)) {
          if (binding.run(press) !== false) return true;
        }
      }
    }
    return false;
  }

  /** Whether a press may follow others, and others it, without a drawing between them. */
  repeats(press: KeyPress): boolean {
    for (const { handlers } of this.path()) {
      if (handlers.onText && press.text !== '') return true;
      const binding = handlers.bindings?.find(
        candidate => this.#applies(candidate) && this.keysOf(candidate.command).includes(press.name),
      );
      if (binding) return binding.command.repeats ?? false;
    }
    return true;
  }

  /**
   * Sends presses on their way in their order. Where the screen must be drawn in between, the rest waits until `draw`
   * calls back, which it does once everything dispatched so far is on screen.
   */
  send(presses: readonly KeyPress[], draw: (then: () => void) => void): void {
    this.#draw = draw;
    this.#queue.push(...presses);
    this.#drain(draw);
  }

  /** Lets the keys wait, so that what is typed ahead of a view that is being loaded is not lost. Gives the end of that. */
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
      const press = this.#queue[0];
      if (press === undefined) return;
      const repeats = this.repeats(press);
      if (!repeats && this.#undrawn) return;
      this.#queue.shift();
      this.press(press);
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

  paste(text: string): boolean {
    return this.path().some(({ handlers }) => handlers.onPaste?.(text) ?? false);
  }

  keysOf(command: Command): readonly string[] {
    return this.#options.overrides[command.id] ?? command.keys;
  }

  /** What the keys would do now, the innermost first; a key taken further in is not offered again further out. */
  offered = (): readonly Binding[] => {
    if (this.#offered) return this.#offered;
    const taken = new Set<string>();
    const offered: Binding[] = [];
    for (const { handlers } of this.path()) {
      const fresh = (handlers.bindings ?? []).filter(
        binding => this.#applies(binding) && this.keysOf(binding.command).some(key => !taken.has(key)),
      );
      for (const binding of fresh) for (const key of this.keysOf(binding.command)) taken.add(key);
      offered.push(...fresh);
    }
    this.#offered = offered;
    return offered;
  };

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #applies({ command, enabled = true }: Binding): boolean {
    return enabled && !(this.#options.readOnly && command.writes);
  }

  #isLive(scope: Scope): boolean {
    if (!scope.active) return false;
    const parent = scope.parent === undefined ? undefined : this.#scopes.get(scope.parent);
    return parent === undefined || this.#isLive(parent);
  }

  #isWithin(scope: Scope, ancestor: Scope): boolean {
    for (let at = scope.parent; at !== undefined; at = this.#scopes.get(at)?.parent) {
      if (at === ancestor.id) return true;
    }
    return false;
  }

  /** Only a change of what is offered is news: the same commands with other closures are not. */
  #changed(): void {
    const before = this.#offered;
    this.#offered = undefined;
    const after = [...this.offered()];
    this.#offered = after;
    const same =
      before?.length === after.length && before.every((binding, index) => binding.command === after[index]?.command);
    if (before && same) {
      // The array keeps its identity, which tells React that nothing is new; its bindings run the latest closures.
      before.splice(0, before.length, ...after);
      this.#offered = before;
      return;
    }
    for (const listener of this.#listeners) listener();
  }
}

const RouterContext = createContext<Router | undefined>(undefined);
const ParentContext = createContext<string | undefined>(undefined);

export function useRouter(): Router {
  const router = useContext(RouterContext);
  if (!router) throw new Error('keys need a KeyRouter above them');
  return router;
}

export interface KeyRouterProps {
  readonly overrides?: KeyOverrides;
  readonly readOnly?: boolean;
  readonly children: ReactNode;
}

const noOverrides: KeyOverrides = {};

/** The one place where keys and pastes come in. */
export function KeyRouter({ overrides = noOverrides, readOnly = false, children }: KeyRouterProps) {
  const router = useMemo(() => new Router({ overrides, readOnly }), [overrides, readOnly]);
  // What is dispatched before this number changes is on screen once the change is: React keeps the order.
  const [, setDrawn] = useState(0);
  const waiting = useRef<(() => void)[]>([]);
  const draw = (then: () => void): void => {
    waiting.current.push(then);
    setDrawn(count => count + 1);
  };
  useLayoutEffect(() => {
    for (const then of waiting.current.splice(0)) setImmediate(then);
  });
  useInput((input, key) => router.send(keyPresses(input, key), draw));
  usePaste(text => {
    router.paste(text);
  });
  return <RouterContext value={router}>{children}</RouterContext>;
}

export interface KeyScopeProps extends ScopeHandlers {
  readonly active?: boolean;
  readonly modal?: boolean;
  readonly children?: ReactNode;
}

/** A part of the screen that takes keys while it is active. */
export function KeyScope({ active = true, modal = false, bindings, onText, onPaste, children }: KeyScopeProps) {
  const router = useRouter();
  const parent = useContext(ParentContext);
  const id = useId();
  const [registered, setRegistered] = useState(false);
  const handlers: ScopeHandlers = {
    ...(bindings && { bindings }),
    ...(onText && { onText }),
    ...(onPaste && { onPaste }),
  };
  const latest = useRef(handlers);
  latest.current = handlers;
  // A scope must be known before the ones inside it ask for its depth, so it registers while drawing the first time.
  if (!registered) {
    router.add(id, parent, active, modal, handlers);
    setRegistered(true);
  }
  useLayoutEffect(() => router.set(id, parent, active, modal, latest.current));
  // With the drawing and not after it: the next key must not go to what has just been closed.
  useLayoutEffect(() => () => router.remove(id), [router, id]);
  return <ParentContext value={id}>{children}</ParentContext>;
}

/** What the keys would do now; the caller is drawn again when that changes. */
export function useOffered(): readonly Binding[] {
  const router = useRouter();
  return useSyncExternalStore(router.subscribe, router.offered);
}
