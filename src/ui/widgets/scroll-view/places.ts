/** Positions in scrolled text: numbers that ascend from line to line and do not depend on wrapping or folding. Pure. */

import { lastAt } from '../../../base/binary-search.ts';
import { type Filter, filterRows, parseFilter } from '../../../text/filter.ts';

/** A line to search: unwrapped, and possibly folded away. */
export interface SearchedLine {
  readonly text: string;
  readonly place: number;
}

/** The result of a search. */
export interface Found {
  /** The number of matching lines. */
  readonly count: number;
  /** Why matches may be missing: an invalid expression, or one that took too long. */
  readonly problem: string | undefined;
  /** Index of the last match at or before `place`; -1 if there is none. */
  readonly at: (place: number) => number;
  /** The position of a match, by index. */
  readonly placeOf: (index: number) => number;
}

const nothingFound: Found = { count: 0, problem: undefined, at: () => -1, placeOf: () => 0 };

/** Searches with the syntax that list filters use. */
export function find(lines: Iterable<SearchedLine>, query: string): Found {
  const filter = parseFilter(query);
  if (!filter.ok) return { ...nothingFound, problem: filter.error };
  if (filter.kind === 'all') return nothingFound;
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
