/** The commands of views that show more than a resource. */
import type { CommandTable } from '../../present/command.ts';

export const watchCommands = {
  dismiss: {
    id: 'watch.dismiss',
    title: 'dismiss what has ended',
    keys: ['backspace'],
    group: 'Watch',
    hint: 'dismiss',
  },
  group: { id: 'watch.group', title: 'group by benchmark, by status, or not', keys: ['Z'], group: 'Watch' },
  fold: { id: 'watch.fold', title: 'fold or unfold the group', keys: ['z'], group: 'Watch', hint: 'fold' },
} as const satisfies CommandTable;

export const treeCommands = {
  fold: { id: 'tree.fold', title: 'fold or unfold its branch', keys: ['z'], group: 'Tree', hint: 'fold' },
} as const satisfies CommandTable;

export const alarmCommands = {
  past: { id: 'alarms.past', title: 'the alarms of this run, now and in its past', keys: ['A'], group: 'Alarms' },
} as const satisfies CommandTable;

export const inboxCommands = {
  dismiss: { ...watchCommands.dismiss, id: 'inbox.dismiss', title: 'dismiss it', group: 'Inbox', rank: 'main' },
  dismissAll: {
    id: 'inbox.dismiss-all',
    title: 'dismiss all that the filter shows',
    keys: ['X'],
    group: 'Inbox',
    hint: 'dismiss all',
  },
  undo: { id: 'inbox.undo', title: 'undo the last dismissal', keys: ['u'], group: 'Inbox' },
} as const satisfies CommandTable;

export const compareCommands = {
  swap: { id: 'compare.swap', title: 'swap base and new', keys: ['v'], group: 'Comparison', hint: 'swap' },
  other: {
    id: 'compare.other',
    title: 'open the rollout of the other run',
    keys: ['b'],
    group: 'Comparison',
    hint: 'other run',
  },
  pool: {
    id: 'compare.pool',
    title: 'read the runs of a model that differ in their seed as one',
    keys: ['M'],
    group: 'Comparison',
    hint: 'pool seeds',
  },
  baseline: {
    id: 'compare.baseline',
    title: 'compare the others with this run',
    keys: ['*'],
    group: 'Comparison',
    hint: 'baseline',
  },
} as const satisfies CommandTable;

export const triageCommands = {
  flag: {
    id: 'triage.flag',
    title: 'flag it: 1 good, 2 bad, 3 gamed, 4 grader broken, 5 look again, or as in the settings; again to unflag',
    keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    group: 'Triage',
    hint: 'flag',
    palette: false,
  },
  undo: { id: 'triage.undo', title: 'take the last flag back', keys: ['0'], group: 'Triage', palette: false },
  note: { id: 'triage.note', title: 'write a note on it', keys: ["'"], group: 'Triage' },
} as const satisfies CommandTable;

export const searchCommands = {
  texts: {
    id: 'texts.search',
    title: 'search the texts of these trajectories, as // does',
    keys: ['ctrl-s'],
    group: 'Search',
  },
  stop: { id: 'texts.stop', title: 'stop the search', keys: ['esc'], group: 'Search', hint: 'stop', palette: false },
} as const satisfies CommandTable;

const rolloutsGroup = { group: 'Rollouts' } as const;

/** Commands on many rollouts at once. */
export const rolloutCommands = {
  outcomes: {
    id: 'rollouts.outcomes',
    title: 'how they ended: failures and other ends by class',
    keys: ['f'],
    hint: 'failures',
    rank: 'second',
    ...rolloutsGroup,
  },
  lengths: {
    id: 'rollouts.lengths',
    title: 'reward against length: tokens, steps, seconds',
    keys: ['L'],
    ...rolloutsGroup,
  },
  tasks: {
    id: 'rollouts.tasks',
    title: 'the tasks: their rewards, spread and pass@k',
    keys: ['V'],
    hint: 'tasks',
    ...rolloutsGroup,
  },
} as const satisfies CommandTable;

export const regradeCommands = {
  open: {
    id: 'rollouts.regrade',
    title: 'grade its rollouts again with another grader',
    keys: ['R'],
    ...rolloutsGroup,
  },
  stop: { id: 'regrade.stop', title: 'stop grading', keys: ['esc'], hint: 'stop', palette: false, ...rolloutsGroup },
} as const satisfies CommandTable;

