/** Which fields an answer may have, by its schema. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { page, rows, text, withRenamedFields, wrappedList } from '../../src/contract/common.ts';
import { declaresField, fieldNames, mayHaveField, rowsIn } from '../../src/contract/fields.ts';

const row = z.looseObject({
  id: z.string(),
  tags: z.nullish(z.array(z.looseObject({ name: text }))),
  options: z.nullish(z.record(z.string(), z.unknown())),
});
const record = withRenamedFields(
  { label: ['name'] },
  z.looseObject({ label: text, row: z.nullish(row), anything: z.unknown() }),
);
const listed = wrappedList('rows', z.looseObject({ of: text, rows: rows(row) }));

const names = (path: string): string[] => (path === '' ? [] : path.split('.'));

describe('a field', () => {
  it.each<[path: string, may: boolean, declared: boolean]>([
    ['', true, true],
    ['label', true, true],
    ['row', true, true],
    ['row.id', true, true],
    ['row.tags.0.name', true, true],
    ['row.tags.12', true, true],
    // An open part may have any field, but declares none.
    ['row.options.steps', true, false],
    ['anything.at.all', true, false],
    ['lable', false, false],
    ['toString', false, false],
    ['row.lable', false, false],
    ['row.tags.first', false, false],
    ['row.tags.1st', false, false],
    ['row.tags.v1', false, false],
    ['row.tags.0.lable', false, false],
    // A text has no fields.
    ['label.length', false, false],
    ['row.tags.0.name.first', false, false],
  ])('%j', (path, may, declared) => {
    expect([mayHaveField(record, names(path)), declaresField(record, names(path))]).toEqual([may, declared]);
  });

  it.each([z.number(), z.boolean(), z.string(), z.nullish(z.number())])(
    'is not found in a simple value (%#)',
    schema => {
      expect([mayHaveField(schema, ['x']), mayHaveField(schema, [])]).toEqual([false, true]);
    },
  );
});

it('finds the names of fields inside any schema', () => {
  expect([record, z.nullish(record), listed, row, z.string()].map(fieldNames)).toEqual([
    ['label', 'row', 'anything'],
    ['label', 'row', 'anything'],
    ['of', 'rows'],
    ['id', 'tags', 'options'],
    [],
  ]);
});

it('finds the rows of an answer in its page or list', () => {
  expect([page(row), listed, record, row, z.string()].map(schema => rowsIn(schema) === row)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(rowsIn(record)).toBeUndefined();
});
