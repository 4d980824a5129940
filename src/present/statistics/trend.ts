/** Finds a curve's trend: where it rises, falls or stays level. Pure. */
import { maxOf, minOf } from '../../base/many.ts';
import { mean } from '../../base/statistics.ts';

export type Turn = 'rises' | 'falls' | 'level' | 'swings' | 'unclear';

/** A part of a curve that keeps one direction. */
interface Stretch {
  readonly turn: Turn;
  /** The index of its last value. */
  readonly last: number;
}

/** If there are more values, they are averaged in bins of equal size, because the time needed is quadratic. */
const maxValues = 200;
const maxPieces = 4;
/** A level piece with fewer values is joined to a neighbour. */
const minLevelValues = 3;
/** A smaller change counts as level, as a share of the values' range. */
const minChange = 0.1;
/** Minimum noise, as a share of the range, so that a smooth bend is not split into many pieces. */
const minNoise = 0.01;
/** Fewer values have no trend: four random values all rise or all fall in 1 of 12 cases, five in 1 of 60. */
const minValues = 5;
/** A curve with at least this many values and no clear change is level; a shorter one is unclear. */
const levelFrom = 10;
/** In theory, the noise variance is 1.3 times the second mean in `noiseOf`. A higher factor is safer. */
const turnShare = 2.2;
/** A piece swings if its values scatter this many times as much as neighbouring values do. */
const swing = 2;
/** If there are more stretches, the last one is `swings`. */
const maxStretches = 4;
/** A line may overshoot the next piece by this share of its change. */
const maxOvershoot = 0.3;

interface Piece {
  readonly from: number;
  /** The index after its last value. */
  readonly to: number;
  readonly start: number;
  readonly end: number;
  /** Whether its values go up and down too much for a line. */
  readonly swings: boolean;
  /** A smaller jump to the next piece does not count: a line overshoots a bend, and waves may end anywhere. */
  readonly slack: number;
}

/**
 * The noise variance: from each value's distance to the mean of its neighbours or, if that is less, to the nearer
 * neighbour at turns of the curve. The first is more certain; the second is not misled by bends and jumps.
 */
function noiseOf(values: readonly number[]): number {
  const inner = values
    .slice(1, -1)
    .map((value, index) => [value - (values[index] ?? 0), value - (values[index + 2] ?? 0)] as const);
  const bends = inner.map(([before, after]) => (before + after) ** 2 / 6);
  const turns = inner.map(([before, after]) => (before * after > 0 ? Math.min(before ** 2, after ** 2) : 0));
  return Math.min(mean(bends) ?? 0, (mean(turns) ?? 0) * turnShare);
}

/** Whether values both rise and fall by more than the change that counts as level. */
function goesBack(values: readonly number[]): boolean {
  let [low, high, rise, fall] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (const value of values) {
    [low, high] = [Math.min(low, value), Math.max(high, value)];
    [rise, fall] = [Math.max(rise, value - low), Math.max(fall, high - value)];
  }
  return Math.min(rise, fall) > minChange;
}

/** Returns a function that fits a level or, if that is clearly better, a line to a range of the values. */
function fitter(values: readonly number[], noise: number, penalty: number) {
  const sums = [0];
  const squares = [0];
  const moments = [0];
  for (const [index, value] of values.entries()) {
    sums.push((sums[index] ?? 0) + value);
    squares.push((squares[index] ?? 0) + value * value);
    moments.push((moments[index] ?? 0) + value * index);
  }
  const over = (totals: readonly number[], from: number, to: number) => (totals[to] ?? 0) - (totals[from] ?? 0);
  return (from: number, to: number) => {
    const count = to - from;
    const average = over(sums, from, to) / count;
    const level = Math.max(0, over(squares, from, to) - average * average * count);
    const spread = (count * (count * count - 1)) / 12;
    const slope = count < 3 ? 0 : (over(moments, from, to) - (average * count * (from + to - 1)) / 2) / spread;
    const line = Math.max(0, level - slope * slope * spread);
    const isSloped = (level - line) / noise > penalty;
    const rest = isSloped ? line : level;
    return { average, slope: isSloped ? slope : 0, rest, cost: rest / noise + (isSloped ? 2 : 1) * penalty };
  };
}

