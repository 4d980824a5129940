/** `npm run torture`: the program on a service that answers wrongly, under random input. See `usage`. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { breadthSeeds } from '../test/torture/seeds.ts';
import { runBreadth } from './torture/breadth-run.ts';
import type { Failure } from './torture/judge.ts';
import type { Purpose } from './torture/shares.ts';

const usage = `npm run torture                       everything
npm run torture -- breadth --keys N --answers N
npm run torture -- depth --sessions N
npm run torture -- numbers --views N
npm run torture -- seeds              sessions that once failed
npm run torture -- commands --commands N   the command line on a terminal
npm run torture -- read-only          breadth and depth of a program that may only read, pressed to write
npm run torture -- secrets            breadth and depth in which secrets are typed: they are found nowhere afterwards
npm run torture -- soak --minutes N
… --seed N                            another chance
… --workers N                         processes at once
… --smoke                             each part once and briefly: does torture still work?
`;

/** What is tried unless a flag says otherwise. */
const usual = process.argv.includes('--smoke')
  ? { keys: '200', answers: '20', sessions: '1', views: '3', commands: '8', minutes: '1', workers: '1' }
  : {
      keys: '300000',
      answers: '20000',
      sessions: '100',
      views: '300',
      commands: '300',
      minutes: '30',
      workers: String(Math.min(2, availableParallelism())),
    };

/** Ends the program for --help, and for arguments that it does not know. */
function argumentsOf<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const { values, positionals } = argumentsOf(() =>
  parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      smoke: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      keys: { type: 'string', default: usual.keys },
      answers: { type: 'string', default: usual.answers },
      sessions: { type: 'string', default: usual.sessions },
      views: { type: 'string', default: usual.views },
      commands: { type: 'string', default: usual.commands },
      minutes: { type: 'string', default: usual.minutes },
      workers: { type: 'string', default: usual.workers },
    },
  }),
);
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  breadth: () => breadth(),
  depth: () => depth(),
  'read-only': () => both('read-only'),
  secrets: () => both('secrets'),
  numbers,
  seeds: knownSeeds,
  commands: commandLine,
  soak: longWatch,
};
const [named] = positionals;
const chosen = named === undefined ? Object.values(parts) : Object.hasOwn(parts, named) ? [parts[named]] : [];
if (chosen.length === 0) {
  process.stderr.write(`There is no part ${named}; there are ${Object.keys(parts).join(', ')}.\n`);
  process.exit(2);
}

// Before the program is loaded, which depends on it.
Object.assign(process.env, { FORCE_COLOR: '3', COLUMNS: '100', LINES: '40' });
const { makeWorld } = await import('./torture/world.ts');
const world = await makeWorld();

type Row = readonly [what: string, count: number | string];
const rows: Row[] = [];
const failures: Failure[] = [];

function onFailure(failure: Failure): void {
  failures.push(failure);
  process.stdout.write(`\nfailure, seed ${failure.seed}: ${failure.what}\n${failure.screen}\n`);
}

const withPurpose = (purpose: Purpose): string => (purpose === 'anything' ? '' : `, ${purpose}`);
const typedRows = (typed: number): Row[] => (typed > 0 ? [['secrets typed', typed]] : []);

async function breadth(purpose: Purpose = 'anything', share = 1): Promise<void> {
  const keys = Number(values.keys) * share;
  let reported = 0;
  const counts = await runBreadth({
    world,
    seed: values.seed,
    purpose,
    keys,
    answers: Number(values.answers) * share,
    workers: Number(values.workers),
    onFailure,
    onProgress: so => {
      if (so.keys - reported < keys / 20) return;
      reported = so.keys;
      process.stderr.write(`${so.keys} keys, ${so.mutated} mutated answers, ${so.failures} failures\n`);
    },
  });
  rows.push(
    [`in process${withPurpose(purpose)}: sessions`, counts.sessions],
    ['keys', counts.keys],
    ['answers', counts.answers],
    ['mutated answers', counts.mutated],
    ...typedRows(counts.typed),
  );
}

async function depth(purpose: Purpose = 'anything', share = 1): Promise<void> {
  await import('./built.ts');
  const { runDepth } = await import('./torture/depth-run.ts');
  const counts = await runDepth({
    world,
    seed: values.seed,
    purpose,
    sessions: Math.ceil(Number(values.sessions) * share),
    keys: values.smoke ? 60 : 300,
    workers: Number(values.workers),
    onFailure,
    onProgress: words => process.stderr.write(`${words}\n`),
  });
  rows.push(
    [`pseudo-terminal${withPurpose(purpose)}: sessions`, counts.sessions],
    ['keys', counts.keys],
    ['mutated answers', counts.mutated],
    ...typedRows(counts.typed),
    ['ended by', counts.endings],
    ['from the signal to the end, ms: median, p95, most', counts.endMs.map(ms => Math.round(ms)).join(' ')],
    ['most memory, MB', Math.round(counts.memory / 1e6)],
  );
}

/** The share of special-purpose sessions among all sessions. */
const shareOfPurpose = 0.1;

async function both(purpose: Purpose): Promise<void> {
  await breadth(purpose, shareOfPurpose);
  await depth(purpose, shareOfPurpose);
}

async function numbers(): Promise<void> {
  const { numbersSession } = await import('./torture/numbers.ts');
  const views = Number(values.views);
  let mutated = 0;
  for (let view = 1; view <= views; view += 1) {
    const result = await numbersSession({ world, seed: `${values.seed}-${view}` });
    mutated += result.mutated;
    for (const failure of result.failures) onFailure(failure);
  }
  rows.push(['views compared with what was sent', views], ['mutated answers', mutated]);
}

async function knownSeeds(): Promise<void> {
  const { breadthSession } = await import('./torture/breadth.ts');
  const seeds = values.smoke ? breadthSeeds.slice(0, 1) : breadthSeeds;
  for (const [seed, , keys] of seeds) {
    const session = await breadthSession({ world, seed, keys });
    for (const failure of session.failures) onFailure(failure);
  }
  rows.push(['sessions that once failed', seeds.length]);
}

async function commandLine(): Promise<void> {
  await import('./built.ts');
  const { commandsSession } = await import('./torture/commands.ts');
  const result = await commandsSession({ world, seed: values.seed, commands: Number(values.commands) });
  for (const failure of result.failures) onFailure(failure);
  rows.push(
    ['commands on a terminal', result.commands],
    ['mutated answers', result.mutated],
    ['means of the local service compared', result.means],
  );
}

async function longWatch(): Promise<void> {
  await import('./built.ts');
  const { soak } = await import('./torture/soak.ts');
  const minutes = Number(values.minutes);
  const result = await soak({ world, minutes, onProgress: words => process.stderr.write(`${words}\n`) });
  for (const failure of result.failures) onFailure(failure);
  rows.push(
    ['soak: minutes by the fast clock', minutes],
    ['runs', result.runs],
    ['requests', result.requests],
    ...result.rows,
  );
}

for (const part of chosen) await part?.();
world.remove();

rows.push(['failures', failures.length], ['seed', values.seed]);
const width = Math.max(...rows.map(([what]) => what.length));
for (const [what, count] of rows) process.stdout.write(`${what.padEnd(width)}  ${String(count).padStart(9)}\n`);
for (const failure of failures) process.stdout.write(`failure, seed ${failure.seed}: ${failure.what.split('\n')[0]}\n`);
process.exit(failures.length > 0 ? 1 : 0);
