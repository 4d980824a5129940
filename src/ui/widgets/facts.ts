/** Names and values as the lines of an inspector. Pure. */
import { sanitise } from '../../text/sanitise.ts';
import { padEnd } from '../../text/width.ts';
import { wrap } from '../../text/wrap.ts';
import type { Style, Theme } from './theme/theme.tsx';

export interface Fact {
  readonly label: string;
  /** Need not be safe for a terminal. Facts without a value are left out. */
  readonly value: string | number | undefined | null;
  readonly style?: Style | undefined;
}

/** The facts that have a value. */
export function given(facts: readonly Fact[]): readonly Fact[] {
  return facts.filter(({ value }) => value !== undefined && value !== null && value !== '');
}

const most = 12;

/** Lines of `width` cells: the labels in a column of their own, long values wrapped next to them. */
export function factLines(facts: readonly Fact[], width: number, { styles }: Theme): string[] {
  const shown = given(facts);
  const column = Math.min(most, Math.max(0, ...shown.map(({ label }) => label.length)));
  const room = Math.max(8, width - column - 2);
  return shown.flatMap(({ label, value, style = plain => plain }) => {
    const lines = wrap(sanitise(String(value), { multiline: true }), room);
    return lines.map((line, index) => `${styles.muted(padEnd(index === 0 ? label : '', column))}  ${style(line)}`);
  });
}
