/**
 * Measures the savings of the patches: builds the program with all patches, with none, and without each one, and starts
 * the builds in turn. Measures CPU time of the main thread, which a busy machine affects less than elapsed time.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';
import { program as built, freshHome, type Home } from '../../test/e2e/session.ts';
import type { BenchOptions } from '../bench.ts';
import { bundle } from '../bundle.ts';
import { startLargeService } from './large-service.ts';
import { printTable } from './table.ts';
import { cpuOf, quantile, TimedTerminal } from './timed.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const hook = fileURLToPath(new URL('./first-frame.cjs', import.meta.url));

const usualRuns = 20;
/** Starts that fill the cache of compiled code. */
const warmRuns = 2;
const usualKeys = 120;
const keyRounds = 3;

const withAll = 'with all patches';
const withoutAny = 'without any patch';

/** Patched files that every build needs: a new export of Ink, and modules without top-level await. */
const needed = /\/ink\/build\/(index|reconciler)\.js$|\/yoga-layout\//;

/** The unpatched files of packages by path, except those that every build needs. */
function withoutPatch(patch: string, folder: string): Map<string, string> {
  const text = readFileSync(join(root, 'patches', patch), 'utf8');
  const files = [...text.matchAll(/^diff --git a\/(\S+) /gm)].map(([, path = '']) => path);
  for (const path of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  execFileSync('git', ['apply', '--reverse', join(root, 'patches', patch)], { cwd: folder });
  const code = files.filter(path => path.endsWith('.js') && !needed.test(path));
  return new Map(code.map(path => [join(root, path), readFileSync(join(folder, path), 'utf8')]));
}

const instead = (files: ReadonlyMap<string, string>): Plugin => ({
  name: 'without-a-patch',
  load: id => files.get(id) ?? null,
});

interface Variant extends Home {
  readonly name: string;
  readonly program: string;
  readonly first: number[];
  readonly data: number[];
  readonly key: number[];
}

/** CPU milliseconds of the main thread until the terminal gets this text. */
async function cpuUntil({ program, home, env: own }: Variant, text: string, args: readonly string[]): Promise<number> {
  const file = join(home, 'cpu');
  const env = { ...own, FIRST_FRAME_TEXT: text, FIRST_FRAME_FILE: file };
  const terminal = new TimedTerminal({ columns: 120, rows: 40, args: ['--require', hook, program, ...args], env });
  await terminal.ended;
  return Number(readFileSync(file, 'utf8'));
}

/** CPU milliseconds of the process for each of many cursor moves in a long list. */
async function cpuOfKey({ program, env }: Variant, args: readonly string[], keys: number): Promise<number> {
  const terminal = new TimedTerminal({ columns: 200, rows: 60, args: [program, ...args], env });
  await terminal.reach('▸ benchmark 0');
  for (let index = 0; index < 30; index += 1) await terminal.key('j', 15);
  const before = cpuOf(terminal.pid);
  for (let index = 0; index < keys; index += 1) await terminal.key(index % 20 < 10 ? 'k' : 'j', 15);
  const taken = cpuOf(terminal.pid) - before;
  await terminal.end();
  return taken / keys;
}

/** The median, and the quartiles in brackets. */
function spread(values: readonly number[]): string {
  const [median = '', low = '', high = ''] = [0.5, 0.25, 0.75].map(share => quantile(values, share).toFixed(1));
  return `${median} (${low} to ${high})`;
}

/** The additional cost of a build over the one with all patches, start by start. */
const saved = (without: readonly number[], all: readonly number[]): string =>
  spread(without.map((ms, index) => ms - (all[index] ?? 0)));

/** Prints the table. Returns 0; `smoke` runs the first patch once, and takes the built program as the one with all. */
export async function benchPatches({ smoke }: BenchOptions): Promise<number> {
  const patches = readdirSync(join(root, 'patches')).filter(name => /^(?!yoga-layout).*\.patch$/.test(name));
  const wanted = smoke ? patches.slice(0, 1) : patches;
  using large = await startLargeService();
  const builds: readonly (readonly [name: string, removed: readonly string[]])[] = [
    [withAll, []],
    ...(smoke ? [] : [[withoutAny, patches] as const]),
    ...wanted.map(patch => [patch.replace(/\.patch$/, ''), [patch]] as const),
  ];
  const variants: Variant[] = [];
  for (const [name, removed] of builds) {
    const fresh = freshHome();
    const { home } = fresh;
    const files = removed.flatMap(patch => [...withoutPatch(patch, join(home, 'before'))]);
    const isBuilt = smoke && removed.length === 0;
    if (!isBuilt) await bundle(join(home, 'dist'), [instead(new Map(files))]);
    const program = isBuilt ? built : join(home, 'dist', 'main.js');
    variants.push({ name, ...fresh, program, first: [], data: [], key: [] });
  }
  const address = ['--base-url', large.baseUrl];
  for (let run = smoke ? 0 : -warmRuns; run < (smoke ? 1 : usualRuns); run += 1) {
    for (const variant of variants) {
      // Nothing is remembered, so the second text arrives with the first answer.
      rmSync(join(variant.home, '.local'), { recursive: true, force: true });
      const first = await cpuUntil(variant, 'benchtop', address);
      const data = await cpuUntil(variant, 'benchmark 0', address);
      if (run < 0) continue;
      variant.first.push(first);
      variant.data.push(data);
    }
  }
  for (let round = 0; round < (smoke ? 1 : keyRounds); round += 1) {
    for (const variant of variants) variant.key.push(await cpuOfKey(variant, address, smoke ? 5 : usualKeys));
  }
  for (const { remove } of variants) await remove();
  const [all, ...without] = variants;
  if (!all) return 1;
  const row = ({ name, first, data, key }: Variant): string[] => [
    name,
    saved(first, all.first),
    saved(data, all.data),
    saved(key, all.key),
  ];
  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.versions.node}`,
  );
  printTable([
    ['CPU in ms', 'first frame', 'first answer', 'cursor move'],
    [all.name, spread(all.first), spread(all.data), spread(all.key)],
    ...without.map(row),
  ]);
  return 0;
}
