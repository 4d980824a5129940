/** Measures the built program in a real pseudo-terminal and prints the design's table, row by row. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFolderIn, freshHome, killService, program } from '../../test/e2e/session.ts';
import type { BenchOptions } from '../bench.ts';
import {
  chatBytes,
  commonWords,
  comparedText,
  type LargeService,
  rareWords,
  startLargeService,
} from './large-service.ts';
import { type Measured, printMeasured } from './table.ts';
import { memoryOf, quantile, ran, smallestProgram, type TerminalOptions, TimedTerminal } from './timed.ts';

/** A separate home folder, a service with much data, and the table so far. */
class Bench {
  readonly #fresh = freshHome();
  readonly home = this.#fresh.home;
  readonly env = { ...this.#fresh.env, PAGER: `${process.execPath} -e 'setInterval(String, 1e9)'` };
  readonly large: LargeService;
  readonly table: Measured[] = [];
  /** Runs everything once and briefly; the numbers are meaningless. */
  readonly smoke: boolean;

  constructor(large: LargeService, smoke: boolean) {
    this.large = large;
    this.smoke = smoke;
  }

  /** Repeats a measurement. */
  async times<Value>(count: number, work: () => Promise<Value>): Promise<Value[]> {
    const values: Value[] = [];
    for (let index = 0; index < (this.smoke ? 1 : count); index += 1) values.push(await work());
    return values;
  }

  /** A period without keys, in milliseconds. */
  period(ms: number): number {
    return this.smoke ? Math.min(ms, 100) : ms;
  }

  open(args: readonly string[] = [], more: Partial<TerminalOptions> = {}): TimedTerminal {
    return new TimedTerminal({ columns: 120, rows: 40, args: [program, ...args], env: this.env, ...more });
  }

  openLarge(more: Partial<TerminalOptions> = {}, { baseUrl } = this.large): TimedTerminal {
    return this.open(['--base-url', baseUrl], { columns: 200, rows: 60, ...more });
  }

  row(what: string, value: number, limit: number, unit: string, digits = 0): void {
    this.table.push({ what, value, limit, unit, digits });
  }

  /** Deletes the data remembered by earlier starts. */
  forget(): void {
    for (const end of ['', '-wal', '-shm']) {
      rmSync(join(this.home, '.local/state/benchtop', `remembered.db${end}`), { force: true });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#fresh.remove();
  }
}

const median = (values: readonly number[]): number => quantile(values, 0.5);
const p95 = (values: readonly number[]): number => quantile(values, 0.95);
const msOf = (answers: readonly { readonly ms: number }[]): number[] => answers.map(({ ms }) => ms);
const bytesOf = (answers: readonly { readonly bytes: number }[]): number[] => answers.map(({ bytes }) => bytes);

async function start(bench: Bench): Promise<void> {
  // The first start creates the data and fills the cache of compiled code.
  const first = bench.open();
  await first.reach('live');
  await first.watch(bench.period(1_000));
  await first.end();
  const runs = await bench.times(9, async () => {
    bench.forget();
    const node = await smallestProgram();
    const fresh = bench.open();
    const shell = await fresh.reach('benchtop');
    const data = await fresh.reach('▸ t-words');
    await fresh.reach('live');
    // The page is saved a moment after it arrives.
    await fresh.watch(bench.period(500));
    await fresh.end();
    const nodeAgain = await smallestProgram();
    const known = bench.open();
    const remembered = await known.reach('▸ t-words');
    await known.end();
    return { shell: shell / node, data: data / node, remembered: remembered / nodeAgain };
  });
  bench.row('first frame of the shell', median(runs.map(run => run.shell)), 4.5, '× node', 1);
  bench.row('first frame with data of the service', median(runs.map(run => run.data)), 6, '× node', 1);
  bench.row('first frame with remembered data', median(runs.map(run => run.remembered)), 5, '× node', 1);
}

async function help(bench: Bench): Promise<void> {
  const runs = await bench.times(30, async () => {
    return { node: await smallestProgram(), help: (await ran([program, '--help'], bench.env)).ms };
  });
  const ratio = median(runs.map(run => run.help)) / median(runs.map(run => run.node));
  bench.row('--help', ratio, 1.3, '× node', 2);
}

/** Reads the whole list. */
async function readAll(bench: Bench, terminal: TimedTerminal, rows: number): Promise<void> {
  await terminal.reach('▸ benchmark 0');
  await terminal.keyUntil('G', `${rows}/${rows} `);
  await terminal.keyUntil('g', '▸ benchmark 0');
  await terminal.watch(bench.period(500));
}

async function typeFilter(terminal: TimedTerminal, rows: number): Promise<number[]> {
  await terminal.key('/');
  const typed: number[] = [];
  for (const letter of 'benchmark 77') typed.push((await terminal.key(letter)).ms);
  await terminal.reach(` of ${rows} `);
  await terminal.keyUntil('\u001b', new RegExp(`\\d/${rows} `));
  return typed;
}

async function list(bench: Bench): Promise<void> {
  await using terminal = bench.openLarge();
  await readAll(bench, terminal, 10_000);
  const moves = await bench.times(40, () => terminal.key('j'));
  bench.row('cursor move in 10,000 rows, p95', p95(msOf(moves)), 16, 'ms', 1);
  bench.row('cursor move, bytes', median(bytesOf(moves)), 250, 'bytes');
  await bench.times(20, () => terminal.key('j'));
  const scrolls = await bench.times(20, () => terminal.key('j'));
  bench.row('scroll by a row, three panes, p95', p95(msOf(scrolls)), 16, 'ms', 1);
  bench.row('scroll by a row, three panes', median(bytesOf(scrolls)), 6_000, 'bytes');
  bench.row('filter keystroke over 10,000 rows, p95', p95(await typeFilter(terminal, 10_000)), 30, 'ms', 1);
  // Wait until the welcome message is gone, the row under the cursor has been read, and each section counted.
  await terminal.watch(bench.period(45_000));
  const idle = await terminal.watch(bench.period(12_000));
  bench.row('idle and polling, bytes a second', idle.bytes / 12, 0, 'bytes', 1);
  bench.row('idle and polling, of a core', idle.cpuMs / 120, 1, '%', 2);
  await terminal.key(':trajectories\r');
  await terminal.reach('▸ large');
  // The preview in the list shows its messages, too.
  const opened = await terminal.keyUntil('\r', /1 step +top/);
  bench.row('open a trajectory of 5 MB, with its transfer', opened.ms, 300, 'ms');
  // The p95 of twenty would be their maximum.
  const lines = await bench.times(60, () => terminal.key('j'));
  bench.row('scroll it by a line, p95', p95(msOf(lines)), 16, 'ms', 1);
  const cpu = lines.map(({ cpuMs }) => cpuMs);
  bench.row('the same, CPU of the main thread, p95', p95(cpu), 10, 'ms', 1);
  bench.row('memory with all of this', memoryOf(terminal.pid) / 1e6, 180, 'MB');
}

async function oneCell(bench: Bench): Promise<void> {
  await using terminal = bench.openLarge();
  await terminal.reach('▸ benchmark 0');
  // Wait for the output of the first seconds.
  await terminal.watch(bench.period(1_500));
  const changes: number[] = [];
  for (const runs of [1111, 2222, 3333]) {
    bench.large.setFirstRuns(runs);
    const { bytes } = await terminal.keyUntil('r', String(runs));
    changes.push(bytes + (await terminal.watch(bench.period(300))).bytes);
  }
  // The list and the inspector both show the number.
  bench.row('one changed cell of a live list, shown twice', median(changes) / 2, 60, 'bytes');
}

async function slowLine(bench: Bench): Promise<void> {
  await using terminal = bench.openLarge();
  await terminal.reach('▸ benchmark 0');
  await terminal.watch(bench.period(1_500));
  terminal.slowDown(5_000);
  const settled = await bench.times(4, async () => (await terminal.keys('j', 50, 200)) / 1_000);
  // The first fifty rows are visible; the others scroll in from below.
  bench.row('50 keys in 200 ms over 5 KB/s, settled', settled[0] ?? Number.NaN, 0.5, 's', 2);
  bench.row('the same, where they scroll', median(settled.slice(1)), 0.5, 's', 2);
}

async function onePane(bench: Bench): Promise<void> {
  await using terminal = bench.openLarge({ columns: 79 });
  await terminal.reach('▸ benchmark 0');
  await bench.times(60, () => terminal.key('j'));
  const scrolls = await bench.times(15, () => terminal.key('j'));
  bench.row('scroll by a row, one pane', median(bytesOf(scrolls)), 600, 'bytes');
}

async function openChat(bench: Bench): Promise<TimedTerminal> {
  const terminal = bench.openLarge({ columns: 120, rows: 40 });
  await terminal.reach('▸ benchmark 0');
  await terminal.key(':chat\r');
  await terminal.reach('bench/model');
  return terminal;
}

async function chat(bench: Bench): Promise<void> {
  await using terminal = await openChat(bench);
  const answer = await terminal.keyUntil('go\r', 'complete after');
  bench.row('streaming chat, bytes for 1 KB of text', answer.bytes / (chatBytes / 1024), 3_072, 'bytes');
}

/** Lists that were not read before the service ended: each needs a request. */
const unread = [
  [':models\r', 'benchtop/'],
  [':secrets\r', 'No secrets'],
  [':deployments\r', 'No deployments'],
] as const;

async function gone(bench: Bench): Promise<void> {
  await using terminal = bench.open();
  await terminal.reach('live');
  const taken: number[] = [];
  for (const [keys, answer] of unread) {
    killService(dataFolderIn(bench.home));
    const asked = await terminal.keyUntil(keys, new RegExp(`${answer}|local service has stopped|restarting it`));
    taken.push(asked.ms / 1_000);
    await terminal.reach(answer);
    await terminal.reach('live');
  }
  bench.row('a key after the local service has gone', Math.max(...taken), 2, 's', 2);
}

async function uploading(bench: Bench): Promise<TimedTerminal> {
  const work = join(bench.home, 'work');
  const folder = join(work, 'many-files');
  mkdirSync(join(folder, 'data'), { recursive: true });
  const files = Array.from({ length: bench.smoke ? 900 : 5_000 }, (_, index) => `data/${index}.txt`);
  for (const file of files) writeFileSync(join(folder, file), file);
  const task = { name: 'one', split: 'test', input_messages: [{ role: 'user', content: 'say yes' }], run_command: 'x' };
  const tasks = [{ ...task, grader: { kind: 'exact', expected: 'yes' }, files }];
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ name: 'many files', tasks }));
  const terminal = bench.open([], { cwd: work });
  await terminal.reach('live');
  await terminal.keyUntil('u', 'many-files/');
  await terminal.keyUntil('\r', 'ctrl-o reads this folder');
  await terminal.keyUntil('\u000f', 'not sent yet');
  await terminal.keyUntil('\r', /[1-9]\d* of [\d,]+ files/);
  return terminal;
}

