/** Reports on several evaluation runs of a benchmark: the verdict, the tasks, and the worst regressions. */
import { type Side, sides } from '../base/sides.ts';
import { mean } from '../base/statistics.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { type Alignment, align, messagesOf } from '../present/alignment.ts';
import { type Column, plainColumn } from '../present/column.ts';
import { describeNotesOf, type NotesById } from '../present/notes.ts';
import { compact, isEmpty } from '../present/other-fields.ts';
import type { ReportBlock } from '../present/report.ts';
import { type SideLine, sideBySide } from '../present/side-by-side.ts';
import { reaches } from '../present/statistics/tasks.ts';
import {
  type ComparedRun,
  type ComparedTask,
  comparedRuns,
  compareTasks,
  rolloutsToShow,
  unlistedTask,
} from '../queries/compare.ts';
import type { AnnotatedPage } from '../queries/lists/list-source.ts';
import { ratedRewards, valuesOf } from '../queries/run-rewards.ts';
import { readAnswerEnds } from '../resources/answer-ends.ts';
import {
  comparability,
  compareRuns,
  comparisonColumns,
  comparisonFacts,
  comparisonOptions,
} from '../resources/comparison.ts';
import {
  describeFamilyIntervals,
  type Grid,
  gridColumns,
  gridOf,
  gridTasks,
  gridVerdicts,
  taskColumns,
} from '../resources/comparison-grid.ts';
import { describeModel } from '../resources/models.ts';
import { namedRun } from '../resources/run-places.ts';
import { runFacts } from '../resources/runs.ts';
import { counted, difference, reward } from '../text/numbers.ts';
import { readInFull } from './in-full.ts';
import {
  type Blocks,
  firstTasks,
  flaggedRollouts,
  imagesOf,
  longText,
  madeBy,
  notesIn,
  type Report,
  type ReportContext,
  type ReportOptions,
  rewardBars,
  table,
  transcripts,
  width,
  withBenchmarkName,
} from './report.ts';

/** A change of verdict: most of a task's rollouts pass in only one of the runs. */
type Flip = 'lost' | 'gained' | undefined;

function flipOf({ rollouts }: ComparedTask, passAt: number): Flip {
  const [before, after] = sides.map(side => {
    const rated = ratedRewards(rollouts[side]);
    return rated.length === 0 ? undefined : rated.filter(each => reaches(each, passAt)).length * 2 > rated.length;
  });
  if (before === undefined || after === undefined || before === after) return undefined;
  return before ? 'lost' : 'gained';
}

/** Lost tasks first, then gained ones, then the others; within each group, the largest loss first. */
function inOrder(tasks: readonly ComparedTask[], passAt: number): readonly ComparedTask[] {
  const rank = (task: ComparedTask): number => ['lost', 'gained', undefined].indexOf(flipOf(task, passAt));
  const change = ({ difference: by }: ComparedTask): number => by ?? Number.POSITIVE_INFINITY;
  return tasks.toSorted((one, other) => {
    const [left, right] = [change(one), change(other)];
    return rank(one) - rank(other) || (left === right ? 0 : left - right);
  });
}

/** The fields of a run that are not settings: they identify it or contain its result. */
const noSetting =
  /^(?:(?!agent_|parent_checkpoint_|training_run_).*_id|display_name|model_slug|status|failure|warnings|ignored_options|.*_at|reward_.*|.*_rollouts)$/;

/** A run's settings, including its options under their own names. */
function settingsOf(run: EvalRun): ReadonlyMap<string, string> {
  const { options, ...fields } = run;
  const all = [...Object.entries(fields).filter(([name]) => !noSetting.test(name)), ...Object.entries(options ?? {})];
  return new Map(all.flatMap(([name, value]) => (isEmpty(value) ? [] : [[name, compact(value)] as const])));
}

/** The settings in which the runs differ. */
function* settings(runs: readonly EvalRun[], names: readonly string[]): Generator<ReportBlock> {
  const all = runs.map(settingsOf);
  const different = [...new Set(all.flatMap(each => [...each.keys()]))].filter(
    name => new Set(all.map(each => each.get(name))).size > 1,
  );
  yield { kind: 'heading', text: 'Settings in which they differ' };
  if (different.length === 0) yield { kind: 'words', text: 'None that the service reports.' };
  else
    yield {
      kind: 'table',
      titles: ['setting', ...names],
      rows: different.map(name => [name.replaceAll('_', ' '), ...all.map(each => each.get(name))]),
    };
}

