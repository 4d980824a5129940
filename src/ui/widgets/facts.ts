/** Labels and values as lines, e.g. for the inspector. Pure. */
import { largestOf } from '../../base/many.ts';
import { type Fact, withValue } from '../../present/fact.ts';
import { asReceived } from '../../text/numbers.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { padEnd, truncate } from '../../text/width.ts';
import { wrap } from '../../text/wrap.ts';
import type { Theme } from './theme/theme.tsx';

const most = 12;

/** Facts as lines, with each reference's position. */
export interface DrawnFacts {
  readonly lines: string[];
  /** The first line of each reference, in order. */
  readonly referenceLines: number[];
}

/**
 * Lines of `width` cells: labels in their own column, long values wrapped next to them. Each group begins with its
 * title; a long label has a line of its own. A reference's value is underlined.
 *
 * @param selected index of the selected reference
 */
export function drawFacts(
  facts: readonly Fact[],
  width: number,
  { styles, glyphs }: Theme,
  selected?: number,
): DrawnFacts {
  const shown = withValue(facts);
  const column = Math.min(
    most,
    largestOf(shown, ({ label }) => label.length),
  );
  const room = Math.max(8, width - column - 2);
  const drawn: DrawnFacts = { lines: [], referenceLines: [] };
  shown.forEach(({ label, value, group, refers }, index) => {
    const isSelected = refers !== undefined && drawn.referenceLines.length === selected;
    const style = isSelected ? styles.selected : refers ? styles.link : undefined;
    const lines = wrap(sanitise(asReceived(value), { multiline: true }), room);
    const name = sanitiseLine(label);
    const isLong = name.length > column;
    if (group !== undefined && group !== shown[index - 1]?.group) {
      drawn.lines.push('', styles.header(group.toUpperCase()));
    }
    if (isLong) drawn.lines.push(styles.muted(truncate(name, width)));
    if (refers) drawn.referenceLines.push(drawn.lines.length);
    lines.forEach((line, at) => {
      const before = at === 0 && isSelected ? ` ${styles.selected(glyphs.marker)}` : '  ';
      const named = styles.muted(padEnd(at === 0 && !isLong ? name : '', column));
      drawn.lines.push(`${named}${before}${style?.(line) ?? line}`);
    });
  });
  return drawn;
}

export const factLines = (facts: readonly Fact[], width: number, theme: Theme): string[] =>
  drawFacts(facts, width, theme).lines;
