/** Groups the lines of Watch, each group under a header line. Pure. */
import { keyOf } from '../queries/statuses/known-resource.ts';
import { stateOf } from './line-state.ts';
import { type WatchedResource, watchedLine } from './watch.ts';

const groupings = ['none', 'benchmark', 'status'] as const;

/** How lines are grouped; kept between sessions. */
interface Grouping {
  readonly by: (typeof groupings)[number];
  /** The names of the folded groups. */
  readonly folded: readonly string[];
}

export const ungrouped: Grouping = { by: 'none', folded: [] };

/** Validates a saved grouping, which another version may have written. */
export function groupingOf(saved: unknown): Grouping {
  const { by, folded } = (typeof saved === 'object' && saved !== null ? saved : {}) as Partial<Grouping>;
  const known = groupings.find(each => each === by) ?? 'none';
  return { by: known, folded: Array.isArray(folded) ? folded.filter(name => typeof name === 'string') : [] };
}

/** The next grouping, with all groups unfolded. */
export const nextGrouping = ({ by }: Grouping): Grouping => ({
  by: groupings[(groupings.indexOf(by) + 1) % groupings.length] ?? 'none',
  folded: [],
});

export const toggled = ({ by, folded }: Grouping, name: string): Grouping => ({
  by,
  folded: folded.includes(name) ? folded.filter(each => each !== name) : [...folded, name],
});

/** The kind of a header line. */
const groupKind = 'group';

/** The name of the group that a line or header line belongs to. */
export function groupNameOf(line: WatchedResource, by: Grouping['by'], now: number): string {
  if (line.group) return line.id;
  return by === 'status' ? stateOf(line, now).word || 'no status' : (line.benchmark ?? 'no benchmark');
}

/** Identifies a group's header line among all lines. */
export const keyOfGroup = (name: string): string => keyOf({ kind: groupKind, id: name });

/** The lines in groups, ordered by their first lines; undefined if lines are not grouped. */
export function groupedLines(
  lines: readonly WatchedResource[],
  { by, folded }: Grouping,
  now: number,
): readonly WatchedResource[] | undefined {
  if (by === 'none') return undefined;
  const groups = Map.groupBy(lines, line => groupNameOf(line, by, now));
  return [...groups].flatMap(([name, members]) => {
    const isFolded = folded.includes(name);
    const own = { ...watchedLine({ kind: groupKind, id: name }, name), group: { members, isFolded } };
    return isFolded ? [own] : [own, ...members];
  });
}
