/** A status's mark and colour, by its meaning. Pure. */
import { formatStatus, statusMeaning } from '../../contract/status.ts';
import type { StatusLook } from '../../present/column.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { Style, StyleName, Theme } from './theme/theme.tsx';

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

export const lookStyle = (look: StatusLook, { styles }: Theme): Style => styles[looks[look].style];

export const statusStyle = (status: string, theme: Theme): Style => lookStyle(statusMeaning(status), theme);

/** A state in words with its mark; unstyled. */
export const markedText = (text: string, look: StatusLook, { glyphs }: Theme): string =>
  `${glyphs[looks[look].glyph]} ${text}`;

/** Text beyond this length is never visible, so it need not be measured. */
const maxTextLength = 300;

/** A status with its mark, e.g. `✓ completed`; unstyled, so that it can be measured and cut. */
export const statusText = (status: string, theme: Theme): string =>
  markedText(formatStatus(status.slice(0, maxTextLength)).toWellFormed(), statusMeaning(status), theme);

export const noStatus = 'The service reports no status';

/** A state's words, as in Watch. */
interface State {
  readonly text: string;
  readonly brief?: string;
  readonly look: StatusLook;
}

/** A status with its mark, in its style; `none` if there is none. @param alarm the state in Watch, if it is in alarm */
export function styledStatus(
  status: string | null | undefined,
  theme: Theme,
  none: string = noStatus,
  alarm?: State,
): string {
  if (alarm) return lookStyle(alarm.look, theme)(markedText(alarm.brief ?? alarm.text, alarm.look, theme));
  if (status == null) return theme.styles.muted(none);
  const words = sanitiseLine(status);
  return statusStyle(words, theme)(statusText(words, theme));
}
