/** Curves in a terminal: their look, zoom and crosshair. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { curveOf } from '../../../../src/base/curve.ts';
import { displayWidth } from '../../../../src/text/width.ts';
import { horizontalAxis, verticalAxis } from '../../../../src/ui/widgets/line-chart/axis.ts';
import { type ChartOptions, drawChart } from '../../../../src/ui/widgets/line-chart/chart.ts';
import { chartReducer, initialChartState } from '../../../../src/ui/widgets/line-chart/chart-state.ts';
import { dotsDown, Plot, seriesSample } from '../../../../src/ui/widgets/line-chart/plot.ts';
import {
  type ChartSeries,
  columnsOf,
  readingAt,
  smooth,
  valueRange,
} from '../../../../src/ui/widgets/line-chart/series.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const rising = Array.from({ length: 11 }, (_, x) => ({ x, y: x / 10 }));
type Points = readonly { readonly x: number; readonly y: number | undefined }[];
const curve = (points: Points) =>
  curveOf(
    points,
    ({ x }) => x,
    ({ y }) => y,
  );
const line = (name: string, points: Points): ChartSeries => ({ name, curve: curve(points) });
const chartLines = (series: readonly ChartSeries[], options: ChartOptions) => drawChart(series, options).lines;
const plain = (lines: readonly string[]): string => lines.map(line => stripVTControlCharacters(line)).join('\n');

describe('a chart', () => {
  it('draws a line from corner to corner, with round numbers on its axes', () => {
    const lines = chartLines([line('a', rising)], { width: 24, height: 8, theme });
    expect(plain(lines).split('\n')).toEqual([
      '1.0┤                ⢀⡠⠒⠉',
      '   │             ⣀⠤⠒⠁   ',
      '   │          ⢀⠔⠉       ',
      '0.5┤      ⢀⡠⠔⠊⠁         ',
      '   │   ⣀⠔⠊⠁             ',
      '0.0┤⡠⠔⠊                 ',
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
      const lines = chartLines([line('a', points)], { width: 64, height: 8, theme });
      const drawn = lines.slice(0, 6).map(line => line.slice(4));
      const columns = Array.from({ length: 60 }, (_, column) => drawn.some(line => (line[column] ?? ' ') !== ' '));
      expect(columns.slice(21, 39)).toEqual(Array.from({ length: 18 }, () => false));
      expect(columns[5] && columns[50]).toBe(true);
    }
    const hollow = [0, 1, 2].map(x => ({ x, y: undefined }));
    expect(plain(chartLines([line('a', hollow)], { width: 30, height: 6, theme }))).toContain('no points here');
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
        const lines = chartLines([line('a', points)], { width, height, theme: createTheme('terminal', ascii) });
        expect(lines).toHaveLength(height);
        expect(lines.every(line => displayWidth(stripVTControlCharacters(line)) === width)).toBe(true);
      }
    }
  });

  it('gives each series its own mark without braille, and shows the crosshair', () => {
    const falling = rising.map(({ x, y }) => ({ x, y: 1 - y }));
    const series = [line('a', rising), line('b', falling)];
    const options = { width: 40, height: 10, theme: createTheme('plain', true), crosshair: 2 };
    const text = plain(chartLines(series, options));
    expect(text).toContain('*');
    expect(text).toContain('+');
    const cross = plain(chartLines([], options));
    // The run may have ended without any.
    expect(cross).toMatch(/no points *$/m);
    const columns = chartLines(series, options).map(line => stripVTControlCharacters(line)[11]);
    expect(columns.filter(cell => cell === '|').length).toBeGreaterThan(3);
  });

  it('shows no step before 0 while there is only the first', () => {
    const [last = ''] = chartLines([line('a', [{ x: 0, y: 0.5 }])], { width: 40, height: 8, theme }).slice(-1);
    expect(stripVTControlCharacters(last).trim()).toMatch(/^0 .*1$/);
  });

  it('shows only the zoomed range', () => {
    const text = plain(chartLines([line('a', rising)], { width: 40, height: 8, theme, xRange: { low: 4, high: 6 } }));
    expect(text).toContain('0.6');
    expect(text).not.toContain('10');
  });
});

describe('reading', () => {
  it('picks the nearest point, or the gap at x itself', () => {
    expect(readingAt(curve(rising), 3.4)).toEqual({ x: 3, y: 0.3 });
    expect(readingAt(curve(rising), 99)).toEqual({ x: 10, y: 1 });
    expect(readingAt(curve([]), 3.4)).toBeUndefined();
    const withGap = curve([
      { x: 0, y: 5 },
      { x: 3, y: undefined },
      { x: 4, y: 1 },
    ]);
    expect(readingAt(withGap, 3)).toEqual({ x: 3, y: undefined });
    expect(readingAt(withGap, 2.9)).toEqual({ x: 4, y: 1 });
    expect(readingAt(withGap, -1)).toEqual({ x: 0, y: 5 });
  });

  it('smooths without a pull to zero at the start', () => {
    expect([...smooth(curve(rising), 0).ys]).toEqual(rising.map(({ y }) => y));
    const same = curve(rising.map(({ x }) => ({ x, y: 2 })));
    for (const y of smooth(same, 0.9).ys) expect(y).toBeCloseTo(2);
  });

  it('sorts points, and draws an impossible value as a gap', () => {
    const { xs, ys } = curve([
      { x: 2, y: 1 },
      { x: Number.NaN, y: 1 },
      { x: 1, y: Number.POSITIVE_INFINITY },
    ]);
    expect([[...xs], [...ys]]).toEqual([
      [1, 2],
      [Number.NaN, 1],
    ]);
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
  ])('of %f to %f have round ticks, each in the row of its value, and use the whole height (W25)', (low, high) => {
    for (let height = 2; height <= 50; height += 1) {
      const { ticks, dotOf } = verticalAxis({ low, high }, height);
      const distances = ticks.slice(1).map(({ cell }, index) => (ticks[index]?.cell ?? 0) - cell);
      if (distances.length === 0) distances.push(0);
      expect(Math.max(0, ...distances) - Math.min(...distances)).toBeLessThanOrEqual(1);
      if (height > 5) expect(ticks.length).toBeGreaterThan(1);
      for (const { cell, label } of ticks) expect(Math.floor(dotOf(Number(label)) / dotsDown)).toBe(cell);
      expect([dotOf(high), dotOf(low)]).toEqual([0, height * dotsDown - 1]);
    }
  });

  it('span at least a hundredth for a flat curve, as rounding is not a rise (W26)', () => {
    const flat = rising.map(({ x, y }) => ({ x, y: 1 - y * 1e-5 }));
    const text = plain(chartLines([line('a', flat)], { width: 40, height: 12, theme }));
    expect(text).not.toContain('0.9999');
    expect(text).toContain('1.00');
  });

  it.each([
    [0.001, 1000],
    [0.2, 0.9],
    [3, 3.1],
    [1e-30, 1e30],
  ])('of %f to %f have a logarithmic scale', (low, high) => {
    for (let height = 3; height <= 50; height += 1) {
      const { ticks, dotOf } = verticalAxis({ low, high }, height, true);
      for (const { cell, value } of ticks) expect(Math.floor(dotOf(value) / dotsDown)).toBe(cell);
      expect([dotOf(high), dotOf(low)]).toEqual([0, height * dotsDown - 1]);
      const middle = dotOf(Math.sqrt(low * high));
      expect(Math.abs(middle - (height * dotsDown - 1) / 2)).toBeLessThanOrEqual(1);
      if (height > 5) expect(ticks.length).toBeGreaterThan(1);
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

it('ends a logarithmic scale with the smallest possible numbers', () => {
  for (const y of [5e-324, 2e-323, 1e-320, 1e-300]) {
    const options = { width: 60, height: 12, theme, log: true };
    expect(
      chartLines(
        [
          line('a', [
            { x: 0, y },
            { x: 1, y: 1e300 },
          ]),
        ],
        options,
      ),
    ).toHaveLength(12);
    expect(chartLines([line('a', [{ x: 0, y }])], options)).toHaveLength(12);
  }
});

describe('two series', () => {
  const points = rising.map(({ x }) => ({ x, y: 0.5 }));
  const same = [line('a', points), line('b', points)];
  const other = [
    line('a', rising),
    line(
      'b',
      rising.map(({ x, y }) => ({ x, y: 1 - y })),
    ),
  ];

  it('share cells where they overlap', () => {
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
      const alone = [0, 1, 2, 3].map(each => line('', each === index ? points : []));
      const drawn = drawChart(alone, { width: 60, height: 8, theme: colourless }).lines.find(each =>
        ascii ? /[*+ox]{4}/.test(each) : /[\u2801-\u28ff]/.test(each),
      );
      return drawn ?? '';
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

it('draws limits unlike the lines of any series, and unlike other limits, without colours', () => {
  // With fewer points than columns of dots, and with more.
  for (const count of [30, 400]) {
    const level = (y: number) => curve(Array.from({ length: count }, (_, x) => ({ x, y })));
    const limited = [2, 7].map(y => ({ name: '', curve: level(y), band: { low: level(y - 1), high: level(y + 1) } }));
    const { lines } = drawChart([...limited, { name: '', curve: level(10) }], { width: 60, height: 22, theme });
    const drawn = lines.map(text => text.replace(/^.*?[┤│]/, '')).filter(text => /[\u2801-\u28ff]/.test(text));
    const [third, ofSecond, second, , ofFirst, first] = drawn.map(dotsOf);
    for (const limit of [ofFirst, ofSecond])
      for (const curve of [first, second, third]) expect(limit).toBeLessThan((curve ?? 0) * 0.6);
    expect(ofFirst).not.toBe(ofSecond);
  }
});

function dotsOf(text: string): number {
  const bits = [...text].map(cell => cell.codePointAt(0) ?? 0).filter(code => code > 0x2800 && code <= 0x28ff);
  return bits.reduce((sum, code) => sum + (code - 0x2800).toString(2).replaceAll('0', '').length, 0);
}

it('draws the curves once while only the crosshair moves, and again after any other change', () => {
  const wave = Array.from({ length: 2_000 }, (_, x) => ({ x, y: Math.sin(x / 100) + 2 }));
  const shown = [line('a', wave), line('b', rising)];
  const plotted = vi.spyOn(Plot.prototype, 'curve');
  onTestFinished(() => plotted.mockRestore());
  const draw = (options: Partial<ChartOptions>, series = shown) => {
    const before = plotted.mock.calls.length;
    const chart = drawChart(series, { width: 60, height: 14, theme, ...options });
    const copied = series.map(each => ({ ...each, curve: { ...each.curve } }));
    const calls = plotted.mock.calls.length - before;
    const { lines } = drawChart(copied, { width: 60, height: 14, theme, ...options });
    expect(chart.lines).toEqual(lines);
    return calls;
  };
  expect(draw({})).toBe(2);
  expect([draw({ crosshair: 5 }), draw({ crosshair: 700 }), draw({})]).toEqual([0, 0, 0]);
  const xRange = { low: 0, high: 900 };
  const changes = [
    { width: 61 },
    { height: 15 },
    { log: true },
    { xRange },
    { yRange: xRange },
    { theme: createTheme('terminal') },
  ];
  for (const change of changes) expect(draw(change)).toBeGreaterThan(0);
  expect(draw({}, [line('a', wave)])).toBe(1);
  const [one, other] = shown as [ChartSeries, ChartSeries];
  expect([draw({}, [one]), draw({}, [one, other]), draw({}, [one, one])]).toEqual([1, 2, 2]);
});

describe('more points than columns', () => {
  const noisy = Array.from({ length: 540 }, (_, x) => ({ x, y: x % 2 }));

  it('are drawn as means, with their faint range behind', () => {
    const colours = createTheme('terminal');
    const { lines, perColumn, plotWidth } = drawChart([line('a', noisy)], { width: 100, height: 20, theme: colours });
    expect(perColumn).toBeCloseTo(539 / plotWidth);
    const strong = colours.series(0)('x').replace(/x.*/, '');
    const faint = colours.faint(0)('x').replace(/x.*/, '');
    // The means are all about 0.5: a line, and not the whole of the plot.
    expect(lines.filter(each => each.includes(strong)).length).toBeLessThan(9);
    expect(lines.filter(each => each.includes(faint)).length).toBeGreaterThan(10);
  });

  it('have the range of exactly the visible values, wherever it starts and ends', () => {
    const wave = (x: number) => (x % 97 === 0 ? undefined : Math.sin(x * x) + (x % 700) / 100);
    for (const length of [0, 1, 511, 512, 513, 1_024, 3_000]) {
      // Each x twice, so that several points are at the ends.
      const points = Array.from({ length }, (_, index) => ({ x: index >> 1, y: wave(index) }));
      const drawn = curve(points);
      for (const [low, high] of [
        [0, length],
        [0, 0],
        [0, 255],
        [0, 256],
        [255, 256],
        [256, 767.5],
        [300, 1_400],
      ] as const) {
        for (const positive of [false, true]) {
          const values = points.flatMap(({ x, y }) =>
            x < low || x > high || y === undefined || (positive && y <= 0) ? [] : y,
          );
          const range = values.length === 0 ? undefined : { low: Math.min(...values), high: Math.max(...values) };
          expect(valueRange(drawn, { low, high, positive })).toEqual(range);
        }
      }
    }
  });

  it('lose no peak: each column has its lowest and highest value', () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    for (let round = 0; round < 200; round += 1) {
      const points = Array.from({ length: 500 + Math.floor(random() * 3_000) }, (_, x) => ({
        x,
        y: random() < 0.01 ? undefined : random() < 0.005 ? 5 : random(),
      }));
      const width = 20 + Math.floor(random() * 60);
      const { lines, plotWidth } = drawChart([line('a', points)], { width, height: 14, theme });
      const { lows, highs } = columnsOf(
        curve(points),
        { low: 0, high: points.length - 1, positive: false },
        plotWidth * 2,
      );
      const drawn = lines.slice(0, 12).map(each => [...stripVTControlCharacters(each)].slice(-plotWidth));
      const values = points.flatMap(({ y }) => y ?? []);
      const { dotOf } = verticalAxis({ low: Math.min(...values), high: Math.max(...values) }, 12);
      for (const [x, value] of [...lows, ...highs].entries()) {
        const column = x % (plotWidth * 2);
        // The reference is every point at full resolution.
        const own = points.filter(
          each => each.y !== undefined && Math.round((each.x * (plotWidth * 2 - 1)) / (points.length - 1)) === column,
        );
        const all = own.map(each => each.y ?? 0);
        const wanted = x < plotWidth * 2 ? Math.min(...all) : Math.max(...all);
        if (own.length === 0) continue;
        expect(value).toBe(wanted);
        const dot = dotOf(value);
        const code = (drawn[Math.floor(dot / 4)]?.[Math.floor(column / 2)] ?? ' ').codePointAt(0) ?? 0;
        const bit = [
          [0x01, 0x02, 0x04, 0x40],
          [0x08, 0x10, 0x20, 0x80],
        ][column % 2]?.[dot % 4];
        expect((code - 0x2800) & (bit ?? 0)).toBe(bit);
      }
    }
  });
});