/** The activity of the program when it is asked to exit. */
const situations: readonly (readonly [what: string, reach: (bench: Bench) => Promise<TimedTerminal>])[] = [
  [
    'a chat streams',
    async bench => {
      const terminal = await openChat(bench);
      await terminal.keyUntil('go\r', 'quick brown fox');
      return terminal;
    },
  ],
  [
    'a pager is open',
    async bench => {
      const terminal = bench.openLarge();
      await terminal.reach('▸ benchmark 0');
      await terminal.key('o');
      await terminal.watch(bench.period(500));
      return terminal;
    },
  ],
  [
    'a long list is being read',
    async bench => {
      const terminal = bench.openLarge();
      await terminal.reach('▸ benchmark 0');
      await terminal.keyUntil('G', /reading|10000\/10000/);
      return terminal;
    },
  ],
  ['an upload is under way', uploading],
  // Last: it would make Watch the home.
  [
    'a training run is on screen',
    async bench => {
      const words = ['api', 'startTraining', 'base_model_slug=benchtop/tutor-base', 'display_name=bench'];
      const listed = bench.open(['list', 'benchmarks', '--ids']);
      await listed.ended;
      const [benchId = ''] = /bench_\w+/.exec(listed.text()) ?? [];
      await bench.open([...words, `bench_id=${benchId}`]).ended;
      const terminal = bench.open();
      await terminal.reach('live');
      await terminal.key(':training\r');
      await terminal.reach('▸ bench');
      await terminal.keyUntil('\r', /step \d+ of/);
      return terminal;
    },
  ],
];

