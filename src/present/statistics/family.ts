/** Corrects for several comparisons at once: each needs more confidence, so that all hold together. */

/**
 * The confidence that each of several intervals needs so that all of them hold with `confidence`, even if they share a
 * baseline: divides the risk by their number (C. E. Bonferroni 1936; O. J. Dunn, "Multiple comparisons among means",
 * Journal of the American Statistical Association 56, 1961). Holm's procedure decides a little more often, but gives no
 * intervals.
 */
export const confidenceOfEach = (comparisons: number, confidence: number): number =>
  1 - (1 - confidence) / Math.max(1, comparisons);
