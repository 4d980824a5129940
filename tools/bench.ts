/** `npm run bench`: measures the built program. See `usage`. */
import './built.ts';

const usage = `npm run bench                      the screen, in a pseudo-terminal
npm run bench -- screen PART…      parts: start, help, list, oneCell, slowLine, onePane, chat, gone, stop, huge, read, curves, search, compare
npm run bench -- patches           what each file of patches/ saves; [--runs N] [NAME…]
npm run bench -- training          what training learns, and how fast; [--model SLUG]
npm run bench -- watch [MINUTES]   what Watch costs with 40 active training runs, in virtual time
npm run bench -- service [SECONDS] the local service with many clients
npm run bench -- statistics [DRAWS] simulates the coverage of intervals and verdicts
npm run bench -- audit [RUNS]      detection and false alarm rates of the training audit, over RUNS sound runs
npm run bench -- --smoke [BENCH]   checks that every part works: runs it briefly, and ignores goals

Each prints a table, and fails if a goal is missed.
`;

interface BenchOptions {
  /** Runs everything once and briefly, and ignores goals. */
  readonly smoke: boolean;
}

/** Each returns its exit code. */
const benches: Readonly<Record<string, (args: readonly string[], options: BenchOptions) => Promise<number>>> = {
  screen: async (args, options) => (await import('./bench/screen.ts')).benchScreen(args, options),
  patches: async (args, options) => (await import('./bench/patches.ts')).benchPatches(args, options),
  training: async (args, options) => (await import('./bench/training.ts')).benchTraining(args, options),
  watch: async (args, options) => (await import('./bench/watch.ts')).benchWatch(args, options),
  service: async (args, options) => (await import('./bench/service.ts')).benchService(args, options),
  audit: async (args, options) => (await import('./bench/audit.ts')).benchAudit(args, options),
  statistics: async (args, options) => (await import('./bench/statistics.ts')).benchStatistics(args, options),
};

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const smoke = words.includes('--smoke');
  const [name, ...args] = words.filter(word => word !== '--smoke');
  const wanted = name === undefined ? (smoke ? Object.keys(benches) : ['screen']) : [name];
  let worst = 0;
  for (const each of wanted) {
    const bench = Object.hasOwn(benches, each) ? benches[each] : undefined;
    if (!bench) {
      process.stderr.write(`There is no bench ${each}.\n\n${usage}`);
      return 2;
    }
    worst = Math.max(worst, await bench(args, { smoke }));
  }
  return worst;
}

process.exitCode = await main(process.argv.slice(2));
