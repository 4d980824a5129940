/** Measures what Watch asks of a service with many active runs: requests, bytes, and how old its rows get. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { printTable } from './built-service.ts';
import type { WatchCost } from './watched.ts';

/** In a process of its own, whose clock is replaced. Through tsx: Node alone reads no .tsx file. */
const [tsx, watched] = ['../../node_modules/tsx/dist/cli.mjs', './watched.ts'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];

/** Per minute, but the wait: a round after a minute is in time. */
const goals = { requests: 60, kilobytes: 300, waitSeconds: 62 } as const;

/** Returns the exit code: 1 if a goal was missed, which `smoke` ignores. */
export async function benchWatch(
  [minutes = '10']: readonly string[],
  { smoke }: { readonly smoke: boolean },
): Promise<number> {
  const words = [tsx, watched, smoke ? '1' : minutes];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const cost = JSON.parse(stdout) as WatchCost;
  const rows: readonly (readonly [string, number, number | undefined])[] = [
    ['requests a minute', cost.requests, goals.requests],
    ['KB a minute', cost.kilobytes, goals.kilobytes],
    ['longest wait of a row, s', cost.longestWait, goals.waitSeconds],
    ['rows not read in the first minute', cost.active - cost.readAtFirst, 0],
    ['most requests in a second, at the start', cost.mostInSecond, undefined],
  ];
  printTable([
    [`WATCH, ${cost.active} ACTIVE RUNS`, 'MEASURED', 'GOAL', ''],
    ...rows.map(([name, measured, goal]) => [
      name,
      measured.toFixed(measured % 1 === 0 ? 0 : 1),
      goal === undefined ? '' : `at most ${goal}`,
      goal !== undefined && measured > goal ? 'MISSED' : '',
    ]),
  ]);
  return !smoke && rows.some(([, measured, goal]) => goal !== undefined && measured > goal) ? 1 : 0;
}
