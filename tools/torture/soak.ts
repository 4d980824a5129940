/**
 * A long watch with an accelerated clock: the screen stays on Watch while runs start and end on its own service. Memory
 * and handles must stay level, and no poll may come more often than its interval.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { memoryOf } from '../bench/timed.ts';
import { program, type Terminal } from '../rig/terminal.ts';
import { type Failure, frameFailures } from './judge.ts';
import { calm, type Exchange, startProxy } from './proxy.ts';
import { Random } from './random.ts';
import { openChecked } from './terminal.ts';
import { apiKey, secretValue, type World } from './world.ts';

export interface SoakOptions {
  readonly world: World;
  /** Minutes by the fast clock. */
  readonly minutes: number;
  readonly onProgress: (words: string) => void;
}

export interface SoakResult {
  readonly runs: number;
  readonly requests: number;
  /** Words for the table. */
  readonly rows: readonly (readonly [what: string, words: string])[];
  readonly failures: readonly Failure[];
}

const rate = 20;
const seed = 'soak';
/** Real milliseconds between two samples. */
const lookMs = 1_000;
/** Allowed difference between the second and the last third: memory in bytes, and number of handles. */
const mostGrowth = 24e6;
const mostHandles = 4;

/** The shortest configured interval between two polls, less its jitter, in milliseconds. */
const shortest = (ms: number): number => ms * 0.85;
const intervals: readonly (readonly [what: string, path: RegExp, ms: number])[] = [
  ['lists', /^\/api\/v1\/(?:benchmarks|deploy|(?:eval|train)\/bench_[^/]+\/runs)(?:\?|$)/, shortest(10_000)],
  ['anything', /^/, shortest(2_000)],
];
/** Reads in addition to polls: when something starts, and when it ends. */
const readsOfRun = 4;

export interface Sample {
  readonly memory: number;
  readonly handles: number;
}

function sample(pid: number): Sample {
  return { memory: memoryOf(pid), handles: readdirSync(`/proc/${pid}/fd`).length };
}

const middleOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Compares the last third of the samples with the second; the first is warm-up. */
export function growth(
  name: string,
  samples: readonly Sample[],
): { readonly words: string; readonly failures: readonly string[] } {
  const third = Math.floor(samples.length / 3);
  const [before, after] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const [memory, later] = [before, after].map(part => middleOf(part.map(each => each.memory))) as [number, number];
  const [handles, laterHandles] = [before, after].map(part => Math.max(...part.map(each => each.handles))) as [
    number,
    number,
  ];
  const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
  return {
    words: `${megabytes(memory)} → ${megabytes(later)} MB, ${handles} → ${laterHandles} handles`,
    failures: [
      ...(later - memory > mostGrowth ? [`${name} grows: ${megabytes(memory)} MB, then ${megabytes(later)} MB`] : []),
      ...(laterHandles - handles > mostHandles ? [`${name} has ${handles} handles, then ${laterHandles}`] : []),
    ],
  };
}

/** Requests that came more often than allowed, over `ms` by the fast clock. */
export function asking(
  exchanges: readonly Exchange[],
  ms: number,
  runs: number,
): { words: string; failures: string[] } {
  const counts = Map.groupBy(
    exchanges.filter(({ method }) => method === 'GET'),
    ({ url }) => url,
  );
  const failures: string[] = [];
  let most = { url: '', share: 0 };
  for (const [url, asked] of counts) {
    const [what, , interval] = intervals.find(([, path]) => path.test(url)) ?? ['anything', /^/, shortest(2_000)];
    const allowed = ms / interval + readsOfRun * (what === 'lists' ? runs : 1) + 2;
    const share = asked.length / allowed;
    if (share > most.share) most = { url, share };
    if (share > 1)
      failures.push(
        `${url} was asked for ${asked.length} times in ${Math.round(ms / 1_000)} s, ${Math.round(allowed)} are due`,
      );
  }
  return { words: `${Math.round(most.share * 100)} % of what may be (${most.url.slice(0, 60)})`, failures };
}

class Soak {
  readonly #options: SoakOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'benchtop-soak-'));
  readonly #failures: Failure[] = [];
  #terminal: Terminal | undefined;
  #runs = 0;

  constructor(options: SoakOptions) {
    this.#options = options;
  }

