/**
 * The exact two-sided sign test: the probability of a split at least as uneven if both sides are equally likely to win.
 * Ties are left out (W. J. Dixon and A. M. Mood, "The statistical sign test", Journal of the American Statistical
 * Association 41, 1946). It is valid for only a single look. Undefined without wins and losses.
 */
export function signTest(wins: number, losses: number): number | undefined {
  const decided = wins + losses;
  if (decided === 0) return undefined;
  // Use logarithms, because 2 ** -decided underflows.
  let log = -decided * Math.LN2;
  let tail = 0;
  for (let count = 0; count <= Math.min(wins, losses); count += 1) {
    tail += Math.exp(log);
    log += Math.log((decided - count) / (count + 1));
  }
  return Math.min(1, 2 * tail);
}

/** A probability with two digits; never rounded to 0. */
export const formatChance = (share: number): string => (share < 0.001 ? 'p < 0.001' : `p = ${share.toPrecision(2)}`);
