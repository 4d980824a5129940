/** Curves in a terminal: what they look like, and how they are looked at. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../../src/text/width.ts';
import { horizontalAxis, verticalAxis } from '../../../../src/ui/widgets/line-chart/axis.ts';
import { type ChartOptions, drawChart } from '../../../../src/ui/widgets/line-chart/chart.ts';
import { chartReducer, initialChartState } from '../../../../src/ui/widgets/line-chart/chart-state.ts';
import { dotsDown, seriesSample } from '../../../../src/ui/widgets/line-chart/plot.ts';
import { binned, type ChartSeries, readingAt, smooth } from '../../../../src/ui/widgets/line-chart/series.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const rising = Array.from({ length: 11 }, (_, x) => ({ x, y: x / 10 }));
const chartLines = (series: readonly ChartSeries[], options: ChartOptions) => drawChart(series, options).lines;
const plain = (lines: readonly string[]): string => lines.map(line => stripVTControlCharacters(line)).join('\n');

describe('a chart', () => {
  it('draws a line from corner to corner, with round numbers at its axes', () => {
    const lines = chartLines([{ name: 'a', points: rising }], { width: 24, height: 8, theme });
    expect(plain(lines).split('\n')).toEqual([
      '1.0┤                  ⣀⠤',
      '0.8┤              ⣀⠤⠒⠉  ',
      '0.6┤          ⢀⡠⠒⠉      ',
      '0.4┤      ⢀⡠⠔⠊⠁         ',
      '0.2┤  ⢀⡠⠔⠊⠁             ',
      '0.0┤⠔⠊⠁                 ',
      '   └┬─────────┬────────┬',
      '    0         5       10',
    ]);
  });

  it('draws nothing across a gap, with few points and with many (W2)', () => {
    for (const count of [11, 5_000]) {
      const points = Array.from({ length: count }, (_, x) => ({
        x,
        y: x > count * 0.3 && x < count * 0.7 ? undefined : 0.5,
      }));
      const lines = chartLines([{ name: 'a', points }], { width: 64, height: 8, theme });
      const drawn = lines.slice(0, 6).map(line => line.slice(4));
      const columns = Array.from({ length: 60 }, (_, column) => drawn.some(line => (line[column] ?? ' ') !== ' '));
      expect(columns.slice(21, 39)).toEqual(Array.from({ length: 18 }, () => false));
      expect(columns[5] && columns[50]).toBe(true);
    }
    const hollow = [0, 1, 2].map(x => ({ x, y: undefined }));
    expect(plain(chartLines([{ name: 'a', points: hollow }], { width: 30, height: 6, theme }))).toContain(
      'no points yet',
    );
  });

  it.each([
    ['none', []],
    ['one', [{ x: 3, y: 0.5 }]],
    ['the same', rising.map(({ x }) => ({ x, y: 2 }))],
    ['some that are no numbers', [...rising, { x: Number.NaN, y: 1 }, { x: 12, y: Number.POSITIVE_INFINITY }]],
    ['only gaps', rising.map(({ x }) => ({ x, y: undefined }))],
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

  it('marks each series by a sign of its own if there is no braille, and shows the crosshair', () => {
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

  it('has no step before 0 while there is only the first', () => {
    const [last = ''] = chartLines([{ name: 'a', points: [{ x: 0, y: 0.5 }] }], { width: 40, height: 8, theme }).slice(
      -1,
    );
    expect(stripVTControlCharacters(last).trim()).toMatch(/^0 .*1$/);
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

describe('axes', () => {
  it.each([
    [0, 1],
    [0.12, 0.87],
    [0, 0.3],
    [-0.4, 0.9],
    [0.9991, 0.9999],
    [0, 540],
    [12_000, 3_000_000],
  ])('of %f to %f have round ticks at equal distances, each in the row of its value', (low, high) => {
    for (let height = 2; height <= 50; height += 1) {
      const { ticks, dotOf } = verticalAxis({ low, high }, height);
      const distances = ticks.slice(1).map(({ cell }, index) => (ticks[index]?.cell ?? 0) - cell);
      expect(new Set(distances).size).toBeLessThanOrEqual(1);
      if (height > 5) expect(ticks.length).toBeGreaterThan(1);
      for (const { cell, label } of ticks) expect(Math.floor(dotOf(Number(label)) / dotsDown)).toBe(cell);
      // Nothing of the range is cut off, and the height is used.
      const [top, bottom] = [dotOf(high), dotOf(low)];
      expect(top).toBeGreaterThanOrEqual(0);
      expect(bottom).toBeLessThan(height * dotsDown);
      if (height > 5) expect(bottom - top).toBeGreaterThanOrEqual(height * dotsDown * 0.5);
    }
  });

  it.each([
    [0, 10, true],
    [1, 540, true],
    [4, 6, true],
    [0, 2.5, false],
  ])('of %f to %f have room for every label', (low, high, whole) => {
    for (let width = 8; width <= 180; width += 1) {
      const { ticks } = horizontalAxis({ low, high }, width, whole);
      if (whole) for (const { label } of ticks) expect(Number.isInteger(Number(label))).toBe(true);
      for (const [index, { cell, label }] of ticks.slice(1).entries()) {
        expect(cell - (ticks[index]?.cell ?? 0)).toBeGreaterThan(label.length);
      }
    }
  });
});

describe('two series', () => {
  const points = rising.map(({ x }) => ({ x, y: 0.5 }));
  const same = [
    { name: 'a', points },
    { name: 'b', points },
  ];
  const other = [
    { name: 'a', points: rising },
    { name: 'b', points: rising.map(({ x, y }) => ({ x, y: 1 - y })) },
  ];

  it('share the cells that they have in common', () => {
    const colours = createTheme('terminal');
    const text = drawChart(same, { width: 60, height: 8, theme: colours }).lines.join('');
    const cells = (index: number) =>
      [...text.matchAll(/\u001b\[(\d+)m([\u2800-\u28ff]+)/g)]
        .filter(([, colour]) => colours.series(index)('x').includes(`[${colour}m`))
        .reduce((sum, [, , drawn]) => sum + (drawn?.length ?? 0), 0);
    expect(cells(0)).toBeGreaterThan(20);
    expect(Math.abs(cells(0) - cells(1))).toBeLessThanOrEqual(1);
  });

  it.each([false, true])('differ without colours, and the legend shows the marks that are drawn (ASCII: %s)', ascii => {
    const colourless = createTheme('plain', ascii);
    const samples = [0, 1, 2, 3].map(index => seriesSample(index, colourless));
    expect(new Set(samples).size).toBe(4);
    const flat = (index: number) => {
      const alone = [0, 1, 2, 3].map(each => ({ name: '', points: each === index ? points : [] }));
      const line = drawChart(alone, { width: 60, height: 8, theme: colourless }).lines.find(each =>
        ascii ? /[*+ox]{4}/.test(each) : /[\u2801-\u28ff]/.test(each),
      );
      return line ?? '';
    };
    const marks = (text: string) =>
      new Set([...text].filter(mark => (ascii ? '*+ox' : true) && /[^ ┤│\d.|]/.test(mark)));
    for (const [index, sample] of samples.entries()) {
      const drawn = marks(flat(index));
      for (const mark of ascii ? marks(sample) : []) expect(drawn).toContain(mark);
      // A dotted line has fewer dots than a solid one.
      if (!ascii && index === 1) expect(dotsOf(flat(1))).toBeLessThan(dotsOf(flat(0)) * 0.75);
    }
    const [first, second] = [0, 1].map(index =>
      plain(drawChart(other.slice(index, index + 1), { width: 40, height: 10, theme: colourless }).lines),
    );
    expect(first).not.toBe(second);
  });
});

function dotsOf(text: string): number {
  const bits = [...text].map(cell => cell.codePointAt(0) ?? 0).filter(code => code > 0x2800 && code <= 0x28ff);
  return bits.reduce((sum, code) => sum + (code - 0x2800).toString(2).replaceAll('0', '').length, 0);
}

describe('more points than columns', () => {
  const noisy = Array.from({ length: 540 }, (_, x) => ({ x, y: x % 2 }));

  it('are drawn as their means and not as a blot', () => {
    const { lines, binWidth } = drawChart([{ name: 'a', points: noisy }], {
      width: 100,
      height: 20,
      theme,
    });
    expect(binWidth).toBe(6);
    // Means of six are all 0.5: one line, and not the whole of the plot.
    expect(lines.filter(line => /[\u2801-\u28ff]/.test(line)).length).toBeLessThan(5);
  });

  it('are binned by multiples, so that a curve keeps its shape while it grows', () => {
    expect(binned(noisy.slice(0, 8), 4)).toEqual([
      { x: 1.5, y: 0.5 },
      { x: 5.5, y: 0.5 },
    ]);
    expect(binned(noisy.slice(0, 9), 4).slice(0, 2)).toEqual(binned(noisy.slice(0, 8), 4));
    expect(binned([{ x: 7, y: 3 }], 4)).toEqual([{ x: 7, y: 3 }]);
  });
});

describe('values that no axis can hold', () => {
  it.each([
    [1e308, -1e308],
    [1e17, 1e17 + 16],
    [5e-324, 0],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1],
  ])('%f and %f end', (one, two) => {
    for (const points of [
      [
        { x: 0, y: one },
        { x: 1, y: two },
      ],
      [
        { x: two, y: 0 },
        { x: one, y: 1 },
      ],
    ]) {
      expect(drawChart([{ name: 'a', points }], { width: 60, height: 12, theme }).lines).toHaveLength(12);
    }
  });
});

describe('looking', () => {
  const xs = rising.map(({ x }) => x);
  it('moves the crosshair from point to point and keeps it in sight', () => {
    for (const by of [-1, 1]) expect(chartReducer(initialChartState, { kind: 'move', by, xs }).crosshair).toBe(10);
    let state = chartReducer(initialChartState, { kind: 'move', by: -1, xs });
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