/** A line of two aligned transcripts, as in a unified diff. */
function lineText({ kind, left, right }: SideLine): string {
  const text = (left ?? right)?.text ?? '';
  if (kind === 'head') return `  [${text}]`;
  if (kind === 'blank') return '';
  return `${kind === 'equal' ? ' ' : left ? '-' : '+'} ${text}`;
}

function describeDifference({ pairs, first, differing }: Alignment): string {
  const at = pairs[first]?.left ?? pairs[first]?.right;
  if (!at) return 'Their messages do not differ.';
  const place = at.step === Number.MAX_SAFE_INTEGER ? 'the rewards' : `step ${at.number}, ${at.role}`;
  return `They first differ at ${place}; ${differing} of ${counted(pairs.length, 'place')} differ.`;
}

/** Compares two rollouts of a task: the worst of the worse run, and the best of the other run. */
async function* changedTask(task: ComparedTask, names: Record<Side, string>, context: ReportContext): Blocks {
  const { base, new: fresh, difference: by } = task;
  yield {
    kind: 'heading',
    text: `${task.task_id} · ${difference(by)} · ${reward(base)} to ${reward(fresh)}`,
  };
  const opened = rolloutsToShow(task);
  const ids = sides.map(side => opened[side]?.trajectory_id);
  const read = [];
  for (const [index, side] of sides.entries()) {
    const id = ids[index];
    const trajectory = id === undefined ? undefined : await readInFull(id, context);
    if (trajectory instanceof Error) context.note(`Left out: ${id}: ${trajectory.message}`);
    if (trajectory && !(trajectory instanceof Error)) read.push(trajectory);
    else
      yield {
        kind: 'words',
        text: `The rollout of ${names[side]} could not be read: ${trajectory?.message ?? 'it has no id'}`,
      };
  }
  const [left, right] = read;
  if (!left || !right) return;
  const alignment = align(messagesOf(left), messagesOf(right));
  yield { kind: 'words', text: describeDifference(alignment) };
  const { lines } = sideBySide(alignment, { width, columns: 1, all: true });
  const [before, after] = [left, right].map(each => `${each.trajectory_id}, reward ${reward(each.reward)}`);
  const text = [`- ${names.base}: ${before}`, `+ ${names.new}: ${after}`, '', ...lines.map(lineText)].join('\n');
  yield longText('both transcripts', text, `benchtop get ${left.trajectory_id} and ${right.trajectory_id}`);
  yield* imagesOf(`images of ${names.base}`, left);
  yield* imagesOf(`images of ${names.new}`, right);
}

/** The tasks with the largest losses and gains, with their transcripts. */
async function* changes(
  tasks: readonly ComparedTask[],
  names: Record<Side, string>,
  { worst = 3, best = 1 }: ReportOptions,
  context: ReportContext,
): Blocks {
  const changed = tasks.filter(({ difference: by }) => by !== undefined && by !== 0);
  const ascending = changed.toSorted((one, other) => (one.difference ?? 0) - (other.difference ?? 0));
  const losses = ascending.filter(({ difference: by = 0 }) => by < 0);
  const gains = ascending.filter(({ difference: by = 0 }) => by > 0).reverse();
  for (const [title, all, most] of [
    ['Regressions', losses, worst],
    ['Improvements', gains, best],
  ] as const) {
    if (most === 0) continue;
    const shown = all.slice(0, most);
    const left = shown.length < all.length ? `, the ${shown.length} largest in full` : '';
    yield { kind: 'heading', text: `${title} of ${names.new}: ${counted(all.length, 'task')}${left}` };
    for (const task of shown) yield* changedTask(task, names, context);
  }
}

/** The tasks of two runs; changes of verdict come first. */
function* taskTable(tasks: readonly ComparedTask[], passAt: number): Generator<ReportBlock> {
  const flips = tasks.map(task => flipOf(task, passAt));
  const [lost, gained] = (['lost', 'gained'] as const).map(flip => flips.filter(each => each === flip).length);
  const flip: Column<ComparedTask> = plainColumn('flip', 'FLIP', 6, task => flipOf(task, passAt), { ifAny: true });
  yield { kind: 'heading', text: 'Tasks, flips first' };
  const passes = `A task passes if more than half of its rollouts have a reward of at least ${reward(passAt)}`;
  yield { kind: 'words', text: `${passes}: ${lost} lost, ${gained} gained.` };
  const [task, ...others] = comparisonColumns;
  yield* firstTasks(inOrder(tasks, passAt), task ? [task, flip, ...others] : others);
}

