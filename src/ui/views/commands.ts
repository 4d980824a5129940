/** Commands for views that show more than a resource. */
import { commandTable } from '../../present/command.ts';

export const watchCommands = commandTable('Watch', {
  dismiss: { id: 'watch.dismiss', title: 'dismiss lines that have ended', keys: ['backspace'], hint: 'dismiss' },
  group: { id: 'watch.group', title: 'group by benchmark, by status, or not at all', keys: ['Z'] },
  fold: { id: 'watch.fold', title: 'fold or unfold the group', keys: ['z'], hint: 'fold' },
});

export const treeCommands = commandTable('Tree', {
  fold: { id: 'tree.fold', title: 'fold or unfold its branch', keys: ['z'], hint: 'fold' },
});

export const alarmCommands = commandTable('Alarms', {
  past: { id: 'alarms.past', title: "this run's alarms, now and in the past", keys: ['A'] },
});

export const inboxCommands = commandTable('Inbox', {
  dismiss: { id: 'inbox.dismiss', title: 'dismiss it', keys: ['backspace'], hint: 'dismiss', rank: 'main' },
  dismissAll: {
    id: 'inbox.dismiss-all',
    title: 'dismiss everything that the filter shows',
    keys: ['X'],
    hint: 'dismiss all',
  },
  undo: { id: 'inbox.undo', title: 'undo the last dismissal', keys: ['u'] },
});

export const compareCommands = commandTable('Comparison', {
  swap: { id: 'compare.swap', title: 'swap base and new', keys: ['v'], hint: 'swap' },
  stored: {
    id: 'compare.stored',
    title: 'back to the stored rewards',
    keys: ['R'],
    hint: 'stored rewards',
    rank: 'second',
  },
  other: { id: 'compare.other', title: "open the other run's rollout", keys: ['b'], hint: 'other run' },
  pool: {
    id: 'compare.pool',
    title: "pool a model's runs that differ only in the seed",
    keys: ['M'],
    hint: 'pool seeds',
  },
  baseline: { id: 'compare.baseline', title: 'compare the others with this run', keys: ['*'], hint: 'baseline' },
});

export const triageCommands = commandTable('Triage', {
  flag: {
    id: 'triage.flag',
    title: 'flag it: 1 good, 2 bad, 3 gamed, 4 grader broken, 5 look again, or as in the settings; again to unflag',
    keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    hint: 'flag',
    palette: false,
  },
  undo: { id: 'triage.undo', title: 'undo the last flag', keys: ['0'], palette: false },
  note: { id: 'triage.note', title: 'write a note on it', keys: ["'"] },
});

export const searchCommands = commandTable('Search', {
  texts: { id: 'texts.search', title: 'search these trajectories, as // does', keys: ['ctrl-s'] },
  stop: { id: 'texts.stop', title: 'stop the search', keys: ['esc'], hint: 'stop', palette: false },
  more: { id: 'texts.more', title: 'search more of a longer list', keys: ['A'], hint: 'search on' },
});

/** Commands on many rollouts at once. */
export const rolloutCommands = commandTable('Rollouts', {
  outcomes: {
    id: 'rollouts.outcomes',
    title: 'how they ended: failures and other outcomes by class',
    keys: ['f'],
    hint: 'failures',
    rank: 'second',
  },
  lengths: { id: 'rollouts.lengths', title: 'reward against length: tokens, steps, seconds', keys: ['L'] },
  tasks: { id: 'rollouts.tasks', title: 'the tasks: their rewards, spread and pass@k', keys: ['V'], hint: 'tasks' },
});

export const regradeCommands = commandTable('Rollouts', {
  open: { id: 'rollouts.regrade', title: 'regrade its rollouts with another grader', keys: ['R'] },
  stop: { id: 'regrade.stop', title: 'stop grading', keys: ['esc'], hint: 'stop', palette: false },
});

export const lengthCommands = commandTable('Rollouts', {
  next: { id: 'lengths.next', title: 'tokens, steps or seconds', keys: ['u'], hint: 'unit' },
  all: {
    id: 'lengths.all',
    title: 'read all rollouts for their lengths, not only a sample',
    keys: ['A'],
    hint: 'read all',
    rank: 'second',
  },
  stop: { id: 'lengths.stop', title: 'stop reading', keys: ['esc'], hint: 'stop', palette: false },
});

/** For tasks, outcomes and lengths of rollouts. */
export const stepsCommands = commandTable('Rollouts', {
  choose: { id: 'tasks.steps', title: 'only some training steps', keys: ['#'], hint: 'steps' },
});

/** For lists and tasks of rollouts. */
export const sideCommands = commandTable('Rollouts', {
  pair: {
    id: 'rollouts.pair',
    title: 'two marked rollouts side by side; for a task, the worst and the best, or the compared runs',
    keys: ['='],
    hint: 'side by side',
  },
});

/** For rollouts and their tasks. */
export const promptCommands = commandTable('Rollouts', {
  ask: {
    id: 'prompt.ask',
    title: 'send its prompt to the base model and the checkpoint, in the chat',
    keys: ['t'],
    hint: 'ask',
  },
});