async function stop(bench: Bench): Promise<void> {
  for (const [what, reach] of situations) {
    const terminal = await reach(bench);
    bench.row(`SIGTERM to exit, while ${what}`, (await terminal.end()) / 1_000, 1, 's', 2);
  }
  // Otherwise it would train during the other measurements.
  killService(dataFolderIn(bench.home));
}

async function huge(bench: Bench): Promise<void> {
  const benchmarks = bench.smoke ? 2_000 : 100_000;
  using service = await startLargeService({ benchmarks, trajectoryBytes: bench.smoke ? 1_000_000 : 50_000_000 });
  await using terminal = bench.openLarge({}, service);
  await readAll(bench, terminal, benchmarks);
  bench.row('filter keystroke over 100,000 rows, p95', p95(await typeFilter(terminal, benchmarks)), 50, 'ms', 1);
  const sorts = await bench.times(4, () => terminal.key('s', 400));
  bench.row('sort 100,000 rows', Math.max(...msOf(sorts)), 300, 'ms');
  await terminal.key(':trajectories\r');
  await terminal.reach('▸ large');
  await terminal.keyUntil('\r', 'assistant');
  await bench.times(5, () => terminal.key('j'));
  bench.row('memory with these and a trajectory of 50 MB', memoryOf(terminal.pid) / 1e6, 300, 'MB');
}

