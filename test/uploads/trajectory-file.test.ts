/** Reading a file of trajectories: its format, the bytes of each item, and errors of items. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bytesOf, type Item, type ReadBytes, readItems } from '../../src/uploads/trajectory-file.ts';

async function itemsOf(text: string | Uint8Array, piece = 1_000): Promise<Item[]> {
  const bytes = Buffer.from(text);
  const read: ReadBytes = async at => bytes.subarray(at, at + piece);
  const items: Item[] = [];
  for await (const item of readItems(read)) items.push(item);
  return items;
}

/** The text of each item, with its line. */
const pieces = async (text: string) =>
  (await itemsOf(text)).map(({ line, start, end }) => [line, String(Buffer.from(text).subarray(start, end))]);

describe('a file', () => {
  it.each([
    [
      'lines',
      '{"a":1}\n\n {"b":2} \r\n{"c":3}',
      [
        [1, '{"a":1}'],
        [3, ' {"b":2} \r'],
        [4, '{"c":3}'],
      ],
    ],
    [
      'lines after a mark',
      '\uFEFF{"a":1}\n{"b":2}\n',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      'lines with a brace in the first',
      '{ "a": 1}\n{"b":2}',
      [
        [1, '{ "a": 1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      'a list',
      ' \t\r\n[ {"a":1} ,{"b":[2,{}]}\n]\n',
      [
        [1, '{"a":1} '],
        [2, '{"b":[2,{}]}\n'],
      ],
    ],
    ['a list after a mark', '\uFEFF[{"a":1}]', [[1, '{"a":1}']]],
    ['an empty list', '[]', []],
    [
      'objects',
      '{\n "a": 1}\n{\r\n"b": 2}',
      [
        [1, '{\n "a": 1}'],
        [2, '{\r\n"b": 2}'],
      ],
    ],
    [
      'objects after spaces',
      '\n\t{ \r\n"a": 1} {"b": 2}',
      [
        [1, '{ \r\n"a": 1}'],
        [2, '{"b": 2}'],
      ],
    ],
    ['nothing', '', []],
    ['only spaces', ' \n \n', []],
  ] as const)('of %s', async (_, text, expected) => {
    expect(await pieces(text)).toEqual(expected);
  });

  it('has brackets, commas and quotes in its texts', async () => {
    const values = [{ a: '],}{[' }, { b: '\\"],' }, { c: '\\\\' }, { d: ['"'] }];
    for (const piece of [3, 7, 1_000]) {
      const list = await itemsOf(` ${JSON.stringify(values)}`, piece);
      expect(list.map(({ value }) => value)).toEqual(values);
    }
  });

  it('reads numbers that JSON does not have, as Python writes them, and says that they cannot be sent', async () => {
    const lines = [
      '{"a": NaN, "b": [-Infinity, 1e400]}',
      '{"a": "NaN \\" Infinity\\\\"}',
      '{"a": 1e308}',
      '{"a": NaNs}',
    ];
    const items = await itemsOf(lines.join('\n'), 5);
    expect(items.map(({ value, error, notFinite }) => [value, error, notFinite])).toEqual([
      [
        { a: Number.NaN, b: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] },
        'It has 3 numbers that are NaN or infinite, which JSON cannot represent.',
        3,
      ],
      [{ a: 'NaN " Infinity\\' }, undefined, 0],
      [{ a: 1e308 }, undefined, 0],
      [undefined, expect.stringMatching(/^It is not JSON/), 0],
    ]);
  });

  it('reports an invalid item, in its place', async () => {
    const broken = Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n3\n"x"\n[1]\nnull\n{"a":}\n{}'),
    ]);
    const items = await itemsOf(broken);
    expect(items.map(({ line, error }) => [line, error])).toEqual([
      [1, 'It is not UTF-8.'],
      [2, 'It is not an object.'],
      [3, 'It is not an object.'],
      [4, 'It is not an object.'],
      [5, 'It is not an object.'],
      [6, expect.stringMatching(/^It is not JSON: .*token/)],
      [7, undefined],
    ]);
    expect(items.map(({ value }) => value)).toEqual([...Array(6).fill(undefined), {}]);
  });

  it('larger than a request is not read as a whole', async () => {
    const size = 128 * 1024 * 1024 + 1;
    const piece = new Uint8Array(1024 * 1024).fill(97);
    const read = vi.fn<ReadBytes>(async at => piece.subarray(0, Math.max(0, size - at)));
    const items: Item[] = [];
    for await (const item of readItems(read)) items.push(item);
    expect(items).toMatchObject([
      { line: 1, start: 0, end: size, value: undefined, error: 'It is larger than 128 MiB.' },
    ]);
    expect(read).toHaveBeenCalledTimes(131);
  });
});

it('reads the bytes of a file in chunks, and keeps the last two', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-bytes-'));
  const path = join(folder, 'file');
  const size = 256 * 1024;
  const whole = Buffer.from(Array.from({ length: 3 * size + 5 }, (_, index) => index % 251));
  writeFileSync(path, whole);
  const file = await open(path);
  onTestFinished(async () => {
    await file.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const reads = vi.spyOn(file, 'read');
  const read = bytesOf(file);
  const at = async (position: number) => {
    const before = reads.mock.calls.length;
    const bytes = await read(position);
    expect(Buffer.compare(bytes, whole.subarray(position, position + bytes.length))).toBe(0);
    return [bytes.length, reads.mock.calls.length - before];
  };
  expect(await at(0)).toEqual([size, 1]);
  expect(await at(0)).toEqual([size, 0]);
  expect(await at(size - 1)).toEqual([1, 0]);
  expect(await at(size)).toEqual([size, 1]);
  expect(await at(10)).toEqual([size - 10, 0]);
  expect(await at(2 * size)).toEqual([size, 1]);
  expect(await at(size + 1)).toEqual([size - 1, 0]);
  expect(await at(0)).toEqual([size, 1]);
  expect(await at(3 * size)).toEqual([5, 1]);
  expect(await at(3 * size + 5)).toEqual([0, 1]);
});
