import { describe, expect, it } from 'vitest';
import { type ExportColumn, exportFileName, exportFormats, exportRows } from '../../src/text/export.ts';

interface Rollout {
  readonly id: string;
  readonly reward?: number | null;
}

const rows: readonly Rollout[] = [{ id: 'a', reward: -0.5 }, { id: 'b', reward: null }, { id: 'c' }];
const columns: readonly ExportColumn<Rollout>[] = [
  { name: 'id', value: row => row.id },
  { name: 'reward', value: row => row.reward },
];

/** One cell between two others, without its frame. */
function cell(format: 'csv' | 'markdown', value: unknown): string {
  const wrapped = exportRows(
    format,
    [value],
    [
      { name: 'l', value: () => 'L' },
      { name: 'v', value: row => row },
      { name: 'r', value: () => 'R' },
    ],
  );
  const [start, middle, end] = format === 'csv' ? ['l,v,r\r\n', 'L,', ',R\r\n'] : ['| --- |\n', '| L | ', ' | R |\n'];
  const line = wrapped.slice(wrapped.indexOf(start) + start.length);
  if (!line.startsWith(middle) || !line.endsWith(end)) throw new Error(`not one row: ${JSON.stringify(wrapped)}`);
  return line.slice(middle.length, -end.length);
}

describe('exportRows as JSON', () => {
  const hostile = [{ id: '\x1b[31m\x9b2J\u2028\u202e"\n', extra: { kept: [1] } }];

  it('writes the rows whole', () => {
    expect(exportRows('json', rows, [])).toBe(`${JSON.stringify(rows, undefined, 2)}\n`);
    expect(exportRows('jsonl', rows, [])).toBe('{"id":"a","reward":-0.5}\n{"id":"b","reward":null}\n{"id":"c"}\n');
    expect(exportRows('json', [], [])).toBe('[]\n');
    expect(exportRows('jsonl', [], [])).toBe('');
  });

  it('can be read back unchanged, and contains nothing that a terminal obeys', () => {
    for (const format of ['json', 'jsonl'] as const) {
      const text = exportRows(format, hostile, []);
      expect(text).toMatch(/^[\n -~]*$/);
      expect([JSON.parse(text)].flat()).toEqual(hostile);
    }
    expect(exportRows('jsonl', hostile, []).indexOf('\n')).toBe(exportRows('jsonl', hostile, []).length - 1);
  });
});

describe('exportRows as CSV', () => {
  it('has a header, CRLF, and empty cells for missing values', () => {
    expect(exportRows('csv', rows, columns)).toBe('id,reward\r\na,-0.5\r\nb,\r\nc,\r\n');
    expect(exportRows('csv', [], columns)).toBe('id,reward\r\n');
  });

  it('tells zero, false and empty text from nothing', () => {
    expect(cell('csv', 0)).toBe('0');
    expect(cell('csv', false)).toBe('false');
    expect(cell('csv', undefined)).toBe('');
  });

  it('quotes as RFC 4180 does', () => {
    expect(cell('csv', 'a,b')).toBe('"a,b"');
    expect(cell('csv', 'say "hi"')).toBe('"say ""hi"""');
    expect(cell('csv', 'one\r\ntwo\rthree')).toBe('"one\ntwo\nthree"');
    expect(cell('csv', { a: 'x"y' })).toBe('"{""a"":""x\\""y""}"');
    expect(cell('csv', 'plain text')).toBe('plain text');
  });

  it('turns no text into a formula, and no number into text', () => {
    for (const start of ['=', '+', '-', '@', '\t']) expect(cell('csv', `${start}1`)).toBe(`'${start}1`);
    expect(cell('csv', '=A1,"x"')).toBe(`"'=A1,""x"""`);
    expect(cell('csv', '\x00\x07=1')).toBe("'=1");
    expect(cell('csv', 'a=1')).toBe('a=1');
    expect(cell('csv', -1e-7)).toBe('-1e-7');
    expect(cell('csv', -5n)).toBe('-5');
    expect(exportRows('csv', [], [{ name: '@SUM(A1)', value: () => 1 }])).toBe("'@SUM(A1)\r\n");
  });

  it('drops control characters, and whole escape sequences, as everywhere else (C4)', () => {
    expect(cell('csv', 'a\x00\x07\x1b[2J\x7fb\tc')).toBe('ab\tc');
    expect(cell('csv', 'my-bench\x1b[31mRED\x1b]0;pwn\x07')).toBe('my-benchRED');
  });

  it('drops marks that reorder other text, and keeps those that a language needs (out26 C2)', () => {
    expect(cell('csv', 'a\u202egnp.exe\u2066b\u2069\u200f')).toBe('agnp.exeb\u200f');
    expect(cell('csv', '\u202e=1')).toBe("'=1");
  });

  it('writes dates in ISO 8601, and nothing for a missing date', () => {
    expect(cell('csv', new Date(0))).toBe('1970-01-01T00:00:00.000Z');
    expect(cell('csv', new Date(Number.NaN))).toBe('');
  });

  it('writes no blank line', () => {
    expect(exportRows('csv', [null], [{ name: 'x', value: row => row }])).toBe('x\r\n""\r\n');
  });
});

describe('exportRows as Markdown', () => {
  it('is a table', () => {
    expect(exportRows('markdown', rows, columns)).toBe(
      '| id | reward |\n| --- | --- |\n| a | -0.5 |\n| b |  |\n| c |  |\n',
    );
  });

  it('escapes what would end a cell, hide text or load something', () => {
    expect(cell('markdown', 'a|b\\|c\\')).toBe('a\\|b\\\\\\|c\\\\');
    expect(cell('markdown', 'one\r\ntwo\nthree\u2028four')).toBe('one<br>two<br>three<br>four');
    expect(cell('markdown', '<think>`x`![y](z)')).toBe('\\<think>\\`x\\`!\\[y](z)');
    expect(cell('markdown', 'a\x1b\x00\tb')).toBe('a b');
    expect(exportRows('markdown', [], [{ name: 'a|b', value: () => 1 }])).toBe('| a\\|b |\n| --- |\n');
  });

  it('adds no apostrophe before text', () => {
    expect(cell('markdown', '=1')).toBe('=1');
  });
});

describe('exportFileName', () => {
  const at = new Date('2026-03-04T05:06:07.890Z');

  it('has kind, id, time and format', () => {
    expect(exportFormats.map(format => exportFileName('run', 'run_1', format, at))).toEqual([
      'benchtop-run-run_1-20260304-050607.json',
      'benchtop-run-run_1-20260304-050607.jsonl',
      'benchtop-run-run_1-20260304-050607.csv',
      'benchtop-run-run_1-20260304-050607.md',
    ]);
  });

  it('is a safe name for any input', () => {
    expect(exportFileName('../..', '/etc/pass wd\n', 'csv', at)).toBe('benchtop-etc-pass-wd-20260304-050607.csv');
    expect(exportFileName('', '', 'csv', at)).toBe('benchtop-20260304-050607.csv');
    for (const id of ['x'.repeat(500), '.'.repeat(500), '日本\x1b[2J\u202e', '-rf', 'a/b'.repeat(99)]) {
      const name = exportFileName(id, id, 'markdown', at);
      expect(name).toMatch(/^benchtop[A-Za-z0-9._-]{1,112}$/);
      expect(name.endsWith('-20260304-050607.md')).toBe(true);
    }
    expect(exportFileName('run', 'x'.repeat(500), 'json', at)).toHaveLength(120);
  });
});
