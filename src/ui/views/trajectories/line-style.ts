/** How a transcript's lines are styled. Pure. */
import type { LineKind } from '../../../present/transcript.ts';
import type { Paint, TranscriptLine } from '../../../present/transcript-lines.ts';
import { truncate } from '../../../text/width.ts';
import { jsonLine } from '../../widgets/syntax.ts';
import { lookOf, type Style, type StyleName, type Styles } from '../../widgets/theme/theme.tsx';

const kindStyles: Partial<Record<LineKind, StyleName>> = {
  step: 'title',
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  role: 'strong',
  reasoning: 'muted',
  refusal: 'warning',
  call: 'code',
  meta: 'muted',
  note: 'accent',
  fold: 'muted',
  error: 'danger',
};

const paints: Partial<Record<Paint, StyleName>> = { added: 'success', removed: 'danger', hunk: 'accent' };

/** The style for a whole line; undefined for plain. */
export function styleOf(line: TranscriptLine | undefined, styles: Styles): Style | undefined {
  const { kind = 'text', paint } = line ?? {};
  return (paint && lookOf(paints, paint, styles)) ?? lookOf(kindStyles, kind, styles);
}

/** A styled line of at most `width` cells. */
export function drawnLine(line: TranscriptLine | undefined, width: number, styles: Styles): string {
  const { kind = 'text', text = '', paint, drawn } = line ?? {};
  if (drawn !== undefined) return drawn;
  const shown = truncate(text, width);
  if (paint === 'json') return jsonLine(shown, styles, lookOf(kindStyles, kind, styles));
  return styleOf(line, styles)?.(shown) ?? shown;
}
