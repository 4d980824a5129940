/** Ranks the entries of the command palette. Pure. */
import { fuzzyRank } from '../../text/fuzzy.ts';

export interface PaletteEntry {
  /** Unique among the entries. */
  readonly id: string;
  /** Shown, and searched first. */
  readonly title: string;
  /** Other names to search. */
  readonly words: readonly string[];
  /** Shown at the right, e.g. its key. */
  readonly note: string;
  readonly run: () => void;
  /** Entries with a higher rank come after all others, however well they match; 0 if missing. */
  readonly rank?: number;
}

const byRank = (entries: readonly PaletteEntry[]): readonly PaletteEntry[] =>
  entries.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));

/**
 * The entries for a query, best first. An exact name or alias comes first, so that `:run` never opens something merely
 * similar; without a query the recent ones come first.
 */
export function rankEntries(
  query: string,
  entries: readonly PaletteEntry[],
  recent: readonly string[],
): readonly PaletteEntry[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') {
    const known = recent.flatMap(id => entries.filter(entry => entry.id === id));
    return [...known, ...entries.filter(entry => !recent.includes(entry.id))];
  }
  const exact = entries.filter(entry => [entry.title, ...entry.words].some(word => word.toLowerCase() === wanted));
  const ranked = fuzzyRank(wanted, entries, entry => [entry.title, ...entry.words].join(' ')).map(({ item }) => item);
  return [...byRank(exact), ...byRank(ranked.filter(entry => !exact.includes(entry)))];
}
