/**
 * The command line on a terminal, on a service whose answers contain escape sequences and are changed. The raw bytes
 * may contain only the program's own sequences, and no part of the key: no painter protects the terminal here. The
 * service must release every descriptor.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { freshHome } from '../../test/e2e/session.ts';
import { share } from '../rig/answers.ts';
import { anyFaults, type Faults } from '../rig/faults.ts';
import { refusesAfter, startProxy } from '../rig/proxy.ts';
import { meantByCommands } from '../rig/sequences.ts';
import { program, Terminal } from '../rig/terminal.ts';
import { outputCheck } from '../rig/traces.ts';
import { apiKey, type World } from '../rig/world.ts';
import { preloaded } from './depth.ts';

const limitMs = 60_000;
/** The exit codes in README, apart from signals. */
const knownCodes = new Set([0, 1, 2, 3, 4, 5, 6, 7, 124]);
/** Connections close a moment after their last answer, in milliseconds. */
const settleMs = 10_000;

const kinds = [
  'benchmarks',
  'runs',
  'trajectories',
  'training',
  'deployments',
  'datasets',
  'models',
  'secrets',
] as const;
const fields = ['label', 'name', 'description', 'task_id', 'status', 'display_name', 'steps'] as const;

/** A command. Its `ID` is one of the ids printed earlier; `which` selects it as a share of their number. */
interface Command {
  readonly words: readonly string[];
  readonly which: number;
}

interface CommandsPlan {
  readonly faults: Faults;
  readonly commands: readonly Command[];
}

/** Plans of at most `most` commands. They begin with the names of runs, including hostile ones. */
export function commandsPlans(most: number): fc.Arbitrary<CommandsPlan> {
  const words = fc.oneof(
    fc.tuple(fc.constant('list'), fc.constantFrom(...kinds), fc.constantFrom('--wide', '--json')),
    fc.constantFrom(['get', 'ID'], ['get', 'ID', '--json'], ['export', 'ID']),
    fc.constantFrom(...fields).map(field => ['get', 'ID', '--field', field]),
  );
  const named: Command[] = [0, 0.25, 0.5, 0.75].map(which => ({
    words: ['get', 'ID', '--field', 'display_name'],
    which,
  }));
  const some = fc.array(fc.record({ words, which: share }), { minLength: 1, maxLength: most, size: 'max' });
  const runs: Command = { words: ['list', 'runs', '--json'], which: 0 };
  return fc.noBias(fc.record({ faults: anyFaults, commands: some.map(more => [runs, ...named, ...more]) }));
}

interface CommandsResult {
  readonly commands: number;
  readonly faults: number;
  readonly failures: readonly string[];
}

const descriptors = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

/** @param bug a deliberate bug: JavaScript that runs before each command */
export async function commandsSession(
  world: World,
  { faults, commands }: CommandsPlan,
  bug?: string,
): Promise<CommandsResult> {
  const failures: string[] = [];
  await using home = freshHome();
  await using running = await world.start();
  const before = descriptors();
  const proxy = await startProxy({ target: running.baseUrl, refuses: refusesAfter(0), stallMs: 100 });
  const env = { ...home.env, BENCHTOP_BASE_URL: proxy.baseUrl, BENCHTOP_API_KEY: apiKey };
  const ids = new Set<string>();
  for (const [index, { words, which }] of commands.entries()) {
    // Answer the first command without faults, so that there are ids.
    if (index === 1) proxy.setFaults(faults);
    const id = [...ids][Math.floor(which * ids.size)] ?? 'evr_unknown1';
    const args = words.map(word => (word === 'ID' ? id : word));
    const fail = (what: string): void => void failures.push(`${args.join(' ')}: ${what}`);
    const check = outputCheck(fail, { meant: meantByCommands, cleaned: data => data.replaceAll('\t', ' ') });
    const command = [process.execPath, ...preloaded(bug), program, ...args] as const;
    using terminal = new Terminal({ command, columns: 100, rows: 30, env, onOutput: check });
    const timer = setTimeout(() => terminal.signal('SIGKILL'), limitMs);
    const { exitCode, signal } = await terminal.ended;
    clearTimeout(timer);
    for (const [found] of terminal.sent().matchAll(/\b(?:evr|bench|traj|dep|sec|ds|ckpt)_[A-Za-z0-9]{6,}/g))
      ids.add(found);
    if (terminal.leftOn().length > 0) fail(`left changed: ${terminal.leftOn().join(', ')}`);
    if (signal || !knownCodes.has(exitCode)) fail(`exit code ${exitCode}, signal ${signal}`);
  }
  await proxy[Symbol.asyncDispose]();
  const until = performance.now() + settleMs;
  while (descriptors() > before && performance.now() < until) await wait(50);
  const left = descriptors() - before;
  if (left > 0) failures.push(`${left} descriptors of the service are still open`);
  return { commands: commands.length, faults: proxy.counts.faults, failures };
}
