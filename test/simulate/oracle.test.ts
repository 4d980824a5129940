/** The oracle alone: compares the screen with the answers. */
import { describe, expect, it } from 'vitest';
import {
  columnOf,
  meanOf,
  rowFailures,
  sectionFailures,
  sentRows,
  shownRows,
  standsFor,
} from '../../tools/simulate/oracle.ts';

describe('the oracle', () => {
  it('adds up values whose sum overflows', () => {
    expect(meanOf([1e308, 1e308])).toBeCloseTo(1e308, -300);
    expect(meanOf([])).toBeUndefined();
  });

  it.each([
    ['0.417', 0.41666, true],
    ['0.417', 0.41, false],
    ['none', null, true],
    ['0.5', '0.5', true],
    ['none', '0.5', false],
    ['none', '1,5', true],
    ['none', 0, false],
    ['0', 0, true],
    ['-1.00e+308', -1e308, true],
  ])('%s shows %j: %s', (shown, value, does) => {
    expect(standsFor(shown, value)).toBe(does);
  });

  const page = JSON.stringify({ items: [{ id: 'a' }, { id: 'a' }, { id: 'b' }, null], has_more: false });
  const sent = sentRows([page], 'id');

  it('accepts output that says what it leaves out', () => {
    const text = '│  • 1 row could not be read   │\n│  • 1 row with a duplicate id left out  │\n│   1/2 │';
    expect(rowFailures(sent, shownRows(text))).toEqual([]);
  });

  it('finds rows that were silently left out, and rows that were never sent', () => {
    expect(rowFailures(sent, shownRows('│  1/2 │'))).toHaveLength(1);
    expect(rowFailures(sent, shownRows('│  1/4 │'))[0]).toContain('4 rows are shown of 2');
    expect(rowFailures(undefined, shownRows('│  1/4 │'))).toHaveLength(1);
  });

  it('compares the count of a section with the rows that were sent', () => {
    const said = (count: string): string[] =>
      sectionFailures(`│  Watch  1 │ x │\n│  Runs ${count} │ y │`, 'Runs', sent);
    expect(said('2')).toEqual([]);
    expect(said('1+')).toEqual([]);
    expect(said('')).toEqual([]);
    expect(said('3')[0]).toContain('Runs 3 in the sections, and 2 rows were sent');
    expect(said('1')).toHaveLength(1);
  });

  it('takes a number as an id, and nothing as none', () => {
    expect(sentRows([JSON.stringify([{ id: 7 }, { id: 'a' }, { id: null }])], 'id')?.ids).toEqual(new Set(['7', 'a']));
  });

  it('reads the numbers of a column only', () => {
    const text = [
      '│ NAME      MEAN  MODEL │',
      '│ one      0.417  m     │',
      '│ two       none  m     │',
      '│ thr   -5.8e-24  m     │',
      '│ id req-e88 ab    │',
    ];
    expect(columnOf(text.join('\n'), 'MEAN')).toEqual(['0.417', 'none', '-5.8e-24']);
  });
});
