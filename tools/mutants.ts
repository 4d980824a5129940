/**
 * `npm run mutants`: changes the code in small ways, one at a time, and runs the tests that reach the change. Surviving
 * mutants show gaps in the tests. See `usage`.
 *
 * One copy of the code contains all mutants of the sample, and a number activates one, so that nothing is transformed
 * again.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endIn } from '../test/setup/left.ts';
import { equivalents } from './mutants/equivalent.ts';
import { byNumbers, type Mutant, mutantsOf, sampleOf, withMutants } from './mutants/find.ts';
import { optionsOf } from './rig/options.ts';
import './built.ts';

const usage = `npm run mutants -- [--seed N] [--count N] [--from N] [--seconds N] [FOLDER…]

Folders of src to change; by default base, net, service, contract, text, store, queries, workbench,
uploads, chat, local/store and local/model.
  --seed N      another sample (1)
  --count N     mutants in the sample (1000)
  --from N      leaves out the first N of them, to run a sample in parts (0)
  --seconds N   of tests per mutant, the likeliest to fail first; after that, the mutant counts as survived (30)
  --smoke       checks that it works, with a few mutants of one file
Prints survivors, timeouts and the score, even after an interruption. On a busy machine, some timeouts may be false.
Mutants in tools/mutants/equivalent.ts do not count.
`;
const root = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = optionsOf(usage, { seed: 1, count: 1_000, from: 0, seconds: 30, smoke: false });
const layers = [
  'base',
  'net',
  'service',
  'contract',
  'text',
  'store',
  'queries',
  'workbench',
  'uploads',
  'chat',
  'local/store',
  'local/model',
];
const folders = positionals.length > 0 ? positionals : values.smoke ? ['text/numbers.ts'] : layers;
const workers = values.smoke ? 1 : availableParallelism();
const limitMs = 1_000 * values.seconds;

interface Answer {
  /** Test files that failed. */
  readonly failed: readonly string[];
  /** The error of the first failed test file. */
  readonly error: string | undefined;
  /** Milliseconds of each test file. */
  readonly times: readonly (readonly [test: string, ms: number])[];
}

/**
 * A process that runs tests in the copy, with its own home folder. After the time limit it is killed, with all its
 * children and the services that its tests started.
 */
class Runner {
  #child: ChildProcess | undefined;
  readonly #activeFile: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #folder: string;
  readonly #home = mkdtempSync(join(tmpdir(), 'bt-'));

  constructor(folder: string, name: string, env: NodeJS.ProcessEnv = {}) {
    this.#folder = folder;
    this.#activeFile = join(folder, `active-${name}`);
    const homes = { HOME: this.#home, TMPDIR: this.#home };
    this.#env = { ...process.env, ...homes, ...env, BENCHTOP_MUTANT_FILE: this.#activeFile };
  }

  async #start(atOnce: number | undefined): Promise<ChildProcess> {
    writeFileSync(this.#activeFile, '-1');
    const child = fork(
      join(this.#folder, 'tools/mutants/worker.ts'),
      [this.#activeFile, String(atOnce ?? 1), atOnce ? '0' : '1'],
      {
        cwd: this.#folder,
        env: this.#env,
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      },
    );
    this.#child = child;
    await once(child, 'message');
    return child;
  }

  /**
   * Runs test files with a mutant, `atOnce` in parallel: all of them if this is given, otherwise until one fails.
   * Undefined after the time limit.
   */
  async run(active: number, tests: readonly string[], limitMs: number, atOnce?: number): Promise<Answer | undefined> {
    const child = this.#child ?? (await this.#start(atOnce));
    const over = new AbortController();
    const { signal } = over;
    child.send({ active, tests });
    const answer = await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message as Answer),
      once(child, 'exit', { signal }).then(() => undefined),
      wait(limitMs, undefined, { signal }),
    ]).catch(() => undefined);
    over.abort();
    if (!answer) this.end();
    return answer;
  }

