/**
 * In a real pseudo-terminal, for depth: the built program on mutated answers, with random keys, signals and a service
 * that dies in between. Judged while it runs, by how it ends, and by what it leaves behind.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { memoryOf } from '../bench/timed.ts';
import type { Terminal } from '../rig/terminal.ts';
import { Inputs, mouseBytes } from './inputs.ts';
import { type Failure, frameFailures } from './judge.ts';
import { calm, type FaultyProxy, startProxy } from './proxy.ts';
import { Random } from './random.ts';
import { type Purpose, shares } from './shares.ts';
import { changedIn, openChecked } from './terminal.ts';
import { leaks, secretTexts, traces, writesIn } from './traces.ts';
import { type Desk, typeOne } from './typist.ts';
import { apiKey, type World } from './world.ts';

export interface DepthOptions {
  readonly world: World;
  readonly seed: string;
  readonly keys: number;
  readonly purpose?: Purpose | undefined;
}

export interface DepthResult {
  readonly keys: number;
  /** Secrets that were typed. */
  readonly typed: number;
  readonly mutated: number;
  /** How it was ended, and the milliseconds from there to the end of the process. */
  readonly ending: Ending;
  readonly endMs: number;
  /** The largest resident memory observed, in bytes. */
  readonly memory: number;
  readonly failures: readonly Failure[];
}

export type Ending = 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'keys' | 'by itself';

const codes: Readonly<Record<Ending, number>> = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130, keys: 0, 'by itself': 0 };
const mostMemory = 400e6;
/** The program should end within one second; a busy machine may delay it. */
const mostEndMs = 6_000;
const startMs = 60_000;
const hangMs = 20_000;
const batch = 10;
const stallMs = 3_000;
const mostStarts = 3;
/** An address without a service. */
const nowhere = 'http://127.0.0.1:9';

/** The random properties of a session. */
interface Character {
  readonly readOnly: boolean;
  readonly mouse: boolean;
  /** On its own local service, which it starts itself, instead of the proxy. */
  readonly local: boolean;
  readonly answers: boolean;
  readonly ending: Exclude<Ending, 'by itself'>;
  /** Batch at which the service is killed; -1 for never. */
  readonly killsAt: number;
}

function characterOf(random: Random, purpose: Purpose): Character {
  const readsAnyway = random.chance(0.15);
  return {
    readOnly: purpose === 'read-only' || (purpose === 'anything' && readsAnyway),
    mouse: random.chance(0.3),
    local: random.chance(0.15),
    answers: random.chance(0.85),
    ending: random.weighted([
      [5, 'SIGTERM'],
      [1, 'SIGHUP'],
      [1, 'SIGINT'],
      [3, 'keys'],
    ]),
    killsAt: random.chance(0.3) ? random.between(1, 4) : -1,
  };
}

class DepthSession {
  readonly #options: DepthOptions;
  readonly #random: Random;
  readonly #home = mkdtempSync(join(tmpdir(), 'benchtop-torture-home-'));
  readonly #failures: Failure[] = [];
  readonly #character: Character;
  #terminal: Terminal | undefined;
  #memory = 0;
  #keys = 0;
  #typed = 0;

  constructor(options: DepthOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#character = characterOf(this.#random.fork('character'), options.purpose ?? 'anything');
  }

