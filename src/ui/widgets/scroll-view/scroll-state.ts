/**
 * Scrolling and searching in text of any length. The state holds positions in the text instead of line numbers, so that
 * the reader stays in place when wrapping or folding changes. Pure.
 */
import { lastAt } from '../../../base/binary-search.ts';
import type { Found } from './places.ts';

export interface ScrollState {
  /** The position at the cursor, and its screen row. */
  readonly place: number;
  readonly row: number;
  /** The search text; empty for none. */
  readonly query: string;
  /** The position of the current match. */
  readonly match: number | undefined;
}

export const initialScrollState: ScrollState = { place: 0, row: 0, query: '', match: undefined };

export type ScrollAction =
  | { readonly kind: 'by'; readonly lines: number }
  | { readonly kind: 'page'; readonly pages: number }
  | { readonly kind: 'to'; readonly line: number }
  /** Shows a position, with this many lines before it. */
  | { readonly kind: 'show'; readonly place: number; readonly before: number }
  /**
   * Moves by this many of these ascending positions; stops at the ends or, with `wraps`, continues from the other end.
   */
  | {
      readonly kind: 'jump';
      readonly places: readonly number[];
      readonly by: number;
      readonly before: number;
      readonly wraps?: boolean;
    }
  | { readonly kind: 'bottom' }
  | { readonly kind: 'search'; readonly query: string }
  | { readonly kind: 'next'; readonly direction: -1 | 1 };

export interface ScrollSurroundings {
  readonly lineCount: number;
  readonly height: number;
  /** The position of a line; ascends from line to line. */
  readonly placeAt: (line: number) => number;
  /** Whether a position is folded away. */
  readonly isFolded: (place: number) => boolean;
  readonly find: (query: string) => Found;
}

/** The line at a position; if that is folded away, the fold's line. */
export function lineAt(place: number, { lineCount, placeAt }: ScrollSurroundings): number {
  return Math.max(0, lastAt(lineCount, placeAt, place));
}

function lastOffset({ lineCount, height }: ScrollSurroundings): number {
  return Math.max(0, lineCount - height);
}

/** Index of the first visible line. */
export function offsetOf({ place, row }: ScrollState, around: ScrollSurroundings): number {
  return Math.max(0, Math.min(lastOffset(around), lineAt(place, around) - row));
}

export function scrollReducer(state: ScrollState, action: ScrollAction, around: ScrollSurroundings): ScrollState {
  const offset = offsetOf(state, around);
  const clamped = (line: number): number => Math.max(0, Math.min(lastOffset(around), line));
  const scrollTo = (line: number): ScrollState => {
    const target = clamped(line);
    return target === offset ? state : { ...state, place: around.placeAt(target), row: 0 };
  };
  switch (action.kind) {
    case 'by':
      return scrollTo(offset + action.lines);
    case 'page':
      return scrollTo(offset + (Math.trunc(action.pages * Math.max(1, around.height - 1)) || Math.sign(action.pages)));
    case 'to':
      // The place is the reader's position, so set it even if the whole text fits.
      return { ...state, place: around.placeAt(clamped(action.line)), row: 0 };
    case 'show':
      return { ...state, place: action.place, row: Math.min(action.before, around.height - 1) };
    case 'jump': {
      const { places, by, before, wraps = false } = action;
      const { length } = places;
      const target = lastAt(length, index => places[index] ?? 0, state.place) + by;
      const index = wraps ? ((target % length) + length) % length : Math.max(0, Math.min(length - 1, target));
      const place = places[index];
      return place === undefined ? state : scrollReducer(state, { kind: 'show', place, before }, around);
    }
    case 'bottom':
      // The position is the last line, even if the whole text fits.
      return { ...state, place: around.placeAt(Math.max(0, around.lineCount - 1)), row: around.height - 1 };
    case 'search': {
      const searching = { ...state, query: action.query, match: undefined };
      if (action.query === '') return searching;
      // While the user types, show the first match after the reader's position.
      const found = around.find(action.query);
      return goToMatch(searching, firstFrom(around.placeAt(offset), found), found, around);
    }
    case 'next': {
      if (state.query === '') return state;
      const found = around.find(state.query);
      if (state.match !== undefined) return goToMatch(state, found.at(state.match) + action.direction, found, around);
      const first = firstFrom(around.placeAt(offset), found);
      return goToMatch(state, action.direction === 1 ? first : first - 1, found, around);
    }
  }
}

/** Index of the first match at or after a position. */
function firstFrom(place: number, found: Found): number {
  const index = found.at(place);
  return index >= 0 && found.placeOf(index) >= place ? index : index + 1;
}

/** Goes to a match by index, wrapping at both ends. */
function goToMatch(state: ScrollState, index: number, found: Found, around: ScrollSurroundings): ScrollState {
  if (found.count === 0) return state.match === undefined ? state : { ...state, match: undefined };
  const match = found.placeOf(((index % found.count) + found.count) % found.count);
  const offset = offsetOf(state, around);
  const line = lineAt(match, around);
  if (!around.isFolded(match) && line >= offset && line < offset + around.height) return { ...state, match };
  // A third from the top, to show context before the match and leave room to read on.
  return { ...state, match, place: match, row: Math.floor(around.height / 3) };
}

/** The current match and the number of matches: `3/10`; if there is no match, the problem. */
export function formatMatch({ match }: ScrollState, { count, problem, at }: Found): string {
  if (count === 0) return problem ?? 'no match';
  const all = `${count}${problem === undefined ? '' : '+'}`;
  return match === undefined ? `${all} found` : `${at(match) + 1}/${all}`;
}

/** How far the text is scrolled, e.g. `41%`; `all` if everything is visible. */
export function formatPosition(state: ScrollState, around: ScrollSurroundings): string {
  const last = lastOffset(around);
  if (last === 0) return 'all';
  const offset = offsetOf(state, around);
  if (offset === 0) return 'top';
  return offset === last ? 'end' : `${Math.round((100 * offset) / last)}%`;
}
