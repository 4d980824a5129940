/** What the command palette offers for what was typed. Pure. */
import { fuzzyRank } from '../../text/fuzzy.ts';

export interface PaletteEntry {
  /** Unique among the entries. */
  readonly id: string;
  /** What is shown and what is searched first. */
  readonly title: string;
  /** Other names it is found under. */
  readonly words: readonly string[];
  /** Shown at the right, e.g. its key. */
  readonly note: string;
  readonly run: () => void;
}

/**
 * The entries for a query, best first. A query that is exactly a name or alias of an entry puts it first, so that `:run`
 * never opens something that merely sounds like it; without a query the recent ones come first.
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
  return [...exact, ...ranked.filter(entry => !exact.includes(entry))];
}
