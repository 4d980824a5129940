/**
 * The root of an increasing function that is negative at `low` but not at `high`, within `tolerance`. Alternates secant
 * steps with bisection (the Illinois method).
 */
export function crossing(valueAt: (at: number) => number, low: number, high: number, tolerance: number): number {
  let [left, right] = [low, high];
  let [below, above] = [valueAt(left), valueAt(right)];
  for (let round = 0; right - left > tolerance && round < 200; round++) {
    const middle = (left + right) / 2;
    const secant = left + ((right - left) * below) / (below - above);
    const at = round % 3 !== 2 && secant > left && secant < right ? secant : middle;
    const value = valueAt(at);
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