export const lengthCommands = {
  next: { id: 'lengths.next', title: 'tokens, steps or seconds', keys: ['u'], hint: 'unit', ...rolloutsGroup },
  all: {
    id: 'lengths.all',
    title: 'read all rollouts for their lengths, not only a sample',
    keys: ['A'],
    hint: 'read all',
    rank: 'second',
    ...rolloutsGroup,
  },
  stop: { id: 'lengths.stop', title: 'stop reading', keys: ['esc'], hint: 'stop', palette: false, ...rolloutsGroup },
} as const satisfies CommandTable;

/** For lists and tasks of rollouts. */
export const sideCommands = {
  pair: {
    id: 'rollouts.pair',
    title: 'two marked rollouts side by side; for a task, the worst and the best',
    keys: ['='],
    hint: 'side by side',
    ...rolloutsGroup,
  },
} as const satisfies CommandTable;

/** For rollouts and their tasks. */
export const promptCommands = {
  ask: {
    id: 'prompt.ask',
    title: 'put its prompt to the base model and the checkpoint, in the chat',
    keys: ['t'],
    hint: 'ask',
    ...rolloutsGroup,
  },
} as const satisfies CommandTable;

const pair = { group: 'Side by side' } as const;

export const pairCommands = {
  next: { id: 'pair.next', title: 'next difference', keys: ['J'], hint: 'next difference', ...pair, repeats: true },
  previous: { id: 'pair.previous', title: 'previous difference', keys: ['K'], ...pair, repeats: true },
  equal: { id: 'pair.equal', title: 'show or fold equal parts', keys: ['z'], hint: 'equal', ...pair },
  swap: { id: 'pair.swap', title: 'swap the sides', keys: ['v'], ...pair },
  left: { id: 'pair.left', title: 'open the left one', keys: ['<'], hint: 'left', ...pair },
  right: { id: 'pair.right', title: 'open the right one', keys: ['>', 'enter'], hint: 'right', ...pair },
} as const satisfies CommandTable;

export const tasksCommands = {
  base: { id: 'tasks.base', title: 'compare with another run', keys: ['b'], group: 'Tasks', hint: 'compare' },
  life: {
    id: 'tasks.life',
    title: 'the task step by step, with its best answers',
    keys: ['.', ','],
    group: 'Tasks',
    hint: 'by step',
  },
  steps: { id: 'tasks.steps', title: 'only some steps of training', keys: ['#'], group: 'Tasks', hint: 'steps' },
} as const satisfies CommandTable;

export const chatCommands = {
  send: { id: 'chat.send', title: 'send', keys: ['enter'], group: 'Chat', hint: 'send', palette: false },
  leave: {
    id: 'chat.leave',
    title: 'leave the input',
    keys: ['esc'],
    group: 'Chat',
    hint: 'read',
    palette: false,
  },
  write: { id: 'chat.write', title: 'write', keys: ['i', 'enter'], group: 'Chat', hint: 'write' },
  cancel: { id: 'chat.cancel', title: 'stop the answer', keys: ['ctrl-c', 'esc'], group: 'Chat', hint: 'stop' },
  model: { id: 'chat.model', title: 'choose the model', keys: ['ctrl-o', 'm'], group: 'Chat', hint: 'model' },
  settings: {
    id: 'chat.settings',
    title: 'set the parameters',
    keys: ['ctrl-t', 't'],
    group: 'Chat',
    hint: 'parameters',
  },
  regenerate: {
    id: 'chat.regenerate',
    title: 'regenerate the last answer, in a new branch',
    keys: ['R'],
    group: 'Chat',
  },
  previousQuestion: {
    id: 'chat.previous-question',
    title: 'select the previous question',
    keys: ['K'],
    group: 'Chat',
    repeats: true,
  },
  nextQuestion: {
    id: 'chat.next-question',
    title: 'select the next question',
    keys: ['J'],
    group: 'Chat',
    repeats: true,
  },
  edit: {
    id: 'chat.edit',
    title: 'edit the selected question, in a new branch; again to give it up',
    keys: ['E'],
    group: 'Chat',
  },
  previousBranch: { id: 'chat.previous-branch', title: 'the previous branch', keys: ['['], group: 'Chat' },
  nextBranch: { id: 'chat.next-branch', title: 'the next branch', keys: [']'], group: 'Chat' },
  choose: {
    id: 'chat.choose',
    title: 'the better answer: 1 left, 2 right, 3 equal, 4 both bad; again to take it back',
    keys: ['1', '2', '3', '4'],
    group: 'Chat',
    hint: 'better',
    palette: false,
  },
  side: { id: 'chat.side', title: 'switch to the other model', keys: ['v'], group: 'Chat' },
  previousCheckpoint: {
    id: 'chat.previous-checkpoint',
    title: 'put the question to the previous deployed checkpoint',
    keys: [','],
    group: 'Chat',
  },
  nextCheckpoint: {
    id: 'chat.next-checkpoint',
    title: 'put the question to the next deployed checkpoint',
    keys: ['.'],
    group: 'Chat',
    hint: 'next checkpoint',
  },
  clear: { id: 'chat.clear', title: 'begin a new conversation', keys: ['N'], group: 'Chat' },
  history: {
    id: 'chat.history',
    title: 'continue an earlier conversation',
    keys: ['H'],
    group: 'Chat',
    hint: 'earlier',
  },
  forget: { id: 'chat.forget', title: 'delete the conversation, also from disk', keys: ['X'], group: 'Chat' },
  save: {
    id: 'chat.save',
    title: 'save the conversation, or both, as trajectories',
    keys: ['S'],
    group: 'Chat',
    writes: true,
  },
  copy: { id: 'chat.copy', title: 'copy the last answer', keys: ['y'], group: 'Chat' },
} as const satisfies CommandTable;

