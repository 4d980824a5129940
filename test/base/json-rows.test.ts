/** The rows of a list, taken from JSON that arrives in pieces. */
import { expect, it } from 'vitest';
import { JsonRows } from '../../src/base/json-rows.ts';

/** What is read if the text arrives in pieces of so many bytes. */
function readIn(text: string, size: number) {
  const rows: unknown[] = [];
  const reader = new JsonRows('rows', row => rows.push(row));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.add(bytes.subarray(at, at + size));
  return { rows, rest: reader.text() };
}

const sizes = [1, 2, 3, 7, 1_000];

it.each(sizes)('are taken from the field or the whole text, in pieces of %s bytes', size => {
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

it.each(sizes)('leave a list of another name and other values where they are, in pieces of %s bytes', size => {
  for (const text of ['{"items":[{"rows":[1]}],"next":null}', '{"arrows":[1]}', '{"rows":null}', '"[1]"', '', 'x[1'])
    expect(readIn(text, size).rest === text || text === 'x[1').toBe(true);
});

it.each(sizes)('of what is not JSON leave a rest that is not JSON, in pieces of %s bytes', size => {
  const list = ['[1,]', '[,1]', '[1,,2]', '[1 2]', '[1,{]}', '[1', '[1}', '["a]', '[1]]', '[nan]', '[,]', '[{"a":1,}]'];
  for (const text of [...list, ...list.map(each => `{"rows":${each}}`), 'x[1', '<p>']) {
    expect(() => JSON.parse(readIn(text, size).rest), text).toThrow();
  }
});
