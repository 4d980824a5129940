/** Curves in words, for screen readers and for scripts. Pure. */
import { mean } from '../base/statistics.ts';
import { leftOutOf } from '../base/steps.ts';
import { counted, reward } from '../text/numbers.ts';

/** A step with its value, if it has one. */
export interface StepValue {
  readonly step: number;
  readonly value: number | null | undefined;
  /** Covers only part of the samples, so it counts as an extreme only if all values do. */
  readonly isUnfinished?: boolean | undefined;
}

interface KnownValue extends StepValue {
  readonly value: number;
}

/** Number of parts whose means describe the course of a curve. */
const parts = 5;
/** Standard errors beyond which the means of two parts differ. */
const errors = 2;

/** Mean, and its standard error under independent values. */
function meanOf(values: readonly KnownValue[]): { readonly mean: number; readonly error: number } {
  const numbers = values.map(({ value }) => value);
  const average = mean(numbers) ?? 0;
  const squares = mean(numbers.map(value => (value - average) ** 2)) ?? 0;
  return { mean: average, error: Math.sqrt(squares / Math.max(1, numbers.length - 1)) };
}

/** The gaps of a curve, including steps that are left out: `no value from step 4000 to 12000 (39 points)`. */
function gapWords(points: readonly StepValue[]): readonly string[] {
  const gaps: { readonly from: number; to: number; count: number }[] = [];
  let isOpen = false;
  const add = (from: number, to: number, count: number): void => {
    const last = gaps.at(-1);
    if (isOpen && last) [last.to, last.count] = [to, last.count + count];
    else gaps.push({ from, to, count });
    isOpen = true;
  };
  const leftOut = new Map(leftOutOf(points.map(({ step }) => step)).map(gap => [gap.index, gap]));
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

/** The course of a curve, by the means of its parts: `mean of each fifth of the 40 values: 0.20, 0.41, …: rises, then level`. */
function courseWords(points: readonly KnownValue[]): readonly string[] {
  if (points.length < parts * 2) return [];
  const size = points.length / parts;
  const means = Array.from({ length: parts }, (_, index) =>
    meanOf(points.slice(Math.floor(index * size), Math.floor((index + 1) * size))),
  );
  const turns = means.slice(1).map((part, index) => {
    const before = means[index] ?? part;
    const difference = part.mean - before.mean;
    const isClear = Math.abs(difference) > errors * Math.hypot(part.error, before.error);
    return !isClear ? 'level' : difference > 0 ? 'rises' : 'falls';
  });
  const course = turns.filter((turn, index) => turn !== turns[index - 1]).join(', then ');
  return [
    `mean of each fifth of the ${counted(points.length, 'value')}: ${means.map(part => reward(part.mean)).join(', ')}: ${course}`,
  ];
}

/**
 * A curve in sentences: its extent, first, last, highest (the latest of equal ones, as `best` is elsewhere) and lowest
 * value, its gaps and its course. Fifths count as level if their means differ by less than two standard errors.
 */
export function curveWords(name: string, points: readonly StepValue[]): readonly string[] {
  const sorted = points.toSorted((left, right) => left.step - right.step);
  const known = sorted.filter((point): point is KnownValue => point.value != null && Number.isFinite(point.value));
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return [`${name}: no values yet`];
  const finished = known.filter(({ isUnfinished }) => !isUnfinished);
  const ranked = finished.length > 0 ? finished : known;
  const highest = (of: readonly KnownValue[]) => of.reduce((most, point) => (point.value >= most.value ? point : most));
  const lowest = (of: readonly KnownValue[]) =>
    of.reduce((least, point) => (point.value < least.value ? point : least));
  const at = ({ step, value }: KnownValue): string => `${reward(value)} at step ${step}`;
  const extreme = (of: typeof highest): string => {
    const [counts, any] = [of(ranked), of(known)];
    const isBeyond = any.value !== counts.value && any.isUnfinished;
    return isBeyond ? `${at(counts)} (${at(any)} is from an incomplete round)` : at(counts);
  };
  return [
    `${name}: ${counted(known.length, 'value')}, from ${at(first)} to ${at(last)}`,
    ...(ranked.length > 2 ? [`highest ${extreme(highest)}, lowest ${extreme(lowest)}`] : []),
    ...courseWords(known),
    ...gapWords(sorted),
  ];
}
