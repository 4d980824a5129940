/**
 * The command line on a terminal, on a service whose answers hold escape sequences and are mutated: nothing but the
 * program's own sequences may be among the raw bytes, and nothing of the key. Nothing is drawn: no painter stands
 * between a wire and the terminal here. The service must give every descriptor back, and its sums must be right.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { meantByCommands, SequenceReader } from '../rig/sequences.ts';
import { program, Terminal } from '../rig/terminal.ts';
import type { Failure } from './judge.ts';
import { calm, startProxy } from './proxy.ts';
import { Random } from './random.ts';
import { apiKey, secretValue, type World } from './world.ts';

const limitMs = 60_000;
/** What README promises to end with, apart from signals. */
const knownCodes = new Set([0, 1, 2, 3, 4, 5, 6, 7, 124]);

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

export interface CommandsResult {
  readonly commands: number;
  readonly mutated: number;
  /** Runs whose mean was compared with that of their trajectories. */
  readonly means: number;
  readonly failures: readonly Failure[];
}

/** Runs a command on a terminal of its own. */
async function runOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly terminal: Terminal }> {
  const terminal = new Terminal({ command: [process.execPath, program, ...args], columns: 100, rows: 30, env });
  const timer = setTimeout(() => terminal.signal('SIGKILL'), limitMs);
  const { exitCode, signal } = await terminal.ended;
  clearTimeout(timer);
  return { code: signal ? 128 + signal : exitCode, terminal };
}

const descriptors = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

const trajectoryPage = z.looseObject({
  items: z.array(z.looseObject({ reward: z.nullish(z.number()) })),
  next_cursor: z.nullish(z.string()),
});
const runList = z.array(z.looseObject({ eval_run_id: z.string(), status: z.string() }));
const progress = z.looseObject({
  live: z.looseObject({ scored_rollouts: z.number(), final_reward_mean: z.nullish(z.number()) }),
});
const benchmarkPage = z.looseObject({ items: z.array(z.looseObject({ bench_id: z.string() })) });

/** Compares the mean and the count of each run with those of its trajectories, added up here. Returns these runs. */
async function checkMeans(baseUrl: string, fail: (what: string) => void): Promise<readonly string[]> {
  const read = async (path: string): Promise<unknown> =>
    (await fetch(`${baseUrl}/api/v1/${path}`, { headers: { 'X-API-Key': apiKey } })).json();
  const compared: string[] = [];
  for (const { bench_id } of benchmarkPage.parse(await read('benchmarks?limit=100')).items) {
    for (const { eval_run_id, status } of runList.parse(await read(`eval/${bench_id}/runs`))) {
      if (status !== 'completed') continue;
      const rewards: number[] = [];
      for (let cursor: string | null | undefined = ''; cursor !== undefined && cursor !== null; ) {
        const path: string = `trajectories?eval_run_id=${eval_run_id}&limit=7${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
        const page = trajectoryPage.parse(await read(path));
        for (const { reward } of page.items) if (typeof reward === 'number') rewards.push(reward);
        cursor = page.next_cursor;
      }
      const { live } = progress.parse(await read(`eval/${eval_run_id}/progress`));
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      compared.push(eval_run_id);
      if (live.scored_rollouts !== rewards.length) {
        fail(`${eval_run_id} counts ${live.scored_rollouts} scored rollouts, and has ${rewards.length} with a reward`);
      }
      if (rewards.length > 0 && !(Math.abs((live.final_reward_mean ?? Number.NaN) - mean) < 1e-9)) {
        fail(`${eval_run_id} has the mean ${live.final_reward_mean}; that of its ${rewards.length} rewards is ${mean}`);
      }
    }
  }
  return compared;
}

/** Connections close a moment after their last answer, in milliseconds. */
const settleMs = 10_000;

export async function commandsSession(options: {
  readonly world: World;
  readonly seed: string;
  readonly commands: number;
}): Promise<CommandsResult> {
  const { world, seed, commands } = options;
  const random = new Random(seed);
  const failures: Failure[] = [];
  const home = mkdtempSync(join(tmpdir(), 'benchtop-torture-commands-'));
  const running = await world.start();
  const runs = await checkMeans(running.baseUrl, what => failures.push({ seed, what, screen: '' }));
  const before = descriptors();
  const shares = { ...calm, json: 0.3 };
  const proxy = await startProxy({
    target: running.baseUrl,
    random: random.fork('proxy'),
    shares,
    mostStarts: 0,
    stallMs: 100,
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    BENCHTOP_BASE_URL: proxy.baseUrl,
    BENCHTOP_API_KEY: apiKey,
  };
  const ids = new Set(runs);
  for (let index = 0; index < commands; index += 1) {
    const kind = random.pick(kinds);
    const [id] = ids.size > 0 ? [random.pick([...ids])] : [];
    const ways: readonly (readonly string[])[] = [
      ['list', kind, '--wide'],
      ['list', kind, '--json'],
      ...(id === undefined
        ? []
        : [
            ['get', id],
            ['get', id, '--json'],
            ['get', id, '--field', random.pick(fields)],
            ['export', id],
          ]),
    ];
    // First the runs by their names, some of which are hostile; then anything.
    const named = runs[index];
    const args = named === undefined ? random.pick(ways) : ['get', named, '--field', 'display_name'];
    const { code, terminal } = await runOnTerminal(args, env);
    const sent = terminal.sent();
    for (const [found] of sent.matchAll(/\b(?:bench|evr|traj|dep|sec|ds|ckpt)_[A-Za-z0-9]{6,}/g)) ids.add(found);
    const fail = (what: string): void =>
      void failures.push({ seed, what: `${args.join(' ')}: ${what}`, screen: JSON.stringify(sent.slice(-2_000)) });
    const reader = new SequenceReader(fail, meantByCommands);
    reader.take(sent.replaceAll('\t', ' '));
    if (terminal.leftOn().length > 0) fail(`left changed: ${terminal.leftOn().join(', ')}`);
    terminal.close();
    if (!knownCodes.has(code)) fail(`exit code ${code}`);
    if (sent.includes(apiKey) || sent.includes(secretValue)) fail('a key is on the terminal');
  }
  const { mutated } = proxy.counts;
  await proxy.close();
  const until = performance.now() + settleMs;
  while (descriptors() > before && performance.now() < until) await wait(50);
  const left = descriptors() - before;
  if (left > 0) failures.push({ seed, what: `${left} descriptors of the service are still open`, screen: '' });
  await running.end();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return { commands, mutated, means: runs.length, failures };
}