/**
 * A report that compares several runs of one benchmark with the first of them.
 *
 * @param runs at least two
 * @throws Error for runs of different benchmarks
 */
export function comparisonReport(runs: readonly EvalRun[], options: ReportOptions, context: ReportContext): Report {
  const { why } = comparability(runs.map(namedRun));
  if (why !== undefined) throw new Error(why);
  const names = runs.map(run => run.display_name || run.eval_run_id);
  const [base = '', ...others] = names;
  // The table names all runs.
  const title = `${others.length > 2 ? `${others.length} runs` : others.join(', ')} compared with ${base}`;
  return { title, blocks: comparisonBlocks(title, runs, names, options, context) };
}

async function* comparisonBlocks(
  title: string,
  runs: readonly EvalRun[],
  names: readonly string[],
  options: ReportOptions,
  context: ReportContext,
): Blocks {
  const by = comparisonOptions(context.compare);
  const named = runs.map((run, index) => ({
    id: run.eval_run_id,
    name: names[index] ?? '',
    model: describeModel(run, true) || undefined,
  }));
  const { items, ...page } = await comparedRuns(named).readPage({ ...context, query: {} });
  const ends = await readAnswerEnds(
    items.map(({ id }) => [id]),
    context,
    context.note,
  );
  yield { kind: 'title', text: title };
  const { note } = comparability(runs.map(namedRun));
  if (note !== undefined) yield { kind: 'words', text: `${note}.` };
  const notes = notesIn(context);
  const [first, second] = runs;
  const [base, ...others] = items;
  const tasksOf = (fresh: ComparedRun): readonly ComparedTask[] => (base ? compareTasks(base.read, fresh.read) : []);
  const [fresh] = others;
  if (first && second && fresh && others.length === 1) {
    const tasks = tasksOf(fresh);
    for (const text of describeNotesOf(
      items.map(({ name, id }) => [name, [id]]),
      notes,
    ))
      yield { kind: 'words', text };
    yield { kind: 'facts', facts: comparisonFacts(first, second, compareRuns(tasks, by, ends)) };
    yield* leftOut(page);
    yield* taskTable(
      tasks.filter(({ task_id }) => task_id !== unlistedTask),
      by.range[1],
    );
  } else yield* gridBlocks(items, page, gridOf(items, first?.eval_run_id ?? '', by, ends), by.confidence, notes);
  for (const { name, read } of items) {
    const values = valuesOf(read.rewards);
    yield { kind: 'heading', text: `Rewards of ${name}: mean ${reward(mean(values))} over ${values.length}` };
    yield rewardBars(values);
  }
  yield* settings(runs, names);
  const parts = items.map(({ name, read }) => flaggedRollouts(`Flagged in ${name}`, read.rewards, notes));
  yield* transcripts(parts, notes, context);
  for (const run of others) yield* changes(tasksOf(run), { base: names[0] ?? '', new: run.name }, options, context);
  for (const [index, run] of runs.entries()) {
    yield { kind: 'heading', text: `Run: ${names[index]}` };
    yield { kind: 'facts', facts: runFacts(run).map(fact => withBenchmarkName(fact, context)) };
  }
  yield madeBy();
}

/** Compares more than two runs: their means, their verdicts and the tasks. */
function* gridBlocks(
  items: readonly ComparedRun[],
  page: LeftOut,
  grid: Grid,
  confidence: number,
  notes: NotesById,
): Generator<ReportBlock> {
  yield table(grid.rows, gridColumns(grid.confidence));
  yield { kind: 'words', text: describeFamilyIntervals(grid, confidence) };
  for (const { letter, name, words } of gridVerdicts(grid, notes))
    yield { kind: 'words', text: `${letter} ${name}: ${words}` };
  yield* leftOut(page);
  yield { kind: 'heading', text: 'Tasks, the largest spread first' };
  yield* firstTasks(gridTasks(items), taskColumns(grid.rows));
}

type LeftOut = Pick<AnnotatedPage<ComparedRun>, 'dropped' | 'note'>;

/** Describes rewards that cannot be compared. */
function* leftOut({ dropped, note }: LeftOut): Generator<ReportBlock> {
  if (dropped > 0) yield { kind: 'words', text: `${counted(dropped, 'reward')} could not be read: not counted here.` };
  if (note) yield { kind: 'words', text: `${note}.` };
}
