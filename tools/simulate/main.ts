/** The simulator, bundled by `tools/simulate.ts`. See `usage`. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { fails } from '../rig/check.ts';
import { optionsOf } from '../rig/options.ts';
import { Random } from '../rig/random.ts';
import type { Bugs } from './bugs.ts';
import { installInlineWorkers } from './inline-worker.ts';
import type { Template } from './local-service.ts';
import type { Plan } from './plan.ts';
import type { SessionResult } from './session.ts';
import { VirtualNetwork } from './virtual-network.ts';
import { VirtualTime } from './virtual-time.ts';

const usage = `npm run simulate -- --hours N --seed N   sessions until this many hours of use have passed
npm run simulate -- --only SEED,…        these sessions
npm run simulate -- --plans FILE         the plans of a file, such as those of found faults
npm run simulate -- --watch MINUTES      a long watch of runs that start and end
npm run simulate -- --bugs [NAME…]       a session with each deliberate bug, or these; each must fail
… --steps N                              maximum steps of a session, or turns at the screen
… --without-screen                       without the screen, which takes far less time
… --development                          React's development build, which reports more errors
Several of --hours, --only, --plans, --watch and --bugs follow each other.
A failed session is shown with the shortest failing plan found, as JSON.
`;

const { values, positionals } = optionsOf(usage, {
  hours: 0,
  seed: 1,
  only: '',
  plans: '',
  watch: 0,
  bugs: false,
  steps: 300,
  'without-screen': false,
  development: false,
});

const usualHours = 100;

const began = process.hrtime.bigint();
const time = new VirtualTime();
const network = new VirtualNetwork();
// Set these before the program is loaded, which reads them.
Object.assign(process.env, { FORCE_COLOR: '3', COLUMNS: '100', LINES: '40', PAGER: 'true', EDITOR: 'true' });
time.install();
network.install();
await installInlineWorkers();
const { plansOf, watchOf } = await import('./plan.ts');
const { callMs, playSession } = await import('./session.ts');
const { bugs } = await import('./bugs.ts');
const { heap } = await import('./watch.ts');
const { apiKey, fillWorld } = await import('../rig/world.ts');
const { callerOf } = await import('../../test/populate.ts');
const { LocalService } = await import('./local-service.ts');
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'benchtop-simulated-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
// The log of the local service, which is full of the faults.
process.stderr.write = () => true;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

function begin(seed: number | string): void {
  time.restart(new Random(`${seed} chance`));
  network.reseed(new Random(`${seed} network`));
}

/** The initial data of each session. */
async function makeTemplate(): Promise<Template> {
  begin('template');
  const local = new LocalService(join(root, 'template'), network);
  await time.during(local.start(), callMs);
  const { benchId } = await time.during(fillWorld(callerOf({ baseUrl: local.baseUrl, apiKey }, callMs)), 10 * callMs);
  await time.during(local.stop(), callMs);
  return { folder: local.folder, benchId, isCounted: false };
}
const template = await makeTemplate();

/**
 * Heap that a session may leave behind, in megabytes: the mean of several, because the first ones leave compiled
 * code.
 */
const mostLeft = 10;
const sessionsOfLeak = 5;
let sessions = 0;
let leftBefore = Number.POSITIVE_INFINITY;

async function play(seed: number, plan: Plan, bug?: Bugs): Promise<SessionResult> {
  const folder = join(root, 'session');
  begin(seed);
  const result = await playSession({ time, network, root: folder, template, plan, bugs: bug });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  sessions += 1;
  if (sessions % sessionsOfLeak !== 0) return result;
  const [before, left] = [leftBefore, heap()];
  leftBefore = left;
  const grown = Math.round((left - before) / sessionsOfLeak / 1e6);
  return grown > mostLeft ? { ...result, failures: [...result.failures, `${grown} MB are left behind`] } : result;
}

const counts = new Map<string, number>();
let ms = 0;

function add(result: SessionResult): void {
  ms += result.ms;
  for (const [what, count] of Object.entries(result.counts)) counts.set(what, (counts.get(what) ?? 0) + count);
}

/** Maximum sessions to reveal a bug. */
const mostSessions = 5;

/** Returns the number of bugs that no session revealed. */
async function findBugs(): Promise<number> {
  let missed = 0;
  for (const [name, bug] of Object.entries(bugs)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const plans = bug.plan
      ? Array<Plan>(bug.sessions ?? 1).fill(bug.plan)
      : fc.sample(plansOf(values.steps, false), { seed: 1, numRuns: mostSessions });
    let found: readonly string[] = [];
    for (const plan of plans) found = found.length === 0 ? (await play(1, plan, bug)).failures : found;
    if (found.length === 0) missed += 1;
    say(`${name}: ${found.map(failure => failure.split('\n')[0]).join(' | ') || 'NOT FOUND'}`);
  }
  return missed;
}

/** A session with a plan from the seed. Returns whether it has failed. */
const session = (seed: number): Promise<boolean> =>
  fails('a session', seed, plansOf(values.steps, !values['without-screen']), async (plan, isFirst) => {
    const result = await play(seed, plan);
    if (isFirst) add(result);
    return result.failures;
  });

/** A session with this plan. Returns whether it has failed. */
async function playKnown(name: string, plan: Plan): Promise<boolean> {
  const result = await play(1, plan);
  add(result);
  say(`${name}: ${result.failures.join('\n') || 'ok'}`);
  return result.failures.length > 0;
}

/** Returns the number of failed sessions. */
async function simulate(): Promise<number> {
  let failed = 0;
  const note = (has: boolean): void => {
    if (has) failed += 1;
  };
  if (values.plans) {
    const plans = JSON.parse(readFileSync(values.plans, 'utf8')) as Record<string, Plan>;
    for (const [name, plan] of Object.entries(plans)) note(await playKnown(name, plan));
  }
  if (values.watch) note(await playKnown('the watch', watchOf(values.watch)));
  for (const seed of values.only.split(',').filter(Boolean).map(Number)) {
    const hasFailed = await session(seed);
    say(`seed ${seed}: ${hasFailed ? 'failed' : 'ok'}`);
    note(hasFailed);
  }
  const isGiven = values.plans || values.watch || values.only || values.bugs;
  const hours = values.hours || (isGiven ? 0 : usualHours);
  for (let seed = values.seed; ms < hours * 3_600_000; seed += 1) note(await session(seed));
  for (const [what, count] of [...counts].sort()) say(`${what.padEnd(28)}${count}`);
  const seconds = (Number(process.hrtime.bigint() - began) / 1e9).toFixed(1);
  const { user, system } = process.cpuUsage();
  say(
    `${(ms / 3_600_000).toFixed(1)} hours in ${seconds} s (${((user + system) / 1e6).toFixed(1)} of them CPU), ${failed} sessions failed`,
  );
  return failed;
}

process.exit((await simulate()) + (values.bugs ? await findBugs() : 0) > 0 ? 1 : 0);