export const readerCommands = {
  twin: {
    id: 'trajectory.twin',
    title: 'the same task in the other run',
    keys: ['tab'],
    group: 'Trajectory',
    hint: 'other run',
  },
  nextStep: { id: 'trajectory.next-step', title: 'next step', keys: ['J'], group: 'Trajectory', repeats: true },
  previousStep: {
    id: 'trajectory.previous-step',
    title: 'previous step',
    keys: ['K'],
    group: 'Trajectory',
    repeats: true,
  },
  nextMessage: {
    id: 'trajectory.next-message',
    title: 'next message',
    keys: ['}'],
    group: 'Trajectory',
    repeats: true,
  },
  previousMessage: {
    id: 'trajectory.previous-message',
    title: 'previous message',
    keys: ['{'],
    group: 'Trajectory',
    repeats: true,
  },
  nextError: {
    id: 'trajectory.next-error',
    title: 'next error',
    keys: ['e'],
    group: 'Trajectory',
    hint: 'next error',
    repeats: true,
  },
  nextReward: {
    id: 'trajectory.next-reward',
    title: 'next step with a reward other than 0',
    keys: ['w'],
    group: 'Trajectory',
    repeats: true,
  },
  lastReward: {
    id: 'trajectory.last-reward',
    title: 'last step with a reward other than 0',
    keys: ['W'],
    group: 'Trajectory',
  },
  goToStep: { id: 'trajectory.go', title: 'go to a step by its number', keys: ['#'], group: 'Trajectory' },
  reasoning: {
    id: 'trajectory.reasoning',
    title: 'fold or unfold the reasoning',
    keys: ['z'],
    group: 'Trajectory',
    hint: 'reasoning',
  },
  tools: { id: 'trajectory.tools', title: 'fold or unfold tool calls and responses', keys: ['Z'], group: 'Trajectory' },
  foldMessage: {
    id: 'trajectory.fold-message',
    title: 'fold or unfold this message',
    keys: ['c'],
    group: 'Trajectory',
  },
  foldStep: {
    id: 'trajectory.fold-step',
    title: 'fold or unfold this step',
    keys: ['s', 'enter'],
    group: 'Trajectory',
  },
  outline: { id: 'trajectory.outline', title: 'fold or unfold all steps', keys: ['S'], group: 'Trajectory' },
  image: {
    id: 'trajectory.image',
    title: 'show the image below, or open it in the viewer of the system',
    keys: ['V'],
    group: 'Trajectory',
    hint: 'open the image',
  },
  markdown: { id: 'trajectory.markdown', title: 'show texts as Markdown, or raw', keys: ['m'], group: 'Trajectory' },
  hidden: { id: 'trajectory.hidden', title: 'show or drop hidden characters', keys: ['v'], group: 'Trajectory' },
} as const satisfies CommandTable;

