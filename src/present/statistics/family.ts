/** Corrects for several comparisons at once: each needs more confidence, so that all of them hold together. */

/**
 * The confidence of each of several intervals so that all of them hold with `confidence`, whatever they have in common,
 * such as a baseline: the risk is divided by their number (C. E. Bonferroni 1936; O. J. Dunn, "Multiple comparisons
 * among means", Journal of the American Statistical Association 56, 1961). Holm's procedure decides a little more often,
 * but has no intervals of its own.
 */
export const confidenceOfEach = (comparisons: number, confidence: number): number =>
  1 - (1 - confidence) / Math.max(1, comparisons);