/** Tasks of a long list of trajectories. */
const manyTasks = 2_000;

/**
 * JSON Lines of trajectories, of about this many bytes in all. A character beyond Latin-1 doubles the memory of the text
 * that it is in.
 */
function* fileOf(bytes: number, trajectories: number, steps: number): Generator<string> {
  const line = 'INFO worker 4711 processed a batch in 0.731034s and all was well\n';
  const content = line.repeat(bytes / trajectories / steps / line.length);
  for (let index = 0; index < trajectories; index += 1) {
    const end = index % 10 === 0 ? `"status":"failed","error":"worker ${index} has stopped",` : '';
    yield `{"task_id":"task ${index % manyTasks}","reward":${(index % 7) / 6},${end}"steps":[`;
    for (let step = 0; step < steps; step += 1) {
      const messages = [
        { role: 'assistant', content: `Step ${step}. ✓` },
        { role: 'tool', content },
      ];
      yield `${step === 0 ? '' : ','}${JSON.stringify({ messages })}`;
    }
    yield ']}\n';
  }
}

async function read(bench: Bench): Promise<void> {
  const path = join(bench.home, 'read.jsonl');
  const bytes = bench.smoke ? 1e6 : 57e6;
  const peak = (what: string, { pid }: TimedTerminal): void =>
    bench.row(`peak memory of ${what}`, memoryOf(pid, 'VmHWM') / 1e6, 300, 'MB');
  await writeFile(path, fileOf(bytes, 1, 2_000));
  const long = bench.open(['read', path], { cwd: bench.home });
  await long.reach('▸ task 0');
  await long.keyUntil('\r', 'Step 0.');
  await long.keyUntil('G', 'Step 1999.');
  const jumped = await long.keyUntil('1000G', 'Step 1000.');
  bench.row('jump in 2,000 steps', jumped.ms, 300, 'ms');
  peak('read, 57 MB in one trajectory', long);
  await long.keyUntil('x', 'Export as');
  await long.keyUntil('\r', 'Save as');
  await long.keyUntil('\r', /Saved .*txt/);
  peak('exporting it as text', long);
  await long.keyUntil('x', 'Export as');
  await long.keyUntil('j\r', 'Save as');
  await long.keyUntil('\r', /Saved .*json/);
  peak('exporting it as JSON', long);
  await long.end();
  const rows = bench.smoke ? 1_000 : 10_000;
  await writeFile(path, fileOf(bytes, rows, 1));
  const many = bench.open(['read', path]);
  await many.reach('▸ task 0');
  await many.keyUntil('G', `${rows}/${rows} `);
  peak(`read, 57 MB in ${rows} trajectories`, many);
  for (const [what, key, shown, limit] of [
    ['group', 'V', `${Math.min(rows, manyTasks)} tasks: ${rows} of ${rows} rollouts`, 1_000],
    ['classes of', 'f', 'worker N has stopped', 1_000],
  ] as const) {
    bench.row(`${what} ${rows} trajectories`, (await many.keyUntil(key, shown)).ms, limit, 'ms');
    await many.keyUntil('\u001b', `${rows}/${rows} `);
  }
  const sorts = await bench.times(4, () => many.key('s', 400));
  bench.row(`sort ${rows} trajectories`, Math.max(...msOf(sorts)), 300, 'ms');
  await many.end();
  const line = 'x'.repeat(bench.smoke ? 1e4 : 1e6);
  await writeFile(path, JSON.stringify({ task_id: 'line', messages: [{ role: 'user', content: `${line} end` }] }));
  const wide = bench.open(['read', path]);
  await wide.reach('▸ line');
  bench.row('open a line of 1 MB', (await wide.keyUntil('\r', /user\s[\s\S]*xxx[\s\S]* top/)).ms, 300, 'ms');
  const scrolled = await bench.times(60, () => wide.key('j'));
  bench.row('scroll it by a line, p95', p95(msOf(scrolled)), 16, 'ms', 1);
  await wide.end();
  using service = await startLargeService({ benchmarks: 1, trajectoryBytes: bench.smoke ? 1_000_000 : 50_000_000 });
  const opened = bench.open(['--base-url', service.baseUrl, 'open', 'traj_large']);
  await opened.reach(/1 step +top/);
  peak('open, a trajectory of 50 MB', opened);
  await opened.end();
  const { peak: got } = await ran([program, '--base-url', service.baseUrl, 'get', 'traj_large'], bench.env);
  bench.row('peak memory of get, a trajectory of 50 MB', got / 1e6, 300, 'MB');
}

