import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { knobStatistics, statisticsLines } from '../../../../src/ui/views/runs/statistics.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const snapshot = (stage: string, created_at: string, samples: number[]) => ({
  stage,
  knob_name: 'latency',
  unit: 'ms',
  created_at,
  samples,
});
const statistics = knobStatistics([
  snapshot('rollout', '2026-01-02T00:00:00Z', [30, 50]),
  snapshot('rollout', '2026-01-01T00:00:00Z', [10, 10]),
  snapshot('grading', '2026-01-01T00:00:00Z', [2]),
]);
const shown = (width: number): string[] =>
  statisticsLines(statistics, width, createTheme()).map(line => stripVTControlCharacters(line));

describe('statistics of rollouts', () => {
  it('collect the snapshots of a stage and knob, in order of their times', () => {
    expect(statistics.map(({ stage, summary, means }) => [stage, summary?.count, means])).toEqual([
      ['rollout', 4, [10, 40]],
      ['grading', 1, [2]],
    ]);
  });

  it('take one line each if there is room for the name', () => {
    expect(shown(60)).toEqual([
      'STATISTICS                     COUNT    MEAN     P50     P95',
      expect.stringMatching(/^rollout latency \(ms\) +4 +25/),
      expect.stringMatching(/^grading latency \(ms\) +1 +2/),
    ]);
  });

  it('put the whole name on its own line if there is not', () => {
    const lines = shown(36);
    expect(lines[2]).toBe('rollout latency (ms)');
    expect(lines[3]).toMatch(/^ +4 +25/);
    expect(Math.max(...lines.map(line => line.length))).toBe(36);
  });

  it('show how many samples have a value, and keep large numbers apart (C7)', () => {
    const large = [snapshot('rollout', '2026-01-01T00:00:00Z', [1e308, 1e308, Number.NaN])];
    const counted = knobStatistics([
      ...large,
      { ...snapshot('grading', '2026-01-02T00:00:00Z', [2, 2]), sample_count: 6 },
    ]);
    const lines = statisticsLines(counted, 70, createTheme()).map(line => stripVTControlCharacters(line));
    expect(lines[1]).toMatch(/ {2}2 of 3 {2}1\.00e308 {2}1\.00e308 {2}1\.00e308$/);
    expect(lines[2]).toMatch(/ {2}2 of 6 {6}2\.00 {6}2\.00 {6}2\.00$/);
  });

  it('say that there are none', () => {
    expect(statisticsLines([], 40, createTheme()).map(line => stripVTControlCharacters(line))).toEqual([
      'no statistics yet',
    ]);
  });
});