/** The best division into pieces, each level or a line. @param values scaled so that their range is 1 */
function piecesOf(values: readonly number[], noise: number): readonly Piece[] {
  const { length } = values;
  // Tuned so that, from ten values on, at most one in twenty curves of pure noise is not level.
  const penalty = 2.5 * Math.log(length) * (1 + 12 / (length - 2));
  const fitted = fitter(values, noise, penalty);
  // For the first `to` values split into `count + 1` pieces: the lowest cost, and where the last piece starts.
  const costs = [
    Array.from({ length: length + 1 }, (_, to) => (to === 0 ? Number.POSITIVE_INFINITY : fitted(0, to).cost)),
  ];
  const begins = [new Array<number>(length + 1).fill(0)];
  for (let count = 1; count < maxPieces; count += 1) {
    const [cost, begin] = [
      new Array<number>(length + 1).fill(Number.POSITIVE_INFINITY),
      new Array<number>(length + 1).fill(0),
    ];
    for (let to = 2; to <= length; to += 1) {
      for (let from = 1; from < to; from += 1) {
        const all = (costs[count - 1]?.[from] ?? 0) + fitted(from, to).cost + penalty;
        if (all < (cost[to] ?? 0)) [cost[to], begin[to]] = [all, from];
      }
    }
    costs.push(cost);
    begins.push(begin);
  }
  const totals = costs.map(cost => cost[length] ?? 0);
  const pieces: Piece[] = [];
  let to = length;
  for (let count = totals.indexOf(minOf(totals)); count >= 0; count -= 1) {
    const from = begins[count]?.[to] ?? 0;
    const { average, slope, rest } = fitted(from, to);
    const half = (slope * (to - from - 1)) / 2;
    const scatter = Math.sqrt(rest / (to - from));
    const isFar = scatter > Math.max(swing * Math.sqrt(noise), minChange / 2);
    const swings = isFar && to - from >= levelFrom && goesBack(values.slice(from, to));
    const change = swings ? 0 : half;
    const slack = swings ? scatter * swing : Math.abs(half * 2) * maxOvershoot;
    pieces.unshift({ from, to, start: average - change, end: average + change, swings, slack });
    to = from;
  }
  return pieces;
}

/** A part of a curve. If it has no turn of its own, it takes a neighbour's. */
interface Move {
  readonly turn: Turn | undefined;
  readonly last: number;
  readonly start: number;
  readonly end: number;
}

const turnOf = (change: number, least = minChange): Turn =>
  Math.abs(change) <= least ? 'level' : change > 0 ? 'rises' : 'falls';

/** The pieces, and the jumps between them. */
function movesOf(values: readonly number[], pieces: readonly Piece[], noise: number): readonly Move[] {
  const error = Math.sqrt(noise);
  return pieces.flatMap((piece, index): Move[] => {
    const { from, to, start, end, swings, slack } = piece;
    const turn = turnOf(end - start);
    const isShort = turn === 'level' && to - from < minLevelValues;
    const own = { turn: isShort ? undefined : swings ? 'swings' : turn, last: to - 1, start, end };
    const before = pieces[index - 1];
    if (!before) return [own];
    const jump = turnOf(start - before.end, Math.max(before.slack, slack, minChange));
    const isReal = turnOf((values[from] ?? 0) - (values[from - 1] ?? 0), 0) === jump;
    // A rise ends at the last value that is higher than the one before it.
    const isNone = Math.abs(start - before.end) <= error;
    const between = { last: isNone ? from - 1 : from, start: before.end, end: start };
    return [{ ...between, turn: isReal && jump !== 'level' ? jump : undefined }, own];
  });
}

const isSlope = (turn: Turn | undefined): turn is Turn => turn === 'rises' || turn === 'falls';

function mergeMoves(moves: readonly Move[]): readonly Move[] {
  const list: Move[] = [];
  for (const [index, move] of moves.entries()) {
    const before = list.at(-1);
    const next = moves.slice(index).find(({ turn }) => turn)?.turn;
    const turn = move.turn ?? (isSlope(before?.turn) ? before.turn : isSlope(next) ? next : (before?.turn ?? 'level'));
    if (before?.turn === turn) list[list.length - 1] = { ...before, last: move.last, end: move.end };
    else list.push({ ...move, turn });
  }
  return list;
}

