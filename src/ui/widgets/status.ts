/** What a status word means, whichever resource it belongs to. A word that is not known is shown as it came. Pure. */
import type { StyleName, Theme } from './theme/theme.tsx';

export type StatusMeaning = 'success' | 'failure' | 'running' | 'waiting' | 'stopping' | 'stopped' | 'unknown';

const meanings: Readonly<Record<string, StatusMeaning>> = {
  completed: 'success',
  succeeded: 'success',
  ready: 'success',
  deployed: 'success',
  uploaded: 'success',
  sent: 'success',
  failed: 'failure',
  error: 'failure',
  running: 'running',
  building: 'running',
  sending: 'running',
  merging: 'running',
  deploying: 'running',
  pending: 'waiting',
  queued: 'waiting',
  waiting: 'waiting',
  cancel_signaled: 'stopping',
  cancelling: 'stopping',
  cancelled: 'stopped',
  skipped: 'stopped',
};

export function statusMeaning(status: string): StatusMeaning {
  return meanings[status.toLowerCase()] ?? 'unknown';
}

const looks: Readonly<
  Record<
    StatusMeaning,
    { readonly style: StyleName; readonly glyph: 'check' | 'cross' | 'dot' | 'circle' | 'pause' | 'bullet' }
  >
> = {
  success: { style: 'success', glyph: 'check' },
  failure: { style: 'danger', glyph: 'cross' },
  running: { style: 'info', glyph: 'dot' },
  waiting: { style: 'muted', glyph: 'circle' },
  stopping: { style: 'warning', glyph: 'pause' },
  stopped: { style: 'muted', glyph: 'pause' },
  unknown: { style: 'muted', glyph: 'bullet' },
};

/** The style of a status. */
export function statusStyle(status: string, { styles }: Theme): (text: string) => string {
  return styles[looks[statusMeaning(status)].style];
}

/** A status with its mark, e.g. `✓ completed`; unstyled, so that it can be measured and cut. */
export function statusText(status: string, { glyphs }: Theme): string {
  return `${glyphs[looks[statusMeaning(status)].glyph]} ${status}`;
}
