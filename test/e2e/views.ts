/** Every view: the keys that lead to it, its content, and the row under the cursor. */

import type { Session } from './session.ts';

export type Step = string | { readonly type: string } | { readonly see: string | RegExp } | { readonly gone: string };

/** Escape by the kitty protocol: a plain one is alt with the next key if a busy program reads both at once. */
const kittyEscape = '\u001b[27u';

/** Navigates as a user does: waits after each step until its effect is on screen. */
export async function goWay(session: Session, way: readonly Step[]): Promise<void> {
  for (const step of way) {
    const before = session.text();
    if (step === 'esc') {
      session.type(kittyEscape);
    } else if (typeof step === 'string') {
      session.press(step);
      await session.changed(before);
    } else if ('see' in step) {
      await session.waitFor(step.see);
    } else if ('gone' in step) {
      await session.gone(step.gone);
    } else {
      session.type(step.type);
      await session.changed(before);
    }
  }
}

export interface ViewSession {
  readonly name: string;
  /** Keys, typed texts, and expected texts, in order. */
  readonly way: readonly Step[];
  /** On screen at every size. */
  readonly shows: readonly (string | RegExp)[];
  /** The row under the cursor. */
  readonly selected?: string;
  /** To where the palette opens, if it does not here. */
  readonly back?: readonly Step[];
}

/** Through the palette. */
export const go = (name: string): readonly Step[] => [
  { type: ':' },
  // Live data may change the screen between two keys.
  { see: 'Go to a view or run a command' },
  { type: name },
  { see: `:${name}` },
  'enter',
  { gone: 'Go to a view or run a command' },
];

/** The runs that the ways need, oldest first. */
export const viewed = { runs: ['earlier', 'other', 'baseline'], trainings: ['early'] } as const;

