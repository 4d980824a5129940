/** Completions of a word in a filter while it is typed. */
import { expect, it } from 'vitest';
import { type Column, statusColumn } from '../../src/present/column.ts';
import { completeFilter } from '../../src/present/filter-completion.ts';
import { createArrange } from '../../src/present/rows.ts';
import { timeColumn } from '../../src/present/times.ts';

interface Run {
  readonly name: string;
  readonly status: string;
  readonly rate: number;
  readonly model: string;
}

const rows: readonly Run[] = [
  { name: 'one', status: 'failed', rate: 0.0001, model: 'acme/tutor' },
  { name: 'two', status: 'running', rate: 0.00001, model: 'qwen 3 8b' },
  { name: 'three', status: 'running', rate: 0.00001, model: 'acme/tutor\u001b[31m' },
];
const columns: readonly Column<Run>[] = [
  { id: 'name', title: 'TRAINING RUN', width: 20, value: row => row.name },
  { id: 'option.seed', title: 'SEED', width: 4, hidden: true, value: () => 3 },
  statusColumn(row => row.status, { known: ['pending', 'failed'] }),
  { id: 'held-out', title: 'HELD-OUT', width: 8, align: 'right', value: () => 0.51234, text: () => '0.512' },
  { id: 'option.learning_rate', title: 'LEARNING_RATE', width: 8, value: row => row.rate },
  { id: 'model', title: 'MODEL', width: 20, value: row => row.model },
  timeColumn('created', 'STARTED', () => '2026-01-01T00:00:00Z'),
];
const pluralName = (typed: string) => completeFilter(typed, columns, rows).words;

it('offers the columns that start with the word, with their usual operator', () => {
  expect(pluralName('')).toEqual(['name:', 'status:', 'held-out>', 'learning_rate>', 'model:', 'created<', 'seed>']);
  expect(pluralName('s')).toEqual(['status:', 'started<', 'seed>']);
  expect(pluralName('heldo')).toEqual(['held-out>']);
  expect(pluralName('lr')).toEqual(['learning_rate>']);
  expect(pluralName('one !sta')).toEqual(['status:', 'started<']);
  expect(completeFilter('one !sta', columns, rows).from).toBe(5);
  expect(pluralName('nothing')).toEqual([]);
});

it('offers the values in the rows, and the known statuses', () => {
  expect(pluralName('status:')).toEqual(['status:running', 'status:failed', 'status:pending']);
  expect(pluralName('status!=F')).toEqual(['status!=failed']);
  expect(pluralName('status:ing')).toEqual(['status:running', 'status:pending']);
  expect(pluralName('status:failed')).toEqual([]);
  expect(pluralName('lr>')).toEqual(['lr>0.00001', 'lr>0.0001']);
  expect(pluralName('lr>=0.00001')).toEqual([]);
  // A value with an escape sequence cannot be typed; one with spaces needs quotes.
  expect(pluralName('model:')).toEqual(['model:acme/tutor', 'model:"qwen 3 8b"']);
  expect(pluralName('model:"qw')).toEqual(['model:"qwen 3 8b"']);
  // Rounded numbers, ages, unknown columns and texts have none.
  for (const typed of ['held-out>', 'age<', 'nothing:', 'model~a', '"sta', '/sta', '~sta', 'model:"qwen 3 8b"'])
    expect([typed, pluralName(typed)]).toEqual([typed, []]);
});

it('offers only what the filter accepts', () => {
  const arrange = createArrange(columns, row => row.name);
  for (const typed of ['', 'status:', 'lr>', 'model:']) {
    for (const filter of pluralName(typed)) {
      const { notice, doubt } = arrange(rows, { filter, sort: undefined });
      expect([filter, notice]).toEqual([filter, undefined]);
      if (!filter.endsWith('pending')) expect([filter, doubt]).toEqual([filter, undefined]);
    }
  }
});
