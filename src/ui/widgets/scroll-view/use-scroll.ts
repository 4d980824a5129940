/** The state of a scrolled text and its keys. */
import { useReducer, useRef } from 'react';
import { parseFilter } from '../../../text/filter.ts';
import type { Command } from '../../keys/command.ts';
import { scrollCommands, typingCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import type { Binding, ScopeHandlers } from '../../keys/router.tsx';
import { type EditState, edit, editStateOf, textOf } from '../text-field/editing.ts';
import {
  initialScrollState,
  lastOffset,
  type ScrollAction,
  type ScrollState,
  type ScrollSurroundings,
  scrollReducer,
} from './scroll-state.ts';

export interface ScrollOptions {
  readonly lineCount: number;
  /** Plain text of a line, for the search. */
  readonly textAt: (line: number) => string;
  /** Lines for the text. */
  readonly height: number;
  readonly initial?: ScrollState | undefined;
}

export interface Scroll {
  readonly state: ScrollState;
  /** Index of the first line shown, within what there is. */
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

/** Whether a text matches what is searched for, in the language of the list filters. */
function createMatcher(textAt: (line: number) => string): ScrollSurroundings['matches'] {
  let known: { query: string; accepts: (text: string) => boolean } | undefined;
  return (line, query) => {
    if (known?.query !== query) {
      const filter = parseFilter(query);
      known = { query, accepts: filter.ok && filter.kind !== 'all' ? filter.accepts : () => false };
    }
    return known.accepts(textAt(line));
  };
}

export function useScroll({ lineCount, textAt, height, initial }: ScrollOptions): Scroll {
  const around = useRef<ScrollSurroundings>({ lineCount, height, matches: () => false });
  around.current = { lineCount, height, matches: createMatcher(textAt) };
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
  const typed = (press: KeyPress): boolean => {
    if (press.text === '' && !edit(editStateOf(''), press, oneLine)) return false;
    dispatch({ kind: 'press', press });
    return true;
  };
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
        onText: typed,
        onPaste: text => typed({ name: 'paste', text }),
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
    offset: Math.min(scroll.offset, lastOffset(around.current)),
    typing,
    surroundings: around.current,
    dispatch,
    handlers,
  };
}
