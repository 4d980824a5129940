/** The filter of a list: words, and terms on columns. */
import { describe, expect, it } from 'vitest';
import { type Column, fitColumns, namedColumn, statusColumn } from '../../src/present/column.ts';
import { noteColumns } from '../../src/present/notes.ts';
import { parseRowFilter } from '../../src/present/row-filter.ts';
import { createArrange } from '../../src/present/rows.ts';
import { durationColumn, type RunTimes, seenColumn, timeColumn } from '../../src/present/times.ts';
import { reward } from '../../src/text/numbers.ts';

interface Run {
  readonly name: string;
  readonly status?: string;
  readonly heldOut?: number;
  readonly lr?: number;
  readonly hours: number;
  readonly model: string;
}

const rows: readonly Run[] = [
  { name: 'sweep seed1', status: 'failed', heldOut: 0.2, lr: 1e-5, hours: 3, model: 'acme/tutor' },
  { name: 'sweep seed2', status: 'running', heldOut: 0.7, lr: 3e-5, hours: 30, model: 'acme/talker' },
  { name: 'other seed1', status: 'cancel_signaled', lr: 1e-4, hours: 100, model: 'qwen3:8b' },
  { name: 'a:b seed11', heldOut: 0, hours: 1, model: 'acme/tutor' },
];

const columns: readonly Column<Run>[] = [
  { id: 'name', title: 'TRAINING RUN', width: 20, value: row => row.name },
  statusColumn(row => row.status),
  { id: 'held-out', title: 'HELD-OUT', width: 8, value: row => row.heldOut, text: row => reward(row.heldOut) },
  { id: 'option.learning_rate', title: 'LEARNING_RATE', width: 8, value: row => row.lr },
  { id: 'model', title: 'MODEL', width: 20, value: row => row.model },
  timeColumn('created', 'STARTED', row => new Date(Date.now() - row.hours * 3_600_000).toISOString()),
];

const arrange = createArrange(columns, row => row.name);
const found = (filter: string) => {
  const { rows: kept, notice } = arrange(rows, { filter, sort: undefined });
  expect(notice).toBeUndefined();
  return kept.map(({ name }) => name);
};
const mistakeIn = (filter: string) => {
  const { mistake } = arrange(rows, { filter, sort: undefined });
  return mistake && filter.slice(...mistake);
};
const errorOf = (filter: string) => arrange(rows, { filter, sort: undefined }).notice;

