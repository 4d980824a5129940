/** In process, for breadth: the whole program on mutated answers, under random keys, judged after every batch. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Input, Inputs } from './inputs.ts';
import { type Fault, frameFaults, slipOn } from './judge.ts';
import { openProgram, type RunningProgram } from './program.tsx';
import { calm, type FaultyProxy, startProxy } from './proxy.ts';
import { Random } from './random.ts';
import { shares } from './shares.ts';
import { apiKey, secretValue, type World } from './world.ts';

export interface BreadthOptions {
  readonly world: World;
  readonly seed: string;
  /** Keys to press in this session. */
  readonly keys: number;
}

export interface SessionCounts {
  readonly keys: number;
  readonly answers: number;
  readonly mutated: number;
  readonly faults: readonly Fault[];
}

/** The program's waits are this many times shorter, so that polls, retries and timeouts come within a batch. */
const haste = 25;
const stallMs = 400;
const mostStarts = 6;
/** Inputs between two judgements. */
const batch = 12;
/** A program that answers no key for so long hangs. */
const hangMs = 20_000;
/** A frame that is broken for so long stays broken. */
const restMs = 3_000;
/** Milliseconds of the thread that one input may take: all that is on screen may be drawn some times for it. */
const slowMs = 5_000;

/** What an exception, a rejection or React's console says while a session runs; nothing else listens. */
function listen(onFault: (what: string) => void): () => void {
  const say = (kind: string) => (error: unknown) =>
    onFault(`${kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const exception = say('uncaught exception');
  const rejection = say('unhandled rejection');
  const { error, warn } = console;
  const complain = (...parts: unknown[]): void => onFault(`console: ${parts.map(String).join(' ').slice(0, 2_000)}`);
  console.error = complain;
  console.warn = complain;
  process.on('uncaughtException', exception);
  process.on('unhandledRejection', rejection);
  return () => {
    Object.assign(console, { error, warn });
    process.off('uncaughtException', exception);
    process.off('unhandledRejection', rejection);
  };
}

/** Esc closes what is open; then help opens and closes. Whatever was done before, that much always works. */
async function answersKeys({ screen, give, size }: RunningProgram): Promise<boolean> {
  const { columns, rows } = size();
  await give({ kind: 'resize', columns: 120, rows: 40 });
  const deadline = Date.now() + hangMs;
  do {
    await screen.press('esc', 'esc', 'esc', '?');
    for (let look = 0; look < 20; look += 1) {
      if (/─ Help|Help ─/.test(screen.text())) {
        await screen.press('esc');
        await give({ kind: 'resize', columns, rows });
        return true;
      }
      await wait(10);
    }
  } while (Date.now() < deadline);
  return false;
}

function sentBy(proxy: FaultyProxy): string {
  return proxy.exchanges.map(({ sent }) => sent).join('\n');
}

/** The requests that gave a credential to somebody else, or anywhere but in a header. */
function leaks(proxy: FaultyProxy): string[] {
  const inAddress = proxy.exchanges.filter(({ url }) => url.includes(apiKey) || url.includes(secretValue));
  const inBody = proxy.exchanges.filter(({ requestBody }) => requestBody.includes(apiKey));
  return [
    ...proxy.strayed.map(({ method, url }) => `a redirect was followed: ${method} ${url}`),
    ...inAddress.map(({ method }) => `a credential is in the address of a ${method}`),
    ...inBody.map(({ method, url }) => `a credential is in the body of ${method} ${url}`),
  ];
}

/** One session: a fresh program on a fresh copy of the world. Stops at the first fault. */
export async function breadthSession({ world, seed, keys }: BreadthOptions): Promise<SessionCounts> {
  const random = new Random(seed);
  const readOnly = random.chance(0.15);
  const local = await world.start();
  const folder = process.cwd();
  process.chdir(world.workFolder());
  const mood = random.pick(shares);
  const proxy = await startProxy({
    target: local.baseUrl,
    random: random.fork('answers'),
    shares: calm,
    mostStarts,
    stallMs,
  });
  const faults: Fault[] = [];
  let program: RunningProgram | undefined;
  const fault = (what: string): void => {
    faults.push({ seed, what, screen: program?.screen.text() ?? '' });
  };
  const deafen = listen(fault);
  program = openProgram({ baseUrl: proxy.baseUrl, apiKey, columns: 120, rows: 40, readOnly, haste, onUnmeant: fault });
  const { screen } = program;
  const inputs = new Inputs(random.fork('keys'), { without: [], mouse: true, unfinishedPastes: false });
  let pressed = 0;
  try {
    await screen.waitFor('▸ t-words');
    proxy.setShares(mood);
    while (pressed < keys && faults.length === 0) {
      for (let turn = 0; turn < batch && faults.length === 0; turn += 1) {
        const input = inputs.next();
        if (input.kind === 'bytes') pressed += input.keys;
        await limited(program, input, fault);
      }
      await judge(program, proxy, fault);
    }
    if (faults.length === 0 && !(await answersKeys(program))) fault('esc and ? do not show the help');
    for (const leak of leaks(proxy)) fault(leak);
    if (readOnly) for (const write of writesIn(proxy)) fault(`read-only, and yet ${write}`);
  } catch (error) {
    fault(`the session: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await program.close();
    await proxy.close();
    await local.end();
    process.chdir(folder);
    // What was under way when the program was closed fails behind it.
    await wait(20);
    deafen();
  }
  return { keys: pressed, ...proxy.counts, faults };
}

/** Gives an input and says where it took more of the thread than a person would wait for. */
async function limited({ give }: RunningProgram, input: Input, fault: (what: string) => void): Promise<void> {
  const before = process.threadCpuUsage();
  await give(input);
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1_000;
  if (ms > slowMs) fault(`${Math.round(ms)} ms of work for ${JSON.stringify(input).slice(0, 200)}`);
}

/** The faults of the frame, once it has come to rest: while frames follow one another the painter leaves some out. */
async function restingFaults({ screen, size }: RunningProgram): Promise<readonly string[]> {
  const deadline = performance.now() + restMs;
  for (;;) {
    const { columns, rows } = size();
    const faults = frameFaults(screen.text(), columns, rows);
    if (faults.length === 0 || performance.now() > deadline) return faults;
    await wait(15);
    await screen.type('');
  }
}

async function judge(program: RunningProgram, proxy: FaultyProxy, fault: (what: string) => void): Promise<void> {
  const { screen } = program;
  const failure = screen.failure();
  if (failure !== undefined) {
    fault(`drawing: ${failure instanceof Error ? failure.stack : String(failure)}`);
    return;
  }
  for (const each of await restingFaults(program)) fault(each);
  const text = screen.text();
  const slip = slipOn(text, sentBy(proxy));
  if (slip !== undefined) fault(`the screen says ${slip}`);
  for (const secret of [apiKey, secretValue]) if (text.includes(secret)) fault('a credential is on the screen');
}

/** Completions change nothing. */
function writesIn(proxy: FaultyProxy): string[] {
  return proxy.exchanges
    .filter(({ method, url }) => method !== 'GET' && !url.endsWith('/chat/completions'))
    .map(({ method, url }) => `${method} ${url}`);
}