  #fail(what: string): void {
    this.#failures.push({ seed, what, screen: this.#terminal?.text() ?? '' });
  }

  #env(): Record<string, string> {
    const clock = new URL('fast-clock.ts', import.meta.url).href;
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: join(this.#folder, 'home'),
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      NODE_OPTIONS: `--import=${clock}`,
      TORTURE_RATE: String(rate),
    };
  }

  async run(): Promise<SoakResult> {
    const data = join(this.#folder, 'data');
    this.#options.world.copyTo(data);
    const service = spawn(process.execPath, [program, 'serve', '--data', data], { env: this.#env(), stdio: 'ignore' });
    const target = await addressOf(data, service);
    const proxy = await startProxy({
      target,
      random: new Random(seed),
      shares: calm,
      mostStarts: Number.POSITIVE_INFINITY,
      stallMs: 1_000,
      keeps: 500_000,
    });
    const terminal = openChecked({
      args: ['--notices', 'desktop'],
      env: { ...this.#env(), BENCHTOP_BASE_URL: proxy.baseUrl, BENCHTOP_API_KEY: apiKey },
      cwd: this.#folder,
      columns: 140,
      rows: 40,
      onUnmeant: what => this.#fail(`written: ${what}`),
      secrets: [apiKey, secretValue],
    });
    this.#terminal = terminal;
    const screens: Sample[] = [];
    const services: Sample[] = [];
    const began = performance.now();
    try {
      await this.#watch(terminal, target, () => {
        screens.push(sample(terminal.pid));
        services.push(sample(service.pid ?? 0));
      });
      const { cols, rows } = terminal.emulator;
      for (const failure of frameFailures(terminal.text(), cols, rows)) this.#fail(failure);
      terminal.signal('SIGTERM');
      const { exitCode } = await terminal.ended;
      if (exitCode !== 143) this.#fail(`it ended with code ${exitCode}`);
    } finally {
      terminal.close();
      await proxy.close();
      service.kill('SIGTERM');
      if (service.exitCode === null) await new Promise(resolve => service.once('exit', resolve));
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    }
    const fastMs = (performance.now() - began) * rate;
    const [screen, daemon] = [growth('the screen', screens), growth('the service', services)];
    const asked = asking(proxy.exchanges, fastMs, this.#runs);
    for (const what of [...screen.failures, ...daemon.failures, ...asked.failures]) this.#fail(what);
    return {
      runs: this.#runs,
      requests: proxy.exchanges.length,
      rows: [
        ['screen', screen.words],
        ['service', daemon.words],
        ['most often asked', asked.words],
      ],
      failures: this.#failures,
    };
  }

  /** Stays on Watch for this many minutes, while runs start and end. */
  async #watch(terminal: Terminal, target: string, look: () => void): Promise<void> {
    const headers = { 'X-API-Key': apiKey };
    const benchmarks = (await (await fetch(`${target}/api/v1/benchmarks`, { headers })).json()) as {
      items: { bench_id: string; label: string }[];
    };
    const benchId = benchmarks.items.find(({ label }) => label === 't-words')?.bench_id ?? '';
    await terminal.waitFor('t-words');
    terminal.type(':watch\r');
    const looks = Math.round((this.#options.minutes * 60_000) / rate / lookMs);
    const start = async (path: string, body: object): Promise<void> => {
      const answer = await fetch(`${target}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!answer.ok) this.#fail(`${path} was answered with ${answer.status}`);
      this.#runs += 1;
    };
    const model = 'benchtop/reader-large';
    const options = { num_steps: 40, train_batch_size: 8, samples_per_instance: 4, held_out_every: 10 };
    for (let turn = 0; turn < looks && !terminal.hasEnded; turn += 1) {
      if (turn % 2 === 0) await start(`eval/${benchId}/start`, { display_name: `run ${turn}`, model_slug: model });
      if (turn % 20 === 0) {
        await start('train', { bench_id: benchId, base_model_slug: model, display_name: `training ${turn}`, options });
      }
      // Now and then a finished run is opened, and Watch again.
      if (turn % 15 === 7) terminal.type(':runs\r');
      if (turn % 15 === 9) terminal.type('\r');
      if (turn % 15 === 11) terminal.type(':watch\r');
      await wait(lookMs);
      look();
      if (turn % 15 === 0)
        this.#options.onProgress(`${Math.round((turn * lookMs * rate) / 60_000)} minutes of ${this.#options.minutes}`);
    }
    if (terminal.hasEnded) this.#fail('the screen ended by itself');
  }
}

/** The address of a service, once it is ready. */
async function addressOf(folder: string, service: ChildProcess): Promise<string> {
  for (;;) {
    if (service.exitCode !== null) throw new Error(`The service ended with code ${service.exitCode}`);
    try {
      const { base_url, pid } = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8')) as {
        base_url: string;
        pid: number;
      };
      if (pid === service.pid) return base_url;
    } catch {
      // Not yet.
    }
    await wait(20);
  }
}

export function soak(options: SoakOptions): Promise<SoakResult> {
  return new Soak(options).run();
}
