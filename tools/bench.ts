/** `npm run bench`: measures the built program. See `usage`. */
import { exitWith, optionsOf } from './rig/options.ts';
import './built.ts';

const usage = `npm run bench                      the screen, in a pseudo-terminal
npm run bench -- screen PART…      parts: start, help, list, oneCell, slowLine, onePane, chat, gone, stop, huge, read, curves, search, compare
npm run bench -- patches           the savings of each file of patches/
npm run bench -- training          learning and speed of training
npm run bench -- watch             the cost of Watch with 40 active training runs, in virtual time
npm run bench -- service           the local service with many clients
npm run bench -- statistics        simulates the coverage of intervals and verdicts
npm run bench -- audit             detection and false alarm rates of the training audit
npm run bench -- --smoke [BENCH]   checks that every part works: runs it briefly, and ignores goals

Each prints a table, and fails if a goal is missed.
`;

export interface BenchOptions {
  /** Runs everything once and briefly, and ignores goals. */
  readonly smoke: boolean;
  /** The parts of the bench to run; empty for all. */
  readonly parts: readonly string[];
}

/** Each returns its exit code. */
const benches: ReadonlyMap<string, (options: BenchOptions) => Promise<number>> = new Map([
  ['screen', async options => (await import('./bench/screen.ts')).benchScreen(options)],
  ['patches', async options => (await import('./bench/patches.ts')).benchPatches(options)],
  ['training', async options => (await import('./bench/training.ts')).benchTraining(options)],
  ['watch', async options => (await import('./bench/watch.ts')).benchWatch(options)],
  ['service', async options => (await import('./bench/service.ts')).benchService(options)],
  ['audit', async options => (await import('./bench/audit.ts')).benchAudit(options)],
  ['statistics', async options => (await import('./bench/statistics.ts')).benchStatistics(options)],
]);

const { values, positionals } = optionsOf(usage, { smoke: false });
const { smoke } = values;
const [name, ...parts] = positionals;
if (name !== undefined && !benches.has(name)) exitWith(usage, 2);
process.exitCode = 0;
for (const [each, bench] of benches) {
  if (each === (name ?? 'screen') || (name === undefined && smoke))
    process.exitCode = Math.max(process.exitCode, await bench({ smoke, parts }));
}
