/** Describes curves in words, for screen readers and scripts. Pure. */
import { stepGaps } from '../base/steps.ts';
import { counted, reward } from '../text/numbers.ts';
import { type Turn, trendOf } from './statistics/trend.ts';

/** A step with its value, if it has one. */
export interface StepValue {
  readonly step: number;
  readonly value: number | null | undefined;
  /** The value covers only some of the samples, so it does not count as an extreme unless all values are unfinished. */
  readonly isUnfinished?: boolean | undefined;
}

interface KnownValue extends StepValue {
  readonly value: number;
}

const turnLabels: Readonly<Record<Turn, string>> = {
  rises: 'rises',
  falls: 'falls',
  level: 'level',
  swings: 'goes up and down',
  unclear: 'unclear, too few values',
};

/** A curve's gaps, including omitted steps: `no value from step 4000 to 12000 (39 points)`. */
function describeGaps(points: readonly StepValue[]): readonly string[] {
  const gaps: { readonly from: number; to: number; count: number }[] = [];
  let isOpen = false;
  const add = (from: number, to: number, count: number): void => {
    const last = gaps.at(-1);
    if (isOpen && last) [last.to, last.count] = [to, last.count + count];
    else gaps.push({ from, to, count });
    isOpen = true;
  };
  const leftOut = new Map(stepGaps(points.map(({ step }) => step)).map(gap => [gap.index, gap]));
  for (const [index, { step, value }] of points.entries()) {
    const gap = leftOut.get(index);
    if (gap) add(gap.from, gap.to, gap.count);
    if (value == null) add(step, step, 1);
    else isOpen = false;
  }
  if (gaps.length > 3) {
    return [
      `no value at ${counted(
        gaps.reduce((sum, gap) => sum + gap.count, 0),
        'step',
      )}, in ${gaps.length} gaps`,
    ];
  }
  return gaps.map(({ from, to, count }) =>
    from === to ? `no value at step ${from}` : `no value from step ${from} to ${to} (${counted(count, 'point')})`,
  );
}

/** `trend: rises until step 9 (0.671), then level` */
function describeTrend(points: readonly KnownValue[]): readonly string[] {
  const stretches = trendOf(points.map(({ value }) => value));
  const words = stretches.map(({ turn, last }, index) => {
    const { step, value } = points[last] ?? {};
    const isNewest = index === stretches.length - 1;
    return isNewest ? turnLabels[turn] : `${turnLabels[turn]} until step ${step} (${reward(value)})`;
  });
  return words.length === 0 ? [] : [`trend: ${words.join(', then ')}`];
}

/** A curve in sentences: first, last, highest (the latest if tied) and lowest value, trend, gaps. */
export function describeCurve(name: string, points: readonly StepValue[]): readonly string[] {
  const sorted = points.toSorted((left, right) => left.step - right.step);
  const known = sorted.filter((point): point is KnownValue => point.value != null && Number.isFinite(point.value));
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return [`${name}: no values yet`];
  const finished = known.filter(({ isUnfinished }) => !isUnfinished);
  const ranked = finished.length > 0 ? finished : known;
  const highest = (some: readonly KnownValue[]) =>
    some.reduce((most, point) => (point.value >= most.value ? point : most));
  const lowest = (some: readonly KnownValue[]) =>
    some.reduce((least, point) => (point.value < least.value ? point : least));
  const at = ({ step, value }: KnownValue): string => `${reward(value)} at step ${step}`;
  const extreme = (extremeOf: typeof highest): string => {
    const [counts, any] = [extremeOf(ranked), extremeOf(known)];
    const isBeyond = any.value !== counts.value && any.isUnfinished;
    return isBeyond ? `${at(counts)} (${at(any)} is from an incomplete round)` : at(counts);
  };
  return [
    `${name}: ${counted(known.length, 'value')}, from ${at(first)} to ${at(last)}`,
    ...(ranked.length > 2 ? [`highest ${extreme(highest)}, lowest ${extreme(lowest)}`] : []),
    ...describeTrend(known),
    ...describeGaps(sorted),
  ];
}
