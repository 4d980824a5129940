/** A curve's common distance between steps, and its gaps. Pure. */

/** The distance between most neighbouring steps (R. S. Boyer, J. S. Moore, "MJRTY", 1991); undefined if none. */
export function commonDistance(steps: ArrayLike<number>): number | undefined {
  const distances = steps.length - 1;
  const distance = (index: number): number => (steps[index + 1] as number) - (steps[index] as number);
  let [common, votes] = [0, 0];
  for (let index = 0; index < distances; index += 1) {
    if (votes === 0) common = distance(index);
    votes += distance(index) === common ? 1 : -1;
  }
  let count = 0;
  for (let index = 0; index < distances; index += 1) if (distance(index) === common) count += 1;
  return common > 0 && count * 2 > distances ? common : undefined;
}

/** The steps missing before the one at `index`. */
interface Gap {
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** The gaps in ascending steps: where steps are further apart than their common distance. */
export function stepGaps(steps: ArrayLike<number>): readonly Gap[] {
  const common = commonDistance(steps);
  const gaps: Gap[] = [];
  if (common === undefined) return gaps;
  for (let index = 1; index < steps.length; index += 1) {
    const [before, step] = [steps[index - 1] as number, steps[index] as number];
    const count = Math.round((step - before) / common) - 1;
    if (count > 0) gaps.push({ index, from: before + common, to: before + count * common, count });
  }
  return gaps;
}
