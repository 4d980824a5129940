/**
 * Measures the load of Watch on a service with 40 active training runs of 20,000 steps, in virtual time: requests,
 * bytes, and how old its rows get.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Place } from '../../src/resources/place.ts';
import type { BusyRun } from '../../test/busy-world.ts';
import type { BenchOptions } from '../bench.ts';
import { VirtualTime } from '../simulate/virtual-time.ts';
import { printMeasured } from './table.ts';

const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url));
const file = fileURLToPath(import.meta.url);

const activeRuns = 40;
const totalSteps = 20_000;
/** Completed when the watch begins: the curves have nearly all their points. */
const doneSteps = 17_000;
const stepMs = 4_800;
const minuteMs = 60_000;

interface WatchCost {
  readonly active: number;
  /** Active runs whose progress was read within the first minute. */
  readonly readAtFirst: number;
  /** The most requests in any second, also in the first minute. */
  readonly mostInSecond: number;
  /** Per minute, after the first ones. */
  readonly requests: number;
  readonly kilobytes: number;
  /** The longest time between two reads of a run's progress, in seconds, after the first minutes. */
  readonly longestWait: number;
}

let time: VirtualTime | undefined;

/** Replaces the clock and the timers of this process. */
function virtualTime(): VirtualTime {
  if (!time) {
    time = new VirtualTime();
    time.install();
  }
  return time;
}

const isActive = ({ doing }: BusyRun): boolean => !['succeeded', 'failed', 'cancelled'].includes(doing);

/**
 * Leaves a view open for `minutes` after the first ones.
 *
 * @param first minutes to read everything once
 * @param count of runs, with those that have ended
 */
export async function watched(
  minutes: number,
  { start = { view: 'watch' }, first = 1, count = 300 }: { start?: Place; first?: number; count?: number } = {},
): Promise<WatchCost> {
  const time = virtualTime();
  Object.assign(process.env, { FORCE_COLOR: '3', COLUMNS: '200', LINES: '60' });
  // After the clock is replaced: the program keeps some of its functions.
  const { busyWorld, runningEvaluations } = await import('../../test/busy-world.ts');
  const { scriptedService } = await import('../../test/queries/scripted-service.ts');
  const { openProgram } = await import('../../test/ui/program/rig.tsx');
  const { defaultIntervals } = await import('../../src/queries/polling.ts');
  // A view loads its code when it is first opened, during which virtual time would pass.
  await Promise.all([import('../../src/ui/views/lists.tsx'), import('../../src/ui/views/training/list.tsx')]);

  const { answers, runs } = busyWorld(Date.now());
  // Only their own list shows the running evaluations, so that the others measure the same as before.
  const isOfRuns = start.view === 'list' && start.resource === 'runs';
  const evaluations = isOfRuns ? runningEvaluations : [];
  if (!isOfRuns) answers.listEvalRuns = () => [];
  runs.splice(count);
  const active = runs.slice(0, activeRuns - evaluations.length);
  for (const run of runs.slice(active.length)) if (isActive(run)) run.doing = 'succeeded';
  for (const run of active) {
    Object.assign(run, { total: totalSteps, stepMs, startedAt: Date.now() - doneSteps * stepMs, doing: 'moving' });
  }
  const requests: {
    readonly at: number;
    readonly bytes: number;
    readonly progressOf?: string | undefined;
  }[] = [];
  const counted = Object.entries(answers).map(([operation, answer]) => [
    operation,
    (ids: Readonly<Record<string, string>>) => {
      const body = answer(ids);
      const progressOf = operation.endsWith('Progress') ? (ids['training_run_id'] ?? ids['eval_run_id']) : undefined;
      requests.push({ at: time.now, bytes: JSON.stringify(body).length, progressOf });
      return body;
    },
  ]);
  const { service } = scriptedService(Object.fromEntries(counted));
  const began = time.now;
  const program = openProgram({ service, poll: defaultIntervals, start, columns: 200, rows: 60 });
  await time.pass(minuteMs);
  const ids = [...active.map(({ id }) => id), ...evaluations];
  const readsOf = (id: string): number[] => requests.flatMap(each => (each.progressOf === id ? [each.at] : []));
  const readAtFirst = ids.filter(id => readsOf(id).length > 0).length;
  await time.pass((first - 1) * minuteMs);
  const from = time.now;
  await time.pass(minutes * minuteMs);
  program.close();
  const after = requests.filter(({ at }) => at >= from);
  const seconds = Map.groupBy(requests, ({ at }) => Math.floor((at - began) / 1_000));
  const waits = ids.flatMap(id => {
    const times = [from, ...readsOf(id).filter(at => at >= from), time.now];
    return times.slice(1).map((at, index) => at - (times[index] ?? at));
  });
  return {
    active: ids.length,
    readAtFirst,
    mostInSecond: Math.max(...[...seconds.values()].map(({ length }) => length)),
    requests: after.length / minutes,
    kilobytes: after.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000 / minutes,
    longestWait: Math.max(...waits) / 1_000,
  };
}

/** Returns the exit code: 1 if a goal was missed, which `smoke` ignores. */
export async function benchWatch({ smoke }: BenchOptions): Promise<number> {
  // In a process of its own, whose clock is replaced, with React as users have it. Through tsx: Node alone reads no .tsx
  // file.
  const words = [tsx, file, smoke ? '1' : '10'];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const cost = JSON.parse(stdout) as WatchCost;
  const unread = cost.active - cost.readAtFirst;
  const measured = [
    { what: 'requests', value: cost.requests, limit: 60, unit: 'a minute', digits: 1 },
    { what: 'data', value: cost.kilobytes, limit: 300, unit: 'KB a minute', digits: 1 },
    // A round after a minute is in time.
    { what: 'longest wait of a row', value: cost.longestWait, limit: 62, unit: 's', digits: 1 },
    { what: 'not read in the first minute', value: unread, limit: 0, unit: 'rows' },
    { what: 'most requests in a second, at the start', value: cost.mostInSecond, unit: '' },
  ];
  process.stdout.write(`Watch, ${cost.active} active runs\n`);
  return printMeasured(measured, smoke);
}

if (process.argv[1] === file) {
  process.stdout.write(JSON.stringify(await watched(Number(process.argv[2]))));
  process.exit(0);
}
