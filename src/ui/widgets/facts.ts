/** Labels and values as the lines of an inspector. Pure. */
import { type Fact, withValue } from '../../present/fact.ts';
import { asReceived } from '../../text/numbers.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { padEnd, truncate } from '../../text/width.ts';
import { wrap } from '../../text/wrap.ts';
import type { Theme } from './theme/theme.tsx';

const most = 12;

/**
 * Lines of `width` cells: the labels in their own column, long values wrapped next to them. Each group begins with its
 * title; a long label has a line of its own.
 */
export function factLines(facts: readonly Fact[], width: number, { styles }: Theme): string[] {
  const shown = withValue(facts);
  const column = Math.min(most, Math.max(0, ...shown.map(({ label }) => label.length)));
  const room = Math.max(8, width - column - 2);
  return shown.flatMap(({ label, value, group }, index) => {
    const lines = wrap(sanitise(asReceived(value), { multiline: true }), room);
    const name = sanitiseLine(label);
    const isLong = name.length > column;
    const begins = group !== undefined && group !== shown[index - 1]?.group;
    return [
      ...(begins ? ['', styles.header(group.toUpperCase())] : []),
      ...(isLong ? [styles.muted(truncate(name, width))] : []),
      ...lines.map((line, at) => `${styles.muted(padEnd(at === 0 && !isLong ? name : '', column))}  ${line}`),
    ];
  });
}
