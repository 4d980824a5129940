/** `benchtop report`: a run, a training run, a dataset or the flagged trajectories as one file to read or to attach. */
import { errorMessage } from '../base/errors.ts';
import { histogram } from '../base/statistics.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { type Column, cellText, exportColumns } from '../present/column.ts';
import { noteFacts } from '../present/notes.ts';
import { outcomeClasses } from '../present/outcome-classes.ts';
import { type ReportBlock, reportHtml, reportMarkdown } from '../present/report.ts';
import { sortRows } from '../present/sort.ts';
import { intervalOfMean } from '../present/statistics/mean-and-count.ts';
import { transcriptText } from '../present/transcript-lines.ts';
import { heldOutMeanOf } from '../queries/held-out.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { trainingCurveWords } from '../resources/curve-words.ts';
import { outcomeColumns } from '../resources/outcomes.ts';
import { certaintyWords, runMeanOf } from '../resources/run-mean.ts';
import { groupColumns, groupsOf, groupsWords, taskColumn } from '../resources/task-groups.ts';
import { trajectoryFacts } from '../resources/trajectories.ts';
import { isGone, isNotOffered, ServiceError } from '../service/errors.ts';
import { type Note, saysSomething } from '../store/notes.ts';
import { counted, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { writeOutput } from './output-file.ts';
import { type FoundRollouts, readRollouts } from './rollouts.ts';
import type { CommandInput } from './table/commands.ts';
import { version } from './version.ts';
import { type CommandContext, withService } from './with-service.ts';

type Flags = CommandInput<'report'>['flags'];
type Blocks = AsyncGenerator<ReportBlock, void>;

/** Tasks in the table, worst first; transcripts under a heading; bins of the distribution. */
const mostTasks = 100;
const mostTranscripts = 50;
const mostBins = 10;
/** Columns of a transcript. */
const width = 100;
/** Characters of a transcript; a longer one is cut, with a note, because a browser cannot hold it. */
const longestTranscript = 4 * 1024 * 1024;

function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): ReportBlock {
  const shown = columns.filter(({ ifAny, value }) => !ifAny || rows.some(row => value(row) !== undefined));
  return {
    kind: 'table',
    titles: exportColumns(shown).map(({ name }) => name),
    rows: rows.map(row => shown.map(column => cellText(column, row))),
  };
}

/** The curves of a training run, also in words. */
async function* curves(id: string, context: CommandContext): Blocks {
  const range = context.config.preferences.compare.rewardRange;
  try {
    const [heldOut, trainer] = await Promise.all([
      heldOutRewardsQuery(id, true).read(context),
      trainerRewardsQuery(id, true).read(context),
    ]);
    yield { kind: 'heading', text: 'Curves' };
    const held = heldOut.flatMap(heldOutMeanOf).map(point => {
      const { samples = 0, expected = samples } = point;
      const interval = intervalOfMean(point.reward, samples, Math.max(0, expected - samples), range);
      return { x: point.step, y: point.reward, low: interval?.low, high: interval?.high };
    });
    const trained = trainer.flatMap(({ step, trainer_reward: y }) => (y == null ? [] : { x: step, y }));
    const inOrder = <Point extends { readonly x: number }>(points: readonly Point[]): Point[] =>
      points.toSorted((left, right) => left.x - right.x);
    const named = [
      { name: 'held-out reward, with 95% limits', points: inOrder(held) },
      { name: 'trainer reward', points: inOrder(trained) },
    ];
    yield { kind: 'curves', curves: named.filter(({ points }) => points.length > 0) };
    for (const text of trainingCurveWords(heldOut, trainer, range)) yield { kind: 'words', text };
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    yield { kind: 'words', text: 'The service does not list the curves of training runs.' };
  }
}

/** The rewards of rollouts, how they ended, and the worst tasks. */
function* summary(
  { rows, total, row, resource }: FoundRollouts,
  context: CommandContext,
): Generator<ReportBlock, void> {
  const range = context.config.preferences.compare.rewardRange;
  const values = rows.flatMap(each => each.reward ?? []);
  yield { kind: 'heading', text: 'Rewards' };
  const isRun = resource.names[0] === 'runs';
  const ofRun = runMeanOf(rows, { status: (row as EvalRun).status ?? undefined, total, range });
  const mean = values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
  const certainty = isRun ? certaintyWords(ofRun, mean) : '';
  const without = (total ?? rows.length) - values.length;
  const words = [
    `mean ${reward(mean)} of ${counted(values.length, 'reward')}`,
    certainty,
    without > 0 ? `${without} without a reward` : '',
  ];
  yield { kind: 'words', text: words.filter(Boolean).join(', ') };
  const bins = histogram(values, mostBins);
  const label = (low: number, high: number): string => (low === high ? reward(low) : `${reward(low)}..${reward(high)}`);
  yield { kind: 'bars', bars: bins.map(({ low, high, count }) => ({ label: label(low, high), count })) };
  yield { kind: 'heading', text: 'How they ended' };
  yield table(outcomeClasses(rows), outcomeColumns);
  const tasks = groupsOf(rows, { total, range, passAt: undefined, base: undefined });
  const groups = sortRows(tasks.groups, each => each.mean, false);
  if (groups.length === 0) return;
  yield { kind: 'heading', text: 'Tasks, worst first' };
  for (const text of groupsWords(tasks)) yield { kind: 'words', text };
  yield table(groups.slice(0, mostTasks), [taskColumn, ...groupColumns(({ scores }) => scores.map(reward).join(' '))]);
  if (groups.length > mostTasks) yield { kind: 'words', text: `${groups.length - mostTasks} more tasks are left out.` };
}

