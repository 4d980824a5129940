/**
 * The root of an increasing function between `low`, where it is negative, and `high`, where it is not. Alternates
 * bisection with secant steps where these are closer (the Illinois method). The result is within `tolerance` of the
 * root.
 */
export function crossing(of: (at: number) => number, low: number, high: number, tolerance: number): number {
  let [left, right] = [low, high];
  let [below, above] = [of(left), of(right)];
  for (let round = 0; right - left > tolerance && round < 200; round++) {
    const middle = (left + right) / 2;
    const secant = left + ((right - left) * below) / (below - above);
    const at = round % 3 !== 2 && secant > left && secant < right ? secant : middle;
    const value = of(at);
    if (value < 0) {
      [left, below] = [at, value];
      above /= 2;
    } else {
      [right, above] = [at, value];
      below /= 2;
    }
  }
  return left;
}
