/** Truncates names so that different names stay distinguishable. */
import { displayWidth, graphemes, type TruncateOptions, truncate } from './width.ts';

/** Maximum graphemes of the shared part to show before a difference, if there is room. */
const maxContext = 2;

/** Words that most names share are dropped from this part of the room on: a third. */
const maxStartShare = 3;

/** Longer names are compared only up to this length. */
const maxComparedLength = 4_096;

const commonStart = (one: readonly string[], other: readonly string[]): number => {
  const shorter = Math.min(one.length, other.length);
  let common = 0;
  while (common < shorter && one[common] === other[common]) common += 1;
  return common;
};

/** For each name, the positions at which it first differs from earlier names. */
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

/**
 * For each name, the positions at which it first differs from others.
 *
 * @param names sorted, so that names with a common prefix are neighbours
 */
function forksOf(names: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const [before, after] = [forksAfter(names), forksAfter(names.toReversed()).toReversed()];
  return names.map((_, index) =>
    [...new Set([...(before[index] ?? []), ...(after[index] ?? [])])].sort((a, b) => a - b),
  );
}

interface Pieces {
  /** How many cells each piece gets; a piece always includes its fork. */
  readonly cells: number;
  readonly context: number;
  readonly ellipsis: string;
}

/**
 * The pieces of a name around its forks. Names that share a prefix show the same pieces up to their first difference.
 */
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

/** Truncates names to the parts in which they differ, showing as much of each part as fits. */
function cutAtForks(names: readonly string[], width: number, ellipsis: string): ReadonlyMap<string, string> {
  const sorted = names.toSorted();
  const split = sorted.map(name => graphemes(name.slice(0, maxComparedLength)));
  const forks = forksOf(split);
  const cut = (cells: number, context: number): readonly string[] =>
    split.map((name, index) => shownAt(name, forks[index] ?? [], { cells, context, ellipsis }));
  const isRoomFor = (shown: readonly string[]): boolean => shown.every(each => displayWidth(each) <= width);
  const context = isRoomFor(cut(1, maxContext)) ? maxContext : 0;
  let [fits, tooMany] = [1, width + 1];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (isRoomFor(cut(middle, context))) fits = middle;
    else tooMany = middle;
  }
  const cuts = cut(fits, context);
  return new Map(sorted.map((name, index) => [name, truncate(cuts[index] ?? '', width, { ellipsis })]));
}

/** The words with which more than half of the names begin; empty if there are none. */
function sharedWords(names: readonly string[]): string {
  const sorted = names.map(name => name.slice(0, maxComparedLength)).sort();
  const half = Math.floor(sorted.length / 2);
  const starts = sorted.slice(half).map((name, index) => {
    const letters = graphemes(name);
    const common = letters.slice(0, commonStart(letters, graphemes(sorted[index] ?? '')));
    return common.slice(0, common.findLastIndex(part => !/[\p{L}\p{N}]/u.test(part)) + 1).join('');
  });
  return half === 0 ? '' : starts.reduce((one, other) => (other.length > one.length ? other : one));
}

/**
 * If most names begin with the same words, drops those words, unless they take little of the room or the cut in the
 * middle shows all that follows them. A few names may begin differently.
 *
 * @param cuts the names with their cuts in the middle
 */
function cutAfterStart(
  cuts: ReadonlyMap<string, string>,
  width: number,
  ellipsis: string,
): readonly (readonly [string, string])[] {
  // Names whose cuts look alike are cut at their differences.
  const byCut = [...Map.groupBy(cuts, ([, cut]) => cut).values()];
  const long = byCut.flatMap(([[name, cut] = ['', ''], ...alike]) => (alike.length > 0 || cut === name ? [] : [name]));
  const words = sharedWords(long);
  if (displayWidth(words) * maxStartShare < width) return [];
  const rests = long.filter(name => name.startsWith(words)).map(name => [name, name.slice(words.length)] as const);
  const isTail = ([name, rest]: readonly [string, string]): boolean => cuts.get(name)?.endsWith(rest) === true;
  if (words === '' || rests.every(isTail)) return [];
  return rests.map(([name, rest]) => [name, truncate(ellipsis + rest, width, { ellipsis, position: 'middle' })]);
}

/**
 * Truncates each name to `width` cells, in the middle by default, and drops a long beginning that most of them share.
 * Names that would look alike instead show the parts in which they differ.
 */
export function cutApart(
  names: Iterable<string>,
  width: number,
  { ellipsis = '…', position = 'middle' }: TruncateOptions = {},
): ReadonlyMap<string, string> {
  const cuts = new Map(Array.from(names, name => [name, truncate(name, width, { ellipsis, position })]));
  if (position === 'middle') for (const [name, cut] of cutAfterStart(cuts, width, ellipsis)) cuts.set(name, cut);
  const byCut = Map.groupBy(cuts.keys(), name => cuts.get(name));
  const alike = [...byCut.values()].flatMap(group => (group.length > 1 ? group : []));
  return alike.length === 0 ? cuts : new Map([...cuts, ...cutAtForks(alike, width, ellipsis)]);
}

/** How many characters at the end of a longer id to show, which leaves room for the name before it. */
const shortId = 5;

/** The end of an id, which distinguishes resources with the same name. */
export const endOfId = (id: string): string => (id.length > shortId + 1 ? `…${id.slice(-shortId)}` : id);
