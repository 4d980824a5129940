/** Opens a view on answers with wrong values, and compares what it shows with what was sent. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Place } from '../../src/resources/place.ts';
import type { Failure } from './judge.ts';
import { mutateJson } from './mutate.ts';
import {
  columnOf,
  fieldOf,
  idIn,
  mainPane,
  meanOf,
  numbersIn,
  rowFailures,
  rowsOf,
  sectionFailures,
  sentRows,
  shownRows,
  standsFor,
} from './oracle.ts';
import { openProgram } from './program.tsx';
import { calm, type FaultyProxy, startProxy } from './proxy.ts';
import { Random } from './random.ts';
import { apiKey, type World } from './world.ts';

/** The screen, and the last answers by path. */
interface Evidence {
  /** The main pane. */
  readonly text: string;
  /** The whole screen. */
  readonly screen: string;
  /** The newest answers to requests whose path matches, one per address. */
  readonly sent: (path: RegExp) => readonly string[];
}

interface Check {
  readonly name: string;
  readonly place: (ids: Ids) => Place;
  /** Paths whose answers are mutated; the others are unchanged. */
  readonly wrong: RegExp;
  /** Paths that must have been requested before the screen is judged. */
  readonly asks: readonly RegExp[];
  readonly failures: (evidence: Evidence) => readonly string[];
}

interface Ids {
  readonly run: string;
  readonly training: string;
}

const benchmarksPath = /^\/api\/v1\/benchmarks(?:\?|$)/;
/** As the list of benchmarks asks; lists of what each of them has ask for fewer at once. */
const listedBenchmarksPath = /^\/api\/v1\/benchmarks\?(?:.*&)?limit=200(?:&|$)/;
const runsPath = /^\/api\/v1\/eval\/[^/]+\/runs/;
const runPath = /^\/api\/v1\/eval\/[^/]+$/;
const runProgressPath = /^\/api\/v1\/eval\/[^/]+\/progress$/;
const rewardsPath = /^\/api\/v1\/eval\/[^/]+\/trajectory-rewards$/;
const trajectoriesPath = /^\/api\/v1\/trajectories(?:\?|$)/;
/** The trajectories of a run; all of them are listed for the count of their section. */
const rolloutsPath = /^\/api\/v1\/trajectories\?(?:.*&)?eval_run_id=/;
const trainingProgressPath = /^\/api\/v1\/train\/[^/]+\/progress$/;
const checkpointsPath = /^\/api\/v1\/train\/[^/]+\/checkpoints$/;
const trainerPath = /trainer-reward-by-step$/;
const heldOutPath = /held-out-reward-by-step$/;

/** Every number in a column was sent. */
function columnFailures(text: string, title: string, width: number, sent: readonly unknown[]): string[] {
  return columnOf(text, title, width)
    .filter(cell => !/[kMGTP]$/.test(cell) && !sent.some(value => standsFor(cell, value)))
    .map(cell => `${title} says ${cell}, which was not sent`);
}

function runFailures({ text, sent }: Evidence): string[] {
  const rows = rowsOf(sent(rewardsPath).at(-1) ?? '', 'trajectory_rewards');
  const found = /mean (so far )?(\S+)(?: of (\d+) graded)?(?:, (\S+) by the rewards listed)?/.exec(text);
  if (!found) return ['the head says no mean'];
  const [, , mean = '', graded, listed] = found;
  const values = rows ? numbersIn(rows, 'reward') : [];
  const ofRewards = meanOf(values);
  const record = parse(sent(runPath).at(-1));
  const live = fieldOf(parse(sent(runProgressPath).at(-1)), 'live');
  const own = [
    fieldOf(record, 'reward_mean'),
    fieldOf(live, 'final_reward_mean'),
    fieldOf(live, 'provisional_reward_mean'),
  ].filter(value => typeof value === 'number');
  const failures: string[] = [];
  if (![...own, ofRewards].some(value => standsFor(mean, value))) {
    failures.push(`mean ${mean} is neither ${ofRewards} by the rewards nor any of ${own.join(', ')} by the service`);
  }
  // Unreadable values are in no mean, and the screen says so.
  const unreadable = Number(/(\d+) rewards? could not be read/.exec(text)?.[1] ?? 0);
  if (listed !== undefined && unreadable === 0 && !standsFor(listed, ofRewards))
    failures.push(`${listed} by the rewards is ${ofRewards}`);
  const differs = ofRewards !== undefined && !standsFor(mean, ofRewards);
  if (differs && graded !== undefined && values.length > 0 && listed === undefined) {
    failures.push(`mean ${mean} of ${graded} graded hides that the rewards have ${ofRewards}`);
  }
  if (graded !== undefined && values.length > 0 && Number(graded) + unreadable < values.length) {
    failures.push(`${graded} graded of ${values.length} rewards`);
  }
  const bars = [...text.matchAll(/^. +\S+–\S+ .*?(\d+) *.?$/gm)].map(([, count]) => Number(count));
  const counted = bars.reduce((sum, count) => sum + count, 0);
  if (bars.length > 0 && graded !== undefined && counted !== Number(graded)) {
    failures.push(`the histogram holds ${counted} of ${graded}`);
  }
  // A rollout in only one of the two lists is still a row.
  const ids = new Set([
    ...(sentRows(sent(rolloutsPath), 'trajectory_id')?.ids ?? []),
    ...(rows ?? []).flatMap(row => idIn(row, 'trajectory_id')),
  ]);
  const shown = shownRows(text);
  if (!shown.more && shown.rows !== ids.size) failures.push(`${shown.rows} rows are shown of ${ids.size} rollouts`);
  return failures;
}