export const pairCommands = commandTable('Side by side', {
  next: { id: 'pair.next', title: 'next difference', keys: ['J'], hint: 'next difference', repeats: true },
  previous: { id: 'pair.previous', title: 'previous difference', keys: ['K'], repeats: true },
  equal: { id: 'pair.equal', title: 'show or fold equal parts', keys: ['z'], hint: 'equal' },
  swap: { id: 'pair.swap', title: 'swap the sides', keys: ['v'] },
  left: { id: 'pair.left', title: 'open the left one', keys: ['<'], hint: 'left' },
  right: { id: 'pair.right', title: 'open the right one', keys: ['>', 'enter'], hint: 'right' },
  otherLeft: { id: 'pair.other-left', title: 'another rollout of the task on the left', keys: [','], repeats: true },
  otherRight: {
    id: 'pair.other-right',
    title: 'another rollout of the task on the right',
    keys: ['.'],
    hint: 'other rollout',
    repeats: true,
  },
});

export const tasksCommands = commandTable('Tasks', {
  base: { id: 'tasks.base', title: 'compare with another run', keys: ['b'], hint: 'compare' },
  life: { id: 'tasks.life', title: 'the task step by step, with its best answers', keys: ['.', ','], hint: 'by step' },
});

export const chatCommands = commandTable('Chat', {
  send: { id: 'chat.send', title: 'send', keys: ['enter'], hint: 'send', palette: false },
  leave: { id: 'chat.leave', title: 'leave the input', keys: ['esc'], hint: 'read', palette: false },
  write: { id: 'chat.write', title: 'write', keys: ['i', 'enter'], hint: 'write' },
  cancel: { id: 'chat.cancel', title: 'stop the answer', keys: ['ctrl-c', 'esc'], hint: 'stop' },
  model: { id: 'chat.model', title: 'choose the model', keys: ['ctrl-o', 'm'], hint: 'model' },
  settings: { id: 'chat.settings', title: 'set the parameters', keys: ['ctrl-t', 't'], hint: 'parameters' },
  regenerate: { id: 'chat.regenerate', title: 'regenerate the last answer, in a new branch', keys: ['R'] },
  previousQuestion: { id: 'chat.previous-question', title: 'select the previous question', keys: ['K'], repeats: true },
  nextQuestion: { id: 'chat.next-question', title: 'select the next question', keys: ['J'], repeats: true },
  edit: {
    id: 'chat.edit',
    title: 'edit the selected question, in a new branch; again to discard the edit',
    keys: ['E'],
  },
  previousBranch: { id: 'chat.previous-branch', title: 'the previous branch', keys: ['['] },
  nextBranch: { id: 'chat.next-branch', title: 'the next branch', keys: [']'] },
  choose: {
    id: 'chat.choose',
    title: 'the better answer: 1 left, 2 right, 3 equal, 4 both bad; again to take it back',
    keys: ['1', '2', '3', '4'],
    hint: 'better',
    palette: false,
  },
  side: { id: 'chat.side', title: 'switch to the other model', keys: ['v'] },
  previousCheckpoint: {
    id: 'chat.previous-checkpoint',
    title: 'ask the previous deployed checkpoint',
    keys: [','],
  },
  nextCheckpoint: {
    id: 'chat.next-checkpoint',
    title: 'ask the next deployed checkpoint',
    keys: ['.'],
    hint: 'next checkpoint',
  },
  clear: { id: 'chat.clear', title: 'begin a new conversation', keys: ['N'] },
  history: { id: 'chat.history', title: 'continue an earlier conversation', keys: ['H'], hint: 'earlier' },
  forget: { id: 'chat.forget', title: 'delete the conversation, also from disk', keys: ['X'] },
  save: { id: 'chat.save', title: 'save the conversation, or both, as trajectories', keys: ['S'], writes: true },
  copy: { id: 'chat.copy', title: 'copy the last answer', keys: ['y'] },
});

