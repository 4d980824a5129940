/** In process, for breadth: the whole program on mutated answers, with random keys, judged after every batch. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Input, Inputs } from './inputs.ts';
import { type Failure, frameFailures, slipOn } from './judge.ts';
import { openProgram, type RunningProgram } from './program.tsx';
import { calm, type FaultyProxy, startProxy } from './proxy.ts';
import { Random } from './random.ts';
import { type Purpose, shares } from './shares.ts';
import { leaks, traces, writesIn } from './traces.ts';
import { type Desk, typeOne } from './typist.ts';
import { apiKey, type World } from './world.ts';

export interface BreadthOptions {
  readonly world: World;
  readonly seed: string;
  /** Keys to press in this session. */
  readonly keys: number;
  readonly purpose?: Purpose | undefined;
  /** Called after every batch of inputs: a session that is slow because the machine is busy does not hang. */
  readonly onProgress?: () => void;
}

export interface SessionCounts {
  readonly keys: number;
  readonly answers: number;
  readonly mutated: number;
  /** Secrets that were typed. */
  readonly typed: number;
  readonly failures: readonly Failure[];
}

/** The program's waits are shortened by this factor, so that polls, retries and timeouts fall within a batch. */
const haste = 25;
const stallMs = 400;
const mostStarts = 6;
/** Inputs between two judgements. */
const batch = 12;
/** A program that answers no key for this long hangs. */
const hangMs = 20_000;
/** A frame that is broken for this long stays broken. */
const restMs = 3_000;
/** Thread time that one input may take in milliseconds: enough to draw everything on screen several times. */
const slowMs = 5_000;

/** Collects exceptions, rejections and React's console errors during a session; nothing else listens. */
function listen(onFailure: (what: string) => void): () => void {
  const say = (kind: string) => (error: unknown) =>
    onFailure(`${kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const exception = say('uncaught exception');
  const rejection = say('unhandled rejection');
  const { error, warn } = console;
  const complain = (...parts: unknown[]): void => {
    const words = parts.map(String).join(' ').slice(0, 2_000);
    // The emulator's message while the machine is busy.
    if (!words.startsWith('task queue exceeded')) onFailure(`console: ${words}`);
  };
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

/** Esc closes what is open; then help opens and closes. This must work in every state. Ends once something has failed. */
async function answersKeys({ screen, give, size }: RunningProgram, hasFailed: () => boolean): Promise<boolean> {
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
  } while (Date.now() < deadline && !hasFailed());
  return false;
}

function sentBy(proxy: FaultyProxy): string {
  return proxy.exchanges.map(({ sent }) => sent).join('\n');
}

/** One session: a fresh program on a fresh copy of the world. Stops at the first failure. */
export async function breadthSession(options: BreadthOptions): Promise<SessionCounts> {
  const { world, seed, keys, purpose = 'anything', onProgress } = options;
  const random = new Random(seed);
  const readsAnyway = random.chance(0.15);
  const readOnly = purpose === 'read-only' || (purpose === 'anything' && readsAnyway);
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
  const failures: Failure[] = [];
  let program: RunningProgram | undefined;
  const fail = (what: string): void => {
    failures.push({ seed, what, screen: program?.screen.text() ?? '' });
  };
  const deafen = listen(fail);
  program = openProgram({ baseUrl: proxy.baseUrl, apiKey, columns: 120, rows: 40, readOnly, haste, onUnmeant: fail });
  const { screen } = program;
  const insists = purpose === 'read-only';
  const inputs = new Inputs(random.fork('keys'), { without: [], mouse: true, unfinishedPastes: false, insists });
  const secrets = random.fork('secrets');
  const desk = deskOf(program, proxy.baseUrl);
  let pressed = 0;
  let typed = 0;
  try {
    await screen.waitFor('▸ t-words');
    proxy.setShares(mood);
    while (pressed < keys && failures.length === 0) {
      if (purpose === 'secrets' && (await typeOne(desk, secrets))) typed += 1;
      for (let turn = 0; turn < batch && failures.length === 0; turn += 1) {
        const input = inputs.next();
        if (input.kind === 'bytes') pressed += input.keys;
        await limited(program, input, fail);
      }
      await judge(program, proxy, fail);
      onProgress?.();
    }
    if (failures.length === 0 && !(await answersKeys(program, () => failures.length > 0)))
      fail('esc and ? do not show the help');
    for (const leak of [...leaks(proxy), ...traces.inFiles(local.folder)]) fail(leak);
    if (readOnly) for (const write of writesIn(proxy)) fail(`read-only, and yet ${write}`);
  } catch (error) {
    fail(`the session: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await program.close();
    await proxy.close();
    await local.end();
    process.chdir(folder);
    // Work in progress fails after the program was closed.
    await wait(20);
    deafen();
  }
  return { keys: pressed, typed, ...proxy.counts, failures };
}

function deskOf({ screen, give }: RunningProgram, address: string): Desk {
  return {
    text: screen.text,
    give: bytes => give({ kind: 'bytes', bytes, keys: 1 }),
    resize: (columns, rows) => give({ kind: 'resize', columns, rows }),
    address,
  };
}

/** Sends an input and reports if it took more thread time than a user would tolerate. */
async function limited({ give }: RunningProgram, input: Input, fail: (what: string) => void): Promise<void> {
  const before = process.threadCpuUsage();
  await give(input);
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1_000;
  if (ms > slowMs) fail(`${Math.round(ms)} ms of work for ${JSON.stringify(input).slice(0, 200)}`);
}

/** The failures of the frame once it has settled: of a fast sequence the painter skips some. */
async function restingFailures({ screen, size }: RunningProgram): Promise<readonly string[]> {
  const deadline = performance.now() + restMs;
  for (;;) {
    const { columns, rows } = size();
    const failures = frameFailures(screen.text(), columns, rows);
    if (failures.length === 0 || performance.now() > deadline) return failures;
    await wait(15);
    await screen.type('');
  }
}

async function judge(program: RunningProgram, proxy: FaultyProxy, fail: (what: string) => void): Promise<void> {
  const { screen } = program;
  const failure = screen.failure();
  if (failure !== undefined) {
    fail(`drawing: ${failure instanceof Error ? failure.stack : String(failure)}`);
    return;
  }
  for (const each of await restingFailures(program)) fail(each);
  const text = screen.text();
  const slip = slipOn(text, sentBy(proxy));
  if (slip !== undefined) fail(`the screen says ${slip}`);
  if (traces.isIn(text)) fail('a credential is on the screen');
}