  end(): void {
    const { pid } = this.#child ?? {};
    this.#child = undefined;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
    // Services are detached, in process groups of their own.
    endIn(this.#home);
  }

  close(): void {
    this.end();
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const isSource = (path: string): boolean => /\.tsx?$/.test(path) && !path.endsWith('.d.ts');
const files = folders
  .flatMap(folder => (isSource(folder) ? [`src/${folder}`] : globSync(`src/${folder}/**/*.{ts,tsx}`, { cwd: root })))
  .filter(isSource)
  .sort();
const all = files.flatMap(file => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const sample = sampleOf(all, values.smoke ? { ...values, count: 3 } : values);
process.stderr.write(`${sample.length} of ${all.length} mutants of ${files.length} files\n`);

const brief = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};

function print(id: number, verdict: string, { file, line, operator, before, after }: Mutant): void {
  const change = `${operator}: ${brief(before)} → ${brief(after) || 'nothing'}`;
  process.stdout.write(`${String(id).padEnd(5)}${verdict.padEnd(11)}  ${file}:${line}  ${change}\n`);
}

type Verdict = 'killed' | 'timeout' | 'survived' | 'not reached' | 'equivalent';
const verdicts = new Map<number, Verdict>();
const countOf = (verdict: Verdict): number => [...verdicts.values()].filter(each => each === verdict).length;

function printScore(): void {
  const judged = verdicts.size - countOf('equivalent');
  const killed = countOf('killed') + countOf('timeout');
  process.stdout.write(
    `seed ${values.seed}: ${killed} of ${judged} killed (${countOf('timeout')} by the time limit), ${countOf('survived')} survived, ${countOf('not reached')} not reached, ${countOf('equivalent')} equivalent\nscore ${((100 * killed) / Math.max(1, judged)).toFixed(1)}%\n`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'benchtop-mutants-'));
const reachedFile = join(folder, 'reached');
const scout = new Runner(folder, 'scout', { BENCHTOP_REACHED_FILE: reachedFile });
const runners = Array.from({ length: workers }, (_, index) => new Runner(folder, String(index)));
process.on('exit', () => {
  for (const runner of [scout, ...runners]) runner.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    printScore();
    process.exit(130);
  });
}

cpSync(root, folder, { recursive: true, filter: path => !/\/(node_modules|\.git)$/.test(path) });
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
for (const file of files) {
  const mutants = sample.filter(({ mutant }) => mutant.file === file);
  const path = join(folder, file);
  if (mutants.length > 0) writeFileSync(path, withMutants(readFileSync(path, 'utf8'), mutants));
}

// First run without a mutant: find out which test files reach which mutants, how long they take, and whether they
// pass.
writeFileSync(reachedFile, '');
const tests = globSync(values.smoke ? 'test/text/numbers.test.ts' : 'test/**/*.test.{ts,tsx}', { cwd: folder });
const wanted = tests.filter(path => !/^test\/(e2e|simulate|torture|add-resource|lock-file|patches)/.test(path));
const first = await scout.run(
  -1,
  wanted.map(path => join(folder, path)),
  3_600_000,
  workers,
);
scout.end();
if (!first) throw new Error('The tests without a mutant did not end.');
process.stderr.write(`${wanted.length} test files without a mutant: ${Math.round(process.uptime())} s\n`);
const times = new Map(first.times);
const reaching = new Map<number, string[]>();
for (const line of readFileSync(reachedFile, 'utf8').split('\n').filter(Boolean)) {
  const { test, reached } = JSON.parse(line) as { test: string; reached: number[] };
  if (first.failed.includes(test)) continue;
  for (const id of reached) reaching.set(id, [...(reaching.get(id) ?? []), test]);
}
if (first.failed.length > 0)
  process.stderr.write(`skipped, because they fail without a mutant: ${first.failed.join(' ')}\n${first.error}\n`);

/** The time limit of these tests with a mutant, in milliseconds. */
const limitOf = (some: readonly string[]): number =>
  20_000 + 5 * some.reduce((sum, test) => sum + (times.get(test) ?? 1_000), 0);

const isEquivalent = ({ file, before, after }: Mutant): boolean =>
  equivalents.some(each => each.file === file && each.changes.some(([from, to]) => from === before && to === after));

/** How many mutants of a file each test has killed so far. */
const kills = new Map<string, Map<string, number>>();

const codeOf = new Map(wanted.map(path => [join(folder, path), readFileSync(join(folder, path), 'utf8')]));

/**
 * The tests to run for a mutant, as many as the time allows: first those that killed other mutants of the file, then
 * the file's own test, those that import it, those in the same folder, and the fastest.
 */
function testsFor({ file }: Mutant, reached: readonly string[]): string[] {
  const own = relative('src', file).replace(/\.tsx?$/, '');
  const nearness = (test: string): number => {
    const path = relative(join(folder, 'test'), test);
    if (path.startsWith(`${own}.`)) return 3;
    return codeOf.get(test)?.includes(`/${file}'`) ? 2 : dirname(path) === dirname(own) ? 1 : 0;
  };
  const rank = (test: string): readonly number[] => [
    -(kills.get(file)?.get(test) ?? 0),
    -nearness(test),
    times.get(test) ?? 0,
  ];
  const ranked = reached.map(test => ({ test, rank: rank(test) }));
  ranked.sort((one, other) => byNumbers(one.rank, other.rank));
  let rest = limitMs;
  return ranked
    .map(({ test }) => test)
    .filter((test, index) => {
      rest -= times.get(test) ?? 0;
      return index === 0 || rest >= 0;
    });
}

const queue = [...sample];
await Promise.all(
  runners.map(async runner => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { id, mutant } = next;
      const some = testsFor(mutant, reaching.get(id) ?? []);
      const answer = some.length === 0 ? undefined : await runner.run(id, some, limitOf(some));
      const ofFile = kills.get(mutant.file) ?? new Map<string, number>();
      kills.set(mutant.file, ofFile);
      for (const test of answer?.failed ?? []) ofFile.set(test, (ofFile.get(test) ?? 0) + 1);
      const lives = isEquivalent(mutant) ? 'equivalent' : some.length === 0 ? 'not reached' : 'survived';
      const isKilled = answer !== undefined && answer.failed.length > 0;
      const verdict = some.length > 0 && !answer ? 'timeout' : isKilled ? 'killed' : lives;
      verdicts.set(id, verdict);
      if (verdict !== 'killed' && verdict !== 'equivalent') print(id, verdict, mutant);
      if (verdicts.size % 25 === 0)
        process.stderr.write(`${verdicts.size} of ${sample.length}, ${Math.round(process.uptime())} s\n`);
    }
  }),
);

printScore();
process.exit(values.smoke && countOf('killed') === 0 ? 1 : 0);