export const readerCommands = commandTable('Trajectory', {
  twin: { id: 'trajectory.twin', title: 'the same task in the other run', keys: ['tab'], hint: 'other run' },
  nextStep: { id: 'trajectory.next-step', title: 'next step', keys: ['J'], repeats: true },
  previousStep: { id: 'trajectory.previous-step', title: 'previous step', keys: ['K'], repeats: true },
  nextMessage: { id: 'trajectory.next-message', title: 'next message', keys: ['}'], repeats: true },
  previousMessage: { id: 'trajectory.previous-message', title: 'previous message', keys: ['{'], repeats: true },
  nextError: { id: 'trajectory.next-error', title: 'next error', keys: ['e'], hint: 'next error', repeats: true },
  nextReward: {
    id: 'trajectory.next-reward',
    title: 'next step with a reward other than 0',
    keys: ['w'],
    repeats: true,
  },
  lastReward: { id: 'trajectory.last-reward', title: 'last step with a reward other than 0', keys: ['W'] },
  goToStep: { id: 'trajectory.go', title: 'go to a step by its number', keys: ['#'] },
  steps: { id: 'trajectory.steps', title: 'show or hide the list of steps', keys: ['b'], hint: 'steps' },
  reasoning: { id: 'trajectory.reasoning', title: 'fold or unfold the reasoning', keys: ['z'], hint: 'reasoning' },
  tools: { id: 'trajectory.tools', title: 'fold or unfold tool calls and responses', keys: ['Z'] },
  foldMessage: {
    id: 'trajectory.fold-message',
    title: 'fold or unfold this message; system messages in every trajectory',
    keys: ['c'],
  },
  foldStep: { id: 'trajectory.fold-step', title: 'fold or unfold this step', keys: ['s', 'enter'] },
  outline: { id: 'trajectory.outline', title: 'fold or unfold all steps', keys: ['S'] },
  image: {
    id: 'trajectory.image',
    title: "show the image below, or open it in the system's viewer",
    keys: ['V'],
    hint: 'open the image',
  },
  markdown: { id: 'trajectory.markdown', title: 'show text as Markdown, or raw', keys: ['m'] },
  hidden: { id: 'trajectory.hidden', title: 'show or drop hidden characters', keys: ['v'] },
});

const crosshair = { repeats: true, palette: false } as const;

export const chartCommands = commandTable('Curves', {
  left: { id: 'chart.left', title: 'crosshair to the left', keys: [','], ...crosshair },
  right: { id: 'chart.right', title: 'crosshair to the right', keys: ['.'], hint: 'crosshair', ...crosshair },
  farLeft: { id: 'chart.far-left', title: 'crosshair ten columns to the left', keys: ['<'], ...crosshair },
  farRight: { id: 'chart.far-right', title: 'crosshair ten columns to the right', keys: ['>'], ...crosshair },
  go: { id: 'chart.go', title: 'go to a step', keys: ['#'] },
  zoomIn: { id: 'chart.zoom-in', title: 'zoom in', keys: ['+'] },
  zoomOut: { id: 'chart.zoom-out', title: 'zoom out', keys: ['_'] },
  smooth: { id: 'chart.smooth', title: 'change the smoothing of the curves', keys: ['w'] },
  scale: { id: 'chart.scale', title: 'logarithmic or linear scale', keys: ['L'] },
  kinds: { id: 'chart.kinds', title: 'held-out curves, trainer curves, both, or diagnostics', keys: ['u'] },
  time: { id: 'chart.time', title: 'align runs by time or by step', keys: ['T'] },
  full: { id: 'chart.full', title: 'full or normal height for the curves', keys: ['f'], hint: 'full' },
  words: { id: 'chart.words', title: 'describe the curves in words', keys: ['W'] },
  reset: { id: 'chart.reset', title: 'reset zoom, crosshair and overlays', keys: ['0'] },
  grid: { id: 'chart.grid', title: 'a chart for each run, or one for all', keys: ['m'], hint: 'grid', rank: 'follow' },
});

export const teachingCommands = commandTable('Training steps', {
  tasks: { id: 'teaching.tasks', title: 'tasks of the step at the crosshair', keys: ['V'], hint: 'tasks' },
  audit: { id: 'teaching.audit', title: 'audit: is the reward gamed?', keys: ['Q'], hint: 'audit' },
  rollouts: { id: 'teaching.rollouts', title: 'rollouts of the step', keys: ['v'], hint: 'rollouts' },
  earlier: { id: 'teaching.earlier', title: 'the previous step', keys: [','], repeats: true, palette: false },
  later: {
    id: 'teaching.later',
    title: 'the next step',
    keys: ['.'],
    hint: 'next step',
    repeats: true,
    palette: false,
  },
});

export const uploadCommands = commandTable('Upload', {
  start: {
    id: 'upload.start',
    title: 'send it, or continue where it stopped',
    keys: ['enter'],
    hint: 'send',
    writes: true,
  },
  agent: { id: 'upload.agent', title: 'set the agent that owns it', keys: ['A'], hint: 'agent', writes: true },
  preview: { id: 'upload.preview', title: 'show the requests', keys: ['ctrl-p'], hint: 'requests' },
  cancel: { id: 'upload.cancel', title: 'stop; sent files are kept', keys: ['c'], hint: 'stop', writes: true },
  startOver: {
    id: 'upload.start-over',
    title: 'upload it as a new benchmark, ignoring sent files',
    keys: ['N'],
    hint: 'new benchmark',
    writes: true,
  },
  discard: {
    id: 'upload.discard',
    title: 'forget the sent files, so that it cannot be resumed',
    keys: ['d'],
    hint: 'forget',
    writes: true,
  },
  open: { id: 'upload.open', title: 'open the uploaded resource', keys: ['enter'], hint: 'open' },
  saveFailures: {
    id: 'upload.save-failures',
    title: 'save the failed ones to a file',
    keys: ['w'],
    hint: 'save failures',
  },
});
