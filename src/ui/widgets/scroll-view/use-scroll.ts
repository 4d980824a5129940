/** The state of a scrolled text, and its keys. */
import { useMemo, useReducer, useRef } from 'react';
import type { Command } from '../../../present/command.ts';
import { scrollCommands, typingCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import type { Binding, ScopeHandlers } from '../../keys/router.tsx';
import { type EditState, edit, editStateOf, fieldHandlers, textOf } from '../text-field/editing.ts';
import { type Found, find, type SearchedLine } from './places.ts';
import {
  initialScrollState,
  offsetOf,
  type ScrollAction,
  type ScrollState,
  type ScrollSurroundings,
  scrollReducer,
} from './scroll-state.ts';

export interface ScrollOptions {
  readonly lineCount: number;
  /** Plain text of a displayed line. */
  readonly textAt: (line: number) => string;
  /** Lines for the text. */
  readonly height: number;
  readonly initial?: ScrollState | undefined;
  /** For a text that is wrapped and folded; without it, positions are line numbers. */
  readonly places?: ScrollPlaces;
}

/** The same object for as long as the text is the same. */
export interface ScrollPlaces {
  readonly placeAt: (line: number) => number;
  /** Whether a position is folded away. */
  readonly isFolded: (place: number) => boolean;
  /** The text for searching. */
  readonly searched: () => Iterable<SearchedLine>;
}

export interface Scroll {
  readonly state: ScrollState;
  /** Index of the first visible line, within bounds. */
  readonly offset: number;
  readonly typing: EditState | undefined;
  readonly surroundings: ScrollSurroundings;
  readonly dispatch: (action: ScrollAction) => void;
  readonly handlers: ScopeHandlers;
}

interface Inner {
  readonly scroll: ScrollState;
  readonly typing: EditState | undefined;
}

type InnerAction =
  | ScrollAction
  | { readonly kind: 'typing'; readonly typing: EditState | undefined }
  | { readonly kind: 'press'; readonly press: KeyPress };

const oneLine = { multiline: false } as const;

function* linesOf(count: number, textAt: (line: number) => string): Generator<SearchedLine> {
  for (let place = 0; place < count; place += 1) yield { text: textAt(place), place };
}

/** Searches once for each query. */
function createFinder(searched: () => Iterable<SearchedLine>): (query: string) => Found {
  let known: { readonly query: string; readonly found: Found } | undefined;
  return query => {
    if (known?.query !== query) known = { query, found: find(searched(), query) };
    return known.found;
  };
}

export function useScroll({ lineCount, textAt, height, initial, places }: ScrollOptions): Scroll {
  const finder = useMemo(() => places && createFinder(places.searched), [places]);
  const surroundings: ScrollSurroundings = {
    lineCount,
    height,
    placeAt: places?.placeAt ?? (line => line),
    isFolded: places?.isFolded ?? (() => false),
    find: finder ?? createFinder(() => linesOf(lineCount, textAt)),
  };
  // Keys before the next frame act on what is on screen.
  const around = useRef(surroundings);
  around.current = surroundings;
  const [{ scroll, typing }, dispatch] = useReducer(
    (inner: Inner, action: InnerAction): Inner => {
      if (action.kind === 'typing') return { ...inner, typing: action.typing };
      if (action.kind === 'press') {
        const next = inner.typing && edit(inner.typing, action.press, oneLine);
        if (!next) return inner;
        const query = textOf(next);
        return { typing: next, scroll: scrollReducer(inner.scroll, { kind: 'search', query }, around.current) };
      }
      const next = scrollReducer(inner.scroll, action, around.current);
      return next === inner.scroll ? inner : { ...inner, scroll: next };
    },
    { scroll: initial ?? initialScrollState, typing: undefined },
  );
  const does = (command: Command, action: InnerAction): Binding => ({ command, run: () => dispatch(action) });
  const type = (press: KeyPress): void => dispatch({ kind: 'press', press });
  const handlers: ScopeHandlers = typing
    ? {
        bindings: [
          does(typingCommands.accept, { kind: 'typing', typing: undefined }),
          {
            command: typingCommands.cancel,
            run: () => {
              dispatch({ kind: 'typing', typing: undefined });
              dispatch({ kind: 'search', query: '' });
            },
          },
        ],
        field: fieldHandlers(oneLine, type),
        onPaste: text => {
          type({ name: 'paste', text });
          return true;
        },
      }
    : {
        bindings: [
          does(scrollCommands.up, { kind: 'by', lines: -1 }),
          does(scrollCommands.down, { kind: 'by', lines: 1 }),
          does(scrollCommands.pageUp, { kind: 'page', pages: -1 }),
          does(scrollCommands.pageDown, { kind: 'page', pages: 1 }),
          does(scrollCommands.halfUp, { kind: 'page', pages: -0.5 }),
          does(scrollCommands.halfDown, { kind: 'page', pages: 0.5 }),
          does(scrollCommands.top, { kind: 'to', line: 0 }),
          does(scrollCommands.bottom, { kind: 'bottom' }),
          { command: scrollCommands.search, run: () => dispatch({ kind: 'typing', typing: editStateOf('') }) },
          { ...does(scrollCommands.next, { kind: 'next', direction: 1 }), enabled: scroll.query !== '' },
          { ...does(scrollCommands.previous, { kind: 'next', direction: -1 }), enabled: scroll.query !== '' },
          { ...does(scrollCommands.clearSearch, { kind: 'search', query: '' }), enabled: scroll.query !== '' },
        ],
      };
  return {
    state: scroll,
    offset: offsetOf(scroll, surroundings),
    typing,
    surroundings,
    dispatch,
    handlers,
  };
}