async function curves(bench: Bench): Promise<void> {
  // Not a round number, at which the axis grows: this redraws the chart, but only once in 200,000 steps.
  const steps = bench.smoke ? 20_007 : 1_000_007;
  using service = await startLargeService({ benchmarks: 1, trajectoryBytes: 1_000, steps });
  await using terminal = bench.openLarge({}, service);
  await terminal.reach('a million steps');
  await terminal.key(':training\r');
  await terminal.reach('▸ a million steps');
  await terminal.keyUntil('\r', 'trainer ');
  await terminal.watch(bench.period(3_000));
  // The p95 of twenty would be their maximum.
  const keys = await bench.times(60, () => terminal.key(','));
  bench.row('crosshair on a curve of a million points, p95', p95(msOf(keys)), 16, 'ms', 1);
  // Fifteen show thirty points. The eighteenth would change nothing, and the next output of any kind would be its answer.
  const inAndOut = await bench.times(2, async () => [
    ...(await bench.times(15, () => terminal.key('+'))),
    ...(await bench.times(15, () => terminal.key('_'))),
  ]);
  const zooms = inAndOut.flat();
  bench.row('zoom in on it, p95', p95(msOf(zooms)), 16, 'ms', 1);
  await terminal.key('0');
  await terminal.watch(bench.period(3_000));
  service.step();
  // A curve of this length is read once in 50 seconds, with jitter.
  const { bytes } = await terminal.watch(bench.period(65_000));
  bench.row('a new point of it, 200×60', bytes, 300, 'bytes');
  // After it has been read several times.
  bench.row('memory with it', memoryOf(terminal.pid) / 1e6, 250, 'MB');
}