describe('a filter of rows', () => {
  it('finds rows with all its words, in any order (W30)', () => {
    expect(found('seed1 sweep')).toEqual(['sweep seed1']);
    expect(found('failed seed1')).toEqual(['sweep seed1']);
    expect(found('seed1 !sweep')).toEqual(['other seed1', 'a:b seed11']);
    expect(found('"sweep seed1"')).toEqual(['sweep seed1']);
    expect(found('!"sweep seed1" sweep')).toEqual(['sweep seed2']);
    expect(found('  ')).toHaveLength(4);
  });

  it('compares integers above 2^53, which are texts (attack33 C)', () => {
    const seeds: readonly (string | number | undefined)[] = [8, '12345678901234567891', '-12345678901234567891', 'x'];
    const seed: Column<string | number | undefined> = { id: 'seed', title: 'SEED', width: 9, value: each => each };
    const of = (filter: string) => createArrange([seed], String)(seeds, { filter, sort: undefined }).rows;
    expect([of('seed>7'), of('seed<8')]).toEqual([seeds.slice(0, 2), seeds.slice(2, 3)]);
    // Both are the same number (attack34 C).
    expect([of('seed>12345678901234567890'), of('seed>12345678901234567891')]).toEqual([seeds.slice(1, 2), []]);
  });

  it('compares values of columns', () => {
    expect(found('status:failed')).toEqual(['sweep seed1']);
    expect(found('status:cancel')).toEqual(['other seed1']);
    expect(found('status="cancel signaled"')).toEqual(['other seed1']);
    expect(found('name:"other seed1"')).toEqual(['other seed1']);
    expect(found('status=cancel_signaled')).toEqual(['other seed1']);
    expect(found('status!=failed')).toEqual(['sweep seed2', 'other seed1', 'a:b seed11']);
    expect(found('lr>1e-5')).toEqual(['sweep seed2', 'other seed1']);
    expect(found('lr>=1e-5 lr<1e-4')).toEqual(['sweep seed1', 'sweep seed2']);
    // A missing value is none, and 0 is 0.
    expect(found('heldout<0.5')).toEqual(['sweep seed1', 'a:b seed11']);
    expect(found('held-out=0')).toEqual(['a:b seed11']);
    expect(found('!heldout<0.5')).toEqual(['sweep seed2', 'other seed1']);
    expect(found('model~tutr')).toEqual(['sweep seed1', 'a:b seed11']);
    expect(found('age<2d')).toEqual(['sweep seed1', 'sweep seed2', 'a:b seed11']);
    expect(found('started>90h')).toEqual(['other seed1']);
    expect(found('status:failed seed1 heldout<0.5')).toEqual(['sweep seed1']);
  });

  it('finds equal numbers, exact or as shown, but not numbers that contain the digit', () => {
    const values = [0, 0.4, 0.1004, 1, 10, undefined].map(value => ({ value }));
    const columnOf = (text?: (value: number | undefined) => string): Column<(typeof values)[number]>[] => [
      {
        ...{ id: 'reward', title: 'REWARD', width: 8, value: row => row.value },
        ...(text && { text: row => text(row.value) }),
      },
    ];
    const of = (filter: string, text?: (value: number | undefined) => string) =>
      createArrange(columnOf(text), String)(values, { filter, sort: undefined }).rows.map(({ value }) => value);
    for (const text of [reward, undefined]) {
      expect(of('reward:0', text)).toEqual([0]);
      expect(of('reward:0.0', text)).toEqual([0]);
      expect(of('reward:0.4', text)).toEqual([0.4]);
      expect(of('reward:0.1004', text)).toEqual([0.1004]);
      expect(of('reward:1', text)).toEqual([1]);
      expect(of('!reward:1', text)).toEqual([0, 0.4, 0.1004, 10, undefined]);
      expect(of('reward:0.', text)).toEqual([0]);
    }
    expect(of('reward:0.1', reward)).toEqual([0.1004]);
    const withUnit = (value: number | undefined) => (value === undefined ? '' : `${value} MiB, last`);
    expect(of('reward:10', withUnit)).toEqual([10]);
    expect(found('age:3h')).toEqual(['sweep seed1']);
    expect(found('lr:1e-5')).toEqual(['sweep seed1']);
    expect(found('lr:0.00001')).toEqual(['sweep seed1']);
    // A text may be part of a cell.
    expect(found('name:seed1')).toHaveLength(3);
  });

  it('compares times with a unit, and refuses a number without one, or a unit elsewhere (B4)', () => {
    const [created_at, now] = ['2026-01-01T10:00:00Z', Date.parse('2026-01-01T10:00:00Z')];
    const runs = [0, 22, 5_337, 12_000].map(ms => ({ created_at, completed_at: new Date(now + ms).toISOString() }));
    const timed = [durationColumn<RunTimes>(), seenColumn<RunTimes>(() => Date.now() - 3_600_000)];
    const of = (filter: string) => {
      const { rows: kept, notice } = createArrange(timed, String)(runs, { filter, sort: undefined });
      return notice ?? kept.length;
    };
    expect(['took>10s', 'took>=22ms', 'took>0', 'took:12s', 'took=0', 'took~12s'].map(of)).toEqual([1, 3, 3, 1, 1, 1]);
    expect(['seen<2h', 'seen<30m', '!took>10s'].map(of)).toEqual([4, 0, 3]);
    for (const operator of ['>', '<=', ':', '=', '!='])
      expect(of(`took${operator}10`)).toBe(
        `TOOK${operator} takes a time with a unit (ms, s, m, h, d, w) such as 90s, not 10`,
      );
    expect(errorOf('age<2')).toContain('takes a time with a unit');
    expect(errorOf('lr<5m')).toBe('LEARNING_RATE< takes a number such as 0.5, not 5m');
  });

  it('hides nothing while a value is not typed yet', () => {
    for (const filter of ['lr', 'model:', 'lr>', 'age<', '"', '!']) {
      if (filter !== 'lr') expect(found(filter)).toHaveLength(4);
      expect(errorOf(filter)).toBeUndefined();
    }
    for (const filter of ['lr>1', 'lr>1e', 'lr>1e-']) expect(errorOf(filter) ?? '').not.toContain('No column');
  });

  it('finds rows with any value for a column, a colon and nothing else (B17)', () => {
    expect(found('status:')).toEqual(['sweep seed1', 'sweep seed2', 'other seed1']);
    expect(found('!status:')).toEqual(['a:b seed11']);
    expect(found('heldout: seed1')).toEqual(['sweep seed1', 'a:b seed11']);
    expect(errorOf('status:')).toBeUndefined();
    const [row] = createArrange(noteColumns(new Map(), String), String)([1], { filter: 'flag:', sort: undefined }).rows;
    expect(row).toBeUndefined();
  });

  it('finds a whole flag even in a narrow list (out32 C6)', () => {
    const named: readonly Column<Run>[] = [
      {
        id: 'run',
        title: 'RUN',
        width: { min: 8, max: 100, grow: 3 },
        value: row => `a long name of a run: ${row.name}`,
      },
      ...noteColumns(
        new Map([['other seed1', [{ message: 0, author: 'me', flag: 'look again', text: '' }]]]),
        (row: Run) => row.name,
      ),
      ...columns.slice(1, 4),
    ];
    const widths = fitColumns(named, 57, {}, rows).map(({ column: { id }, width }) => [id, width]);
    expect(Object.fromEntries(widths)).toMatchObject({ flag: 10 });
  });

  it('refuses unknown columns at once, and says how to search for the text', () => {
    expect(errorOf('stauts:failed')).toBe(
      'There is no column stauts. To search for this text, put it in quotes: "stauts:failed". Columns: name, status, held-out, learning_rate, model, created',
    );
    expect(errorOf('age<soon')).toBe('STARTED< takes a time with a unit (ms, s, m, h, d, w) such as 90s, not soon');
    expect(errorOf('lr<small')).toBe('LEARNING_RATE< takes a number such as 0.5, not small');
    expect(mistakeIn('seed1 !stauts:failed x')).toBe('!stauts:failed');
    expect(mistakeIn('seed1 lr>"a b" x')).toBe('lr>"a b"');
    expect(found('"a:b"')).toEqual(['a:b seed11']);
    expect(found('model:"qwen3:8b"')).toEqual(['other seed1']);
    expect(errorOf('constructor:x')).toContain('There is no column constructor');
  });

  it('refuses a column that no row has, as its values are read elsewhere (A4)', () => {
    const tokens: Column<number | undefined> = { id: 'tokens', title: 'TOKENS', width: 6, value: row => row };
    const noticeOf = (filter: string, of: readonly (number | undefined)[], readBy?: string) =>
      createArrange([readBy === undefined ? tokens : { ...tokens, readBy }], String)(of, { filter, sort: undefined });
    for (const filter of ['tokens>15', '!tokens>15', 'x tokens:', 'tokens!=3']) {
      const { rows: kept, notice, mistake } = noticeOf(filter, [undefined, undefined], 'it reads');
      expect([kept, notice]).toEqual([[], 'TOKENS is not in this list: it reads']);
      expect(mistake && filter.slice(...mistake)).toMatch(/^!?tokens/);
      expect(noticeOf(filter, [undefined, undefined]).notice).toBeUndefined();
      expect(noticeOf(filter, [], 'it reads').notice).toBeUndefined();
      expect(noticeOf(filter, [undefined, 20], 'it reads').notice).toBeUndefined();
    }
    expect(noticeOf('x', [undefined], 'it reads').notice).toBeUndefined();
  });

  it('reports an unknown status, and lists the known ones', () => {
    const statuses = { ...statusColumn<Run>(row => row.status, { known: ['pending', 'failed'] }) };
    const known = createArrange([statuses], row => row.name);
    const doubtOf = (filter: string) => known(rows, { filter, sort: undefined }).doubt;
    const words = 'There is no status nonexistent. Statuses: pending, failed, running, cancel signaled';
    for (const sign of [':', '=', '~']) expect(doubtOf(`status${sign}nonexistent`)).toBe(words);
    expect(known(rows, { filter: 'x status:nonexistent', sort: undefined }).mistake).toEqual([2, 20]);
    for (const filter of ['status:pend', 'status=running seed9', '!status:nonexistent', 'status!=nonexistent', 'x'])
      expect(doubtOf(filter)).toBeUndefined();
  });

  it('is one expression or one fuzzy text, as in a search', () => {
    expect(found('/seed1$/')).toEqual(['sweep seed1', 'other seed1']);
    expect(found('~swpsd2')).toEqual(['sweep seed2']);
    expect(found('"/"')).toHaveLength(3);
  });

  it('finds nothing for invisible characters, but waits for more after a space (rev38data C3)', () => {
    for (const value of ['\u200b', '"\u200b"', '"\u2060 "']) expect(found(`model:${value}`)).toEqual([]);
    for (const value of ['" ', '" "']) expect(found(`model:${value}`)).toHaveLength(4);
    expect(found('model:" tutor"')).toHaveLength(2);
  });

  it.each(['', '/', '~', 'name:', 'name~', 'name='])('finds %scafe\u0301 in either form (rev38data B5)', prefix => {
    const column: Column<string> = { id: 'name', title: 'NAME', width: 20, value: each => each };
    const names = ['caf\u00e9', 'cafe\u0301', 'cafe'];
    for (const name of names.slice(0, 2))
      expect(createArrange([column], String)(names, { filter: `${prefix}${name}`, sort: undefined }).rows).toEqual(
        names.slice(0, 2),
      );
  });

  it('highlights every word', () => {
    const parsed = parseRowFilter('sweep seed lr>0', columns);
    if ('error' in parsed) throw new Error(parsed.error);
    expect(parsed.text.matches('sweep seed1')).toEqual([
      [0, 5],
      [6, 10],
    ]);
    expect(parsed.text.matches('nothing')).toBeUndefined();
  });
});

it('sorts a column of names with missing ones last, and filters it by ids, too', () => {
  const of: Column<Run> = { id: 'of', title: 'OF', width: 20, value: ({ status }) => status };
  const names = new Map([
    ['failed', 'z'],
    ['running', 'm'],
    ['cancel_signaled', 'n'],
  ]);
  const named = createArrange([namedColumn(of, id => names.get(id))], ({ name }) => name);
  const sorted = (descending: boolean) =>
    named(rows, { filter: '', sort: { column: 'of', descending } }).rows.map(({ status }) => status);
  expect(sorted(false)).toEqual(['running', 'cancel_signaled', 'failed', undefined]);
  expect(sorted(true)).toEqual(['failed', 'cancel_signaled', 'running', undefined]);
  expect(named(rows, { filter: 'of:failed', sort: undefined }).rows).toHaveLength(1);
  expect(named(rows, { filter: 'of:z', sort: undefined }).rows).toHaveLength(1);
});
