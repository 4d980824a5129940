/** A screen of a terminal as a picture (SVG), with its colours, so that people can look at it. */
import type { Terminal } from '@xterm/headless';

const cellWidth = 8.4;
const cellHeight = 17;
const background = '#16181d';
const foreground = '#d5d8de';
/** The sixteen colours of a terminal, as a dark one may have them. */
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

/** The colours from 16 on: a cube of 6×6×6, then greys (xterm). */
function indexed(index: number): string {
  if (index < 16) return palette[index] ?? foreground;
  const grey = 8 + (index - 232) * 10;
  if (index >= 232) return `rgb(${grey},${grey},${grey})`;
  const at = index - 16;
  const parts = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(part => steps[part] ?? 0);
  return `rgb(${parts.join(',')})`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function svgOf(terminal: Terminal): string {
  const { cols, rows, buffer } = terminal;
  const parts: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const line = buffer.active.getLine(buffer.active.baseY + row);
    for (let column = 0; column < cols; column += 1) {
      const cell = line?.getCell(column);
      const text = cell?.getChars() ?? '';
      if (!cell || text === '' || text === ' ') continue;
      const colour = cell.isFgDefault() ? foreground : indexed(cell.getFgColor());
      const inverse = cell.isInverse() !== 0;
      const x = (column * cellWidth).toFixed(1);
      const y = row * cellHeight;
      if (inverse) parts.push(`<rect x="${x}" y="${y}" width="${cellWidth}" height="${cellHeight}" fill="${colour}"/>`);
      const weight = cell.isBold() ? ' font-weight="bold"' : '';
      const dim = cell.isDim() ? ' opacity="0.6"' : '';
      const fill = inverse ? background : colour;
      parts.push(`<text x="${x}" y="${y + 13}" fill="${fill}"${weight}${dim}>${escaped(text)}</text>`);
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
