/**
 * Lays out the panes for the terminal's size in cells. Three panes from 120 columns, two from 80, otherwise one; the
 * focused pane is always visible. Pure.
 */

const paneNames = ['sections', 'main', 'inspector'] as const;
export type PaneName = (typeof paneNames)[number];

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  /** Inner size of each visible pane, from left to right. */
  readonly panes: Readonly<Partial<Record<PaneName, Size>>>;
  readonly columns: number;
  readonly rows: number;
}

export const smallest = { columns: 60, rows: 15 } as const;

/** Lines that the frame takes: the top border, the rule above the hints, the hints, the bottom border. */
export const frameLines = 4;
/** Free columns on either side of a window. */
const windowSide = 2;
/**
 * Columns for the longest title with its count: `▸ Trajectories 9999+ `, or `▸Trajectories 200+` next to a single pane.
 */
const sectionsWidth = { roomy: 21, narrow: 18 } as const;
const inspectorShare = 0.32;
const inspectorWidth = { minimum: 34, maximum: 72 } as const;

/** How many panes fit side by side. */
function paneCount(columns: number): 1 | 2 | 3 {
  if (columns >= 120) return 3;
  return columns >= 80 ? 2 : 1;
}

/** The side panes that the user has hidden: they are shown only while focused. */
export type HiddenPanes = Readonly<Partial<Record<Exclude<PaneName, 'main'>, boolean>>>;

/** The visible panes from left to right: a contiguous range with the focused pane and, if possible, the main pane. */
function shownPanes(
  count: 1 | 2 | 3,
  focus: PaneName,
  hasInspector: boolean,
  hidden: HiddenPanes,
): readonly PaneName[] {
  const isHidden = (name: PaneName): boolean => name !== focus && name !== 'main' && hidden[name] === true;
  const available = paneNames.filter(name => (hasInspector || name !== 'inspector') && !isHidden(name));
  if (count === 3) return available;
  if (count === 1) return [available.includes(focus) ? focus : 'main'];
  const aside = available.includes('inspector') && focus === 'inspector' ? 'sections' : 'inspector';
  return available.filter(name => name !== aside);
}

/** The layout, or `undefined` if the terminal is too small. */
export function layoutOf(
  columns: number,
  rows: number,
  focus: PaneName,
  hasInspector: boolean,
  hidden: HiddenPanes = {},
): Layout | undefined {
  if (columns < smallest.columns || rows < smallest.rows) return undefined;
  const height = rows - frameLines;
  const shown = shownPanes(paneCount(columns), focus, hasInspector, hidden);
  // One column for each outer border and each separator.
  const inner = columns - shown.length - 1;
  const wanted = Math.round(columns * inspectorShare);
  const inspector = Math.min(inspectorWidth.maximum, Math.max(inspectorWidth.minimum, wanted));
  const sections = sectionsWidth[shown.length === 3 || columns >= 120 ? 'roomy' : 'narrow'];
  const widths: Record<PaneName, number> = { sections, inspector, main: 0 };
  if (shown.length === 1) return { panes: { [shown[0] ?? 'main']: { width: inner, height } }, columns, rows };
  const rest = shown.filter(name => name !== 'main').reduce((sum, name) => sum + widths[name], 0);
  widths.main = inner - rest;
  return { panes: Object.fromEntries(shown.map(name => [name, { width: widths[name], height }])), columns, rows };
}

/** The largest window size: a window covers panes, never the frame or the hints. */
export function windowRoom({ columns, rows }: Pick<Layout, 'columns' | 'rows'>): Size {
  return { width: columns - 2 * windowSide, height: rows - frameLines };
}

/** The pane next to `from`; at the ends, `from` itself. */
export function neighbour(from: PaneName, direction: -1 | 1, hasInspector: boolean): PaneName {
  const available = paneNames.filter(name => hasInspector || name !== 'inspector');
  const index = available.indexOf(from);
  return available[Math.max(0, Math.min(available.length - 1, index + direction))] ?? 'main';
}
