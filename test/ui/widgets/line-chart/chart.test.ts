/** Curves in a terminal: what they look like, and how they are looked at. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../../src/text/width.ts';
import { chartLines, readingAt, smooth } from '../../../../src/ui/widgets/line-chart/chart.ts';
import { chartReducer, initialChartState } from '../../../../src/ui/widgets/line-chart/chart-state.ts';
import { ticks } from '../../../../src/ui/widgets/line-chart/ticks.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const rising = Array.from({ length: 11 }, (_, x) => ({ x, y: x / 10 }));
const plain = (lines: readonly string[]): string => lines.map(line => stripVTControlCharacters(line)).join('\n');

describe('a chart', () => {
  it('draws a line from corner to corner, with round numbers at its axes', () => {
    const lines = chartLines([{ name: 'a', points: rising }], { width: 24, height: 8, theme });
    expect(plain(lines).split('\n')).toEqual([
      '  1┤                ⢀⡠⠒⠉',
      '   │             ⣀⠤⠒⠁   ',
      '   │          ⢀⠔⠉       ',
      '0.5┤      ⢀⡠⠔⠊⠁         ',
      '   │   ⣀⠔⠊⠁             ',
      '  0┤⡠⠔⠊                 ',
      '   └────────────────────',
      '    0         5       10',
    ]);
  });

  it.each([
    ['none', []],
    ['one', [{ x: 3, y: 0.5 }]],
    ['the same', rising.map(({ x }) => ({ x, y: 2 }))],
    ['some that are no numbers', [...rising, { x: Number.NaN, y: 1 }, { x: 12, y: Number.POSITIVE_INFINITY }]],
    ['many', Array.from({ length: 100_000 }, (_, x) => ({ x, y: Math.sin(x / 1000) }))],
  ])('has its size with %s', (_, points) => {
    for (const [width, height] of [
      [80, 20],
      [30, 6],
      [10, 3],
      [0, 0],
    ] as const) {
      for (const ascii of [false, true]) {
        const lines = chartLines([{ name: 'a', points }], { width, height, theme: createTheme('terminal', ascii) });
        expect(lines).toHaveLength(height);
        expect(lines.every(line => displayWidth(stripVTControlCharacters(line)) === width)).toBe(true);
      }
    }
  });

  it('marks each series by a sign of its own where there is no braille, and shows the crosshair', () => {
    const falling = rising.map(({ x, y }) => ({ x, y: 1 - y }));
    const series = [
      { name: 'a', points: rising },
      { name: 'b', points: falling },
    ];
    const options = { width: 40, height: 10, theme: createTheme('plain', true), crosshair: 2 };
    const text = plain(chartLines(series, options));
    expect(text).toContain('*');
    expect(text).toContain('+');
    const cross = plain(chartLines([], options));
    expect(cross).toContain('no points yet');
    const columns = chartLines(series, options).map(line => stripVTControlCharacters(line)[11]);
    expect(columns.filter(cell => cell === '|').length).toBeGreaterThan(3);
  });

  it('shows only what is zoomed into', () => {
    const text = plain(
      chartLines([{ name: 'a', points: rising }], { width: 40, height: 8, theme, xRange: { low: 4, high: 6 } }),
    );
    expect(text).toContain('0.6');
    expect(text).not.toContain('10');
  });
});

describe('reading', () => {
  it('takes the nearest point of each series', () => {
    const series = [
      { name: 'a', points: rising },
      { name: 'b', points: [{ x: 0, y: 5 }] },
      { name: 'c', points: [] },
    ];
    expect(readingAt(series, 3.4)).toEqual([{ x: 3, y: 0.3 }, { x: 0, y: 5 }, undefined]);
    expect(readingAt(series, 99)[0]).toEqual({ x: 10, y: 1 });
  });

  it('smooths without a pull to nothing at the start', () => {
    expect(smooth(rising, 0)).toEqual(rising);
    const same = rising.map(({ x }) => ({ x, y: 2 }));
    for (const { y } of smooth(same, 0.9)) expect(y).toBeCloseTo(2);
  });
});

describe('ticks', () => {
  it.each([
    [0, 1, 4, [0, 0.5, 1]],
    [0.12, 0.87, 4, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 60, 5, [0, 20, 40, 60]],
    [3, 3, 5, [3]],
  ])('of %f to %f', (low, high, count, expected) => {
    expect(ticks({ low, high }, count)).toEqual(expected);
  });
});

describe('looking', () => {
  const xs = rising.map(({ x }) => x);
  it('moves the crosshair from point to point and keeps it in sight', () => {
    let state = chartReducer(initialChartState, { kind: 'move', by: -1, xs });
    expect(state.crosshair).toBe(10);
    state = chartReducer(state, { kind: 'zoom', factor: 0.5, xs });
    expect(state.zoom).toEqual({ low: 5, high: 10 });
    state = chartReducer(state, { kind: 'move', by: -7, xs });
    expect([state.crosshair, state.zoom]).toEqual([3, { low: 3, high: 8 }]);
    state = chartReducer(state, { kind: 'zoom', factor: 2, xs });
    expect(state.zoom).toBeUndefined();
    expect(chartReducer(initialChartState, { kind: 'move', by: 1, xs: [] })).toBe(initialChartState);
  });

  it('does not zoom into nothing, and goes round the smoothings', () => {
    let state = initialChartState;
    for (let time = 0; time < 10; time += 1) state = chartReducer(state, { kind: 'zoom', factor: 0.5, xs });
    const { low, high } = state.zoom ?? { low: 0, high: 0 };
    expect(xs.filter(x => x >= low && x <= high).length).toBeGreaterThanOrEqual(4);
    for (let time = 0; time < 4; time += 1) state = chartReducer(state, { kind: 'smooth' });
    expect(state.smoothing).toBe(0);
    expect(chartReducer(state, { kind: 'reset' })).toEqual(initialChartState);
  });
});
