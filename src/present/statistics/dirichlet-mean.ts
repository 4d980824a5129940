/** The distribution of a mean with random weights, for Gaffke's bound on the mean of a bounded variable. */
import type { Tally } from './tally.ts';

/** The step of the trapezoidal rule. */
const step = 0.2;
/** The integral is truncated where the integrand has decayed by this many powers of e. */
const negligible = 32;

/**
 * The probability that Σ wᵢxᵢ is at most `point`. The weights w have a Dirichlet distribution; its parameters are the
 * counts of the sample, and 1 more for `floor`, a value that is not above any other. The weights are independent gamma
 * variables over their sum, so the event is T = Σ Gᵢ(point - xᵢ) ≥ 0. Integrates the probability of this event or of T
 * < 0, whichever is likely to be smaller. The relative error is below 1e-6: the largest found was 1e-7, for samples
 * with a closed form and, compared with a step 20 times smaller, for thousands of random samples.
 */
export function chanceAtMost({ values, counts }: Tally, floor: number, point: number): number {
  const { length } = values;
  const top = values[length - 1];
  if (top === undefined || point >= top) return 1;
  if (point <= floor) return 0;
  const parameters = new Float64Array(length + 1).fill(1);
  parameters.set(counts, 1);
  const distances = new Float64Array(length + 1).fill(point - floor);
  let mean = point - floor;
  for (let index = 0; index < length; index++) {
    const distance = point - (values[index] ?? 0);
    distances[index + 1] = distance;
    mean += (counts[index] ?? 0) * distance;
  }
  // Scale the distances by the largest, so that the saddle point lies between 0 and 1.
  const scaled = (by: number): Float64Array => distances.map(distance => distance / by);
  const chance =
    mean > 0 ? 1 - chancePositive(scaled(point - top), parameters) : chancePositive(scaled(point - floor), parameters);
  return Math.min(1, Math.max(0, chance));
}

/**
 * The probability that Σ Gᵢdᵢ is positive, if its mean is not. The largest distance d is 1, and the parameters of the
 * gamma variables G are the counts. Computed as the inversion integral of the moment generating function along a path
 * through the integrand's saddle point (C. W. Helstrom, "Approximate evaluation of detection probabilities in radar and
 * optical communications", IEEE Transactions on Aerospace and Electronic Systems 14, 1978; H. E. Daniels, "Tail
 * probability approximations", International Statistical Review 55, 1987), by the trapezoidal rule. The path is the
 * branch of a hyperbola with the curvature of the steepest descent. Along a vertical line, the integrand for one value
 * far from many others oscillates faster than any step, long before it has decayed.
 */
function chancePositive(distances: Float64Array, counts: Float64Array): number {
  const { length } = distances;
  const saddle = saddlePoint(distances, counts);
  // The integrand's logarithm at the saddle point, and its derivatives, with the pole 1/z of the inversion.
  let logarithm = -Math.log(saddle);
  const poleRatio = -1 / saddle;
  let second = poleRatio ** 2;
  let third = 2 * poleRatio ** 3;
  const ratios = new Float64Array(length);
  for (let index = 0; index < length; index++) {
    const distance = distances[index] ?? 0;
    const count = counts[index] ?? 0;
    const ratio = distance / (1 - distance * saddle);
    ratios[index] = ratio;
    logarithm -= count * Math.log1p(-distance * saddle);
    second += count * ratio ** 2;
    third += 2 * count * ratio ** 3;
  }
  const spread = 1 / Math.sqrt(second);
  // At most 2/3, so that the path stays within 34° of the vertical, where all integrands decay.
  const bend = (third / second / 3) * spread;
  let sum = 0.5;
  for (let index = 1; ; index++) {
    const at = step * index;
    const rise = Math.sinh(at);
    const run = Math.cosh(at);
    const x = spread * bend * (run - 1);
    const y = spread * rise;
    // The product of the factors 1 - (x + iy)r. Factors that occur more than once are multiplied in polar form.
    let real = 1 - x * poleRatio;
    let imaginary = -y * poleRatio;
    let logSize = 0;
    let angle = 0;
    for (let each = 0; each < length; each++) {
      const count = counts[each] ?? 0;
      const ratio = ratios[each] ?? 0;
      const across = 1 - x * ratio;
      const up = y * ratio;
      if (count === 1) {
        const turned = imaginary * across - real * up;
        real = real * across + imaginary * up;
        imaginary = turned;
      } else {
        logSize += (count / 2) * Math.log(across * across + up * up);
        angle -= count * Math.atan2(up, across);
      }
    }
    const size = logSize + Math.log(Math.hypot(real, imaginary));
    if (!(size < negligible + at)) break;
    const turn = angle + Math.atan2(imaginary, real);
    sum += (run * Math.cos(turn) - bend * rise * Math.sin(turn)) * Math.exp(-size);
  }
  return (Math.exp(logarithm) * spread * step * sum) / Math.PI;
}

/** The integrand's minimum on the real axis between 0 and 1, where its logarithm is convex. */
function saddlePoint(distances: Float64Array, counts: Float64Array): number {
  let [low, high] = [0, 1];
  let at = 0.5;
  for (let round = 0; round < 100; round++) {
    let slope = -1 / at;
    let curvature = 1 / at ** 2;
    for (let index = 0; index < distances.length; index++) {
      const distance = distances[index] ?? 0;
      const ratio = distance / (1 - distance * at);
      const part = (counts[index] ?? 0) * ratio;
      slope += part;
      curvature += part * ratio;
    }
    if (slope > 0) high = at;
    else low = at;
    const newton = at - slope / curvature;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    // A rough estimate is enough: the integral is the same along any path near the saddle point.
    if (Math.abs(next - at) < 1e-3 * Math.min(next, 1 - next)) return next;
    at = next;
  }
  return at;
}
