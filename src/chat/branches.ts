/** A conversation's branches: an edited question starts a new branch, and the others stay unchanged. Pure. */
import { pairKey } from './choices.ts';
import { isIncomplete, type Turn, turnText } from './conversation.ts';
import type { ChatSettings } from './session.ts';

export interface Branch {
  readonly settings: ChatSettings;
  readonly turns: readonly Turn[];
  /** The conversation with the second model, if there was one. */
  readonly secondTurns?: readonly Turn[] | undefined;
}

/** The branches other than the current one. */
export interface OtherBranches {
  /** In the order they were started. */
  readonly others: readonly Branch[];
  /** The current branch's position among them. */
  readonly branch: number;
}

export const onlyBranch: OtherBranches = { others: [], branch: 0 };

/** All branches, in the order they were started. */
export function allBranches({ others, branch }: OtherBranches, current: Branch): readonly Branch[] {
  return [...others.slice(0, branch), current, ...others.slice(branch)];
}

/** Starts a new branch after all others and keeps the current one. */
export function branchOff(branches: OtherBranches, current: Branch): OtherBranches {
  const others = allBranches(branches, current);
  return { others, branch: others.length };
}

/** Goes to a branch by its position; undefined if there is none. */
export function goToBranch(
  branches: OtherBranches,
  current: Branch,
  index: number,
): (OtherBranches & { readonly current: Branch }) | undefined {
  const all = allBranches(branches, current);
  const target = all[index];
  return target && { others: all.filter((_, each) => each !== index), branch: index, current: target };
}

/** Whether a turn is the same or, if it is an incomplete answer, has more of it. */
function continuesAnswer(earlier: Turn, later: Turn | undefined): boolean {
  if (JSON.stringify(earlier) === JSON.stringify(later)) return true;
  if (!isIncomplete(earlier)) return false;
  if (turnText(earlier) === '' && earlier.reasoning === '' && !earlier.calls?.length) return true;
  // Another answer to the same question has another time.
  const at = earlier.stats?.at;
  if (at === undefined || later?.stats?.at !== at) return false;
  return later.content.startsWith(earlier.content) && later.reasoning.startsWith(earlier.reasoning);
}

/** Whether these turns continue others, whose last answer may have been incomplete then. */
const continues = (turns: readonly Turn[] = [], earlier: readonly Turn[] = []): boolean =>
  earlier.every((turn, index) => continuesAnswer(turn, turns[index]));

const isContinued = (earlier: Branch, later: Branch): boolean =>
  continues(later.turns, earlier.turns) && continues(later.secondTurns, earlier.secondTurns);

/** Adds the branches that the conversation on screen lacks: in place of those that they continue, or after all others. */
export function withBranches(branches: OtherBranches, current: Branch, added: readonly Branch[]): readonly Branch[] {
  const all = allBranches(branches, current);
  const lacking = added.filter(each => !all.some(own => isContinued(each, own)));
  const others = branches.others.map(own => lacking.find(each => isContinued(own, each)) ?? own);
  return [...others, ...lacking.filter(each => !others.includes(each))];
}

/** A turn that differs between branches: its position among the variants, and how many there are. */
export type Fork = readonly [position: number, count: number];

/** The turns, by index, at which branches with the same beginning diverge. */
export function forksOf(all: readonly (readonly Turn[])[], current: readonly Turn[]): ReadonlyMap<number, Fork> {
  const forks = new Map<number, Fork>();
  if (all.length < 2) return forks;
  const keyAt = (turns: readonly Turn[], index: number): string => pairKey(turns, [], index);
  let alike = all;
  for (const index of current.keys()) {
    const own = keyAt(current, index);
    alike = alike.filter(each => each.length > index);
    const variants = [...new Set(alike.map(each => keyAt(each, index)))];
    if (variants.length > 1) forks.set(index, [variants.indexOf(own) + 1, variants.length]);
    alike = alike.filter(each => keyAt(each, index) === own);
  }
  return forks;
}