function trainingFailures({ text, sent }: Evidence): string[] {
  const progress = parse(sent(trainingProgressPath).at(-1));
  const [done, total] = [fieldOf(progress, 'completed_steps'), fieldOf(progress, 'total_steps')];
  // Everything sent for the run: if an answer changes its id, later requests have another address.
  const curve = sent(trainerPath).flatMap(text => rowsOf(text, 'trainer_rewards') ?? []);
  const steps = new Set(curve.map(row => fieldOf(row, 'step')));
  const committed = (sentRows(sent(checkpointsPath), 'checkpoint_id')?.rows ?? []).map(row =>
    fieldOf(row, 'step_index'),
  );
  const found = /step (-?[\d.e+]+)(?: of (-?[\d.e+]+))?/.exec(text.split('\n').slice(0, 4).join('\n'));
  const failures: string[] = [];
  if (found) {
    const [, shown = '', of] = found;
    const counted = Number(shown) === done || Number(shown) <= steps.size || committed.includes(Number(shown));
    if (!counted) failures.push(`step ${shown} is not ${String(done)}`);
    if (of !== undefined && Number(of) !== total) failures.push(`of ${of} is not ${String(total)}`);
  } else if (typeof done === 'number' && typeof total === 'number' && !text.includes('is not what benchtop expects')) {
    failures.push(`step ${done} of ${total} is not shown`);
  }
  const held = sent(heldOutPath).flatMap(text => rowsOf(text, 'held_out_rewards') ?? []);
  for (const [name, values] of [
    ['held-out', numbersIn(held, 'held_out_reward')],
    ['trainer', numbersIn(curve, 'trainer_reward')],
  ] as const) {
    const last = new RegExp(`${name} (-?[\\d.e+-]+|none)`).exec(text)?.[1];
    if (last !== undefined && last !== 'none' && !values.some(value => standsFor(last, value))) {
      failures.push(`${name} ${last} was not sent`);
    }
  }
  return [...failures, ...rowFailures(sentRows(sent(checkpointsPath), 'checkpoint_id'), shownRows(text))];
}

const ofTrajectories: Check = {
  name: 'trajectories',
  place: () => ({ view: 'list', resource: 'trajectories' }),
  wrong: trajectoriesPath,
  asks: [trajectoriesPath],
  failures: ({ text, screen, sent }) => {
    const rows = sentRows(sent(trajectoriesPath), 'trajectory_id');
    const rewards = (rows?.rows ?? []).map(row => fieldOf(row, 'reward'));
    return [
      ...rowFailures(rows, shownRows(text)),
      ...columnFailures(text, 'REWARD', 7, rewards),
      ...sectionFailures(screen, 'Trajectories', rows),
    ];
  },
};

/** Never reordered: the seeds of earlier errors pick from them. */
const checks: readonly Check[] = [
  {
    name: 'benchmarks',
    place: () => ({ view: 'list', resource: 'benchmarks' }),
    wrong: benchmarksPath,
    asks: [benchmarksPath],
    failures: ({ text, screen, sent }) => {
      const rows = sentRows(sent(listedBenchmarksPath), 'bench_id');
      const counts = (rows?.rows ?? []).map(row => fieldOf(row, 'eval_run_count'));
      return [
        ...rowFailures(rows, shownRows(text)),
        ...columnFailures(text, 'RUNS', 6, counts),
        ...sectionFailures(screen, 'Benchmarks', rows),
      ];
    },
  },
  {
    name: 'runs',
    place: () => ({ view: 'list', resource: 'runs' }),
    wrong: runsPath,
    asks: [benchmarksPath, runsPath],
    failures: ({ text, screen, sent }) => {
      const rows = sentRows(sent(runsPath), 'eval_run_id');
      const means = (rows?.rows ?? []).map(row => fieldOf(row, 'reward_mean'));
      return [
        ...rowFailures(rows, shownRows(text)),
        ...columnFailures(text, 'MEAN', 7, means),
        ...sectionFailures(screen, 'Runs', rows),
      ];
    },
  },
  {
    name: 'run',
    place: ({ run }) => ({ view: 'record', resource: 'runs', id: run }),
    wrong: /^\/api\/v1\/(?:eval\/[^/]+(?:\/progress|\/trajectory-rewards)?|trajectories.*)$/,
    asks: [runPath, runProgressPath, rewardsPath, rolloutsPath],
    failures: runFailures,
  },
  {
    name: 'training run',
    place: ({ training }) => ({ view: 'record', resource: 'training', id: training }),
    wrong: /^\/api\/v1\/train\//,
    asks: [trainingProgressPath, checkpointsPath, trainerPath, heldOutPath],
    failures: trainingFailures,
  },
];

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

