/** The rows of a list, from JSON that arrives in chunks. */
import { describe, expect, it } from 'vitest';
import { JsonRows, type RowBlock, type RowReader } from '../../src/base/json-rows.ts';

/** Keeps the rows for the next answer. */
class KeptRows implements RowReader {
  rows: unknown[] = [];
  readonly blocks: (RowBlock & { readonly rows: number })[] = [];
  /** The number of rows that were parsed. */
  parsed = 0;

  add(row: unknown): void {
    this.rows.push(row);
    this.parsed += 1;
  }

  endBlock(block: RowBlock): void {
    this.blocks.push({ ...block, rows: this.rows.length });
  }

  keep(blocks: number): void {
    this.blocks.length = blocks;
    this.rows.length = this.blocks.at(-1)?.rows ?? 0;
  }
}

/** The rows read from text that arrives in chunks of this many bytes. */
function readIn(text: string, size: number, kept = new KeptRows()) {
  const reader = new JsonRows('rows', kept, 10_000_000);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.add(bytes.subarray(at, at + size));
  const rest = reader.text();
  return { rows: [...kept.rows], rest };
}

const sizes = [1, 2, 3, 7, 1_000];

it.each(sizes)('reads rows from the field or the whole text, in chunks of %s bytes', size => {
  const rows = [{ a: '],"rows":[{\\"' }, [1, [2]], 'ü–"', null, -1.5e3, {}];
  const list = JSON.stringify(rows, null, 1);
  expect(readIn(list, size)).toEqual({ rows, rest: '[]' });
  expect(readIn(`{"id":"[x","rows" : ${list},"n":[1]}`, size)).toEqual({
    rows,
    rest: '{"id":"[x","rows" : [],"n":[1]}',
  });
  expect(readIn('{"rows":[ ]}', size)).toEqual({ rows: [], rest: '{"rows":[]}' });
  // The first of two lists is taken, and only at the top.
  expect(readIn('{"a":{"rows":[1]},"rows":[2]}', size)).toEqual({ rows: [2], rest: '{"a":{"rows":[1]},"rows":[]}' });
});

it.each(sizes)('leaves lists under other names and other values alone, in chunks of %s bytes', size => {
  for (const text of ['{"items":[{"rows":[1]}],"next":null}', '{"arrows":[1]}', '{"rows":null}', '"[1]"', '', 'x[1'])
    expect(readIn(text, size).rest === text || text === 'x[1').toBe(true);
});

it.each(sizes)('leaves text that is not JSON invalid, in chunks of %s bytes', size => {
  const list = ['[1,]', '[,1]', '[1,,2]', '[1 2]', '[1,{]}', '[1', '[1}', '["a]', '[1]]', '[nan]', '[,]', '[{"a":1,}]'];
  for (const text of [...list, ...list.map(each => `{"rows":${each}}`), 'x[1', '<p>']) {
    expect(() => JSON.parse(readIn(text, size).rest), text).toThrow();
  }
});

it.each(sizes)('leaves the first invalid row in the rest, in chunks of %s bytes', size => {
  const { rest } = readIn('{"id":1,"rows":[{"a":1},{"b":NaN},{"c":Infinity}],"end":2}', size);
  expect(rest).toMatch(/^\{"id":1,"rows":\[….*\{"b":NaN\}.*\],"end":2\}$/);
});

describe('rows known from an earlier answer', () => {
  const points = Array.from({ length: 10_000 }, (_, step) => ({ step, note: 'ü]},"' }));
  const pieces = [777, 65_536, 10_000_000];

  it.each(pieces)('are not parsed again, in chunks of %s bytes', size => {
    const kept = new KeptRows();
    readIn(JSON.stringify({ rows: points }), 5_000, kept);
    kept.parsed = 0;
    const more = [...points, { step: 10_000 }];
    expect(readIn(JSON.stringify({ count: 1, rows: more, end: [1] }), size, kept)).toEqual({
      rows: more,
      rest: '{"count":1,"rows":[],"end":[1]}',
    });
    // Those after the last whole block.
    expect(kept.parsed).toBeLessThan(2_500);
    expect(readIn(JSON.stringify(more), size, kept)).toEqual({ rows: more, rest: '[]' });
  });

  it.each(pieces)('are parsed from the first block that differs, in chunks of %s bytes', size => {
    const changed = points.map(each => (each.step === 5_000 ? { step: 5_000, note: 'new' } : each));
    for (const rows of [changed, points.slice(0, 6_000), points.slice(0, 3), points.toReversed(), [], [null]]) {
      const kept = new KeptRows();
      readIn(JSON.stringify(points), 5_000, kept);
      kept.parsed = 0;
      expect(readIn(JSON.stringify(rows), size, kept)).toEqual({ rows, rest: '[]' });
      if (rows === changed) expect(kept.parsed).toBeLessThan(8_000);
      // Only the newer answer is kept now.
      expect(readIn(JSON.stringify(rows), size, kept).rows).toEqual(rows);
      expect(readIn('{"items":[]}', size, kept)).toEqual({ rows: [], rest: '{"items":[]}' });
    }
  });

  it.each(pieces)('do not hide that the rest is invalid, in chunks of %s bytes', size => {
    const text = JSON.stringify(points);
    for (const broken of [`${text.slice(0, -1)},]`, text.slice(0, -1), `${text.slice(0, -1)} 1]`, `${text}]`]) {
      const kept = new KeptRows();
      readIn(text, 5_000, kept);
      expect(() => JSON.parse(readIn(broken, size, kept).rest)).toThrow();
    }
    // A block ends with a comma, behind which there must be a row.
    const kept = new KeptRows();
    readIn(text, 5_000, kept);
    const [{ bytes = 0 } = {}] = kept.blocks;
    expect(() => JSON.parse(readIn(`${text.slice(0, bytes + 1)}]`, size, kept).rest)).toThrow();
  });
});