export const viewSessions: readonly ViewSession[] = [
  { name: 'watch', way: go('watch'), shows: ['WATCHED', 'Nothing is running or pinned'] },
  { name: 'benchmarks', way: [], shows: ['BENCHMARK', 'opposites'], selected: 't-words' },
  { name: 'benchmark', way: ['enter'], shows: ['ready to launch', /96 of 96 images/], selected: 'baseline' },
  { name: 'images', way: ['v'], shows: ['TASK', 'ready'], selected: 't-words-001' },
  { name: 'training of a benchmark', way: ['T'], shows: ['TRAINING RUN'], selected: 'first training' },
  { name: 'runs', way: go('runs'), shows: ['RUN', 'completed'], selected: 'baseline' },
  {
    name: 'run',
    way: [...go('runs'), { see: '▸ baseline' }, 'enter'],
    shows: ['28 of 28', 'REWARD', /mean 0\.\d+/],
    selected: 't-words-',
  },
  {
    name: 'tasks of a run',
    way: [...go('runs'), { see: '▸ baseline' }, 'V', { see: '28 tasks' }],
    shows: ['28 of 28 rollouts have a reward', 'TASK', 'MEAN'],
    selected: 't-words-',
  },
  {
    name: 'ends of the rollouts of a run',
    way: [...go('runs'), { see: '▸ baseline' }, 'f', { see: 'CLASS' }],
    shows: ['CLASS', 'ENV_DONE'],
    selected: 'completed',
  },
  {
    name: 'reward against length',
    way: [...go('runs'), { see: '▸ baseline' }, 'L', { see: 'rank correlation' }],
    shows: ['28 of 28 rollouts have a reward'],
  },
  {
    name: 'two rollouts side by side',
    way: [
      ...go('runs'),
      { see: '▸ baseline' },
      'enter',
      { see: '▸ t-words-' },
      'space',
      'j',
      'space',
      '=',
      { see: 'differ' },
    ],
    shows: ['differ', 'reward 0'],
  },
  {
    name: 'comparison of two runs',
    way: [...go('runs'), { see: '▸ baseline' }, '=', { see: '▸ other' }, 'enter', { see: 'of 28' }],
    shows: ['new is higher on', 'BASE'],
    selected: 't-words-',
  },
  {
    name: 'hits of a search in the texts of a run',
    way: [
      ...go('runs'),
      { see: '▸ baseline' },
      { type: '//' },
      { see: 'Search for' },
      { type: 'words' },
      'enter',
      { see: 'searched 28 of 28' },
    ],
    shows: ['words in baseline', 'searched 28 of 28'],
    selected: 't-words-',
  },
  {
    name: 'audit of a training run',
    way: [
      ...go('training'),
      { see: '▸ first training' },
      'enter',
      { see: 'step 6 of 6' },
      'Q',
      { see: /No sign of a problem|FOUND|\bCHECK\b/ },
    ],
    shows: [/No sign of a problem|FOUND|\bCHECK\b/],
  },
  {
    name: 'regrade',
    way: [
      ...go('runs'),
      { see: '▸ baseline' },
      'R',
      { see: 'Regrade baseline' },
      'tab',
      { type: 'to' },
      'enter',
      { see: 'regraded 28 of 28' },
    ],
    shows: [/regraded\s+28 of 28/],
  },
  { name: 'inbox', way: go('inbox'), shows: ['Inbox'] },
  { name: 'tree', way: go('tree'), shows: ['t-words', 'opposites'] },
  { name: 'trajectories', way: go('trajectories'), shows: ['TASK', 'STATUS'], selected: 'open-task' },
  {
    name: 'trajectory',
    way: [...go('runs'), { see: '▸ baseline' }, 'enter', { see: '▸ t-words-' }, 'enter'],
    shows: ['use words that begin with t', 'assistant'],
  },
  { name: 'training', way: go('training'), shows: ['TRAINING RUN', '✓ '], selected: 'first training' },
  {
    name: 'training run',
    way: [...go('training'), { see: '▸ first training' }, 'enter'],
    shows: ['step 6 of 6', 'held-out', 'CHECKPOINT'],
  },
  {
    name: 'curves of two training runs',
    way: [
      ...go('training'),
      { see: '▸ first training' },
      'enter',
      { see: 'step 6 of 6' },
      '=',
      { see: 'Overlay curves from' },
      { see: '▸ early' },
      'enter',
      { gone: 'Overlay curves from' },
      // At full height, both have room in the legend.
      'f',
    ],
    shows: ['of early', 'of first training'],
    back: ['f', '0', { see: '▸ step 6' }],
  },
  {
    name: 'step of a training run',
    way: [...go('training'), { see: '▸ first training' }, 'enter', { see: '▸ step 6' }, 'enter'],
    shows: ['step 6', 'TASK', 'MEAN'],
    selected: 't-words-',
  },
  {
    name: 'task through training',
    way: [
      ...go('training'),
      { see: '▸ first training' },
      'enter',
      { see: '▸ step 6' },
      'enter',
      { see: '▸ t-words-' },
      'enter',
    ],
    shows: ['steps read (6 in all)', 'STEP'],
  },
  { name: 'deployments', way: go('deployments'), shows: ['DEPLOYMENT', '1 in all: 1 deployed'], selected: 'talker' },
  { name: 'deployment', way: [...go('deployments'), { see: '▸ talker' }, 'enter'], shows: ['✓ deployed', 'talker'] },
  { name: 'datasets', way: go('datasets'), shows: ['DATASET', 'Training of t-words'], selected: 'uploaded' },
  { name: 'models', way: go('models'), shows: ['MODEL', 'tutor'], selected: 'benchtop/a' },
  { name: 'runtimes', way: go('runtimes'), shows: ['RUNTIME', 'ready'], selected: 'local/' },
  { name: 'secrets', way: go('secrets'), shows: ['SECRET', 'EXISTING'], selected: 'EXISTING' },
  { name: 'chat', way: go('chat'), shows: ['Chat', 'benchtop/aesop-small'], back: ['esc', { see: '<i> write' }] },
  // Its marks stay.
  {
    name: 'comparison of many runs',
    way: [...go('runs'), { see: '▸ baseline' }, 'space', 'space', 'space', '=', { see: 'undecided' }],
    shows: ['undecided'],
    selected: 'baseline',
  },
  {
    name: 'upload of a benchmark',
    way: [
      'u',
      { see: 'Choose a benchmark folder' },
      { type: '~/work/bench' },
      'enter',
      { see: 'reads this folder' },
      'ctrl-o',
    ],
    shows: ['from-a-folder', 'not sent yet', 'data/a.txt'],
  },
  {
    name: 'upload of trajectories',
    way: [
      ...go('datasets'),
      { see: 'uploaded' },
      'u',
      { see: 'Choose a trajectory file' },
      { type: '~/work/three.jsonl' },
      'enter',
      { see: 'Into the dataset' },
      'enter',
      { see: '1 failed' },
    ],
    // The pictures of the next size upload it again.
    shows: [/2 stored|2 sent before/, '1 failed', 'LINE'],
  },
  { name: 'help', way: ['?'], shows: ['Help', 'evaluate a model on it'] },
];

export const sizes = [
  [200, 60],
  [120, 40],
  [80, 24],
  [60, 15],
] as const;
