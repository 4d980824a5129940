/**
 * Runs the built program in a real pseudo-terminal on mutated answers, with random keys, signals and a service that
 * dies in between. Checks the screen, the exit, and the state that it leaves behind.
 */
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { dataFolderIn, freshHome, type Home, killService } from '../../test/e2e/session.ts';
import { memoryOf } from '../bench/timed.ts';
import { answersKeys, type Desk, hangMs, typeSecret } from '../rig/desk.ts';
import { anyFaults, type Faults } from '../rig/faults.ts';
import { mouseBytes } from '../rig/inputs.ts';
import { frameFailures } from '../rig/judge.ts';
import { type FaultyProxy, refusesAfter, startProxy } from '../rig/proxy.ts';
import { program, Terminal } from '../rig/terminal.ts';
import { crashesIn, filesWithSecrets, hasSecret, leakIn, outputCheck, strayedIn, writes } from '../rig/traces.ts';
import { apiKey, type World } from '../rig/world.ts';
import { type Purpose, type Step, terminalSteps } from '../simulate/plan.ts';

interface DepthOptions {
  readonly world: World;
  readonly plan: DepthPlan;
  /** A deliberate bug: JavaScript that runs before the program. */
  readonly bug?: string | undefined;
}

interface DepthResult {
  readonly keys: number;
  /** Number of typed secrets. */
  readonly typed: number;
  readonly faults: number;
  /** How it was ended, and the time until the process exited, in milliseconds. */
  readonly ending: Ending;
  readonly endMs: number;
  /** The largest resident memory observed, in bytes. */
  readonly memory: number;
  /** Each with the screen. */
  readonly failures: readonly string[];
}

type Ending = 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'keys' | 'by itself';

const codes: Readonly<Record<Ending, number>> = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130, keys: 0, 'by itself': 0 };
const mostMemory = 400e6;
/** The program should end within one second, as the bench measures; a busy machine may delay it. */
const mostEndMs = 15_000;
/** Milliseconds after an input, in turn. */
const pauses = [0, 1, 5, 15, 40] as const;
const stallMs = 3_000;
const mostStarts = 3;
/** An address without a service. */
const nowhere = 'http://127.0.0.1:9';

/** A session: its properties and its inputs. */
export interface DepthPlan {
  readonly readOnly: boolean;
  readonly mouse: boolean;
  /** Uses a local service that it starts itself, instead of the proxy. */
  readonly local: boolean;
  /** Whether the terminal answers requests. */
  readonly answers: boolean;
  readonly ending: Exclude<Ending, 'by itself'>;
  readonly faults: Faults;
  readonly steps: readonly Step[];
}

const oneIn = (count: number): fc.Arbitrary<boolean> => fc.nat(count - 1).map(number => number === count - 1);

/** Plans of at most `turns` turns. */
export function depthPlans(purpose: Purpose, turns: number): fc.Arbitrary<DepthPlan> {
  const plans = fc.record({
    readOnly: purpose === 'read-only' ? fc.constant(true) : purpose === 'secrets' ? fc.constant(false) : oneIn(7),
    mouse: oneIn(3),
    local: oneIn(7),
    answers: oneIn(7).map(silent => !silent),
    ending: fc.constantFrom('SIGTERM', 'SIGTERM', 'SIGTERM', 'SIGTERM', 'SIGHUP', 'SIGINT', 'keys', 'keys', 'keys'),
    faults: anyFaults,
    steps: terminalSteps(purpose, turns),
  });
  return fc.noBias(plans);
}

