/**
 * Writes a report to one file: HTML that loads nothing, or Markdown. All text may be untrusted and is escaped. Yields
 * the report in parts, so that the transcripts need not all fit in memory.
 */
import { maxOf, minOf } from '../base/many.ts';
import { minSpan, widened } from '../base/scale.ts';
import { sizeOf } from '../text/data-urls.ts';
import { exportRows } from '../text/export.ts';
import { asReceived, reward } from '../text/numbers.ts';
import { sanitise } from '../text/sanitise.ts';
import { type Fact, withValue } from './fact.ts';
import { decodeImage, type MessageImage } from './images.ts';

interface ReportPoint {
  readonly x: number;
  /** Undefined in a gap, which no line crosses. */
  readonly y: number | undefined;
  /** The confidence interval for `y`. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

export type ReportBlock =
  | { readonly kind: 'title' | 'heading' | 'words'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }
  | { readonly kind: 'table'; readonly titles: readonly string[]; readonly rows: readonly (readonly unknown[])[] }
  /** A histogram: how many values fall in each range. */
  | { readonly kind: 'bars'; readonly bars: readonly { readonly label: string; readonly count: number }[] }
  | {
      readonly kind: 'curves';
      readonly curves: readonly { readonly name: string; readonly points: readonly ReportPoint[] }[];
    }
  /** A long text under its title. */
  | { readonly kind: 'text'; readonly title: string; readonly text: string }
  /** The images of a transcript. */
  | { readonly kind: 'images'; readonly title: string; readonly images: readonly MessageImage[] };

type Blocks = AsyncIterable<ReportBlock>;

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Escapes text for HTML, and makes hidden characters visible, such as bidirectional overrides. */
const html = (text: string): string =>
  sanitise(text, { multiline: true, mode: 'show' }).replace(/[&<>"']/g, character => entities.get(character) ?? '');

const style = `
:root{color-scheme:light dark;--line:#8886;--soft:#8882;--one:#2563eb;--two:#d97706;--three:#059669;--four:#9333ea}
@media(prefers-color-scheme:dark){:root{--one:#7aa2f7;--two:#e0af68;--three:#73daca;--four:#bb9af7}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
h1{font-size:1.4rem}h2{font-size:1.1rem;border-bottom:1px solid var(--line);margin-top:2rem}
p,td{white-space:pre-wrap}.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top;overflow-wrap:break-word}
thead th{border-bottom:1px solid var(--line);white-space:nowrap}
pre{white-space:pre-wrap;font:13px/1.4 ui-monospace,monospace;background:var(--soft);padding:.6rem}
details{border-bottom:1px solid var(--line)}summary{cursor:pointer;padding:.4rem 0}
figure{margin:.6rem 0}img{max-width:100%}svg{width:100%;height:auto;max-width:44rem}svg text{fill:currentColor;font-size:12px}
`;

/** A chart's size, and the room for its labels, in its own units. */
const chart = { width: 640, height: 220, left: 56, bottom: 24, top: 6 } as const;
const colours = ['var(--one)', 'var(--two)', 'var(--three)', 'var(--four)'] as const;
const colourOf = (index: number): string => colours[index % colours.length] ?? colours[0];

const noValues = 'No values.';

const fixed = (value: number): string => value.toFixed(1);

const rangeOf = (values: readonly number[]): readonly [number, number] => [minOf(values), maxOf(values)];

type Valued = ReportPoint & { readonly y: number };

const hasValue = (point: ReportPoint): point is Valued => point.y !== undefined;

/** The stretches of points with values between gaps. */
function splitAtGaps(points: readonly ReportPoint[]): readonly (readonly Valued[])[] {
  const stretches: Valued[][] = [[]];
  for (const point of points) {
    if (hasValue(point)) stretches.at(-1)?.push(point);
    else stretches.push([]);
  }
  return stretches.filter(({ length }) => length > 0);
}

/** Rows of step, value and limits, as everywhere for people; consecutive steps without a value share one. */
function curveRows(points: readonly ReportPoint[]): readonly (readonly unknown[])[] {
  const rows: (readonly unknown[])[] = [];
  let gapFrom: number | undefined;
  for (const { x, y, low, high } of points) {
    if (y !== undefined) {
      rows.push([x, ...[y, low, high].map(value => (value === undefined ? undefined : reward(value)))]);
      gapFrom = undefined;
      continue;
    }
    if (gapFrom !== undefined) rows.pop();
    gapFrom ??= x;
    rows.push([gapFrom === x ? x : `${gapFrom} to ${x}`, 'no value']);
  }
  return rows;
}

function curvesSvg({ curves }: Extract<ReportBlock, { kind: 'curves' }>): string {
  const points = curves.flatMap(curve => curve.points);
  const valued = points.filter(hasValue);
  if (valued.length === 0) return `<p>${noValues}</p>\n`;
  const { width, height, left, bottom, top } = chart;
  const [first, last] = rangeOf(points.map(({ x }) => x));
  const ends = rangeOf(valued.flatMap(({ y, low: from = y, high: to = y }) => [y, from, to]));
  const { low, high } = widened({ low: ends[0], high: ends[1] }, minSpan);
  // The only step of a curve is in the middle.
  const share = (value: number): number => (first === last ? 0.5 : (value - first) / (last - first));
  const x = (value: number): string => fixed(left + share(value) * (width - left - 8));
  const y = (value: number): string =>
    fixed(height - bottom - ((value - low) / (high - low)) * (height - bottom - top));
  const drawn = curves.map(({ points: own }, index) => {
    const colour = colourOf(index);
    const limits = own.flatMap(({ x: at, low: from, high: to }) =>
      from === undefined || to === undefined ? [] : `M${x(at)} ${y(from)}V${y(to)}`,
    );
    const stretches = splitAtGaps(own);
    const lines = stretches.map(stretch => `M${stretch.map(point => `${x(point.x)} ${y(point.y)}`).join('L')}`);
    const dots = stretches.filter(({ length }) => own.length <= 80 || length === 1).flat();
    return [
      `<path d="${limits.join('')}" stroke="${colour}" stroke-opacity=".45" fill="none"/>`,
      `<path d="${lines.join('')}" stroke="${colour}" fill="none" stroke-width="1.5"/>`,
      ...dots.map(p => `<circle cx="${x(p.x)}" cy="${y(p.y)}" r="2.5" fill="${colour}"/>`),
    ].join('');
  });
  const axis = `<path d="M${left} ${top}V${height - bottom}H${width - 8}" stroke="var(--line)" fill="none"/>`;
  const labels = [
    `<text x="${left - 6}" y="${height - bottom}" text-anchor="end">${reward(low)}</text>`,
    `<text x="${left - 6}" y="${top + 10}" text-anchor="end">${reward(high)}</text>`,
    ...(first === last
      ? [`<text x="${x(first)}" y="${height - 6}" text-anchor="middle">${first}</text>`]
      : [
          `<text x="${left}" y="${height - 6}">${first}</text>`,
          `<text x="${width - 8}" y="${height - 6}" text-anchor="end">${last}</text>`,
        ]),
  ];
  const names = curves.map(({ name }) => name).join(', ');
  // The spans wrap if the line is too short.
  const legend = curves.map(({ name }, index) => `<span style="color:${colourOf(index)}">■</span> ${html(name)}`);
  return `<p>${legend.join('   ')}</p><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${html(names)}">${axis}${drawn.join('')}${labels.join('')}</svg>\n`;
}

function barsSvg({ bars }: Extract<ReportBlock, { kind: 'bars' }>): string {
  if (bars.length === 0) return `<p>${noValues}</p>\n`;
  const most = maxOf(
    bars.map(({ count }) => count),
    1,
  );
  const rows = bars.map(({ label, count }, index) => {
    const at = index * 22;
    const width = (count / most) * 420;
    return `<text x="100" y="${at + 15}" text-anchor="end">${html(label)}</text><rect x="108" y="${at + 3}" width="${fixed(width)}" height="16" fill="var(--one)"/><text x="${fixed(114 + width)}" y="${at + 15}">${count}</text>`;
  });
  return `<svg viewBox="0 0 640 ${bars.length * 22}" role="img" aria-label="distribution">${rows.join('')}</svg>\n`;
}

const cellText = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : asReceived(value as string | number);

/** Facts as rows, with the group before the label. */
const factRows = (facts: readonly Fact[]): (readonly [string, string])[] =>
  withValue(facts).map(({ label, value, exported, group }) => [
    group === undefined ? label : `${group.toLowerCase()}: ${label}`,
    cellText(exported ?? value),
  ]);

function tableHtml(titles: readonly string[] | undefined, rows: readonly (readonly unknown[])[]): string {
  const cells = (row: readonly unknown[]): string => row.map(value => `<td>${html(cellText(value))}</td>`).join('');
  const head = titles ? `<thead><tr>${titles.map(title => `<th>${html(title)}</th>`).join('')}</tr></thead>` : '';
  return `<div class="scroll"><table>${head}<tbody>${rows.map(row => `<tr>${cells(row)}</tr>`).join('\n')}</tbody></table></div>\n`;
}

/** The formats that every browser shows, by those of `decodeImage`. */
const imageTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);
const megabyte = 1024 * 1024;
/** Maximum size of an image and of all images in a report, in megabytes. */
const largestImage = 5;
const mostImages = 20;

/** An image with the number of its message, or why it is left out. */
function imageHtml({ message, base64 }: MessageImage, room: { bytes: number }): string {
  const image = decodeImage(base64);
  const type = image && imageTypes.get(image.format);
  const name = `message ${message}, ${image?.format ?? 'image'} ${sizeOf(base64.length)}`;
  const leftOut = (why: string): string => `<p>${name}: left out, ${why}</p>`;
  if (!image || !type) return leftOut('not a PNG, JPEG, GIF or WebP image');
  const { length } = image.bytes;
  if (length > largestImage * megabyte) return leftOut(`larger than ${largestImage} MB`);
  if (length > room.bytes) return leftOut(`as the images of a report take at most ${mostImages} MB`);
  room.bytes -= length;
  const source = `data:${type};base64,${image.bytes.toString('base64')}`;
  return `<figure><figcaption>${name}</figcaption><img src="${source}" alt="${name}"></figure>`;
}

/** @param room how many bytes of images may follow */
function blockHtml(block: ReportBlock, room: { bytes: number }): string {
  switch (block.kind) {
    case 'title':
      return `<h1>${html(block.text)}</h1>\n`;
    case 'heading':
      return `<h2>${html(block.text)}</h2>\n`;
    case 'words':
      return `<p>${html(block.text)}</p>\n`;
    case 'facts':
      return tableHtml(undefined, factRows(block.facts));
    case 'table':
      return tableHtml(block.titles, block.rows);
    case 'bars':
      return barsSvg(block);
    case 'curves':
      return curvesSvg(block);
    case 'images':
      return `<details><summary>${html(block.title)}: ${block.images.length}</summary>${block.images.map(each => imageHtml(each, room)).join('')}</details>\n`;
    case 'text':
      return `<details><summary>${html(block.title)}</summary><pre>${html(block.text)}</pre></details>\n`;
  }
}

/** The report as HTML. Its content security policy forbids scripts and loading anything. */
export async function* reportHtml(title: string, blocks: Blocks): AsyncGenerator<string> {
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${html(title)}</title><style>${style}</style></head><body>
`;
  const room = { bytes: mostImages * megabyte };
  for await (const block of blocks) yield blockHtml(block, room);
  yield '</body></html>\n';
}

/** Escapes text for Markdown, on one line. */
const markdown = (text: string): string =>
  sanitise(text.replaceAll('\n', ' '), { multiline: false, mode: 'show' }).replace(
    /[\\`*_<>[\]|#~&]/g,
    String.raw`\$&`,
  );

function tableMarkdown(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const columns = titles.map((name, index) => ({
    name: sanitise(name, { multiline: false, mode: 'show' }),
    value: (row: readonly unknown[]) => sanitise(cellText(row[index]), { multiline: false, mode: 'show' }),
  }));
  return `${exportRows('markdown', rows, columns)}\n`;
}

/** A code block whose fence is longer than any fence in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const safe = sanitise(text, { multiline: true, mode: 'show' });
  const longest = (safe.match(/`{3,}/g) ?? []).reduce((most, each) => Math.max(most, each.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${safe.replace(/\n$/, '')}\n${fence}\n\n`;
}

const barLength = 40;

function blockMarkdown(block: ReportBlock): string {
  switch (block.kind) {
    case 'title':
      return `# ${markdown(block.text)}\n\n`;
    case 'heading':
      return `## ${markdown(block.text)}\n\n`;
    case 'words':
      return `${markdown(block.text)}\n\n`;
    case 'facts':
      // A cell in a Markdown table cannot contain line breaks.
      return tableMarkdown(
        ['fact', 'value'],
        factRows(block.facts).map(([label, value]) => [label, value.replaceAll('\n', '; ')]),
      );
    case 'table':
      return tableMarkdown(block.titles, block.rows);
    case 'bars': {
      if (block.bars.length === 0) return `${noValues}\n\n`;
      const most = maxOf(
        block.bars.map(({ count }) => count),
        1,
      );
      const widest = maxOf(
        block.bars.map(({ label }) => label.length),
        0,
      );
      const line = ({ label, count }: { readonly label: string; readonly count: number }): string =>
        `${label.padStart(widest)} ${'█'.repeat(Math.round((count / most) * barLength))} ${count}`;
      return fenced(block.bars.map(line).join('\n'));
    }
    case 'curves':
      if (block.curves.length === 0) return `${noValues}\n\n`;
      return block.curves
        .map(
          ({ name, points }) =>
            `${markdown(name)}\n\n${tableMarkdown(['step', 'value', 'low', 'high'], curveRows(points))}`,
        )
        .join('');
    case 'images': {
      const names = block.images.map(({ message, base64 }) => `message ${message}, ${sizeOf(base64.length)}`);
      return `${markdown(`${block.title}, only in a report as HTML: ${names.join('; ')}`)}\n\n`;
    }
    case 'text':
      return `### ${markdown(block.title)}\n\n${fenced(block.text)}`;
  }
}

/** The report as Markdown, with curves as tables. */
export async function* reportMarkdown(blocks: Blocks): AsyncGenerator<string> {
  for await (const block of blocks) yield blockMarkdown(block);
}
