/** Plans that have found bugs, by bug: none may fail again. */
import type { Change } from '../../tools/rig/answers.ts';
import type { Fault } from '../../tools/rig/faults.ts';
import type { Look } from '../../tools/simulate/looks.ts';
import type { Plan, Step } from '../../tools/simulate/plan.ts';

const type = (bytes: string): Step[] => [
  { do: 'input', input: { kind: 'bytes', bytes, keys: bytes.length } },
  { do: 'wait', ms: 1_000 },
];
const paste = (text: string): Step[] => type(`\u001b[200~${text}\u001b[201~`);

const set = (json: string, ...paths: string[]): Change[] =>
  paths.map(at => ({ do: 'set', where: 'any', at, json }) as const);

/** At the screen, where the answers of one address are wrong. */
const atScreen = (steps: readonly Step[], only = '', json: readonly Change[] = []): Plan => ({
  steps: [
    { do: 'answers', to: 'screen', faults: only === '' ? [] : [{ only, json }] },
    { do: 'open', view: 'benchmarks', readOnly: false },
    ...steps,
    { do: 'wait', ms: 10_000 },
  ],
  looks: [],
});
const look = (view: Look['view'], only: string, json: readonly Change[]): Plan => ({
  steps: [],
  looks: [{ view, faults: [{ only, json } satisfies Fault] }],
});

const trainingRuns = '^/api/v1/train/[^/]+(/runs)?$';
const trainingProgress = '^/api/v1/train/[^/]+/progress$';
const benchmarks = '^/api/v1/benchmarks(\\?|$)';
const openTraining = [...type(':training\r'), ...type('\r')];
/** Of a training run: in the list, which is bare or has items, and in the record. */
const option = (json: string): Change[] =>
  set(json, 'options.num_steps', '0.options.num_steps', 'items.0.options.num_steps');

export const found: Readonly<Record<string, Plan>> = {
  'a paste of 20,000 characters into a filter took ten seconds, and every key after it three': atScreen([
    ...type('/'),
    ...paste('pasted '.repeat(3_000)),
    ...type('x'),
  ]),
  'a paste that the terminal did not mark was typed character by character, or sorted and marked rows': atScreen([
    ...type('some words s S '.repeat(1_500)),
    ...type('\u001b'),
    ...type(':'),
    ...type('more words '.repeat(1_500)),
  ]),
  'an Arabic number sign at the end of a cell made its line one cell shorter': atScreen(
    type('j'),
    benchmarks,
    set('"a very long name that has to be cut off somewhere \u0600\u0601"', 'items.0.label', 'items.1.family'),
  ),
  'an option of a training run that is an object was shown as [object Object]': atScreen(
    openTraining,
    trainingRuns,
    option('{"a": 1}'),
  ),
  'a count of deployments that is an object was shown as [object Object]': atScreen(
    type(':deployments\r'),
    '^/api/v1/deploy',
    set('{"a": 1}', 'total', 'count', 'total_count'),
  ),
  'an option of a training run that is too large for a number was shown as Infinity': atScreen(
    openTraining,
    trainingRuns,
    option('1e999'),
  ),
  'a count of steps that is too large for a number made a rate of Infinity steps': atScreen(
    openTraining,
    trainingProgress,
    set('1e308', 'total_steps', 'completed_steps'),
  ),
  'tags in the name of a benchmark were in the name that a form begins with': atScreen(
    [...type('e'), ...type('\t')],
    benchmarks,
    set('"t\u{E0041}\u{E0042}words"', 'items.0.label'),
  ),
  'a count of tasks below zero was shown as Infinity in the head of a benchmark': atScreen(
    type('\r'),
    '^/api/v1/benchmarks',
    set('-1e999', 'items.0.eval_run_count', 'eval_run_count', 'task_count'),
  ),
  'a line separator in the description of a training option reached the terminal': atScreen(
    [...type('t'), ...type('\t\t\t')],
    'options',
    set('"first\u2028second"', 'options.0.description', 'items.0.description', '0.description'),
  ),
  'a long paste into a search was an expression too large for V8, which says so only when it searches': atScreen([
    ...type(':trajectories\r'),
    ...type('\r'),
    ...type('/'),
    ...paste(`/${'(a|b)'.repeat(4_000)}/`),
    ...type('\r'),
  ]),
  'a service that could not write who has its folder kept it locked': {
    steps: [
      { do: 'disk full', ms: 10_000 },
      { do: 'crash', writes: 1, downMs: 10 },
      { do: 'evaluate', tasks: 2 },
      { do: 'wait', ms: 60_000 },
      { do: 'evaluate', tasks: 2 },
      { do: 'wait', ms: 60_000 },
    ],
    looks: [],
  },
  'a list of four runs with an unreadable one said that there were three': look(
    'runs',
    '^/api/v1/eval/[^/]+/runs',
    set('null', '1', 'items.1'),
  ),
  'a checkpoint that could not be read was left out without a word': look(
    'training run',
    '^/api/v1/train/[^/]+/checkpoints$',
    set('null', '0', 'items.0'),
  ),
  'half a run, below zero, was rounded to one': look('benchmarks', benchmarks, set('-0.5', 'items.0.eval_run_count')),
  'the mean of a run left out a reward that could not be read, without a word': look(
    'run',
    '^/api/v1/eval/[^/]+/trajectory-rewards$',
    set('"1,5"', 'trajectory_rewards.0.reward'),
  ),
};
