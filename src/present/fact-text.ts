/** Writes facts as text, for a terminal, a pipe or a file. Pure. */
import { maxOf } from '../base/many.ts';
import { asReceived } from '../text/numbers.ts';
import { clean, sanitise, sanitiseLine } from '../text/sanitise.ts';
import { padEnd } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import { columnGap } from './column.ts';
import { type Fact, withValue } from './fact.ts';

/** Maximum width of the label column; a longer label gets its own line. */
const widestLabel = 24;

/** Labels and values in words, one per line, as a screen reader reads them. */
export const factLines = (facts: readonly Fact[]): string =>
  withValue(facts)
    .map(({ label, value }) => `${clean`${label}: ${asReceived(value)}`}\n`)
    .join('');

/**
 * Labels and values, one per line; each group begins with its title. Long values wrap within their column. Without a
 * width, e.g. in a pipe, nothing wraps, and times stay as the service sent them.
 */
export function factText(facts: readonly Fact[], width: number | undefined): string {
  const shown = withValue(facts);
  const labels = shown.map(({ label }) => label.length).filter(length => length <= widestLabel);
  const column = maxOf(labels, 0) + columnGap;
  return shown
    .flatMap(({ label, value, exported, group }, index) => {
      const received = width === undefined ? (exported ?? value) : value;
      const text = sanitise(asReceived(received), { multiline: true });
      const lines = width === undefined ? text.split('\n') : wrap(text, Math.max(20, width - column));
      const name = sanitiseLine(label);
      const isLong = name.length > widestLabel;
      const begins = group !== undefined && group !== shown[index - 1]?.group;
      return [
        ...(begins ? ['', group] : []),
        ...(isLong ? [name] : []),
        ...lines.map((line, at) => padEnd(at === 0 && !isLong ? name : '', column) + line),
      ];
    })
    .map(line => `${line}\n`)
    .join('');
}