describe('values that overflow an axis', () => {
  it.each([
    [1e308, -1e308],
    [1e17, 1e17 + 16],
    [5e-324, 0],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1],
  ])('are drawn without an endless loop: %f and %f', (one, two) => {
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
      expect(drawChart([line('a', points)], { width: 60, height: 12, theme }).lines).toHaveLength(12);
    }
  });
});

describe('navigation', () => {
  const plot = { curves: [curve(rising)], width: 200 };
  const long = { curves: [curve(Array.from({ length: 20_000 }, (_, x) => ({ x, y: 1 })))], width: 100 };

  it('moves the crosshair from point to point and keeps it visible', () => {
    for (const by of [-1, 1]) expect(chartReducer(initialChartState, { kind: 'move', by, plot }).crosshair).toBe(10);
    let state = chartReducer(initialChartState, { kind: 'move', by: -1, plot });
    state = chartReducer(state, { kind: 'zoom', factor: 0.5, plot });
    expect(state.zoom).toEqual({ low: 5, high: 10 });
    for (let moved = 0; moved < 7; moved += 1) state = chartReducer(state, { kind: 'move', by: -1, plot });
    expect([state.crosshair, state.zoom]).toEqual([3, { low: 3, high: 8 }]);
    state = chartReducer(state, { kind: 'zoom', factor: 2, plot });
    expect(state.zoom).toBeUndefined();
    const nothing = { curves: [], width: 10 };
    expect(chartReducer(initialChartState, { kind: 'move', by: 1, plot: nothing })).toBe(initialChartState);
  });

  it('moves by columns if there are more points, and stops at the ends (W22)', () => {
    let state = chartReducer(initialChartState, { kind: 'move', by: -1, plot: long });
    const seen: number[] = [];
    for (let moved = 0; moved < 120; moved += 1) {
      state = chartReducer(state, { kind: 'move', by: -1, plot: long });
      seen.push(state.crosshair ?? Number.NaN);
    }
    expect(seen[0]).toBeLessThanOrEqual(19_999 - 100);
    expect(seen[9]).toBeLessThan(18_200);
    expect(seen.at(-1)).toBe(0);
    const middle = chartReducer(state, { kind: 'move', by: 10, plot: long }).crosshair ?? 0;
    expect(middle).toBeGreaterThanOrEqual(1_999);
    expect(middle).toBeLessThan(2_300);
    for (let moved = 0; moved < 120; moved += 1) state = chartReducer(state, { kind: 'move', by: 1, plot: long });
    expect(state.crosshair).toBe(19_999);
  });

  it('goes to the point nearest to a typed step (W22)', () => {
    expect(chartReducer(initialChartState, { kind: 'go', x: 8_700, plot: long }).crosshair).toBe(8_700);
    expect(chartReducer(initialChartState, { kind: 'go', x: 1e9, plot: long }).crosshair).toBe(19_999);
    expect(chartReducer(initialChartState, { kind: 'go', x: 3.4, plot }).crosshair).toBe(3);
    const nothing = { curves: [], width: 10 };
    expect(chartReducer(initialChartState, { kind: 'go', x: 1, plot: nothing })).toBe(initialChartState);
  });

  it('stops zooming before nothing is left, and cycles through smoothings and scales', () => {
    let state = initialChartState;
    for (let time = 0; time < 10; time += 1) state = chartReducer(state, { kind: 'zoom', factor: 0.5, plot });
    const { low, high } = state.zoom ?? { low: 0, high: 0 };
    expect(rising.filter(({ x }) => x >= low && x <= high).length).toBeGreaterThanOrEqual(4);
    for (let time = 0; time < 4; time += 1) state = chartReducer(state, { kind: 'smooth' });
    expect(state.smoothing).toBe(0);
    expect(chartReducer(state, { kind: 'scale' }).log).toBe(true);
    expect(chartReducer(state, { kind: 'reset' })).toEqual(initialChartState);
  });
});

it('draws a single point of a scatter plot faint beside a cell with many', () => {
  const plot = new Plot(4, 1, createTheme());
  plot.scatter([[0, 0], ...Array.from({ length: 20 }, () => [6, 0] as const)], 0);
  expect([0, 3].map(x => plot.at(x, 0)?.faint)).toEqual([true, false]);
  const single = new Plot(4, 1, createTheme());
  single.scatter([[0, 0]], 0);
  expect(single.at(0, 0)?.faint).toBe(false);
});
