/** The key router in React: where keys come in, and the scopes that handle them. */
import { useInput, usePaste } from 'ink';
import {
  createContext,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { KeyOverrides } from './key.ts';
import { keyPresses } from './key.ts';
import { type KeyOf, type Offer, Router } from './key-router.ts';
import type { ScopeOptions } from './scopes.ts';

export type { KeyOf, Offer } from './key-router.ts';
export type { Binding, ScopeHandlers } from './scopes.ts';

const RouterContext = createContext<Router | undefined>(undefined);
const ParentContext = createContext<string | undefined>(undefined);

export function useRouter(): Router {
  const router = useContext(RouterContext);
  if (!router) throw new Error('keys need a KeyRouter above them');
  return router;
}

interface KeyRouterProps {
  readonly overrides?: KeyOverrides;
  readonly readOnly?: boolean;
  /** Called with a key handler's error. */
  readonly onFailure?: (error: unknown) => void;
  readonly children: ReactNode;
}

const noOverrides: KeyOverrides = {};

/**
 * A read of more characters than anyone types, even ahead of a busy program, is a paste in a terminal that does not
 * mark pastes. As keys, it would sort, mark and delete for minutes.
 */
const minFloodLength = 512;
/** A terminal delivers a paste in chunks of some kilobytes; input this soon after a chunk is its continuation. */
const floodMs = 50;
/**
 * A chunk of this many characters filled the terminal's buffer (1,024 bytes on macOS, 4,095 on Linux), so a single
 * character after it may still belong to the paste.
 */
const fullRead = 1_000;

/** Distinguishes chunks of an unmarked paste from keys. `now` is in milliseconds. */
export function createFloodGauge(): (input: string, now: number) => boolean {
  let floodedAt = Number.NEGATIVE_INFINITY;
  let wasFull = false;
  return (input, now) => {
    const continues = now - floodedAt < floodMs && (input.length > 1 || wasFull);
    const floods = input.length >= minFloodLength || continues;
    if (floods) floodedAt = now;
    wasFull = input.length >= fullRead;
    return floods;
  };
}

/** The only entry point for keys and pastes. Only the first render's options count. */
export function KeyRouter({ overrides = noOverrides, readOnly = false, onFailure, children }: KeyRouterProps) {
  const [router] = useState(() => new Router({ overrides, readOnly, onFailure }));
  // React keeps the order: once this number is on screen, so is everything dispatched before it.
  const [, setDrawn] = useState(0);
  const waiting = useRef<(() => void)[]>([]);
  const draw = (then: () => void): void => {
    waiting.current.push(then);
    setDrawn(count => count + 1);
  };
  useLayoutEffect(() => {
    for (const then of waiting.current.splice(0)) setImmediate(then);
  });
  const [isFlood] = useState(createFloodGauge);
  const readAt = useRef<number>(undefined);
  useInput((input, key) => {
    // Ink turns a read into several events, one after the other.
    const at = readAt.current ?? performance.now();
    readAt.current = at;
    queueMicrotask(() => {
      readAt.current = undefined;
    });
    if (isFlood(input, at)) router.sendPaste(input, draw);
    else {
      const presses = keyPresses(input, key).map(press => ({ ...press, at }));
      // What it is depends on the keys that follow in the read.
      if (presses.some(({ escaped }) => escaped)) queueMicrotask(router.hold());
      router.send(presses, draw);
    }
  });
  usePaste(text => router.sendPaste(text, draw));
  return <RouterContext value={router}>{children}</RouterContext>;
}

interface KeyScopeProps extends Omit<ScopeOptions, 'parent'> {
  readonly children?: ReactNode;
}

/** A part of the screen that handles keys while it is active. */
export function KeyScope({ children, ...options }: KeyScopeProps) {
  const router = useRouter();
  const parent = useContext(ParentContext);
  const id = useId();
  // An effect, because a failed render must leave no scope behind.
  useLayoutEffect(() => router.set(id, { ...options, parent }));
  // A layout effect: the next key must not go to a closed scope.
  useLayoutEffect(() => () => router.remove(id), [router, id]);
  return <ParentContext value={id}>{children}</ParentContext>;
}

/** The available commands; the caller is redrawn when they change. */
export function useOffered(): readonly Offer[] {
  const router = useRouter();
  return useSyncExternalStore(router.subscribe, router.offered);
}

/** Returns a function that gives a command's key for use in a sentence. */
export function useKeyOf(): KeyOf {
  return useRouter().keyOf;
}
