/** The state of scrolled text, and its keys. */
import { useLayoutEffect, useMemo, useRef } from 'react';
import type { Command } from '../../../present/command.ts';
import { scrollCommands } from '../../keys/general.ts';
import type { Binding, ScopeHandlers } from '../../keys/router.tsx';
import type { EditState } from '../text-field/editing.ts';
import { useTypedLine } from '../text-field/use-typed-line.ts';
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
  /** A displayed line's plain text. */
  readonly textAt: (line: number) => string;
  /** How many lines the text may take. */
  readonly height: number;
  readonly initial?: ScrollState | undefined;
  /** For text that is wrapped and folded; if missing, positions are line numbers. */
  readonly places?: ScrollPlaces;
  /** False while the text is being read: actions wait for it. */
  readonly ready?: boolean;
  /** Where a number typed before `G` leads; by default, to the line with that number. */
  readonly goTo?: (number: number) => ScrollAction;
}

/** Finds positions in a text, and searches it. The same object until the text changes. */
export interface ScrollPlaces {
  readonly placeAt: (line: number) => number;
  /** Whether a position is folded away. */
  readonly isFolded: (place: number) => boolean;
  readonly searched: () => Iterable<SearchedLine>;
}

export interface Scroll {
  readonly state: ScrollState;
  /** Index of the first visible line, within bounds. */
  readonly offset: number;
  readonly typing: EditState | undefined;
  readonly surroundings: ScrollSurroundings;
  readonly dispatch: (action: ScrollAction) => void;
  /** Acts on the text, once it has been read. */
  readonly act: (make: () => ScrollAction) => void;
  readonly handlers: ScopeHandlers;
}

function* linesOf(count: number, textAt: (line: number) => string): Generator<SearchedLine> {
  for (let place = 0; place < count; place += 1) yield { text: textAt(place), place };
}

/** Caches the last search. */
function createFinder(searched: () => Iterable<SearchedLine>): (query: string) => Found {
  let known: { readonly query: string; readonly found: Found } | undefined;
  return query => {
    if (known?.query !== query) known = { query, found: find(searched(), query) };
    return known.found;
  };
}

/** Returns a function that acts at once; while the text is still being read, actions wait in order. */
function useActions(ready: boolean, dispatch: (action: ScrollAction) => void): Scroll['act'] {
  const waiting = useRef<(() => ScrollAction)[]>([]);
  useLayoutEffect(() => {
    if (ready) for (const make of waiting.current.splice(0)) dispatch(make());
  }, [ready, dispatch]);
  return make => {
    if (ready) dispatch(make());
    else waiting.current.push(make);
  };
}

const lineOf = (number: number): ScrollAction => ({ kind: 'to', line: number - 1 });

export function useScroll(options: ScrollOptions): Scroll {
  const { lineCount, textAt, height, initial, places, ready = true, goTo = lineOf } = options;
  const finder = useMemo(() => places && createFinder(places.searched), [places]);
  const surroundings: ScrollSurroundings = {
    lineCount,
    height,
    placeAt: places?.placeAt ?? (line => line),
    isFolded: places?.isFolded ?? (() => false),
    find: finder ?? createFinder(() => linesOf(lineCount, textAt)),
  };
  const line = useTypedLine<ScrollState, ScrollAction>(
    (state, action) => scrollReducer(state, action, surroundings),
    initial ?? initialScrollState,
    query => ({ kind: 'search', query }),
  );
  const { state: scroll, typing, dispatch } = line;
  const act = useActions(ready, dispatch);
  const bound = (command: Command, action: ScrollAction): Binding => ({ command, run: () => act(() => action) });
  const handlers: ScopeHandlers = typing
    ? line.handlers()
    : {
        bindings: [
          bound(scrollCommands.up, { kind: 'by', lines: -1 }),
          bound(scrollCommands.down, { kind: 'by', lines: 1 }),
          bound(scrollCommands.pageUp, { kind: 'page', pages: -1 }),
          bound(scrollCommands.pageDown, { kind: 'page', pages: 1 }),
          bound(scrollCommands.halfUp, { kind: 'page', pages: -0.5 }),
          bound(scrollCommands.halfDown, { kind: 'page', pages: 0.5 }),
          bound(scrollCommands.top, { kind: 'to', line: 0 }),
          {
            command: scrollCommands.bottom,
            run: ({ number }) => {
              const wanted = number?.();
              act(() => (wanted === undefined ? { kind: 'bottom' } : goTo(wanted)));
            },
          },
          { command: scrollCommands.search, run: () => line.begin('') },
          { ...bound(scrollCommands.next, { kind: 'next', direction: 1 }), enabled: scroll.query !== '' },
          { ...bound(scrollCommands.previous, { kind: 'next', direction: -1 }), enabled: scroll.query !== '' },
          { ...bound(scrollCommands.clearSearch, { kind: 'search', query: '' }), enabled: scroll.query !== '' },
        ],
      };
  return {
    state: scroll,
    offset: offsetOf(scroll, surroundings),
    typing,
    surroundings,
    dispatch,
    act,
    handlers,
  };
}