  #fail(what: string): void {
    this.#failures.push({ seed: this.#options.seed, what, screen: this.#terminal?.text() ?? '' });
  }

  async run(): Promise<DepthResult> {
    const { world } = this.#options;
    const { local } = this.#character;
    const data = join(this.#home, '.local/share/benchtop');
    if (local) world.copyTo(data);
    const service = local ? undefined : await world.start();
    const proxy =
      service &&
      (await startProxy({
        target: service.baseUrl,
        random: this.#random.fork('answers'),
        shares: calm,
        mostStarts,
        stallMs,
      }));
    const terminal = this.#open(proxy?.baseUrl, world.workFolder());
    let ending: Ending = 'by itself';
    let endMs = 0;
    let revive: (() => Promise<void>) | undefined;
    try {
      if (await this.#started(terminal)) {
        proxy?.setShares(this.#random.fork('mood').pick(shares));
        await this.#press(terminal, proxy?.baseUrl ?? nowhere, async () => {
          if (local) killDaemon(data);
          else if (service) {
            await service.stop();
            const again = await world.start();
            proxy?.setTarget(again.baseUrl);
            revive = again.end;
          }
        });
        ({ ending, endMs } = await this.#end(terminal));
        await this.#judgeEnd(terminal, ending, endMs);
      }
      if (proxy) this.#judgeRequests(proxy);
      this.#judgeFiles(service?.folder);
    } finally {
      terminal.close();
      await proxy?.close();
      await service?.end();
      await revive?.();
      if (local) killDaemon(data);
      rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 });
    }
    const mutated = proxy?.counts.mutated ?? 0;
    return {
      keys: this.#keys,
      typed: this.#typed,
      mutated,
      ending,
      endMs,
      memory: this.#memory,
      failures: this.#failures,
    };
  }

  #open(baseUrl: string | undefined, cwd: string): Terminal {
    const { readOnly, mouse, answers } = this.#character;
    const args = ['--notices', 'desktop', ...(readOnly ? ['--read-only'] : []), ...(mouse ? ['--mouse'] : [])];
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.#home,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      PAGER: 'true',
      EDITOR: 'true',
      ...(baseUrl === undefined ? {} : { BENCHTOP_BASE_URL: baseUrl, BENCHTOP_API_KEY: apiKey }),
    };
    this.#terminal = openChecked({
      args,
      env,
      cwd,
      columns: 120,
      rows: 40,
      answers,
      onUnmeant: what => this.#fail(`written: ${what}`),
      secrets: secretTexts,
    });
    return this.#terminal;
  }

  async #started(terminal: Terminal): Promise<boolean> {
    const deadline = performance.now() + startMs;
    while (!terminal.text().includes('▸ t-words')) {
      if (terminal.hasEnded || performance.now() > deadline) {
        this.#fail('it did not start');
        return false;
      }
      await terminal.quiet(20, 200);
    }
    return true;
  }

  /** Presses keys and triggers events until there were enough, or the program has ended. */
  async #press(terminal: Terminal, address: string, killService: () => Promise<void>): Promise<void> {
    const { purpose } = this.#options;
    const random = this.#random.fork('keys');
    const secrets = this.#random.fork('secrets');
    const desk = deskOf(terminal, address);
    const inputs = new Inputs(random, {
      without: ['q', 'ctrl-c'],
      mouse: this.#character.mouse,
      // It would read what is typed afterwards.
      unfinishedPastes: purpose !== 'secrets',
      insists: purpose === 'read-only',
    });
    for (let turn = 0; this.#keys < this.#options.keys && this.#failures.length === 0; turn += 1) {
      if (terminal.hasEnded) return;
      if (turn === this.#character.killsAt) await killService();
      if (purpose === 'secrets' && (await typeOne(desk, secrets))) this.#typed += 1;
      for (let index = 0; index < batch; index += 1) {
        const input = inputs.next();
        if (input.kind === 'resize') terminal.resize(input.columns, input.rows);
        else terminal.type(input.kind === 'mouse' ? mouseBytes(input) : input.bytes);
        if (input.kind === 'bytes') this.#keys += input.keys;
        await wait(random.pick([0, 1, 5, 15, 40]));
      }
      if (random.chance(0.1)) await storm(terminal, random);
      if (random.chance(0.1)) await stopAndContinue(terminal, random);
      // A key may have suspended it.
      terminal.signal('SIGCONT');
      await terminal.quiet(80, 800);
      await this.#judgeFrame(terminal);
    }
  }

  async #judgeFrame(terminal: Terminal): Promise<void> {
    this.#memory = Math.max(this.#memory, memoryOf(terminal.pid));
    if (this.#memory > mostMemory) this.#fail(`${Math.round(this.#memory / 1e6)} MB of memory`);
    const deadline = performance.now() + hangMs;
    let failures: readonly string[] = [];
    if (traces.isIn(terminal.text())) this.#fail('a credential is on the screen');
    do {
      if (terminal.hasEnded) return;
      const { cols, rows } = terminal.emulator;
      failures = frameFailures(terminal.text(), cols, rows);
      if (failures.length === 0) return;
      terminal.signal('SIGCONT');
      await terminal.quiet(100, 1000);
    } while (performance.now() < deadline);
    for (const failure of failures) this.#fail(failure);
  }

  async #end(terminal: Terminal): Promise<{ ending: Ending; endMs: number }> {
    const { ending } = this.#character;
    if (terminal.hasEnded) return { ending: 'by itself', endMs: 0 };
    if (ending === 'keys') await this.#answersKeys(terminal);
    const from = performance.now();
    if (ending === 'keys') await quitByKeys(terminal);
    else terminal.signal(ending);
    const end = await Promise.race([terminal.ended, wait(hangMs, undefined)]);
    return { ending, endMs: (end?.at ?? performance.now()) - from };
  }

  /** In any state: esc closes what is open, and help opens. */
  async #answersKeys(terminal: Terminal): Promise<void> {
    terminal.resize(120, 40);
    const deadline = performance.now() + hangMs;
    do {
      for (const key of ['\u001b', '\u001b', '\u001b', '?']) {
        terminal.type(key);
        await wait(60);
      }
      await terminal.quiet(100, 1000);
      if (/─ Help|Help ─/.test(terminal.text())) return;
      // As long as a user would wait before trying again.
      await wait(1_200);
    } while (performance.now() < deadline && !terminal.hasEnded);
    this.#fail('esc and ? do not show the help');
  }

  async #judgeEnd(terminal: Terminal, ending: Ending, endMs: number): Promise<void> {
    if (!terminal.hasEnded) {
      this.#fail(`it did not end within ${hangMs / 1_000} s of ${ending}`);
      return;
    }
    const { exitCode: code } = await terminal.ended;
    if (endMs > mostEndMs) this.#fail(`it took ${Math.round(endMs)} ms to end by ${ending}`);
    const everything = `${terminal.mainScreen()}\n${terminal.text()}`;
    if (code !== codes[ending]) this.#fail(`it ended with code ${code} by ${ending}: ${everything.slice(-2_000)}`);
    const changed = await changedIn(terminal);
    if (changed.length > 0) this.#fail(`the terminal is left changed: ${changed.join(', ')}`);
    if (/benchtop failed|Error:/.test(everything)) this.#fail(`it says: ${everything.slice(-2_000)}`);
  }

  #judgeRequests(proxy: FaultyProxy): void {
    for (const leak of leaks(proxy)) this.#fail(leak);
    if (this.#character.readOnly) for (const write of writesIn(proxy)) this.#fail(`read-only, and yet ${write}`);
  }

  /** @param served the data folder of this session's service, in addition to its home folder */
  #judgeFiles(served: string | undefined): void {
    for (const folder of [this.#home, ...(served === undefined ? [] : [served])]) {
      for (const leak of traces.inFiles(folder)) this.#fail(leak);
    }
    for (const entry of readdirSync(this.#home, { recursive: true, encoding: 'utf8' })) {
      if (/crash-.*\.txt$/.test(entry)) this.#fail(readFileSync(join(this.#home, entry), 'utf8').slice(0, 2_000));
    }
  }
}

