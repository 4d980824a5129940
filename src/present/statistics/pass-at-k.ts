/** Estimates how often a task passes in several rollouts. Pure. */

/** Help about both measures, with their sources. */
export const aboutPasses = `A rollout passes if its reward is at least the top of the range in the settings (compare.rewardRange). pass@k is the
probability that at least one of k rollouts of a task passes, by HumanEval's unbiased estimator (Chen et al. 2021, arXiv
2107.03374); pass^k is the probability that all k pass (Yao et al. 2024, tau-bench, arXiv 2406.12045). Both count only the
rollouts with a reward, and average over the tasks that have at least k of them. Failed rollouts, rollouts without a reward and rewards
of 0 are counted separately. A group of two or more equal rewards is marked: a trainer that compares the rollouts of a task learns
nothing from it.`;

/** The number of rollouts, and how many of them passed. */
export interface Passes {
  readonly count: number;
  readonly passed: number;
}

/** The probability that at least one of `k` rollouts drawn passed; undefined if there are fewer than `k`. */
export function passAtK({ count, passed }: Passes, k: number): number | undefined {
  if (count < k) return undefined;
  return 1 - passAllK({ count, passed: count - passed }, k);
}

/** The probability that all of `k` rollouts passed: C(passed, k) / C(count, k); undefined if there are fewer. */
export function passHatK(passes: Passes, k: number): number | undefined {
  return passes.count < k ? undefined : passAllK(passes, k);
}

/** Computed as a product, because the binomial coefficients overflow. */
function passAllK({ count, passed }: Passes, k: number): number {
  let share = 1;
  for (let drawn = 0; drawn < k; drawn += 1) share *= Math.max(0, passed - drawn) / (count - drawn);
  return share;
}

/** Both measures for a set of tasks, at one number of rollouts. */
interface PassPoint {
  readonly k: number;
  /** Tasks with at least `k` rollouts. */
  readonly tasks: number;
  readonly any: number;
  readonly all: number;
}

/** Both measures for 1, 2, 4, ... rollouts, and for the median number of rollouts per task. */
export function passCurve(tasks: readonly Passes[]): readonly PassPoint[] {
  const counts = tasks.map(({ count }) => count).sort((left, right) => left - right);
  const median = counts[Math.floor(counts.length / 2)] ?? 0;
  const powers = Array.from({ length: Math.floor(Math.log2(Math.max(1, median))) + 1 }, (_, power) => 2 ** power);
  return [...new Set([...powers, median])]
    .filter(k => k > 0)
    .map(k => {
      const enough = tasks.filter(({ count }) => count >= k);
      const average = (measure: (passes: Passes, k: number) => number | undefined): number =>
        enough.reduce((total, each) => total + (measure(each, k) ?? 0), 0) / enough.length;
      return { k, tasks: enough.length, any: average(passAtK), all: average(passHatK) };
    });
}
