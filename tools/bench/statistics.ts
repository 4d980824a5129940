/**
 * Simulates whether the intervals and verdicts of `src/present/statistics` keep their promises, and at what cost: for
 * every shape of rewards and every number of tasks.
 */
import type { BenchOptions } from '../bench.ts';
import { Random } from '../rig/random.ts';
import { shapes } from './statistics-shapes.ts';
import { isBroken, type Looked, lookAlways, lookOnce, promises } from './statistics-simulation.ts';

const sizes = [2, 3, 5, 10, 20, 50, 100, 300, 1_000] as const;
/** Numbers of tasks of an ongoing run, and of looks at it. */
const alwaysSizes = [
  [20, 160],
  [200, 20],
] as const;
const usualDraws = 4_000;
/** Draws whose width is measured. */
const measured = 100;
/** The cost is shown from this many tasks on: with fewer, the t interval is too unreliable. */
const fewestForCost = 20;

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const times = (cost: number): string => (Number.isFinite(cost) ? `x${cost.toFixed(1)}` : 'x-');

/** Returns the exit code: 1 if a promise is broken, which `smoke` ignores. */
export async function benchStatistics({ smoke }: BenchOptions): Promise<number> {
  const draws = smoke ? 2 : usualDraws;
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  print(
    [
      `${shapes.length} shapes of rewards, ${draws} draws each. For each number of tasks: coverage of the 95% interval, false`,
      '"better" (it is above the mean), coverage of the t interval [in brackets], and the factor of tasks that it needs to',
      'be as narrow as the t interval. A promise (coverage of 94%, 5% false "better") counts as broken if fewer than one',
      'in a thousand simulations would show as many misses when it is just kept.',
    ].join('\n'),
  );
  const broken: string[] = [];
  const worst = { missed: 0, tooHigh: 0 };
  const judge = (name: string, { missed, tooHigh }: Looked): void => {
    worst.missed = Math.max(worst.missed, missed / draws);
    worst.tooHigh = Math.max(worst.tooHigh, tooHigh / draws);
    if (isBroken(missed, draws, promises.missed) || isBroken(tooHigh, draws, promises.tooHigh)) broken.push(name);
  };
  for (const shape of smoke ? shapes.slice(0, 1) : shapes) {
    print(`\n${shape.name}, mean ${Number(shape.mean.toFixed(4))}`);
    for (const size of sizes) {
      const once = lookOnce(shape, size, draws, new Random(`${shape.name} ${size}`), measured);
      judge(`${shape.name}, ${size} tasks`, once);
      const cost = size < fewestForCost ? '' : times(once.cost);
      print(
        `  ${String(size).padStart(5)} tasks  ${percent(1 - once.missed / draws).padStart(6)}  ${percent(once.tooHigh / draws).padStart(5)}  [${percent(1 - once.naiveMissed / draws)}]  ${cost}`,
      );
    }
    for (const [size, looks] of alwaysSizes) {
      const always = lookAlways(shape, size, draws, looks, new Random(`${shape.name} always ${size}`));
      judge(`${shape.name}, ${size} tasks while it runs`, always);
      print(
        `  ${String(size).padStart(5)} tasks  ${percent(1 - always.missed / draws).padStart(6)}  ${percent(always.tooHigh / draws).padStart(5)}  at some of ${looks} looks`,
      );
    }
  }
  print(`\nlowest coverage ${percent(1 - worst.missed)}, most false "better" ${percent(worst.tooHigh)}`);
  print(broken.length === 0 ? 'every promise is kept' : `broken: ${broken.join('; ')}`);
  return broken.length === 0 || smoke ? 0 : 1;
}
