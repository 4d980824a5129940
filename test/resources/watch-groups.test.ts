/** The groups of Watch: their order, their counts, and how they fold. */
import { describe, expect, it } from 'vitest';
import { stateOf } from '../../src/resources/line-state.ts';
import { type WatchedResource, watchedLine } from '../../src/resources/watch.ts';
import {
  groupedLines,
  groupingOf,
  groupNameOf,
  nextGrouping,
  toggled,
  ungrouped,
} from '../../src/resources/watch-groups.ts';

const line = (id: string, status: string, benchmark?: string, more: Partial<WatchedResource> = {}) => ({
  ...watchedLine({ kind: 'training', id }, id),
  ...{ status, benchmark, ...more },
});
const alarm = { kind: 'stall', step: 1, value: 1, limit: 1, words: 'no new step' } as const;
const lines = [
  line('a', 'running', 'web', { alarms: [alarm] }),
  line('b', 'running', 'kernel'),
  line('c', 'running', 'web'),
  line('d', 'failed'),
];
const texts = (grouping: Parameters<typeof groupedLines>[1]) =>
  groupedLines(lines, grouping, 0)?.map(each => (each.group ? `${each.label} ${stateOf(each, 0).text}` : each.id));

describe('lines', () => {
  it('are grouped in the order of their first line, below a line with their number', () => {
    expect(texts(ungrouped)).toBeUndefined();
    expect(texts({ by: 'benchmark', folded: [] })).toEqual([
      ...['web 2: 1 ALARM, 1 running', 'a', 'c'],
      ...['kernel 1 running', 'b'],
      ...['no benchmark 1 failed', 'd'],
    ]);
    expect(texts({ by: 'status', folded: ['running'] })).toEqual([
      ...['ALARM 1 ALARM', 'a'],
      'running 2 running',
      ...['failed 1 failed', 'd'],
    ]);
  });

  it('show the most urgent line of a group, even if it is folded or the window is narrow', () => {
    const [web] = groupedLines(lines, { by: 'benchmark', folded: ['web'] }, 0) ?? [];
    expect(web && stateOf(web, 0)).toMatchObject({ short: '2: 1 ALARM', look: 'alarm' });
    expect(web && groupNameOf(web, 'benchmark', 0)).toBe('web');
  });
});

it('remembers the grouping as far as it is known', () => {
  expect(groupingOf({ by: 'status', folded: ['running', 3] })).toEqual({ by: 'status', folded: ['running'] });
  for (const saved of [undefined, null, 'status', { by: 'colour' }]) expect(groupingOf(saved)).toEqual(ungrouped);
  expect(toggled(toggled({ by: 'status', folded: [] }, 'a'), 'a')).toEqual({ by: 'status', folded: [] });
  expect(nextGrouping(nextGrouping(nextGrouping(ungrouped)))).toEqual(ungrouped);
});
