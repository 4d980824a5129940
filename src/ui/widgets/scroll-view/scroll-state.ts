/** Scrolling and searching in lines, however many there are. Pure. */

export interface ScrollState {
  /** Index of the first line shown. */
  readonly offset: number;
  /** What is searched for; empty for nothing. */
  readonly query: string;
  /** The line of the match that was last gone to, or -1. */
  readonly match: number;
}

export const initialScrollState: ScrollState = { offset: 0, query: '', match: -1 };

export type ScrollAction =
  | { readonly kind: 'by'; readonly lines: number }
  | { readonly kind: 'page'; readonly pages: number }
  | { readonly kind: 'to'; readonly line: number }
  | { readonly kind: 'bottom' }
  | { readonly kind: 'search'; readonly query: string }
  | { readonly kind: 'next'; readonly direction: -1 | 1 };

export interface ScrollSurroundings {
  readonly lineCount: number;
  readonly height: number;
  /** Whether a line matches a query. */
  readonly matches: (line: number, query: string) => boolean;
}

export function lastOffset({ lineCount, height }: ScrollSurroundings): number {
  return Math.max(0, lineCount - height);
}

export function scrollReducer(state: ScrollState, action: ScrollAction, around: ScrollSurroundings): ScrollState {
  const offset = Math.min(state.offset, lastOffset(around));
  const scrollTo = (line: number): ScrollState => {
    const target = Math.max(0, Math.min(lastOffset(around), line));
    return target === state.offset ? state : { ...state, offset: target };
  };
  switch (action.kind) {
    case 'by':
      return scrollTo(offset + action.lines);
    case 'page':
      return scrollTo(offset + (Math.trunc(action.pages * Math.max(1, around.height - 1)) || Math.sign(action.pages)));
    case 'to':
      return scrollTo(action.line);
    case 'bottom':
      return scrollTo(lastOffset(around));
    case 'search': {
      const searching = { ...state, query: action.query, match: -1 };
      if (action.query === '') return searching;
      // While typing the first match from where the reader is comes into view.
      return showMatch(searching, findMatch(searching, 1, offset, around), around);
    }
    case 'next': {
      if (state.query === '') return state;
      const from = state.match >= 0 ? state.match + action.direction : offset;
      return showMatch(state, findMatch(state, action.direction, from, around), around);
    }
  }
}

/** The first matching line from `from` on, going round at the end; -1 where nothing matches. */
function findMatch(state: ScrollState, direction: -1 | 1, from: number, around: ScrollSurroundings): number {
  const count = around.lineCount;
  for (let step = 0; step < count; step += 1) {
    const line = (((from + step * direction) % count) + count) % count;
    if (around.matches(line, state.query)) return line;
  }
  return -1;
}

function showMatch(state: ScrollState, match: number, around: ScrollSurroundings): ScrollState {
  if (match < 0) return { ...state, match };
  const seen = match >= state.offset && match < state.offset + around.height;
  // A third from the top leaves room to read on, and shows what led there.
  const offset = seen ? state.offset : match - Math.floor(around.height / 3);
  return { ...state, match, offset: Math.max(0, Math.min(lastOffset(around), offset)) };
}

/** How far one has read, e.g. `41%`; `all` where everything is seen. */
export function positionWords(state: ScrollState, around: ScrollSurroundings): string {
  const last = lastOffset(around);
  if (last === 0) return 'all';
  const offset = Math.min(state.offset, last);
  if (offset === 0) return 'top';
  return offset === last ? 'end' : `${Math.round((100 * offset) / last)}%`;
}
