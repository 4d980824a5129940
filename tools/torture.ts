/**
 * `npm run torture`: the built program in a real terminal, on a service that answers wrongly and dies, under random
 * input and signals. Everything that needs no real terminal is simulated (`npm run simulate`). See `usage`.
 */
import type fc from 'fast-check';
import { fails } from './rig/check.ts';
import { exitWith, optionsOf } from './rig/options.ts';
import { makeWorld } from './rig/world.ts';
import type { Purpose } from './simulate/plan.ts';
import { commandsPlans, commandsSession } from './torture/commands.ts';
import { depthPlans, depthSession } from './torture/depth.ts';
import './built.ts';

const usage = `npm run torture                    everything
npm run torture -- screen          the screen, with random keys, sizes, signals and answers
npm run torture -- read-only       a read-only screen, with keys that would write
npm run torture -- secrets         a screen in which secrets are typed, which must not be found anywhere afterwards
npm run torture -- commands        the command line
… --sessions N --seed N            number of sessions of each part, and the first seed
A failed session is shown with the shortest failing plan found, as JSON.
`;

const { values, positionals } = optionsOf(usage, { seed: 1, sessions: 50 });
/** Maximum turns of a session, or commands. */
const turns = 40;
const counts = new Map<string, number>();
let failed = 0;

const names = ['screen', 'read-only', 'secrets', 'commands'];
if (positionals.some(name => !names.includes(name))) exitWith(usage, 2);
const world = await makeWorld();

/** Plays a session of a part, and adds up its counts. */
async function session<Plan>(
  name: string,
  seed: number,
  plans: fc.Arbitrary<Plan>,
  play: (plan: Plan) => Promise<{ readonly failures: readonly string[] }>,
): Promise<void> {
  const hasFailed = await fails(name, seed, plans, async plan => {
    const { failures, ...result } = await play(plan);
    for (const [what, count] of Object.entries(result)) {
      const words = `${name}: ${typeof count === 'number' ? what : `${what} ${count}`}`;
      const isMost = what === 'memory' || what === 'endMs';
      const [so, by] = [counts.get(words) ?? 0, typeof count === 'number' ? Math.round(count) : 1];
      counts.set(words, isMost ? Math.max(so, by) : so + by);
    }
    return failures;
  });
  if (hasFailed) failed += 1;
}

const screen = (name: string, purpose: Purpose) => (seed: number) =>
  session(name, seed, depthPlans(purpose, turns), plan => depthSession({ world, plan }));
const parts: Readonly<Record<string, (seed: number) => Promise<void>>> = {
  screen: screen('screen', 'anything'),
  'read-only': screen('read-only', 'read-only'),
  secrets: screen('secrets', 'secrets'),
  commands: seed => session('commands', seed, commandsPlans(turns), plan => commandsSession(world, plan)),
};
for (const name of positionals.length === 0 ? names : positionals) {
  const seeds = Array.from({ length: values.sessions }, (_, index) => values.seed + index);
  const work = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await parts[name]?.(seed);
  };
  // Sessions mostly wait, so run several. Commands run alone, because open descriptors are counted.
  await Promise.all(Array.from({ length: name === 'commands' ? 1 : 2 }, work));
}
world.remove();
for (const [what, count] of counts) process.stdout.write(`${what.padEnd(40)}${String(count).padStart(9)}\n`);
process.stdout.write(`${failed} sessions failed\n`);
process.exit(failed > 0 ? 1 : 0);