/** A trajectory in full, with its flags and notes. */
async function* transcript(id: string, notes: readonly Note[], context: CommandContext, io: CommandIo): Blocks {
  let trajectory: Trajectory;
  try {
    trajectory = await trajectoryQuery(id).read(context);
  } catch (error) {
    if (!isGone(error) && !(error instanceof ServiceError && /^answer_too_/.test(error.code ?? ''))) throw error;
    io.note(clean`Left out: ${id}: ${errorMessage(error)}`);
    yield { kind: 'words', text: `${id} could not be read: ${errorMessage(error)}` };
    return;
  }
  const { task_id, status } = trajectory;
  const flags = [...new Set(notes.flatMap(({ flag }) => flag || []))];
  const title = [task_id ?? id, `reward ${reward(trajectory.reward)}`, status, flags.join(', '), task_id ? id : ''];
  yield { kind: 'heading', text: title.filter(Boolean).join(' · ') };
  yield { kind: 'facts', facts: [...noteFacts(notes), ...trajectoryFacts(trajectory)] };
  const text = transcriptText(trajectory, width);
  const hidden = text.length - longestTranscript;
  const words = hidden > 0 ? `\n… ${counted(hidden, 'character')} more: benchtop get ${id}\n` : '';
  yield { kind: 'text', title: 'transcript', text: `${text.slice(0, longestTranscript)}${words}` };
}

/** The trajectories to print: flagged, worst, best. */
function chosenIds(rows: readonly Trajectory[], notes: ReadonlyMap<string, readonly Note[]>, flags: Flags) {
  const rated = rows.filter(each => each.reward != null);
  const ascending = rated.toSorted((left, right) => (left.reward ?? 0) - (right.reward ?? 0));
  const { worst = 3, best = 3 } = flags;
  const flagged = rows.filter(({ trajectory_id }) => notes.has(trajectory_id));
  const parts = [
    ['Flagged', flagged],
    ['Worst', ascending.slice(0, worst)],
    ['Best', best === 0 ? [] : ascending.slice(-best).reverse()],
  ] as const;
  return parts.map(([name, of]) => ({ name, ids: of.map(({ trajectory_id }) => trajectory_id) }));
}

/** The notes on trajectories, by their id. */
function notesIn({ memory }: CommandContext): ReadonlyMap<string, readonly Note[]> {
  const all = (memory.notes.all() ?? []).filter(note => note.kind === 'trajectory' && saysSomething(note));
  return Map.groupBy(all, ({ id }) => id);
}

/** Prints each trajectory once. One that a part leaves out may still be in a later part. */
async function* transcripts(
  parts: readonly { readonly name: string; readonly ids: readonly string[] }[],
  notes: ReadonlyMap<string, readonly Note[]>,
  context: CommandContext,
  io: CommandIo,
): Blocks {
  const printed = new Set<string>();
  for (const { name, ids: all } of parts) {
    const ids = all.filter(id => !printed.has(id));
    const left = ids.length > mostTranscripts ? `, the first ${mostTranscripts} in full` : '';
    if (ids.length > 0)
      yield { kind: 'heading', text: `${name}: ${counted(ids.length, 'trajectory', 'trajectories')}${left}` };
    for (const id of ids.slice(0, mostTranscripts)) {
      printed.add(id);
      yield* transcript(id, notes.get(id) ?? [], context, io);
    }
  }
}

async function* blocksOf(
  found: FoundRollouts,
  title: string,
  flags: Flags,
  context: CommandContext,
  io: CommandIo,
): Blocks {
  const { resource, row, id, rows } = found;
  yield { kind: 'title', text: title };
  const reading = { ...context, compare: context.config.preferences.compare };
  const whole = (await resource.wholeFacts?.(row, reading)) ?? { facts: resource.facts(row) };
  yield { kind: 'facts', facts: whole.facts };
  if (resource.names[0] === 'training') yield* curves(id, context);
  if (rows.length > 0) yield* summary(found, context);
  const notes = notesIn(context);
  yield* transcripts(chosenIds(rows, notes, flags), notes, context, io);
  yield { kind: 'words', text: madeBy() };
}

async function* flaggedBlocks(title: string, context: CommandContext, io: CommandIo): Blocks {
  const notes = notesIn(context);
  if (notes.size === 0) throw new CommandError('No trajectory has a flag or a note.', exitCodes.notFound);
  yield { kind: 'title', text: title };
  yield* transcripts([{ name: 'Flagged', ids: [...notes.keys()] }], notes, context, io);
  yield { kind: 'words', text: madeBy() };
}

const madeBy = (): string => `Written by benchtop ${version} at ${new Date().toISOString()}.`;

export async function run({ args: [word], flags }: CommandInput<'report'>, io: CommandIo): Promise<number> {
  const { flagged, output, format = output?.endsWith('.md') ? 'markdown' : 'html' } = flags;
  if ((word === undefined) !== (flagged === true))
    throw new CommandError('Name a run, a training run or a dataset, or give --flagged.');
  return withService(flags, io, async context => {
    const found =
      word === undefined ? undefined : await readRollouts(word, ['runs', 'training', 'datasets'], context, io);
    const name = found && (found.resource.label?.(found.row) || found.id);
    const title = name ?? 'Flagged trajectories';
    const blocks = found ? blocksOf(found, title, flags, context, io) : flaggedBlocks(title, context, io);
    const parts = format === 'html' ? reportHtml(title, blocks) : reportMarkdown(blocks);
    const path = await writeOutput(output, parts, io);
    if (path !== undefined) io.note(clean`The report is in ${path}`);
    return exitCodes.done;
  });
}
