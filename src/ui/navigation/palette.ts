/** Ranks the command palette's entries. Pure. */
import { cutApart } from '../../text/apart.ts';
import { fuzzyMatch, fuzzyRank } from '../../text/fuzzy.ts';
import { displayWidth, truncate } from '../../text/width.ts';

export interface PaletteEntry {
  /** Unique among the entries. */
  readonly id: string;
  /** Shown, and searched first. */
  readonly title: string;
  /** Other names to search. */
  readonly words: readonly string[];
  /** Shown on the right, e.g. its key. */
  readonly note: string;
  readonly run: () => void;
  /** Entries with a higher rank come after all others, even if they match better; 0 if missing. */
  readonly rank?: number;
}

const byRank = (entries: readonly PaletteEntry[]): readonly PaletteEntry[] =>
  entries.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));

/**
 * The entries for a query, best first. An exact name or alias comes first, so that `:run` never opens something merely
 * similar; without a query, recently used ones come first.
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

/** Truncates titles to `width` cells so that they stay distinct and still show the query's words. */
export function cutTitles(
  titles: readonly string[],
  width: number,
  query: string,
  ellipsis?: string,
): ReadonlyMap<string, string> {
  const options = ellipsis === undefined ? {} : { ellipsis };
  const words = query.trim().toLowerCase().split(/\s+/);
  const cuts = [...cutApart(titles, width, options)].map(([title, cut]) => {
    const found = words.map(word => fuzzyMatch(word, title)?.ranges ?? []);
    const hidden = found.findLast(([at, more]) => at && !more && !cut.includes(title.slice(...at)))?.[0];
    if (!hidden) return [title, cut] as const;
    const [before, word, after] = [title.slice(0, hidden[0]), title.slice(...hidden), title.slice(hidden[1])];
    const rest = width - displayWidth(word);
    const room = Math.max(Math.ceil(rest / 2), rest - displayWidth(after));
    const start = truncate(before, room, { ...options, position: 'start' }) + word;
    return [title, truncate(start + after, width, options)] as const;
  });
  return new Map(cuts);
}
