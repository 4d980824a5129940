/**
 * The distribution of a mean whose weights are random: what Gaffke's bound on the mean of a bounded variable needs.
 */
import type { Tally } from './tally.ts';

/** Step of the trapezoidal rule. Its error is of the order exp(-π²/(2 · 0.2)), 2e-11 of the result. */
const step = 0.2;
/** Beyond this logarithm of its decay the integrand no longer counts. */
const negligible = 32;

/**
 * The probability that Σ wᵢxᵢ is at most `point`, where the weights w are Dirichlet distributed with the counts of the
 * sample as parameters and `floor`, a value below or equal to all others, has the parameter 1 more.
 *
 * The weights are independent gamma variables over their sum, so that the event is T = Σ Gᵢ(point - xᵢ) ≥ 0. Its
 * probability is the inversion integral of the moment generating function of T along the vertical line through the
 * saddle point of the integrand (C. W. Helstrom, "Approximate evaluation of detection probabilities in radar and
 * optical communications", IEEE Transactions on Aerospace and Electronic Systems 14, 1978; H. E. Daniels, "Tail
 * probability approximations", International Statistical Review 55, 1987), by the trapezoidal rule. That is no
 * approximation: the error is far below any that could be shown.
 */
export function chanceAtMost({ values, counts }: Tally, floor: number, point: number): number {
  const { length } = values;
  if (length === 0 || point >= (values[length - 1] ?? 0)) return 1;
  if (point <= floor) return 0;
  // The distances are shares of the largest: the saddle point is then between 0 and 1.
  const scale = point - floor;
  const saddle = saddlePoint(values, counts, point, scale);
  // The exponents at the saddle point: each value, the floor, and the pole 1/z of the inversion.
  let logarithm = -Math.log1p(-saddle) - Math.log(saddle);
  const floorRatio = 1 / (1 - saddle);
  const poleRatio = -1 / saddle;
  let curvature = floorRatio ** 2 + poleRatio ** 2;
  const ratios = new Float64Array(length);
  for (let index = 0; index < length; index++) {
    const distance = (point - (values[index] ?? 0)) / scale;
    const count = counts[index] ?? 0;
    const ratio = distance / (1 - distance * saddle);
    ratios[index] = ratio;
    logarithm -= count * Math.log1p(-distance * saddle);
    curvature += count * ratio ** 2;
  }
  const spread = 1 / Math.sqrt(curvature);
  let sum = 0.5;
  for (let index = 1; ; index++) {
    const at = step * index;
    const y = spread * Math.sinh(at);
    // The product of the factors 1 - iyr, and the part of those that occur more than once, in polar form.
    let [real, imaginary] = [1, 0];
    let [logSize, angle] = [0, 0];
    const multiply = (ratio: number): void => {
      const tilt = y * ratio;
      [real, imaginary] = [real + imaginary * tilt, imaginary - real * tilt];
    };
    multiply(floorRatio);
    multiply(poleRatio);
    for (let each = 0; each < length; each++) {
      const count = counts[each] ?? 0;
      const tilt = y * (ratios[each] ?? 0);
      if (count === 1) {
        const turned = imaginary - real * tilt;
        real += imaginary * tilt;
        imaginary = turned;
      } else {
        logSize += (count / 2) * Math.log1p(tilt * tilt);
        angle -= count * Math.atan(tilt);
      }
    }
    const size = logSize + Math.log(Math.hypot(real, imaginary));
    if (!(size < negligible + at)) break;
    sum += Math.cos(angle + Math.atan2(imaginary, real)) * Math.exp(-size) * Math.cosh(at);
  }
  return Math.min(1, Math.max(0, (Math.exp(logarithm) * spread * step * sum) / Math.PI));
}

/** Where the integrand is smallest on the real axis between 0 and 1. Its logarithm is convex there. */
function saddlePoint(values: Float64Array, counts: Float64Array, point: number, scale: number): number {
  let [low, high] = [0, 1];
  let at = 0.5;
  for (let round = 0; round < 100; round++) {
    let slope = 1 / (1 - at) - 1 / at;
    let curvature = 1 / (1 - at) ** 2 + 1 / at ** 2;
    for (let index = 0; index < values.length; index++) {
      const distance = (point - (values[index] ?? 0)) / scale;
      const ratio = distance / (1 - distance * at);
      const part = (counts[index] ?? 0) * ratio;
      slope += part;
      curvature += part * ratio;
    }
    if (slope > 0) high = at;
    else low = at;
    const newton = at - slope / curvature;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    // The integral is the same along every line near the saddle point: a rough one will do.
    if (Math.abs(next - at) < 1e-3 * Math.min(next, 1 - next)) return next;
    at = next;
  }
  return at;
}