/** An address without its cursor, which is the same for all pages of a list. */
const listOf = (url: string): string => url.replace(/[?&](?:cursor|limit)=[^&]*/g, '');

/** What a list is of: its path, and the run whose rows it has. */
const ownerOf = (url: string): string => url.replace(/\?.*/, '') + (/[?&]eval_run_id=[^&]*/.exec(url)?.[0] ?? '');

/**
 * The last answer for each address; of a list requested in several orders, only the last one. What a busy machine did
 * not answer in time says nothing.
 */
function evidenceOf(screen: string, proxy: FaultyProxy): Evidence {
  const newest = new Map<string, string>();
  const lists = new Map<string, string>();
  for (const { method, url, sent } of proxy.exchanges) {
    if (method !== 'GET' || sent === '') continue;
    newest.set(url, sent);
    lists.set(ownerOf(url), listOf(url));
  }
  const isShown = (url: string): boolean => lists.get(ownerOf(url)) === listOf(url);
  return {
    text: mainPane(screen),
    screen,
    sent: path => [...newest].filter(([url]) => path.test(url) && isShown(url)).map(([, sent]) => sent),
  };
}

const haste = 25;
/** The screen has settled once it was the same for this long, and at as many looks: a busy machine skips some time. */
const settledMs = 250;
const settledLooks = 6;
const limitMs = 20_000;

export interface NumbersResult {
  readonly screen: string;
  readonly mutated: number;
  readonly failures: readonly Failure[];
}

async function idsOf(baseUrl: string): Promise<Ids> {
  const ask = async (path: string): Promise<Record<string, string>[]> => {
    const answer = await fetch(`${baseUrl}/api/v1/${path}`, { headers: { 'X-API-Key': apiKey } });
    const body = (await answer.json()) as unknown;
    return (Array.isArray(body) ? body : fieldOf(body, 'items')) as Record<string, string>[];
  };
  const bench = (await ask('benchmarks')).find(({ label }) => label === 't-words')?.['bench_id'] ?? '';
  const [run] = await ask(`eval/${bench}/runs`);
  const [training] = await ask(`train/${bench}/runs`);
  return { run: run?.['eval_run_id'] ?? '', training: training?.['training_run_id'] ?? '' };
}

/** One view with one set of wrong answers, judged once it has settled. */
export async function numbersSession({ world, seed }: { world: World; seed: string }): Promise<NumbersResult> {
  const random = new Random(seed);
  const check = random.fork('a list').chance(0.25) ? ofTrajectories : random.pick(checks);
  const local = await world.start();
  const ids = await idsOf(local.baseUrl);
  const proxy = await startProxy({
    target: local.baseUrl,
    random,
    shares: { ...calm, json: 1 },
    mostStarts: 0,
    stallMs: 1_000,
    // An address always gets the same answer: polling must not change the screen.
    mutate: (text, _chance, { url }) => {
      const own = random.fork(url.replaceAll(/[a-z]+_[\w-]{6,}/g, '{id}'));
      return check.wrong.test(url) && own.chance(0.6) ? mutateJson(text, own, { gentle: true }) : { text, done: [] };
    },
  });
  const failures: Failure[] = [];
  const unmeant: string[] = [];
  const program = openProgram({
    baseUrl: proxy.baseUrl,
    apiKey,
    columns: 200,
    rows: 60,
    readOnly: true,
    haste,
    start: check.place(ids),
    onUnmeant: what => unmeant.push(what),
  });
  const { screen } = program;
  /** Without the first line, which shows ages. */
  const body = (): string => screen.text().split('\n').slice(1).join('\n');
  try {
    const deadline = performance.now() + limitMs;
    let before = body();
    let since = performance.now();
    let looks = 0;
    const asked = (): boolean =>
      check.asks.every(path => proxy.exchanges.some(({ url, sent }) => sent !== '' && path.test(url)));
    while (performance.now() < deadline) {
      await screen.type('');
      await wait(20);
      looks += 1;
      if (body() !== before || !asked() || proxy.open() > 0 || program.isReading()) {
        before = body();
        since = performance.now();
        looks = 0;
      } else if (performance.now() - since > settledMs && looks >= settledLooks) break;
    }
    const found = [...unmeant, ...check.failures(evidenceOf(screen.text(), proxy))];
    const done = proxy.exchanges.flatMap(({ url, done: what }) =>
      what.length > 0 ? [`${url}: ${what.join(', ')}`] : [],
    );
    for (const what of found) {
      failures.push({
        seed,
        what: `${check.name}: ${what}`,
        screen: `${screen.text()}\n${[...new Set(done)].join('\n')}`,
      });
    }
  } finally {
    await program.close();
    await proxy.close();
    await local.end();
  }
  const mutated = proxy.exchanges.filter(({ done }) => done.length > 0).length;
  return { screen: check.name, mutated, failures };
}
