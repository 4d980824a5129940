/** The teaching signal below a chart: each step's shares as a stack, distinguishable without colour. Pure. */
import {
  describeShares,
  describeTurn,
  type GroupCounts,
  type GroupKind,
  groupKinds,
  groupLabels,
  poolSteps,
  type StepTeaching,
  type TeachingTurn,
} from '../../../present/teaching.ts';
import { counted, percent } from '../../../text/numbers.ts';
import { displayWidth, padStart, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Style, Theme } from '../../widgets/theme/theme.tsx';

/** The part of a run's teaching signal that has been read. */
export interface TeachingSignal {
  /** In order. */
  readonly steps: readonly StepTeaching[];
  readonly turn: TeachingTurn | undefined;
  /** How many steps the run has; not all of them are read. */
  readonly known: number;
  /** Why the rest is missing, if it could not be read. */
  readonly problem: string | undefined;
}

/** Where the chart above places the steps. */
interface StripFrame {
  readonly width: number;
  readonly plotWidth: number;
  readonly columnOf: (step: number) => number | undefined;
  readonly crosshair: number | undefined;
}

function markOf(kind: GroupKind, { styles, glyphs }: Theme): { readonly glyph: string; readonly style: Style } {
  const isAscii = !glyphs.braille;
  switch (kind) {
    case 'teaches':
      return { glyph: glyphs.full, style: styles.success };
    case 'easy':
      return { glyph: isAscii ? '+' : '▒', style: styles.accent };
    case 'hard':
      return { glyph: isAscii ? '-' : glyphs.empty, style: styles.warning };
    case 'equal':
      return { glyph: '=', style: styles.muted };
    case 'unscored':
      return { glyph: '!', style: styles.danger };
  }
}

/** The steps in each column of the plot. A step extends to the next one, unless steps in between were not read. */
function stepsByColumn(steps: readonly StepTeaching[], { plotWidth, columnOf }: StripFrame): StepTeaching[][] {
  const columns: StepTeaching[][] = Array.from({ length: plotWidth }, () => []);
  const shown = steps.filter(({ groups }) => groups > 0);
  for (const [index, step] of shown.entries()) {
    const from = columnOf(step.step);
    if (from === undefined) continue;
    const next = shown[index + 1];
    const to = next?.step === step.step + 1 ? (columnOf(next.step) ?? from + 1) : from + 1;
    for (let column = from; column < Math.max(to, from + 1); column += 1) columns[column]?.push(step);
  }
  return columns;
}

/** Shares out `rows` among the kinds; the largest remainders are rounded up, so that the sum is exact. */
export function rowsOf(counts: GroupCounts, groups: number, rows: number): readonly GroupKind[] {
  const exact = groupKinds.map(kind => ({ kind, share: (counts[kind] / groups) * rows }));
  const left = rows - exact.reduce((sum, { share }) => sum + Math.floor(share), 0);
  const raised = new Set(
    exact
      .toSorted((one, other) => (other.share % 1) - (one.share % 1))
      .slice(0, left)
      .map(({ kind }) => kind),
  );
  return exact.flatMap(({ kind, share }) =>
    new Array<GroupKind>(Math.floor(share) + (raised.has(kind) ? 1 : 0)).fill(kind),
  );
}

/** How many rows the strip gets; it shares this height with the chart above it. */
const stripRows = (height: number): number => (height >= 24 ? 4 : height >= 15 ? 2 : height >= 9 ? 1 : 0);
/** Minimum height at which a line names the changes. */
const withNote = 12;

/** Maximum number of lines for the changes. */
const maxNotes = 2;

/** The lines below a chart. */
interface Strip {
  readonly height: number;
  readonly lines: (frame: StripFrame, theme: Theme) => string[];
}

/** The strip with its legend and the changes; empty if there is no room below a chart. */
export function stripOf(signal: TeachingSignal, height: number, width: number): Strip | undefined {
  const rows = signal.steps.length === 0 ? 0 : stripRows(height);
  if (stripRows(height) === 0) return undefined;
  const note = signal.problem ?? (signal.turn && describeTurn(signal.turn));
  const hasNote = note !== undefined && height >= withNote && rows > 0;
  const notes = hasNote ? wrap(note, width).slice(0, maxNotes) : [];
  return {
    height: rows + 1 + notes.length,
    lines: (frame, theme) => [
      ...strip(signal.steps, rows, frame, theme),
      legendLine(signal, frame, theme),
      ...notes.map(words => theme.styles.warning(truncate(words, frame.width))),
    ],
  };
}

function strip(steps: readonly StepTeaching[], rows: number, frame: StripFrame, theme: Theme): string[] {
  const margin = theme.styles.muted(padStart(theme.glyphs.vertical, Math.max(1, frame.width - frame.plotWidth)));
  const stacks = stepsByColumn(steps, frame).map(column => {
    const { counts, groups } = poolSteps(column);
    return groups === 0 ? [] : rowsOf(counts, groups, rows);
  });
  return Array.from({ length: rows }, (_, row) => {
    const kinds = stacks.map(stack => stack[rows - 1 - row]);
    const parts: { kind: GroupKind | undefined; width: number }[] = [];
    for (const kind of kinds) {
      const last = parts.at(-1);
      if (last && last.kind === kind) last.width += 1;
      else parts.push({ kind, width: 1 });
    }
    const drawn = parts.map(({ kind, width }) => {
      if (kind === undefined) return ' '.repeat(width);
      const { glyph, style } = markOf(kind, theme);
      return style(glyph.repeat(width));
    });
    return margin + drawn.join('');
  });
}

/** The shares at the crosshair's step, or at the newest. */
function legendLine(signal: TeachingSignal, { crosshair, width }: StripFrame, theme: Theme): string {
  const { steps } = signal;
  const read = `${steps.length} of ${counted(signal.known, 'step')} read`;
  const at = crosshair === undefined ? steps.at(-1) : steps.findLast(({ step }) => step <= crosshair);
  const step = at ?? steps[0];
  if (!step) return theme.styles.muted(truncate(signal.problem ?? `teaching signal: ${read}`, width));
  const { counts, groups } = step;
  const where = `step ${step.step}: `;
  if (groups === 0) return theme.styles.muted(truncate(`${where}${describeShares(step)}`, width));
  const shares = groupKinds.flatMap(kind => {
    if (counts[kind] === 0 && kind !== 'teaches') return [];
    const { glyph, style } = markOf(kind, theme);
    const text = `${groupLabels[kind]} ${percent(counts[kind] / groups)}`;
    return { text: `${glyph} ${text}`, shown: `${style(glyph)} ${text}` };
  });
  const used = displayWidth(where) + shares.reduce((sum, { text }) => sum + displayWidth(text) + 2, 0);
  if (used - 2 > width) return truncate(where + shares.map(({ text }) => text).join('  '), width);
  const ungrouped = step.nameless + step.alone;
  const tails = [
    [
      `of ${counted(groups, 'group')}`,
      ...(ungrouped > 0 ? [`${counted(ungrouped, 'rollout')} not grouped`] : []),
      read,
    ],
    [`of ${groups}`, read],
    [`of ${groups}`],
  ].map(words => words.join(', '));
  const tail = tails.find(words => displayWidth(words) <= width - used);
  const shown = where + shares.map(({ shown: each }) => each).join('  ');
  return tail === undefined ? shown : `${shown}  ${theme.styles.muted(tail)}`;
}
