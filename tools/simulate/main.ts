/** The simulator, bundled by `tools/simulate.ts`. See `usage`. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../torture/random.ts';
import { installInlineWorkers } from './inline-worker.ts';
import type { Step } from './plan.ts';
import type { SessionOptions, SessionResult } from './session.ts';
import { VirtualNetwork } from './virtual-network.ts';
import { VirtualTime } from './virtual-time.ts';

const usage = `npm run simulate -- --hours N --seed N   sessions until this many hours of use have passed
npm run simulate -- --only SEED …        these sessions, such as 1-17, or 1-17:40 with 40 steps
npm run simulate -- --bugs               a session with each bug on purpose, which has to fail
… --steps N                              steps of a session
`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    hours: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    bugs: { type: 'boolean', default: false },
    steps: { type: 'string', default: '300' },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const began = process.hrtime.bigint();
const time = new VirtualTime();
const network = new VirtualNetwork();
// Before the program is loaded, which depends on it.
Object.assign(process.env, { FORCE_COLOR: '3', COLUMNS: '100', LINES: '40', PAGER: 'true', EDITOR: 'true' });
time.install();
network.install();
await installInlineWorkers();
const { planOf, shrink } = await import('./plan.ts');
const { playSession } = await import('./session.ts');
const { atScreen, bugs } = await import('./bugs.ts');
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'benchtop-simulated-'));
// Where what is exported at the screen goes.
process.chdir(root);
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
// What the local service reports of the faults.
process.stderr.write = () => true;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** A seed may say how many steps it has, such as 1-17:40. */
function planFor(seed: string): Step[] {
  const [name = '', own] = seed.split(':');
  return planOf(new Random(name).fork('plan'), Number(own ?? values.steps));
}

async function play(seed: string, plan: readonly Step[], bug?: SessionOptions['bugs']): Promise<SessionResult> {
  const folder = join(root, 'session');
  const random = new Random(seed.replace(/:.*/, ''));
  time.restart(random.fork('chance'));
  network.reseed(random.fork('network'));
  const result = await playSession({ time, network, random, root: folder, plan, ...(bug && { bugs: bug }) });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return result;
}

/** Sessions to look for a bug in. */
const mostSessions = 5;

/** Returns how many bugs no session has found. */
async function findBugs(): Promise<number> {
  let missed = 0;
  for (const [name, bug] of Object.entries(bugs)) {
    let found: string | undefined;
    for (let index = 1; index <= mostSessions && found === undefined; index += 1) {
      const seed = `${values.seed}-${index}`;
      const random = new Random(seed).fork('plan');
      const plan = bug.bytes ? atScreen : planOf(random, Number(values.steps), false);
      [found] = (await play(seed, plan, bug)).failures;
    }
    if (found === undefined) missed += 1;
    say(`${name}: ${found?.split('\n')[0] ?? 'NOT FOUND'}`);
  }
  return missed;
}

/** Time limit for making a plan shorter. */
const shrinkSeconds = Number(process.env['SHRINK'] ?? 60);

/** Shows a failure with the fewest steps that were found to give one. */
async function explain(seed: string, plan: readonly Step[], failures: readonly string[]): Promise<void> {
  say(`\nfailure, seed ${seed}: ${failures.join('\n')}`);
  const until = process.hrtime()[0] + shrinkSeconds;
  const fails = async (shorter: readonly Step[]): Promise<boolean> => (await play(seed, shorter)).failures.length > 0;
  const short = await shrink(plan, fails, () => process.hrtime()[0] > until);
  say(`also with ${short.length} of its ${plan.length} steps:`);
  for (const step of short) say(`  ${JSON.stringify(step)}`);
  say((await play(seed, short)).failures.join('\n'));
}

/** Returns how many sessions have failed. */
async function simulate(): Promise<number> {
  const counts = new Map<string, number>();
  const only = values.only?.flatMap(seeds => seeds.split(','));
  let ms = 0;
  let failed = 0;
  for (let index = 0; only ? index < only.length : ms < Number(values.hours) * 3_600_000; index += 1) {
    const seed = only?.[index] ?? `${values.seed}-${index + 1}`;
    const plan = planFor(seed);
    const result = await play(seed, plan);
    ms += result.ms;
    for (const [what, count] of Object.entries(result.counts)) counts.set(what, (counts.get(what) ?? 0) + count);
    if (result.failures.length === 0) continue;
    failed += 1;
    await explain(seed, plan, result.failures);
  }
  for (const [what, count] of [...counts].sort()) say(`${what.padEnd(28)}${count}`);
  const seconds = (Number(process.hrtime.bigint() - began) / 1e9).toFixed(1);
  say(`${(ms / 3_600_000).toFixed(1)} hours in ${seconds} s, ${failed} sessions failed`);
  return failed;
}

process.exit((values.bugs ? await findBugs() : await simulate()) > 0 ? 1 : 0);
