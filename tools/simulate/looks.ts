/** Opens a view on answers with wrong values, and compares the screen with the answers. */
import fc from 'fast-check';
import type { Place } from '../../src/resources/place.ts';
import { gentleChanges } from '../rig/answers.ts';
import type { Faults } from '../rig/faults.ts';
import type { Exchange } from '../rig/proxy.ts';
import {
  columnOf,
  fieldOf,
  idIn,
  mainPane,
  meanOf,
  numbersIn,
  parsed,
  rowFailures,
  rowsOf,
  type SentRows,
  sectionFailures,
  sentRows,
  shownRows,
  standsFor,
} from './oracle.ts';

/** A view, and the faults of its answers: the same for each request, so that polls do not change the screen. */
export interface Look {
  readonly view: keyof typeof views;
  readonly faults: Faults;
}

/** The screen, and the last answers by path. */
interface Evidence {
  /** The main pane. */
  readonly text: string;
  /** The whole screen. */
  readonly screen: string;
  /** The newest answers to requests whose path matches, one per address. */
  readonly sent: (path: RegExp) => readonly string[];
}

/** A run that has ended, and a training run, if there are any. */
export interface Ids {
  readonly run: string | undefined;
  readonly training: string | undefined;
}

interface View {
  readonly place: (ids: Ids) => Place | undefined;
  /** Paths that must have been answered before the screen is judged; their answers may be wrong. */
  readonly asks: readonly RegExp[];
  readonly failures: (evidence: Evidence) => readonly string[];
}

const benchmarksPath = /^\/api\/v1\/benchmarks(?:\?|$)/;
/** Requests of the list of benchmarks. Lists that are gathered by benchmark request smaller pages. */
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

/** Errors for numbers in a column that were not sent. */
function columnFailures(text: string, title: string, sent: readonly unknown[]): string[] {
  return columnOf(text, title)
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
  const record = parsed(sent(runPath).at(-1));
  const live = fieldOf(parsed(sent(runProgressPath).at(-1)), 'live');
  const own = [
    fieldOf(record, 'reward_mean'),
    fieldOf(live, 'final_reward_mean'),
    fieldOf(live, 'provisional_reward_mean'),
  ].filter(value => typeof value === 'number');
  const failures: string[] = [];
  if (![...own, ofRewards].some(value => standsFor(mean, value))) {
    failures.push(`mean ${mean} is neither ${ofRewards} by the rewards nor any of ${own.join(', ')} by the service`);
  }
  // Means leave out unreadable values, and the screen must say so.
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

/** A count below zero is shown as a missing one. */
const countOf = (value: unknown): unknown => (typeof value === 'number' && value < 0 ? undefined : value);

function trainingFailures({ text, sent }: Evidence): string[] {
  const progress = parsed(sent(trainingProgressPath).at(-1));
  const [done, total] = [countOf(fieldOf(progress, 'completed_steps')), countOf(fieldOf(progress, 'total_steps'))];
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

/** A list whose count, rows, and numbers in one column are compared. */
const listView = (
  resource: 'benchmarks' | 'runs' | 'trajectories',
  section: string,
  asks: readonly RegExp[],
  rowsIn: (sent: Evidence['sent']) => SentRows | undefined,
  [title, sentValue]: readonly [title: string, sentValue: (row: unknown) => unknown],
): View => ({
  place: () => ({ view: 'list', resource }),
  asks,
  failures: ({ text, screen, sent }) => {
    const rows = rowsIn(sent);
    const values = (rows?.rows ?? []).map(sentValue);
    return [
      ...rowFailures(rows, shownRows(text)),
      ...columnFailures(text, title, values),
      ...sectionFailures(screen, section, rows),
    ];
  },
});

const views = {
  benchmarks: listView(
    'benchmarks',
    'Benchmarks',
    [benchmarksPath],
    sent => sentRows(sent(listedBenchmarksPath), 'bench_id'),
    ['RUNS', row => countOf(fieldOf(row, 'eval_run_count'))],
  ),
  runs: listView('runs', 'Runs', [runsPath], sent => sentRows(sent(runsPath), 'eval_run_id'), [
    'MEAN',
    row => fieldOf(row, 'reward_mean'),
  ]),
  trajectories: listView(
    'trajectories',
    'Trajectories',
    [trajectoriesPath],
    sent => sentRows(sent(trajectoriesPath), 'trajectory_id'),
    ['REWARD', row => fieldOf(row, 'reward')],
  ),
  run: {
    place: ({ run }) => (run === undefined ? undefined : { view: 'record', resource: 'runs', id: run }),
    asks: [runPath, runProgressPath, rewardsPath, rolloutsPath],
    failures: runFailures,
  },
  'training run': {
    place: ({ training }) =>
      training === undefined ? undefined : { view: 'record', resource: 'training', id: training },
    asks: [trainingProgressPath, checkpointsPath, trainerPath, heldOutPath],
    failures: trainingFailures,
  },
} as const satisfies Record<string, View>;

export const looks: fc.Arbitrary<Look> = fc.oneof(
  ...Object.entries(views).map(([view, { asks }]) => {
    const fault = (path: RegExp) => fc.record({ only: fc.constant(path.source), json: gentleChanges });
    return fc.record({
      view: fc.constant(view as Look['view']),
      faults: fc.tuple(...asks.map(path => fc.option(fault(path), { freq: 2 }))),
    });
  }),
);

/** Undefined if there is nothing to open. */
export const placeOf = ({ view }: Look, ids: Ids): Place | undefined => views[view].place(ids);

/** Whether all requests that a look needs were answered. */
export const isAnswered = ({ view }: Look, exchanges: readonly Exchange[]): boolean =>
  views[view].asks.every(path => exchanges.some(({ url, sent }) => sent !== '' && path.test(url)));

/** An address without its cursor, which is the same for all pages of a list. */
const listOf = (url: string): string => url.replace(/[?&](?:cursor|limit)=[^&]*/g, '');

/** Identifies a list in any order: its path, and its run if it has one. */
const ownerOf = (url: string): string => url.replace(/\?.*/, '') + (/[?&]eval_run_id=[^&]*/.exec(url)?.[0] ?? '');

/** Errors of the screen, compared with the last answer for each address, and with the last order of each list. */
export function failuresOf({ view }: Look, screen: string, exchanges: readonly Exchange[]): readonly string[] {
  const newest = new Map<string, string>();
  const lists = new Map<string, string>();
  for (const { method, url, sent } of exchanges) {
    if (method !== 'GET' || sent === '') continue;
    newest.set(url, sent);
    lists.set(ownerOf(url), listOf(url));
  }
  const isShown = (url: string): boolean => lists.get(ownerOf(url)) === listOf(url);
  const sent = (path: RegExp): readonly string[] =>
    [...newest].filter(([url]) => path.test(url) && isShown(url)).map(([, text]) => text);
  return views[view].failures({ text: mainPane(screen), screen, sent });
}