const chart = { group: 'Curves' } as const;
const crosshair = { ...chart, repeats: true, palette: false } as const;

export const chartCommands = {
  left: { id: 'chart.left', title: 'crosshair to the left', keys: [','], ...crosshair },
  right: { id: 'chart.right', title: 'crosshair to the right', keys: ['.'], hint: 'crosshair', ...crosshair },
  farLeft: { id: 'chart.far-left', title: 'crosshair ten columns to the left', keys: ['<'], ...crosshair },
  farRight: { id: 'chart.far-right', title: 'crosshair ten columns to the right', keys: ['>'], ...crosshair },
  go: { id: 'chart.go', title: 'go to a step', keys: ['#'], ...chart },
  zoomIn: { id: 'chart.zoom-in', title: 'zoom in', keys: ['+'], ...chart },
  zoomOut: { id: 'chart.zoom-out', title: 'zoom out', keys: ['_'], ...chart },
  smooth: { id: 'chart.smooth', title: 'change the smoothing of the curves', keys: ['w'], ...chart },
  scale: { id: 'chart.scale', title: 'logarithmic or linear scale', keys: ['L'], ...chart },
  kinds: { id: 'chart.kinds', title: 'held-out curves, trainer curves, both, or diagnostics', keys: ['u'], ...chart },
  time: { id: 'chart.time', title: 'align runs by time or by step', keys: ['T'], ...chart },
  full: { id: 'chart.full', title: 'full height for the curves, or the usual', keys: ['f'], hint: 'full', ...chart },
  words: { id: 'chart.words', title: 'describe the curves in words', keys: ['W'], ...chart },
  reset: { id: 'chart.reset', title: 'reset zoom, crosshair and overlays', keys: ['0'], ...chart },
  grid: { id: 'chart.grid', title: 'a chart for each run, or one for all', keys: ['m'], hint: 'grid', ...chart },
} as const satisfies CommandTable;

const teaching = { group: 'Training steps' } as const;

export const teachingCommands = {
  tasks: { id: 'teaching.tasks', title: 'tasks of the step at the crosshair', keys: ['V'], hint: 'tasks', ...teaching },
  audit: { id: 'teaching.audit', title: 'audit: is the reward gamed?', keys: ['Q'], hint: 'audit', ...teaching },
  rollouts: { id: 'teaching.rollouts', title: 'rollouts of the step', keys: ['v'], hint: 'rollouts', ...teaching },
  earlier: {
    id: 'teaching.earlier',
    title: 'the previous step',
    keys: [','],
    ...teaching,
    repeats: true,
    palette: false,
  },
  later: {
    id: 'teaching.later',
    title: 'the next step',
    keys: ['.'],
    hint: 'next step',
    ...teaching,
    repeats: true,
    palette: false,
  },
} as const satisfies CommandTable;

export const uploadCommands = {
  start: {
    id: 'upload.start',
    title: 'send it, or continue where it stopped',
    keys: ['enter'],
    group: 'Upload',
    hint: 'send',
    writes: true,
  },
  agent: {
    id: 'upload.agent',
    title: 'set the agent that owns it',
    keys: ['A'],
    group: 'Upload',
    hint: 'agent',
    writes: true,
  },
  preview: { id: 'upload.preview', title: 'show the requests', keys: ['ctrl-p'], group: 'Upload', hint: 'requests' },
  cancel: {
    id: 'upload.cancel',
    title: 'stop; sent files are kept',
    keys: ['c'],
    group: 'Upload',
    hint: 'stop',
    writes: true,
  },
  startOver: {
    id: 'upload.start-over',
    title: 'upload it as a new benchmark, ignoring sent files',
    keys: ['N'],
    group: 'Upload',
    hint: 'new benchmark',
    writes: true,
  },
  discard: {
    id: 'upload.discard',
    title: 'forget the sent files, so that it cannot be resumed',
    keys: ['d'],
    group: 'Upload',
    hint: 'forget',
    writes: true,
  },
  open: { id: 'upload.open', title: 'open the uploaded resource', keys: ['enter'], group: 'Upload', hint: 'open' },
  saveFailures: {
    id: 'upload.save-failures',
    title: 'save the failed ones to a file',
    keys: ['w'],
    group: 'Upload',
    hint: 'save failures',
  },
} as const satisfies CommandTable;
