/**
 * Places in a text that is scrolled: numbers that ascend from line to line and stay the same when the text is wrapped or
 * folded in another way. Pure.
 */
import { type Filter, filterRows, parseFilter } from '../../../text/filter.ts';
import { lastAt } from '../../../text/last-at.ts';

/** A line of the text as it is searched: whole, and whether it is shown or not. */
export interface SearchedLine {
  readonly text: string;
  /** Where it begins. */
  readonly place: number;
}

/** What a search has found. */
export interface Found {
  /** How many lines match. */
  readonly count: number;
  /** Why there may be more, or none: an expression that is wrong, or took too long. */
  readonly problem: string | undefined;
  /** Index of the last match that begins no later than `place`; -1 before the first. */
  readonly at: (place: number) => number;
  /** Where the match is, within its line. */
  readonly placeOf: (index: number) => number;
}

const nothing: Found = { count: 0, problem: undefined, at: () => -1, placeOf: () => 0 };

/** Searches in the language of the list filters. */
export function find(lines: Iterable<SearchedLine>, query: string): Found {
  const filter = parseFilter(query);
  if (!filter.ok) return { ...nothing, problem: filter.error };
  if (filter.kind === 'all') return nothing;
  const { rows, notice } = filterRows([...lines], line => line.text, filter);
  return {
    count: rows.length,
    problem: notice,
    at: place => lastAt(rows.length, index => rows[index]?.place ?? 0, place),
    placeOf: index => placeIn(rows[index], filter),
  };
}

function placeIn(line: SearchedLine | undefined, filter: Filter): number {
  if (!line) return 0;
  return line.place + (filter.matches(line.text)?.[0]?.[0] ?? 0);
}
