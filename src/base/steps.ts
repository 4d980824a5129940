/** A curve's usual distance between steps, and its gaps. Pure. */

/** The distance between most neighbouring steps (R. S. Boyer, J. S. Moore, "MJRTY", 1991); undefined if none. */
export function usualDistance(steps: ArrayLike<number>): number | undefined {
  const distances = steps.length - 1;
  const distance = (index: number): number => (steps[index + 1] as number) - (steps[index] as number);
  let [usual, votes] = [0, 0];
  for (let index = 0; index < distances; index += 1) {
    if (votes === 0) usual = distance(index);
    votes += distance(index) === usual ? 1 : -1;
  }
  let count = 0;
  for (let index = 0; index < distances; index += 1) if (distance(index) === usual) count += 1;
  return usual > 0 && count * 2 > distances ? usual : undefined;
}

/** The steps missing before the one at `index`. */
interface Gap {
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** The gaps in ascending steps, judged by their usual distance. */
export function stepGaps(steps: ArrayLike<number>): readonly Gap[] {
  const usual = usualDistance(steps);
  const gaps: Gap[] = [];
  if (usual === undefined) return gaps;
  for (let index = 1; index < steps.length; index += 1) {
    const [before, step] = [steps[index - 1] as number, steps[index] as number];
    const count = Math.round((step - before) / usual) - 1;
    if (count > 0) gaps.push({ index, from: before + usual, to: before + count * usual, count });
  }
  return gaps;
}
