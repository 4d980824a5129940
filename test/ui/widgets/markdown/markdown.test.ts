import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../../src/text/width.ts';
import { markdownLines } from '../../../../src/ui/widgets/markdown/markdown.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('terminal');
const ascii = createTheme('plain', true);

function withoutStyles(line: string): string {
  return line.replace(/\u001b\[[\d;]*m/g, '');
}

/** The lines as the reader sees them. */
function seen(text: string, width = 40): string[] {
  return markdownLines(text, width, theme).map(withoutStyles);
}

/** No line is too wide, and nothing a terminal obeys is left but the theme's own appearances. */
function expectSafe(text: string, width: number): void {
  const own = new Set(Object.values(theme.styles).flatMap(style => style('x').match(/\u001b\[[\d;]*m/g) ?? []));
  for (const line of markdownLines(text, width, theme)) {
    for (const sequence of line.match(/\u001b\[[\d;]*m/g) ?? []) expect(own).toContain(sequence);
    const shown = withoutStyles(line);
    expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(displayWidth(shown), JSON.stringify(shown)).toBeLessThanOrEqual(width);
  }
}

const everything = `# Heading with *emphasis* and 漢字漢字漢字

A paragraph of **strong**, *emphasis*, ~~strike~~, \`code\`, [a link](https://example.org/a/very/long/address?of=it),
![a picture](x.png) and averyveryverylongwordwithoutanyspaceinsideitthatmustbebroken 漢字漢字漢字漢字漢字漢字漢字 👩‍👩‍👧👩‍👩‍👧.

- one
  - two **strong words that go on and on**
    1. three
- [x] done

> quoted
> > twice
> - a list

\`\`\`ts title="x"
const x = 'a line of code that is far too long for a narrow window 漢字漢字';
\`\`\`

| name | value | note |
|:-----|------:|:----:|
| **a** | 1 | a rather long note that is cut |
| 漢字漢字 | 22 | |

---

<details>html</details>
`;

describe('inline text', () => {
  it('is styled by its marks', () => {
    const { strong, emphasis, code, muted } = theme.styles;
    expect(markdownLines('a **b** *c* `d`', 40, theme)).toEqual([`a ${strong('b')} ${emphasis('c')} ${code('d')}`]);
    expect(markdownLines('~~e~~', 40, theme)).toEqual([muted('~~') + muted('e') + muted('~~')]);
    expect(markdownLines('***f***', 40, theme)).toEqual([strong(emphasis('f'))]);
  });

  it('keeps the marks if the theme has no style for them', () => {
    expect(markdownLines('*a* `b`', 40, ascii)).toEqual(['*a* `b`']);
  });

  it('shows the target of a link, unless its text is the URL', () => {
    const { link, muted } = theme.styles;
    expect(markdownLines('[a](https://b.c)', 40, theme)).toEqual([link('a') + muted(' (https://b.c)')]);
    expect(markdownLines('https://b.c', 40, theme)).toEqual([link('https://b.c')]);
    expect(seen('[https://good.example](https://evil.example)', 60)).toEqual([
      'https://good.example (https://evil.example)',
    ]);
    expect(seen('[a][r]\n\n[r]: https://b.c')).toEqual(['a (https://b.c)']);
    expect(seen('![](x.png)')).toEqual(['image (x.png)']);
  });

  it('reads character references and escapes, except in code', () => {
    expect(seen('&lt;b&gt; &amp;amp; &#65;&#x42; \\*c\\* `&lt;`')).toEqual(['<b> &amp; AB *c* &lt;']);
    expect(seen('A & B &#38;lt;')).toEqual(['A & B &lt;']);
  });

  it('wraps by words, styles both lines, breaks long words and keeps line ends', () => {
    const { strong } = theme.styles;
    expect(markdownLines('x **one two**', 6, theme)).toEqual([`x ${strong('one')}`, strong('two')]);
    expect(seen('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(seen('one\ntwo  \nthree')).toEqual(['one', 'two', 'three']);
  });
});

describe('blocks', () => {
  it('are separated by one blank line', () => {
    expect(seen('# A\nb\n\n\n\nc')).toEqual(['A', '', 'b', '', 'c']);
  });

  it('show headings as titles', () => {
    const { title, accent } = theme.styles;
    expect(markdownLines('# A\n\n### B', 40, theme)).toEqual([title(accent('A')), '', title('B')]);
  });

  it('align the lines of list items under their text', () => {
    expect(seen('- one two three\n  - four five six\n- seven', 12)).toEqual([
      '• one two',
      '  three',
      '  • four',
      '    five six',
      '• seven',
    ]);
  });

  it('number lists from where they start, aligned, and draw tasks as boxes', () => {
    expect(seen('9. a\n10. b')).toEqual([' 9. a', '10. b']);
    expect(seen('- [ ] a\n- [x] b\n- c')).toEqual(['[ ] a', '[x] b', '• c']);
    expect(seen('- [x] a\n\n- [ ] b')).toEqual(['[x] a', '', '[ ] b']);
  });

  it('drop the indent if the content would have no room', () => {
    expect(seen('- one two', 5)).toEqual(['•', 'one', 'two']);
    expect(seen('> one two', 5)).toEqual(['one', 'two']);
  });

  it('mark quotes at every level and every line', () => {
    expect(seen('> one two three\n> > four', 10)).toEqual(['▎ one two', '▎ three', '▎ ', '▎ four']);
    expect(seen('> a\n> > b')).toEqual(['▎ a', '▎ ', '▎ ▎ b']);
  });

  it('keep code as it is, with its language', () => {
    const { code, muted } = theme.styles;
    expect(markdownLines('```py x\nif a:\n\n    *b*  \n```\nc', 40, theme)).toEqual([
      `  ${muted('py')}`,
      `  ${code('if a:')}`,
      '',
      `  ${code('    *b*  ')}`,
      '',
      'c',
    ]);
    expect(seen('```\nabc  efghijkl\n```', 10)).toEqual(['  abc  efg', '  hijkl']);
  });

  it('treat an unclosed fence as code', () => {
    const { code } = theme.styles;
    expect(markdownLines('a\n\n```\n# b', 40, theme)).toEqual(['a', '', `  ${code('# b')}`]);
    expect(seen('- a\n  ```js\n  **b**')).toEqual(['• a', '    js', '    **b**']);
    expect(() => markdownLines('```', 40, theme)).not.toThrow();
  });

  it('draw rules over the whole width and HTML as text', () => {
    expect(seen('---', 5)).toEqual(['─────']);
    expect(seen('<div>\n<b>x</b>\n</div>')).toEqual(['<div>', '<b>x</b>', '</div>']);
    expect(seen('a <b>x</b> <!-- y -->')).toEqual(['a <b>x</b> <!-- y -->']);
  });
});

describe('tables', () => {
  const source = '| name | n |\n|:--|--:|\n| **long name** | 1 |\n| b | 22 |';

  it('align their columns', () => {
    expect(seen(source)).toEqual(['name      │  n', '──────────┼───', 'long name │  1', 'b         │ 22']);
    expect(markdownLines(source, 40, theme)[2]).toContain(theme.styles.strong('long name'));
  });

  it('narrow the widest column and cut its cells', () => {
    expect(seen(source, 11)).toEqual(['name   │  n', '───────┼───', 'long … │  1', 'b      │ 22']);
  });

  it('become lines of name and value if there is no room for columns', () => {
    expect(seen(source, 8)).toEqual(['name:', 'long', 'name', 'n: 1', '', 'name: b', 'n: 22']);
  });

  it('of extreme size are shown as text', () => {
    const wide = `${'|a'.repeat(10_000)}|\n${'|-'.repeat(10_000)}|\n${'|\n'.repeat(9_000)}`;
    expect(markdownLines(wide, 40, theme).length).toBeLessThan(20_000);
  });
});

describe('hostile text', () => {
  it.each([1, 2, 3, 5, 8, 11, 17, 24, 40, 80, 200])('stays within %i cells', width => {
    expectSafe(everything, width);
    expectSafe(`> ${everything.replaceAll('\n', '\n> - ')}`, width);
  });

  it('has no lines if there is no room', () => {
    expect(markdownLines('a', 0, theme)).toEqual([]);
    expect(markdownLines('a', Number.NaN, theme)).toEqual([]);
    expect(markdownLines('a', Number.POSITIVE_INFINITY, theme)).toEqual(['a']);
  });

  it('puts no escape sequence on the terminal, anywhere', () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e';
    const places = [
      `a${evil}b`,
      `# ${evil}`,
      `\`${evil}\``,
      `\`\`\`${evil}\n${evil}\n\`\`\``,
      `[${evil}](${evil})`,
      `[a](<http://x/${evil}>)`,
      `![${evil}](y)`,
      `<http://${evil}>`,
      `- ${evil}`,
      `|${evil}|b|\n|-|-|\n|${evil}|c|`,
      `<p title="${evil}">`,
      `[${evil}]: http://x`,
    ];
    for (const place of places) expectSafe(place, 30);
    expect(seen(places[0] ?? '')).toEqual(['ab']);
  });

  it('puts none there by character references', () => {
    for (const reference of ['&#27;', '&#x1b;', '&#x1B;', '&#155;', '&#x202e;', '&#0;', '&#x110000;', '&#9999999;']) {
      expectSafe(`${reference}[31m [${reference}](http://a/${reference}) ![${reference}](b)`, 30);
    }
    expect(seen('a&#27;[31mb')).toEqual(['a[31mb']);
    expect(seen('a&#10;b')).toEqual(['a b']);
  });

  it('never styles part of a grapheme, whose width would change', () => {
    expect(markdownLines('x*\u0301y*z', 40, theme).join('')).not.toMatch(/m\u0301/);
    expectSafe('👩\u200d**👩**'.repeat(30), 7);
  });

  it('nests lists and quotes up to a limit, and shows deeper ones as text', () => {
    const lines = seen(`${'> '.repeat(500)}deep`, 200);
    expect(lines.join('\n')).toMatch(/^(▎ ){12}> > .*> deep$/s);
    expect(seen(`${'- '.repeat(20)}deep`, 200)).toEqual([`${'• '.repeat(12)}${'- '.repeat(8)}deep`]);
  });

  it('of repeatedly nested quotes is shown plain', () => {
    const stairs = (steps: number): string =>
      Array.from({ length: steps }, (_, step) => `${'>'.repeat(steps - step)}x\n`).join('');
    expect(seen(stairs(10))[0]).toMatch(/^▎/);
    expect(seen(stairs(400))[0]).toMatch(/^>/);
  });

  it('is parsed as Markdown up to a length, and shown plain beyond', () => {
    const start = '**a** ';
    expect(seen(start + 'b '.repeat(1_000), 40)[0]).not.toContain('*');
    expect(seen(start + 'b '.repeat(500_000), 40)[0]).toContain('**a**');
  });

  it.each([
    '[',
    '![a](',
    '[a][',
    '>',
    '> ',
    '*',
    '*a',
    '_a',
    '**a _b ',
    '~~a ',
    '`',
    '- ',
    '1. ',
    '<a ',
    '<!--',
    '|',
    '|-|-|\n',
    '\\',
    '\n',
    '```\n',
    '>- ',
    '&#27;',
    'a@',
    '\u001b[',
  ])('of many %j is shown, short or long', unit => {
    for (const length of [1_000, 99_000, 1_000_000]) {
      const lines = markdownLines(unit.repeat(Math.floor(length / unit.length)), 40, theme);
      const widest = lines.reduce((most, line) => Math.max(most, displayWidth(withoutStyles(line))), 0);
      expect(widest).toBeLessThanOrEqual(40);
    }
  });

  it('is shown after every part of an answer, as it streams', () => {
    for (let end = 0; end <= everything.length; end += 1) expectSafe(everything.slice(0, end), 30);
  });
});
