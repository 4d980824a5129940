/** The mark and colour of a status, by its meaning. Pure. */
import { statusMeaning, statusWords } from '../../contract/status.ts';
import type { StatusLook } from '../../present/column.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { StyleName, Theme } from './theme/theme.tsx';

const looks: Readonly<
  Record<
    StatusLook,
    { readonly style: StyleName; readonly glyph: 'check' | 'cross' | 'dot' | 'circle' | 'pause' | 'bullet' | 'warning' }
  >
> = {
  success: { style: 'success', glyph: 'check' },
  failure: { style: 'danger', glyph: 'cross' },
  running: { style: 'info', glyph: 'dot' },
  waiting: { style: 'muted', glyph: 'circle' },
  stopping: { style: 'warning', glyph: 'pause' },
  stopped: { style: 'muted', glyph: 'pause' },
  unknown: { style: 'muted', glyph: 'bullet' },
  alarm: { style: 'danger', glyph: 'warning' },
};

export function statusStyle(status: string, { styles }: Theme): (text: string) => string {
  return styles[looks[statusMeaning(status)].style];
}

/** The style of a state with this appearance. */
export const lookStyle = (look: StatusLook, { styles }: Theme): ((text: string) => string) => styles[looks[look].style];

/** A state in words with its mark; unstyled. */
export const markedText = (text: string, look: StatusLook, { glyphs }: Theme): string =>
  `${glyphs[looks[look].glyph]} ${text}`;

/** Longer text is never visible, so it need not be measured. */
const longest = 300;

/** A status with its mark, e.g. `✓ completed`; unstyled, so that it can be measured and cut. */
export function statusText(status: string, { glyphs }: Theme): string {
  return `${glyphs[looks[statusMeaning(status)].glyph]} ${statusWords(status.slice(0, longest)).toWellFormed()}`;
}

/** Shown if the service reports no status. */
export const noStatus = 'The service reports no status';

/** A status with its mark, in its style; `none` if there is none. */
export function styledStatus(status: string | null | undefined, theme: Theme, none: string = noStatus): string {
  if (status == null) return theme.styles.muted(none);
  const words = sanitiseLine(status);
  return statusStyle(words, theme)(statusText(words, theme));
}
