import { describe, expect, it } from 'vitest';
import { type ReportBlock, reportHtml, reportMarkdown } from '../../src/present/report.ts';

const bad = `<script>alert(1)</script> </pre> "quoted" ' & \u202Ereversed\u0007 \u001b[31mred [link](http://x) <img src=x onerror=y>`;
const blocks: readonly ReportBlock[] = [
  { kind: 'title', text: bad },
  { kind: 'heading', text: bad },
  { kind: 'words', text: bad },
  { kind: 'facts', facts: [{ label: bad, value: bad, group: bad }] },
  { kind: 'table', titles: [bad], rows: [[bad], [null], [0]] },
  { kind: 'bars', bars: [{ label: bad, count: 3 }] },
  {
    kind: 'curves',
    curves: [
      {
        name: bad,
        points: [
          { x: 1, y: 0.5, low: 0.4, high: 0.6 },
          { x: 2, y: 0.7 },
        ],
      },
    ],
  },
  { kind: 'text', title: bad, text: `${bad}\n\`\`\`\`\n# not a heading\n` },
];

async function* allBlocks() {
  yield* blocks;
}
async function joined(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

describe('a report', () => {
  it('keeps the lines of a fact in one Markdown cell', async () => {
    const facts = [{ label: 'options', value: 'samples 1\nseed 2' }];
    const text = reportMarkdown(
      (async function* () {
        yield { kind: 'facts', facts } as const;
      })(),
    );
    expect(await joined(text)).toContain('| options | samples 1; seed 2 |');
  });

  it('escapes untrusted text in HTML, and loads nothing', async () => {
    const text = await joined(reportHtml(bad, allBlocks()));
    const tags = new Set([...text.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name = '']) => name.toLowerCase()));
    for (const tag of ['script', 'img', 'iframe', 'link', 'a', 'object']) expect(tags).not.toContain(tag);
    // Neither a drawing nor a style refers to anything outside.
    expect(text).not.toMatch(/(?:src|href|url)\s*[=(]\s*["']?http/);
    expect(text).toContain('&lt;script&gt;');
    const hidden = [...text].filter(character => character !== '\n' && /[\p{Cc}\p{Cf}]/u.test(character));
    expect(hidden).toEqual([]);
    expect(text).toContain(`default-src 'none'`);
    expect(text).toContain('color-scheme:light dark');
  });

  it('shows the images in the data, sniffed and within limits, and names those that it leaves out', async () => {
    const starts = { png: '89504e470d0a1a0a', jpeg: 'ffd8ff', gif: '474946383961', webp: '524946460000000057454250' };
    const image = (start: string, size = 20) =>
      Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(size, 1)]).toString('base64');
    const all = [
      ...Object.values(starts).map(start => image(start)),
      ...['3c7376673e', '424d'].map(start => image(start)),
      image(starts.png, 6_000_000),
      ...Array.from({ length: 5 }, () => image(starts.png, 4_500_000)),
    ];
    const images = all.map((base64, index) => ({ message: index + 1, base64 }));
    const given = async function* (): AsyncGenerator<ReportBlock> {
      yield { kind: 'images', title: 'images', images };
    };
    const text = await joined(reportHtml('report', given()));
    // A pattern for the whole image would exhaust the stack of the expression.
    const shown = text
      .split('<img')
      .slice(1)
      .map(part => part.split('"'));
    expect(shown.map(([, url = '']) => url.slice(0, url.indexOf(',')))).toEqual(
      [...Object.keys(starts), 'png', 'png', 'png', 'png'].map(type => `data:image/${type};base64`),
    );
    for (const [before, , alt, words, after] of shown) {
      expect([before, alt, words, after?.[0]]).toEqual([' src=', ' alt=', expect.stringMatching(/^[^<>]+$/), '>']);
    }
    expect(text).toMatch(/message 5, image \d+ B: left out, not a PNG, JPEG, GIF or WebP image/);
    expect(text).toMatch(/message 6, bmp \d+ B: left out, not a PNG/);
    expect(text).toMatch(/message 7, png [\d.]+ MB: left out, larger than/);
    expect(text).toMatch(/message 12, png [\d.]+ MB: left out, as the images of a report take at most/);
    const named = await joined(reportMarkdown(given()));
    expect(named).toMatch(/images, only in a report as HTML: message 1, \d+ B; message 2/);
    expect(named.length).toBeLessThan(1_000);
  });

  it('draws a curve with its limits, even for one value', async () => {
    const text = await joined(reportHtml('t', allBlocks()));
    expect(text).toMatch(/<path d="M56\.0 [\d.]+L632\.0 [\d.]+"/);
    expect(text).not.toContain('NaN');
    async function* one() {
      yield { kind: 'curves', curves: [{ name: 'one', points: [{ x: 3, y: 1 }] }] } as const;
      yield { kind: 'curves', curves: [] } as const;
    }
    const single = await joined(reportHtml('t', one()));
    expect(single).not.toContain('NaN');
    expect(single).toContain('No values.');
    const none = [
      { kind: 'curves', curves: [] },
      { kind: 'bars', bars: [] },
    ] as const;
    for (const write of [(all: AsyncIterable<ReportBlock>) => reportHtml('t', all), reportMarkdown]) {
      const text = await joined(
        write(
          (async function* () {
            yield* none;
          })(),
        ),
      );
      expect(text.match(/No values\./g)).toHaveLength(2);
    }
    // Its axis has the only step, and no other.
    expect([...single.matchAll(/<text [^>]*y="214"[^>]*>([^<]*)</g)].map(([, label]) => label)).toEqual(['3']);
  });

  it('rounds the values of curves in Markdown, as everywhere for people (out34 C12)', async () => {
    async function* blocks() {
      const points = [{ x: 5, y: 0.23636363636363636, low: 0.1, high: 0.9358624582362786 }];
      yield { kind: 'curves', curves: [{ name: 'one', points }] } as const;
    }
    expect(await joined(reportMarkdown(blocks()))).toContain('| 5 | 0.236 | 0.100 | 0.936 |');
  });

  it('draws equal values of any size, no line across a gap, and a value between two gaps (attack31 A7)', async () => {
    const drawn = async (values: readonly (number | undefined)[]) => {
      const points = values.map((y, x) => ({ x, y }));
      const text = await joined(
        reportHtml(
          't',
          (async function* () {
            yield { kind: 'curves', curves: [{ name: 'one', points }] } as const;
          })(),
        ),
      );
      expect(text).not.toMatch(/NaN|undefined|Infinity/);
      return text;
    };
    for (const value of [1e17, -1e300, 1e-300, 0, 0.5])
      expect(await drawn([value, value])).toMatch(/<circle cx="56\.0" cy="101\.0"/);
    const gaps = await drawn([1, 2, undefined, 3, undefined, undefined, 4, 5, undefined]);
    expect(gaps.match(/<path d="([^"]*)" [^>]*stroke-width/)?.[1]?.replace(/ [\d.]+/g, '')).toBe(
      'M56.0L128.0M272.0M488.0L560.0',
    );
    const long = await drawn([...Array(90).fill(1), undefined, 2, undefined, ...Array(90).fill(1)]);
    expect(long.match(/<circle/g)).toHaveLength(1);
    expect(await drawn([undefined])).toContain('No values.');
  });

  it('wraps the names of its curves on a narrow page, and keeps spaces and lines of texts', async () => {
    const text = await joined(
      reportHtml(
        't',
        (async function* () {
          const points = [{ x: 1, y: 1 }];
          const names = ['held-out reward, with 95% limits', 'trainer reward'];
          yield { kind: 'curves', curves: names.map(name => ({ name, points })) } as const;
        })(),
      ),
    );
    expect(text).toMatch(/<p><span [^>]*>■<\/span> held-out reward, with 95% limits {3}<span [^>]*>■<\/span> trainer/);
    expect(text).toContain('p,td{white-space:pre-wrap}');
  });

  it('escapes untrusted text in Markdown', async () => {
    const text = await joined(reportMarkdown(allBlocks()));
    const lines = text.split('\n');
    const fences = lines.filter(line => /^`{3,}/.test(line));
    // A text with a fence of four has one of five.
    expect(fences.slice(-3)).toEqual(['`````text', '````', '`````']);
    const isIn = { fence: '' };
    for (const line of lines) {
      const [fence] = /^`{3,}/.exec(line) ?? [];
      if (fence && isIn.fence === '') isIn.fence = fence;
      else if (fence === isIn.fence) isIn.fence = '';
      else if (isIn.fence === '') expect(line).not.toMatch(/(?<!\\)<(?:script|img)|(?<!\\)\[link\]/);
    }
    expect(text).not.toContain('\u202e');
  });
});
