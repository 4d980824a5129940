/** A terminal's screen as a picture (SVG), with its colours, for people to look at. */
import type { IBufferLine, Terminal } from '@xterm/headless';

const cellWidth = 8.4;
const cellHeight = 17;
const background = '#16181d';
const foreground = '#d5d8de';
/** The sixteen colours of a typical dark terminal. */
const palette = [
  '#16181d',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#abb2bf',
  '#5c6370',
  '#ff7a85',
  '#b5e890',
  '#ffd68a',
  '#7cc4ff',
  '#dc8ff2',
  '#6fd3df',
  '#ffffff',
];
const steps = [0, 95, 135, 175, 215, 255];

/** The colours from 16: a cube of 6×6×6, then greys (xterm). */
function indexed(index: number): string {
  if (index < 16) return palette[index] ?? foreground;
  const grey = 8 + (index - 232) * 10;
  if (index >= 232) return `rgb(${grey},${grey},${grey})`;
  const at = index - 16;
  const parts = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(part => steps[part] ?? 0);
  return `rgb(${parts.join(',')})`;
}

/** Text of an SVG. Browsers collapse plain spaces, and some ignore `xml:space`: no-break spaces keep their width. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(' ', '\u00a0');

interface Run {
  readonly column: number;
  text: string;
  columns: number;
  readonly look: string;
  readonly background: string | undefined;
}

/** The cells of a row in runs of equal style; blanks between words stay inside. */
function runsOf(line: IBufferLine | undefined, columns: number): Run[] {
  const runs: Run[] = [];
  for (let column = 0; column < columns; column += 1) {
    const cell = line?.getCell(column);
    const text = cell?.getChars() ?? '';
    if (!cell || cell.getWidth() === 0) continue;
    const colour = cell.isFgDefault() ? foreground : indexed(cell.getFgColor());
    const inverse = cell.isInverse() !== 0;
    const weight = cell.isBold() ? ' font-weight="bold"' : '';
    const dim = cell.isDim() ? ' opacity="0.6"' : '';
    const look = `fill="${inverse ? background : colour}"${weight}${dim}`;
    const behind = inverse ? colour : undefined;
    const last = runs.at(-1);
    const isNext = last?.look === look && last.background === behind && last.column + last.columns === column;
    if (last && isNext) {
      last.text += text || ' ';
      last.columns += cell.getWidth();
    } else {
      runs.push({ column, text: text || ' ', columns: cell.getWidth(), look, background: behind });
    }
  }
  return runs.filter(({ text, background: behind }) => behind !== undefined || text.trim() !== '');
}

export function svgOf(terminal: Terminal): string {
  const { cols, rows, buffer } = terminal;
  const parts: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const y = row * cellHeight;
    for (const run of runsOf(buffer.active.getLine(buffer.active.baseY + row), cols)) {
      const text = run.background ? run.text : run.text.trimEnd();
      const left = text.length - text.trimStart().length;
      const shown = run.background ? text : text.trimStart();
      const at = (column: number): string => (column * cellWidth).toFixed(1);
      const width = at(run.columns);
      const { background: behind } = run;
      if (behind)
        parts.push(`<rect x="${at(run.column)}" y="${y}" width="${width}" height="${cellHeight}" fill="${behind}"/>`);
      if (shown.trim() === '') continue;
      // The viewer's font may have other widths.
      const trimmed = run.background ? run.columns : run.columns - (run.text.length - text.length) - left;
      parts.push(
        `<text x="${at(run.column + (run.background ? 0 : left))}" y="${y + 13}" textLength="${at(trimmed)}" ${run.look}>${escaped(shown)}</text>`,
      );
    }
  }
  const [width, height] = [(cols * cellWidth).toFixed(0), rows * cellHeight];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" fill="${background}"/>`,
    `<g font-family="DejaVu Sans Mono, Menlo, monospace" font-size="14">`,
    ...parts,
    '</g></svg>',
    '',
  ].join('\n');
}