/** Arguments of Node that run this code before the program. */
export const preloaded = (code: string | undefined): string[] =>
  code === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(code)}`];

class DepthSession {
  readonly #options: DepthOptions;
  readonly #failures: string[] = [];
  #terminal: Terminal | undefined;
  #memory = 0;
  #keys = 0;
  #typed = 0;
  #inputs = 0;

  constructor(options: DepthOptions) {
    this.#options = options;
  }

  #fail(what: string): void {
    this.#failures.push(`${what}\n${this.#terminal?.text() ?? ''}`);
  }

  async run(): Promise<DepthResult> {
    const { world, plan } = this.#options;
    await using home = freshHome();
    const data = dataFolderIn(home.home);
    if (plan.local) world.copyTo(data);
    await using services = new AsyncDisposableStack();
    let service = plan.local ? undefined : services.use(await world.start());
    const folders = [home.home, ...(service ? [service.folder] : [])];
    await using proxy =
      service && (await startProxy({ target: service.baseUrl, refuses: refusesAfter(mostStarts), stallMs }));
    using terminal = this.#open(home, proxy?.baseUrl);
    const desk = deskOf(terminal, proxy?.baseUrl ?? nowhere);
    const crash = async (): Promise<void> => {
      if (!service) return killService(data);
      await service.stop();
      service = services.use(await world.start());
      proxy?.setTarget(service.baseUrl);
    };
    let end: { ending: Ending; endMs: number } = { ending: 'by itself', endMs: 0 };
    if (await this.#started(terminal)) {
      proxy?.setFaults(plan.faults);
      for (const step of plan.steps) {
        if (terminal.hasEnded || this.#failures.length > 0) break;
        await this.#take(step, terminal, desk, crash);
      }
      end = await this.#end(terminal, desk);
      await this.#judgeEnd(terminal, end.ending, end.endMs);
    }
    if (proxy) this.#judgeRequests(proxy);
    for (const what of [...folders.flatMap(filesWithSecrets), ...crashesIn(home.home)]) this.#fail(what);
    const faults = proxy?.counts.faults ?? 0;
    const [keys, typed, memory] = [this.#keys, this.#typed, this.#memory];
    return { keys, typed, faults, ...end, memory, failures: this.#failures };
  }

  #open({ env }: Home, baseUrl: string | undefined): Terminal {
    const { world, plan, bug } = this.#options;
    const args = [
      '--notices',
      'desktop',
      ...(plan.readOnly ? ['--read-only'] : []),
      ...(plan.mouse ? ['--mouse'] : []),
    ];
    this.#terminal = new Terminal({
      command: [process.execPath, ...preloaded(bug), program, ...args],
      env: {
        ...env,
        ...{ PAGER: 'true', EDITOR: 'true' },
        ...(baseUrl !== undefined && { BENCHTOP_BASE_URL: baseUrl, BENCHTOP_API_KEY: apiKey }),
      },
      cwd: world.workFolder(),
      answers: plan.answers,
      onOutput: outputCheck(what => this.#fail(`written: ${what}`), { cleaned: withoutEcho }),
    });
    return this.#terminal;
  }

  async #started(terminal: Terminal): Promise<boolean> {
    try {
      await terminal.waitFor('▸ t-words');
      return true;
    } catch {
      this.#fail('it did not start');
      return false;
    }
  }

  async #take(step: Step, terminal: Terminal, desk: Desk, crash: () => Promise<void>): Promise<void> {
    switch (step.do) {
      case 'input': {
        const { input } = step;
        if (input.kind === 'mouse' && !this.#options.plan.mouse) return;
        desk.send(input);
        if (input.kind === 'bytes') this.#keys += input.keys;
        this.#inputs += 1;
        return wait(pauses[this.#inputs % pauses.length]);
      }
      case 'type secret':
        if (await typeSecret(desk, step.typing)) this.#typed += 1;
        return;
      case 'signal':
        terminal.signal(step.name);
        await wait(50);
        terminal.type('jj');
        terminal.signal('SIGCONT');
        return;
      case 'crash':
        return crash();
      case 'wait':
        // A key may have suspended the program.
        terminal.signal('SIGCONT');
        await terminal.quiet(80, 800);
        return this.#judgeFrame(terminal);
      default:
        throw new Error(`${step.do} is not for a terminal`);
    }
  }

  async #judgeFrame(terminal: Terminal): Promise<void> {
    this.#memory = Math.max(this.#memory, memoryOf(terminal.pid));
    if (this.#memory > mostMemory) this.#fail(`${Math.round(this.#memory / 1e6)} MB of memory`);
    const deadline = performance.now() + hangMs;
    let failures: readonly string[] = [];
    if (hasSecret(terminal.text())) this.#fail('a credential is on the screen');
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

  async #end(terminal: Terminal, desk: Desk): Promise<{ ending: Ending; endMs: number }> {
    const { ending } = this.#options.plan;
    if (terminal.hasEnded) return { ending: 'by itself', endMs: 0 };
    if (ending === 'keys' && !(await answersKeys(desk))) this.#fail('esc and ? do not show the help');
    const from = performance.now();
    if (ending === 'keys') await quitByKeys(terminal);
    else terminal.signal(ending);
    const end = await Promise.race([terminal.ended, wait(hangMs, undefined)]);
    return { ending, endMs: (end?.at ?? performance.now()) - from };
  }

  async #judgeEnd(terminal: Terminal, ending: Ending, endMs: number): Promise<void> {
    if (!terminal.hasEnded) {
      this.#fail(`it did not end within ${hangMs / 1_000} s of ${ending}`);
      return;
    }
    const { exitCode: code } = await terminal.ended;
    if (endMs > mostEndMs) this.#fail(`it took ${Math.round(endMs)} ms to end by ${ending}`);
    // Wait until everything is on the terminal.
    const changed = await changedIn(terminal);
    const everything = `${terminal.mainScreen()}\n${terminal.text()}`;
    if (code !== codes[ending]) this.#fail(`it ended with code ${code} by ${ending}: ${everything.slice(-2_000)}`);
    if (changed.length > 0) this.#fail(`the terminal is left changed: ${changed.join(', ')}`);
    if (/benchtop failed|Error:/.test(everything)) this.#fail(`it says: ${everything.slice(-2_000)}`);
  }

  #judgeRequests(proxy: FaultyProxy): void {
    for (const what of strayedIn(proxy)) this.#fail(what);
    for (const exchange of proxy.exchanges) {
      const leak = leakIn(exchange);
      if (leak !== undefined) this.#fail(leak);
      if (this.#options.plan.readOnly && writes(exchange))
        this.#fail(`read-only, but sent ${exchange.method} ${exchange.url}`);
    }
  }
}

