/** Names cut to a width so that those that are not the same do not look the same. */
import { displayWidth, graphemes, type TruncateOptions, truncate } from './width.ts';

/** How many of the graphemes that names have in common stand before those that differ, where there is room. */
const mostContext = 2;

/** Of a longer name, so much is looked at. */
const longest = 4_096;

const commonStart = (one: readonly string[], other: readonly string[]): number => {
  const shorter = Math.min(one.length, other.length);
  let common = 0;
  while (common < shorter && one[common] === other[common]) common += 1;
  return common;
};

/** Where each name begins to differ from a name before it, for all before it: at each of these graphemes from one or more. */
function forksAfter(names: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const open: number[] = [];
  return names.map((name, index) => {
    const before = names[index - 1];
    if (before) {
      const fork = commonStart(before, name);
      while ((open.at(-1) ?? -1) > fork) open.pop();
      if (open.at(-1) !== fork) open.push(fork);
    }
    return [...open];
  });
}

/** The graphemes at which each name begins to differ from others. @param names in order, so that those that begin alike are neighbours */
function forksOf(names: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const [before, after] = [forksAfter(names), forksAfter(names.toReversed()).toReversed()];
  return names.map((_, index) =>
    [...new Set([...(before[index] ?? []), ...(after[index] ?? [])])].sort((a, b) => a - b),
  );
}

interface Pieces {
  /** Cells of each, if its fork is not further from its start. */
  readonly cells: number;
  readonly context: number;
  readonly ellipsis: string;
}

/** A name at its forks. Names that share a start show the same up to where they differ, and that. */
function shownAt(name: readonly string[], forks: readonly number[], { cells, context, ellipsis }: Pieces): string {
  let shown = '';
  let end = 0;
  for (const fork of forks) {
    if (fork < end) continue;
    const start = Math.max(end, fork - context);
    if (start > end) shown += ellipsis;
    let used = 0;
    for (end = start; end < name.length; end++) {
      const part = name[end] ?? '';
      used += displayWidth(part);
      if (end > fork && used > cells) break;
      shown += part;
    }
  }
  return end < name.length ? shown + ellipsis : shown;
}

/** What names show that would look alike: the parts in which they differ, as much of each as there is room for. */
function cutAtForks(names: readonly string[], width: number, ellipsis: string): ReadonlyMap<string, string> {
  const sorted = names.toSorted();
  const split = sorted.map(name => graphemes(name.slice(0, longest)));
  const forks = forksOf(split);
  const cut = (cells: number, context: number): readonly string[] =>
    split.map((name, index) => shownAt(name, forks[index] ?? [], { cells, context, ellipsis }));
  const isRoomFor = (shown: readonly string[]): boolean => shown.every(each => displayWidth(each) <= width);
  const context = isRoomFor(cut(1, mostContext)) ? mostContext : 0;
  let [fits, tooMany] = [1, width + 1];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (isRoomFor(cut(middle, context))) fits = middle;
    else tooMany = middle;
  }
  const cuts = cut(fits, context);
  return new Map(sorted.map((name, index) => [name, truncate(cuts[index] ?? '', width, { ellipsis })]));
}

/**
 * What each name shows in `width` cells: itself if it fits, without its middle otherwise. Names that would look alike show
 * the parts in which they differ instead.
 */
export function cutApart(
  names: Iterable<string>,
  width: number,
  { ellipsis = '…', position = 'middle' }: TruncateOptions = {},
): ReadonlyMap<string, string> {
  const cuts = new Map(Array.from(names, name => [name, truncate(name, width, { ellipsis, position })]));
  const byCut = Map.groupBy(cuts.keys(), name => cuts.get(name));
  const alike = [...byCut.values()].flatMap(group => (group.length > 1 ? group : []));
  return alike.length === 0 ? cuts : new Map([...cuts, ...cutAtForks(alike, width, ellipsis)]);
}