function deskOf(terminal: Terminal, address: string): Desk {
  return {
    text: () => terminal.text(),
    give: async bytes => {
      // Esc as a key, not as the first byte of a sequence.
      terminal.type(bytes);
      await terminal.quiet(60, 600);
    },
    resize: async (columns, rows) => {
      terminal.resize(columns, rows);
      await terminal.quiet(60, 600);
    },
    address,
  };
}

/** Sizes that follow one another faster than anything can be drawn. */
async function storm(terminal: Terminal, random: Random): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) {
    terminal.resize(random.between(20, 200), random.between(5, 60));
    if (random.chance(0.3)) await wait(1);
  }
  terminal.resize(120, 40);
}

async function stopAndContinue(terminal: Terminal, random: Random): Promise<void> {
  terminal.signal(random.pick(['SIGTSTP', 'SIGSTOP']));
  await wait(random.between(1, 150));
  terminal.type('jj');
  terminal.signal('SIGCONT');
}

/** Closes what is open, and quits; confirms if something would be lost. */
async function quitByKeys(terminal: Terminal): Promise<void> {
  for (let turn = 0; turn < 20 && !terminal.hasEnded; turn += 1) {
    for (const key of ['\u001b', '\u001b', 'q', 'y']) {
      terminal.type(key);
      await Promise.race([terminal.ended, wait(60)]);
    }
    await Promise.race([terminal.ended, wait(200)]);
  }
}

/** Kills the local service of a data folder, as a crash would. */
function killDaemon(folder: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has not been started, or is gone.
  }
}

export function depthSession(options: DepthOptions): Promise<DepthResult> {
  return new DepthSession(options).run();
}
