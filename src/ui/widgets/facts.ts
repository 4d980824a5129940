/** Labels and values as the lines of an inspector. Pure. */
import { type Fact, given } from '../../present/fact.ts';
import { asReceived } from '../../text/numbers.ts';
import { sanitise } from '../../text/sanitise.ts';
import { padEnd } from '../../text/width.ts';
import { wrap } from '../../text/wrap.ts';
import type { Theme } from './theme/theme.tsx';

const most = 12;

/** Lines of `width` cells: the labels in their own column, long values wrapped next to them. */
export function factLines(facts: readonly Fact[], width: number, { styles }: Theme): string[] {
  const shown = given(facts);
  const column = Math.min(most, Math.max(0, ...shown.map(({ label }) => label.length)));
  const room = Math.max(8, width - column - 2);
  return shown.flatMap(({ label, value }) => {
    const lines = wrap(sanitise(asReceived(value), { multiline: true }), room);
    return lines.map((line, index) => `${styles.muted(padEnd(index === 0 ? label : '', column))}  ${line}`);
  });
}