function deskOf(terminal: Terminal, address: string): Desk {
  return {
    text: () => terminal.text(),
    hasEnded: () => terminal.hasEnded,
    send: input => {
      if (input.kind === 'resize') terminal.resize(input.columns, input.rows);
      else terminal.type(input.kind === 'mouse' ? mouseBytes(input) : input.bytes);
    },
    // Esc as a key, not as the first byte of a sequence.
    rest: () => terminal.quiet(60, 600),
    address,
  };
}

/**
 * While the terminal is lent or given back, the kernel itself echoes what is typed: keys, including tabs, which it erases
 * with `\b \b`, and pastes, whose marks it writes with a caret.
 */
function withoutEcho(data: string): string {
  return data
    .replaceAll('\b \b', '')
    .replace(/^\t+(?=\u001b|$)/, '')
    .replace(/\^\[\[200~.*?(?:\^\[\[201~?|$)/gs, '');
}

/** The terminal state that the program did not restore: modes, the title, the style of later output. */
async function changedIn(terminal: Terminal): Promise<readonly string[]> {
  // Later output must be plain, and where the shell would write it.
  await new Promise<void>(resolve => terminal.emulator.write('\r\n#', resolve));
  const { baseY, cursorY } = terminal.emulator.buffer.active;
  const cell = terminal.emulator.buffer.active.getLine(baseY + cursorY)?.getCell(0);
  const plain = cell?.getChars() === '#' && cell.isAttributeDefault();
  return [...terminal.leftOn(), ...(plain ? [] : ['style'])];
}

/** Closes everything, and quits; confirms if something would be lost. */
async function quitByKeys(terminal: Terminal): Promise<void> {
  for (let turn = 0; turn < 20 && !terminal.hasEnded; turn += 1) {
    for (const key of ['\u001b', '\u001b', 'q', 'y']) {
      terminal.type(key);
      await Promise.race([terminal.ended, wait(60)]);
    }
    await Promise.race([terminal.ended, wait(200)]);
  }
}

export function depthSession(options: DepthOptions): Promise<DepthResult> {
  return new DepthSession(options).run();
}
