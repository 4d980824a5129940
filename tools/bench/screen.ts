/** Measures the built program in a real pseudo-terminal and prints the rows of the design's table that it can. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chatBytes, startLargeService } from './large-service.ts';
import { openTerminal, quantile, smallestProgram, type TimedTerminal } from './pty.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'benchtop-bench-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
const large = await startLargeService();

interface Row {
  readonly what: string;
  readonly measured: string;
  readonly limit: string;
  readonly within: boolean;
}
const table: Row[] = [];

function row(what: string, value: number, limit: number, unit: string, digits = 0): void {
  table.push({ what, measured: `${value.toFixed(digits)} ${unit}`, limit: `${limit} ${unit}`, within: value <= limit });
}

const onLarge = ['--base-url', large.baseUrl];
const open = (args: readonly string[], columns = 200, rows = 60): TimedTerminal =>
  openTerminal({ columns, rows, args: [program, ...args], env });

async function times<Value>(count: number, work: () => Promise<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for (let index = 0; index < count; index += 1) values.push(await work());
  return values;
}

async function startUp(): Promise<void> {
  // The first start makes the data and warms what Node caches of the program.
  const first = open([], 120, 40);
  await first.reach('▸ t-words');
  await first.close();
  const runs = await times(7, async () => {
    const smallest = await smallestProgram();
    const terminal = open([], 120, 40);
    const shell = await terminal.reach('benchtop');
    const data = await terminal.reach('▸ t-words');
    await terminal.close();
    return { shell: shell / smallest, data: data / smallest };
  });
  row(
    'first frame of the shell',
    quantile(
      runs.map(each => each.shell),
      0.5,
    ),
    5,
    '× node',
    1,
  );
  row(
    'first frame with data',
    quantile(
      runs.map(each => each.data),
      0.5,
    ),
    9,
    '× node',
    1,
  );
}

/** Pages the whole list in, so that it holds its 10,000 rows. */
async function loadAll(terminal: TimedTerminal): Promise<void> {
  await terminal.reach('▸ benchmark 0');
  for (let turn = 0; turn < 200 && !/\/10000 /.test(terminal.text()); turn += 1) await terminal.key('G');
  await terminal.key('g');
}

async function list(): Promise<void> {
  const terminal = open(onLarge);
  await loadAll(terminal);
  const moves = await times(40, () => terminal.key('j'));
  row(
    'cursor move in 10,000 rows, p95',
    quantile(
      moves.map(each => each.ms),
      0.95,
    ),
    16,
    'ms',
    1,
  );
  row(
    'cursor move, bytes',
    quantile(
      moves.map(each => each.bytes),
      0.5,
    ),
    250,
    'bytes',
  );
  await times(20, () => terminal.key('j'));
  const scrolls = await times(20, () => terminal.key('j'));
  row(
    'scroll by a row, three panes, p95',
    quantile(
      scrolls.map(each => each.ms),
      0.95,
    ),
    16,
    'ms',
    1,
  );
  row(
    'scroll by a row, three panes',
    quantile(
      scrolls.map(each => each.bytes),
      0.5,
    ),
    6_000,
    'bytes',
  );
  await terminal.key('/');
  const typed: number[] = [];
  for (const letter of 'benchmark 77') typed.push((await terminal.key(letter)).ms);
  row('filter keystroke over 10,000 rows, p95', quantile(typed, 0.95), 30, 'ms', 1);
  await terminal.key('\u001b');
  const idle = await terminal.watch(12_000);
  row('idle and polling, bytes a second', idle.bytes / 12, 0, 'bytes', 1);
  row('idle and polling, of a core', idle.cpuMs / 120, 1, '%', 2);
  await terminal.key(':trajectories\r');
  await terminal.reach('▸ large');
  const opened = await terminal.keyUntil('\r', 'assistant');
  row('open a trajectory of 5 MB, with its transfer', opened.ms, 300, 'ms');
  const lines = await times(20, () => terminal.key('j'));
  row(
    'scroll it by a line, p95',
    quantile(
      lines.map(each => each.ms),
      0.95,
    ),
    16,
    'ms',
    1,
  );
  row('memory with all of this', terminal.memory() / 1e6, 180, 'MB');
  await terminal.close();
}

async function oneCell(): Promise<void> {
  const terminal = open(onLarge);
  await terminal.reach('▸ benchmark 0');
  // Until what the first seconds bring has come.
  await terminal.watch(1_500);
  const changes: number[] = [];
  for (const runs of [1111, 2222, 3333]) {
    large.setFirstRuns(runs);
    const { bytes } = await terminal.keyUntil('r', String(runs));
    changes.push(bytes + (await terminal.watch(300)).bytes);
  }
  // Both the list and the inspector show the number.
  row('one changed cell of a live list, shown twice', quantile(changes, 0.5) / 2, 60, 'bytes');
  await terminal.close();
}

async function slowLine(): Promise<void> {
  const terminal = open(onLarge);
  await terminal.reach('▸ benchmark 0');
  await terminal.watch(1_500);
  terminal.slowDown(5_000);
  const settled = await times(4, async () => (await terminal.keys('j', 50, 200)) / 1_000);
  // The first fifty rows are in sight; the others come in from below.
  row('50 keys in 200 ms over 5 KB/s, settled', settled[0] ?? Number.NaN, 0.5, 's', 2);
  row('the same, where they scroll', quantile(settled.slice(1), 0.5), 0.5, 's', 2);
  await terminal.close();
}

async function onePane(): Promise<void> {
  const terminal = open(onLarge, 79, 60);
  await terminal.reach('▸ benchmark 0');
  await times(60, () => terminal.key('j'));
  const scrolls = await times(15, () => terminal.key('j'));
  row(
    'scroll by a row, one pane',
    quantile(
      scrolls.map(each => each.bytes),
      0.5,
    ),
    600,
    'bytes',
  );
  await terminal.close();
}

async function chat(): Promise<void> {
  const terminal = open(onLarge, 120, 40);
  await terminal.reach('▸ benchmark 0');
  await terminal.key(':chat\r');
  await terminal.reach('bench/model');
  const answer = await terminal.keyUntil('go\r', 'finished');
  row('streaming chat, bytes for 1 KB of text', answer.bytes / (chatBytes / 1024), 3_072, 'bytes');
  await terminal.close();
}

for (const part of [startUp, list, oneCell, slowLine, onePane, chat]) await part();
const stop = openTerminal({ columns: 80, rows: 24, args: [program, 'serve', '--stop'], env });
await stop.close();
large.close();
rmSync(home, { recursive: true, force: true });

const widths = [
  Math.max(...table.map(each => each.what.length)),
  Math.max(...table.map(each => each.measured.length)),
  14,
];
for (const { what, measured, limit, within } of table) {
  console.log(
    `${what.padEnd(widths[0] ?? 0)}  ${measured.padStart(widths[1] ?? 0)}  at most ${limit.padEnd(widths[2] ?? 0)}  ${within ? 'ok' : 'over'}`,
  );
}