/**
 * Moves the ends of stretches, which the pieces only approximate: between a rise and a fall, to the highest or lowest
 * value of both; otherwise, to the largest change among the values in the bins there.
 *
 * @param size the number of values per bin
 */
function withEnds(stretches: readonly Stretch[], values: readonly number[], size: number): readonly Stretch[] {
  const ended: Stretch[] = [];
  for (const [index, stretch] of stretches.entries()) {
    const { turn, last } = stretch;
    const next = stretches[index + 1];
    const begin = (ended.at(-1)?.last ?? -1) + 1;
    const slope = isSlope(turn) ? turn : next?.turn;
    if (!next || !isSlope(slope)) {
      ended.push(stretch);
      continue;
    }
    const up = (at: number): number => (values[at] ?? Number.NaN) * (slope === 'rises' ? 1 : -1);
    const isTurn = isSlope(turn) && isSlope(next.turn);
    const after = isSlope(turn) ? 0 : 1;
    const score = isTurn ? up : (at: number): number => up(at + after) - up(at + after - 1);
    const [from, to] = isTurn ? [begin, next.last] : [Math.max(begin, last - size + 1, 1 - after), last + size];
    let best = from;
    for (let at = from; at < Math.min(to, next.last); at += 1) if (score(at) > score(best)) best = at;
    ended.push({ turn, last: best });
  }
  return ended;
}

/** Drops the turn of a level part between two parts that slope the same way. */
const withoutRest = (move: Move, index: number, moves: readonly Move[]): Move => {
  const before = moves[index - 1]?.turn;
  return move.turn === 'level' && isSlope(before) && before === moves[index + 1]?.turn
    ? { ...move, turn: undefined }
    : move;
};

/**
 * A curve's trend: pieces, each level or a line, that minimise the squares plus a penalty per parameter, after Y.-C.
 * Yao, "Estimating the number of change-points via Schwarz' criterion", Statistics & Probability Letters 6 (1988),
 * found by the dynamic program of I. E. Auger and C. E. Lawrence, "Algorithms for the optimal identification of segment
 * neighborhoods", Bulletin of Mathematical Biology 51 (1989). The noise is estimated from neighbours, after T. Gasser,
 * L. Sroka and C. Jennen-Steinmetz, "Residual variance and residual pattern in nonlinear regression", Biometrika 73
 * (1986). Empty for fewer than three values.
 */
export function trendOf(all: readonly number[]): readonly Stretch[] {
  if (all.length < 3) return [];
  if (all.length < minValues) return [{ turn: 'unclear', last: all.length - 1 }];
  const size = Math.ceil(all.length / maxValues);
  const values = Array.from(
    { length: Math.ceil(all.length / size) },
    (_, index) => mean(all.slice(index * size, (index + 1) * size)) ?? 0,
  );
  const [low, high] = [minOf(values), maxOf(values)];
  const range = high - low;
  const last = all.length - 1;
  if (range === Number.POSITIVE_INFINITY) return [];
  // Ignore rounding errors.
  if (range <= Math.max(Math.abs(low), Math.abs(high)) * 1e-12) return [{ turn: 'level', last }];
  const scaled = values.map(value => (value - low) / range);
  const noise = Math.max(noiseOf(scaled), minNoise ** 2);
  const moves = mergeMoves(movesOf(scaled, piecesOf(scaled, noise), noise));
  // Several small jumps may add up to a change.
  const whole = mergeMoves(
    moves.map(move => (move.turn === 'level' ? { ...move, turn: turnOf(move.end - move.start) } : move)),
  );
  const few = whole.length <= maxStretches ? whole : mergeMoves(whole.map(withoutRest));
  const stretches = few.map(
    ({ turn = 'level', last: index }): Stretch => ({
      turn: values.length < levelFrom && few.length === 1 && turn === 'level' ? 'unclear' : turn,
      last: Math.min(last, (index + 1) * size - 1),
    }),
  );
  const shown =
    stretches.length <= maxStretches
      ? stretches
      : [...stretches.slice(0, 2), { ...(stretches.at(-1) as Stretch), turn: 'swings' as const }];
  return withEnds(shown, all, size);
}