async function search(bench: Bench): Promise<void> {
  const count = bench.smoke ? 200 : 10_000;
  using service = await startLargeService({ benchmarks: 1, trajectories: count });
  await using terminal = bench.openLarge({}, service);
  const searched = `searched ${count} of ${count} trajectories`;
  const enter = async (words: string): Promise<void> => {
    await terminal.keyUntil('//', 'Search for');
    await terminal.keyUntil(words, words);
  };
  const find = async (words: string): Promise<number> => {
    await enter(words);
    const { ms } = await terminal.keyUntil('\r', searched);
    await terminal.keyUntil('-', 'CREATED');
    return ms;
  };
  await terminal.reach('▸ benchmark 0');
  await terminal.keyUntil(':trajectories\r', 'CREATED');
  // The first one reads and indexes them.
  await enter('question');
  await terminal.keyUntil('\r', 'searched ');
  while (!terminal.hasEnded && !terminal.text().includes(searched)) await terminal.watch(500);
  await terminal.keyUntil('-', 'CREATED');
  for (const [what, words] of [
    ['a rare word', rareWords],
    ['a word of all of them', commonWords],
  ] as const) {
    // Search for another word each time: an earlier result would be shown at once.
    const times: number[] = [];
    for (const word of bench.smoke ? words.slice(0, 1) : words) times.push(await find(word));
    bench.row(`later search for ${what}, ${count} trajectories`, median(times), 300, 'ms');
  }
}

async function compare(bench: Bench): Promise<void> {
  const tasks = bench.smoke ? 200 : 2_000;
  using service = await startLargeService({ benchmarks: 1, compared: tasks });
  await using terminal = bench.openLarge({}, service);
  await terminal.reach('▸ benchmark 0');
  await terminal.key(':run evr_new\r');
  await terminal.reach('<=> compare');
  await terminal.keyUntil('=', '▸ the old run');
  await terminal.keyUntil('\r', /new is higher on[\s\S]*▸ task 0 /);
  let task = 0;
  // Each time another task, whose transcripts were not read yet: the next one is read ahead.
  const opened = await bench.times(6, async () => {
    const { ms } = await terminal.keyUntil('=', comparedText(task, 'new'));
    await terminal.keyUntil('\u001b', `▸ task ${task} `);
    await terminal.key('jjj');
    task += 300;
    return ms;
  });
  bench.row(`compared task to both transcripts, ${tasks} tasks`, Math.max(...opened), 1_000, 'ms');
  await terminal.keyUntil('g', '▸ task 0 ');
  await terminal.keyUntil('=', comparedText(0, 'new'));
  const next = await terminal.keyUntil(']', comparedText(100, 'new'));
  bench.row('the same of the next changed task', next.ms, 1_000, 'ms');
}

const parts = { start, help, list, oneCell, slowLine, onePane, chat, gone, stop, huge, read, curves, search, compare };

/** Returns the exit code: 1 if a row exceeds its limit, which `smoke` ignores. */
export async function benchScreen({ smoke, parts: names }: BenchOptions): Promise<number> {
  using large = await startLargeService();
  await using bench = new Bench(large, smoke);
  for (const [name, part] of Object.entries(parts)) {
    if (names.length === 0 || names.includes(name)) await part(bench);
  }
  return printMeasured(bench.table, smoke);
}
