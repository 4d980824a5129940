/** How the screens show a training run: its curves and its options. Pure. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { emptyCurve } from '../../../../src/contract/trainer-curve.ts';
import { decidingSplit, heldOutMeans } from '../../../../src/queries/held-out.ts';
import { describeHeldOut } from '../../../../src/resources/describe-held-out.ts';
import {
  heldOutLines,
  heldOutNote,
  legendLines,
  previewLines,
  smallCurve,
  smallCurves,
} from '../../../../src/ui/views/training/curve-lines.ts';
import {
  byMinutes,
  completedSteps,
  curveSeries,
  growingRange,
  progressSeries,
} from '../../../../src/ui/views/training/curves.ts';
import { chartLines } from '../../../../src/ui/views/training/use-curves.tsx';
import { initialChartState } from '../../../../src/ui/widgets/line-chart/chart-state.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';
import { trainerCurveOf } from '../../../trainer-curve.ts';

const trainer = trainerCurveOf([1, 2, 3].map(step => ({ step, trainer_reward: step / 10 })));
const options = { smoothing: 0, range: [0, 1] } as const;
const heldOut = [
  { step: 0, held_out_reward: 0 },
  { step: 3, held_out_reward: null },
  { step: 2, held_out_reward: 0.5 },
];

describe('curves', () => {
  it('are points by step; a missing reward is a gap and a 0 is a 0', () => {
    const [held, trained] = curveSeries({ trainer, heldOut }, options);
    expect([...(held?.curve.xs ?? [])]).toEqual([0, 2, 3]);
    expect([...(held?.curve.ys ?? [])]).toEqual([0, 0.5, Number.NaN]);
    expect(trained?.curve.xs).toHaveLength(3);
    expect(curveSeries({ trainer: emptyCurve, heldOut: [] }, options)).toEqual([]);
    expect(curveSeries({ trainer, heldOut }, { ...options, kinds: 'trainer' }).map(({ name }) => name)).toEqual([
      'trainer',
    ]);
  });

  it('exist once per split; those that do not decide are faint, and only beside their own run', () => {
    const tested = [0, 2].map(step => ({ step, held_out_reward: 0.9, split: 'test' }));
    const rows = [...tested, ...heldOut.map(row => ({ ...row, split: 'validation' }))];
    const curves = { trainer, heldOut: decidingSplit(rows) };
    const drawn = curveSeries(curves, options);
    expect(drawn.map(({ name, isFaint }) => [name, isFaint ?? false])).toEqual([
      ['held-out, validation tasks', false],
      ['trainer', false],
      ['held-out, test tasks', true],
    ]);
    expect([...(drawn[0]?.curve.ys ?? [])]).toEqual([0, 0.5, Number.NaN]);
    expect([...(drawn[2]?.curve.ys ?? [])]).toEqual([0.9, 0.9]);
    expect(curveSeries(curves, { ...options, kinds: 'trainer' })).toHaveLength(1);
    expect(curveSeries(curves, { ...options, name: 'one' })).toHaveLength(2);
  });

  it('show values before smoothing behind the trainer curve, and limits around held-out means (V50)', () => {
    const measured = [{ step: 0, held_out_reward: 0.5, completed_samples: 112 }];
    const [held, trained] = curveSeries({ trainer, heldOut: measured }, { ...options, smoothing: 2 });
    expect(trained?.raw?.ys[2]).toBe(0.3);
    expect(trained?.curve.ys[2]).toBeCloseTo(0.2, 1);
    expect(held?.band?.low.ys[0]).toBeCloseTo(0.404, 3);
    expect(held?.band?.high.ys[0]).toBeCloseTo(0.596, 3);
    expect(held?.raw).toBeUndefined();
  });

  it('are placed by the minutes of their steps, as far as known', () => {
    const align = byMinutes([
      { step: 10, at: 600_000 },
      { step: 0, at: 0 },
      { step: 20, at: 1_800_000 },
    ]);
    const curve = { xs: Float64Array.from([0, 5, 10, 15, 20, 25]), ys: Float64Array.from([1, 2, 3, 4, 5, 6]) };
    expect([...align(curve).xs]).toEqual([0, 5, 10, 20, 30]);
    expect(align(curve).ys).toHaveLength(5);
    expect(byMinutes([])(curve).xs).toHaveLength(0);
    // It went back from step 10 to 4, and was at step 10 again at 30 minutes.
    const again = byMinutes([
      { step: 0, at: 0 },
      { step: 10, at: 600_000 },
      { step: 4, at: 1_200_000 },
      { step: 10, at: 1_800_000 },
    ]);
    const twice = again({ xs: Float64Array.from([4, 7, 10]), ys: Float64Array.from([1, 2, 3]) }).xs;
    expect([...twice].map(minute => Math.round(minute - (twice[0] ?? 0)))).toEqual([0, 5, 10]);
    // It waited in the queue for 50 minutes: it began when its first steps say.
    const queued = byMinutes([
      { step: 0, at: 0 },
      { step: 10, at: 3_600_000 },
      { step: 20, at: 4_200_000 },
    ]);
    expect([...queued(curve).xs]).toEqual([0, 5, 10, 15, 20]);
    // Clocks differ: the curve stays in order.
    const mixed = byMinutes([5, 8, 3, 12].map((step, index) => ({ step, at: [65, 68, 10, 72][index] ?? 0 })));
    const { xs } = mixed({ xs: Float64Array.from([3, 5, 8, 10, 12]), ys: new Float64Array(5) });
    expect([...xs]).toEqual([...xs].toSorted((left, right) => left - right));
  });

  it('have a range that grows in round steps', () => {
    expect(growingRange({ low: 0, high: 11 })).toEqual({ low: 0, high: 12 });
    expect(growingRange({ low: 0, high: 1_000 })).toEqual({ low: 0, high: 1_000 });
    expect(growingRange({ low: 3, high: 3 })).toEqual({ low: 3, high: 3 });
    for (let high = 1; high < 3_000; high += 1) {
      const grown = growingRange({ low: 0, high }).high;
      expect(grown).toBeGreaterThanOrEqual(high);
      if (high > 16) expect(grown).toBeLessThanOrEqual(high * 1.3);
    }
  });

  it('are named by their mark with the value at the crosshair, or the last', () => {
    const series = curveSeries({ trainer, heldOut }, options);
    const text = (crosshair?: number) =>
      legendLines(series, crosshair, 80, createTheme('plain')).map(stripVTControlCharacters);
    expect(text()).toEqual(['⠤⠤⠤⠤ held-out 0.500 at 2, no value at 1 step  ⠄⠄⠄⠄ trainer 0.300']);
    // Where a series has no point, the value says where it is from.
    expect(text(1)).toEqual(['at 1  ⠤⠤⠤⠤ held-out 0 at 0, no value at 1 step  ⠄⠄⠄⠄ trainer 0.100']);
    expect(legendLines(series.slice(1), undefined, 80, createTheme('plain', true))).toEqual(['**** trainer 0.300']);
  });

  it('say how many steps have no value, and nothing for one of them (W2)', () => {
    const gap = Array.from({ length: 20 }, (_, step) => ({
      step,
      trainer_reward: step >= 4 && step < 12 ? null : 0.5,
    }));
    const [series] = curveSeries({ trainer: trainerCurveOf(gap), heldOut: [] }, { ...options, smoothing: 2 });
    expect(series && [...series.curve.xs].filter((_, index) => Number.isNaN(series.curve.ys[index]))).toEqual([
      4, 5, 6, 7, 8, 9, 10, 11,
    ]);
    const text = (crosshair: number | undefined, width: number) =>
      legendLines(series ? [series] : [], crosshair, width, createTheme('plain')).map(stripVTControlCharacters);
    expect(text(undefined, 80)).toEqual(['⠤⠤⠤⠤ trainer 0.500, no value at 8 steps']);
    expect(text(6, 80)).toEqual(['at 6  ⠤⠤⠤⠤ trainer none, no value at 8 steps']);
    // A name is cut, a number never.
    expect(text(undefined, 30)).toEqual(['⠤⠤⠤⠤ 0.500, 8 n/a  trainer']);
  });

  it('break at skipped steps, and say how many', () => {
    const rows = Array.from({ length: 40 }, (_, step) => ({ step, trainer_reward: 0.5 })).filter(
      ({ step }) => step < 10 || step > 19,
    );
    const held = [0, 5, 10, 25, 30].map(step => ({ step, held_out_reward: 0.5 }));
    const series = curveSeries({ trainer: trainerCurveOf(rows), heldOut: held }, options);
    const gaps = series.map(({ curve: { xs, ys } }) => [...xs].filter((_, index) => Number.isNaN(ys[index])));
    expect(gaps).toEqual([
      [15, 20],
      [10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    ]);
    expect([...(series[1]?.curve.xs ?? [])]).toEqual(Array.from({ length: 40 }, (_, step) => step));
    const [line = ''] = legendLines(series, undefined, 100, createTheme('plain')).map(stripVTControlCharacters);
    expect(line).toContain('held-out 0.500, no value at 2 steps');
    expect(line).toContain('trainer 0.500, no value at 10 steps');
  });

  it('are one line without room for a chart: that of the open run, by name (W8)', () => {
    const theme = createTheme('plain');
    const own = curveSeries({ trainer, heldOut: [] }, { ...options, name: 'one' });
    const plain = (lines: readonly string[]) => lines.map(stripVTControlCharacters);
    expect(plain(smallCurve(own, 30, theme))).toEqual(['trainer, this run ▂▂▃']);
    const held = [0, 1, 2, 3].map(step => ({ step, held_out_reward: step === 1 ? null : 1 }));
    expect(plain(smallCurve(curveSeries({ trainer, heldOut: held }, options), 30, theme))).toEqual(['held-out █ ██']);
    expect(smallCurve([], 30, theme)).toEqual([]);
  });

  it('are never the line of an overlaid run if the open one has no curve (W8)', () => {
    const theme = createTheme('plain');
    const other = curveSeries({ trainer, heldOut: [] }, { ...options, name: 'other' });
    const drawn = {
      ...{ unit: '', byTime: false, panels: [] },
      ...{ range: undefined, lag: undefined, teaching: undefined },
    };
    const linesOf = (all: (typeof other)[], height: number) =>
      chartLines({ ...drawn, all, series: all.flat(), chart: initialChartState }, 60, height, theme).lines.join();
    expect(linesOf([other], 3)).toContain('trainer, this run');
    // Lines that are not drawn have no marks (out34 C4).
    expect(linesOf([other], 3)).not.toContain('⠤');
    expect(linesOf([other], 6)).toContain('⠤');
    expect(linesOf([[], other], 3)).not.toContain('this run');
    expect(linesOf([[], other], 3)).toContain('trainer of other');
  });

  it('have a caption in a preview if limits are dotted (out34 C18)', () => {
    const linesOf = (samples: number | undefined) => {
      const held = [0, 2, 4].map(step => ({
        step,
        held_out_reward: 0.5,
        ...(samples && { completed_samples: samples }),
      }));
      const size = { width: 40, height: 12, theme: createTheme('plain'), isGrowing: false };
      const lines = previewLines(curveSeries({ trainer, heldOut: held }, options), size);
      expect(lines).toHaveLength(size.height);
      return lines.join();
    };
    expect(linesOf(64)).toContain('dotted: 95% limits');
    expect(linesOf(undefined)).not.toContain('dotted');
  });

  it('are one line each over the same steps if a preview has no room for a chart', () => {
    const theme = createTheme('plain');
    const rows = Array.from({ length: 9 }, (_, step) => ({ step, trainer_reward: step / 8 }));
    const held = [0, 2, 4, 6, 8, 10, 12, 14, 16].map(step => ({ step, held_out_reward: 0.5 }));
    const lines = smallCurves(curveSeries({ trainer: trainerCurveOf(rows), heldOut: held }, options), 30, theme);
    // The trainer's curve was read at step 8.
    expect(lines.map(stripVTControlCharacters)).toEqual(['held-out ▅▅▅▅▅▅▅▅▅', 'trainer  ▁▂▄▆█    ']);
    expect(smallCurves([], 30, theme)).toEqual([]);
  });

  it('have one line each if a shared line would cut their values', () => {
    const name = 't-words training with a long name';
    const series = [
      ...curveSeries({ trainer, heldOut }, { ...options, name }),
      ...curveSeries({ trainer, heldOut: [] }, { ...options, name: 'other' }),
    ];
    expect(legendLines(series, 2, 40, createTheme('plain')).map(stripVTControlCharacters)).toEqual([
      'at 2  ⠤⠤⠤⠤ 0.500, 1 n/a  held-out of t…e',
      '      ⠄⠄⠄⠄ 0.200  trainer of t-wor… name',
      '      ⠤⠤ ⠤ 0.200  trainer of other',
    ]);
  });

  it('never contradict the count of steps', () => {
    expect(completedSteps({ completed_steps: 2 }, trainer)).toBe(3);
    expect(completedSteps({ completed_steps: 4 }, trainer)).toBe(4);
    expect(completedSteps({}, trainer)).toBeUndefined();
    // A checkpoint belongs to a finished step; one that counts differently says nothing.
    expect(completedSteps({ completed_steps: 4, total_steps: 9 }, trainer, [{ step_index: 5 }, {}])).toBe(5);
    expect(completedSteps({ completed_steps: 4, total_steps: 9 }, trainer, [{ step_index: 50 }])).toBe(4);
  });

  it('are the steps seen here if the service has none', () => {
    const [series] = progressSeries([
      { at: 60_000, completed_steps: 0 },
      { at: 120_000, completed_steps: 5 },
    ]);
    expect(series && [[...series.curve.xs], [...series.curve.ys]]).toEqual([
      [0, 1],
      [0, 5],
    ]);
    expect(progressSeries([])).toEqual([]);
  });

  it('say if a held-out mean covers fewer samples than expected', () => {
    const whole = { step: 5, held_out_reward: 1, expected_samples: 8, completed_samples: 8, failed_samples: 0 };
    expect(heldOutNote([whole])).toBeUndefined();
    expect(heldOutNote([{ ...whole, completed_samples: 6, failed_samples: 2 }])).toBe(
      'held-out at step 5: 6 of 8 samples, 2 failed',
    );
  });

  it('say how many trajectories a held-out mean covers, and why it lacks others', () => {
    const point = { step: 5, held_out_reward: 0.5, expected_samples: 8, completed_samples: 8 };
    expect(heldOutNote([{ ...point, loaded_trajectories: 6, cancelled_samples: 1, failed_samples: 1 }])).toBe(
      'held-out at step 5: 6 of 8 samples, 1 failed, 1 cancelled',
    );
    expect(
      heldOutNote([
        { ...point, step: 1, loaded_trajectories: 7 },
        { ...point, loaded_trajectories: 6 },
      ]),
    ).toBe('held-out at step 5: 6 of 8 samples, incomplete at 1 earlier step too');
    expect(heldOutNote([{ ...point, loaded_trajectories: 8 }])).toBeUndefined();
  });
});

describe('the newest held-out mean', () => {
  const point = { step: 5, held_out_reward: 0.5, expected_samples: 112, completed_samples: 112 };
  const room = { width: 120, height: 40 };

  it('says how certain it is, and how much a choice by it is worth (V50, V42)', () => {
    expect(heldOutLines([point, { ...point, step: 1 }], [0, 1], room)).toEqual([
      'held-out 0.500, 95% 0.404..0.596, 112 samples',
      'Choosing a checkpoint by this reward overstates it',
    ]);
  });

  it('does not warn of a choice made on separate tasks (V42)', () => {
    // The split is not cut off at 80 columns.
    expect(heldOutLines([{ ...point, split: 'validation' }], [0, 1], { ...room, width: 57 })).toEqual([
      'held-out 0.500, 95% 0.404..0.596, 112 validation samples',
    ]);
  });

  it('counts missing samples as the lowest and the highest reward (V50)', () => {
    const short = [{ ...point, completed_samples: 80 }];
    expect(heldOutLines(short, [0, 1], room)[0]).toMatch(/^held-out 0\.500, 95% 0\.2\d+\.\.0\.7\d+, 80 samples$/);
    const last = heldOutMeans(short)?.last;
    expect(last && describeHeldOut(last, [0, 1])).toMatch(
      /^0\.500 at step 5, from 80 of 112 samples, the round is incomplete, 95% CI 0\.2\d+ to 0\.7\d+ on these tasks$/,
    );
  });

  it('has no interval outside the range, and no line in a low pane', () => {
    expect(heldOutLines([{ ...point, held_out_reward: 4 }], [0, 1], room)).toHaveLength(1);
    expect(heldOutLines([point], [0, 1], { ...room, height: 12 })).toEqual([]);
    expect(heldOutLines([], [0, 1], room)).toEqual([]);
  });
});
