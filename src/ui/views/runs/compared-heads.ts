/** A comparison's first lines: both runs' names and means. Pure. */

import { type BySide, type Side, sides } from '../../../base/sides.ts';
import { statusMeaning } from '../../../contract/status.ts';
import type { ComparedRuns } from '../../../present/statistics/comparison.ts';
import type { ComparedTask } from '../../../queries/compare.ts';
import { describeTaskMean } from '../../../resources/comparison.ts';
import type { NamedRun, Place } from '../../../resources/place.ts';
import { cutApart } from '../../../text/apart.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { statusStyle, statusText } from '../../widgets/status.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

/** The indent of the lines below a name: as wide as the label before it. */
export const headIndent = '      ';
const gap = '  ';
const longestStatus = 20;
/** A name gets at least this many cells, even if that takes another line. */
const minNameWidth = 12;

/** Both runs' names with their models, and with their ids if nothing else differs. */
export function comparedNames({ base, new: fresh }: Place<'compare'>): BySide<string> {
  const wordsOf = (run: NamedRun, id = ''): string =>
    [run.name, run.model, id]
      .map(part => sanitiseLine(part ?? ''))
      .filter(Boolean)
      .join(gap);
  const names = { base: wordsOf(base), new: wordsOf(fresh) };
  if (names.base !== names.new || base.id === fresh.id) return names;
  return { base: wordsOf(base, base.id), new: wordsOf(fresh, fresh.id) };
}

export interface HeadRoom {
  readonly width: number;
  /** Whether the pane has few lines: a mean then starts beside the name if that saves a line. */
  readonly isLow?: boolean;
}

/** Splits the words so that the last line is as long as possible. */
function lastLine(words: string, width: number): readonly [before: string, last: string] {
  const all = words.split(' ');
  let from = all.length - 1;
  while (from > 0 && displayWidth(all.slice(from - 1).join(' ')) <= width) from -= 1;
  return [all.slice(0, from).join(' '), all.slice(from).join(' ')];
}

/**
 * Each run's name, with its status if it is not complete, and its mean, which is never cut: if name and mean do not fit
 * on one line, the mean gets its own lines.
 *
 * @param names sanitised names
 */
export function comparedHeads(
  compared: ComparedRuns,
  names: BySide<string>,
  runs: ComparedTask['runs'] | undefined,
  { width, isLow = false }: HeadRoom,
  theme: Theme,
): string[] {
  const room = width - headIndent.length;
  const headOf = (side: Side): string[] => {
    const [name, other] = side === 'base' ? [names.base, names.new] : [names.new, names.base];
    const words = describeTaskMean(compared[side]);
    const { status } = runs?.[side] ?? {};
    const says = status != null && statusMeaning(status) !== 'success';
    const clean = sanitiseLine(status ?? '');
    const state = says ? truncate(statusText(clean, theme), longestStatus) : '';
    const line = (nameRoom: number, beside: string): string => {
      const shown = cutApart([name, other], nameRoom).get(name) ?? '';
      const parts = [shown, state && statusStyle(clean, theme)(state), beside].filter(Boolean);
      return `${side.padEnd(headIndent.length)}${parts.join(gap)}`;
    };
    const beside = (text: string): number =>
      room - [state, text].reduce((sum, part) => sum + (part === '' ? 0 : displayWidth(part) + gap.length), 0);
    const full = displayWidth(name);
    const least = isLow ? Math.min(minNameWidth, full) : full;
    if (beside(words) >= least) return [line(beside(words), words)];
    const [before, last] = lastLine(words, room);
    if (isLow && beside(before) >= least) return [line(beside(before), before), `${headIndent}${last}`];
    return [line(beside(''), ''), ...wrap(words, room).map(text => `${headIndent}${text}`)];
  };
  return sides.flatMap(headOf);
}
