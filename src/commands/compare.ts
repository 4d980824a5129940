/**
 * `benchtop compare`: compares two evaluation runs task by task. The exit code is the verdict on the new one.
 */
import { enumerated } from '../base/enumerated.ts';
import type { Side } from '../base/sides.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, isUnknown, statusMeaning } from '../contract/status.ts';
import { type Column, cellText, withoutEmpty } from '../present/column.ts';
import { type Fact, withValue } from '../present/fact.ts';
import { describeNotesOf } from '../present/notes.ts';
import { type ComparisonOptions, ofSameRun } from '../present/statistics/comparison.ts';
import type { TaskMean } from '../present/statistics/task-mean.ts';
import { isBeyond, type Range } from '../present/statistics/tasks.ts';
import { type ComparedRun, comparedRuns, compareTasks } from '../queries/compare.ts';
import type { ReadRewards } from '../queries/run-extent.ts';
import { meanOfRewards } from '../queries/run-rewards.ts';
import { type AnswerEnds, answerEndsFields, readAnswerEnds } from '../resources/answer-ends.ts';
import {
  boundsField,
  comparability,
  compareRuns,
  comparisonFacts,
  type NamedComparison,
} from '../resources/comparison.ts';
import {
  describeFamilyIntervals,
  type GridRow,
  gridColumns,
  gridOf,
  gridTasks,
  gridVerdicts,
  maxCompared,
  taskColumns,
} from '../resources/comparison-grid.ts';
import { describeModel } from '../resources/models.ts';
import { describeSameSeed, idsOf, optionsOf, pooledRuns, poolingProblem } from '../resources/pools.ts';
import { withTrainingNames } from '../resources/run-columns.ts';
import { namedRun } from '../resources/run-places.ts';
import { runs } from '../resources/runs.ts';
import { training } from '../resources/training.ts';
import { regradedRuns, rolloutsIn } from '../rollouts/regrade.ts';
import { describeGrader, describeRewardsBy } from '../rollouts/regraders.ts';
import { naming } from '../service/errors.ts';
import { type Note, savedNotes } from '../store/notes.ts';
import { rememberedAt } from '../store/seen.ts';
import { exportRows } from '../text/export.ts';
import { counted, parseRange } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, isNone, lookUp, nameOf } from './find.ts';
import { graderIn, regradeNoting } from './grader.ts';
import type { CommandIo } from './io.ts';
import { factRows, lineText, printRecord, printsRecord, rowsText } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

const markdownFacts = (facts: readonly Fact[]): string =>
  exportRows('markdown', facts, [
    { name: 'comparison', value: ({ label }) => label },
    { name: 'result', value: ({ value }) => lineText(value) },
  ]);

/** A Markdown table with the heads and the texts of the table on screen. */
const markdownText = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string =>
  exportRows(
    'markdown',
    rows,
    withoutEmpty(columns, rows).map(column => ({ name: column.title, value: row => lineText(cellText(column, row)) })),
  );

type FoundRun = Found<EvalRun>;

const isUnreported = ({ row }: FoundRun): boolean =>
  !hasEnded(row.status) && (!row.status || rememberedAt(row) !== undefined);

/** Notes which runs have no status, unless --ended treats them as ended. */
function noteUnreported(runs: readonly FoundRun[], ended: boolean, { note }: CommandIo): void {
  const open = [...new Set(runs.filter(isUnreported).map(({ id }) => id))];
  if (open.length === 0 || ended) return;
  const [words, whose] = [enumerated(open), open.length === 1 ? 'its' : 'their'];
  note(clean`The service reports no status for ${words}: comparing ${whose} rewards so far.`);
}

/** Notes how a run's status affects its rewards. */
function checkStatus(found: FoundRun, { note }: CommandIo): void {
  const { id, row } = found;
  const { status } = row;
  if (hasEnded(status)) {
    if (statusMeaning(status ?? '') !== 'success') note(clean`${id} ended as ${status}: rewards may be missing.`);
  } else if (!status || isUnreported(found)) return;
  else if (isUnknown(status))
    note(clean`benchtop does not know the status ${status} of ${id}: comparing its rewards so far.`);
  else {
    const words = clean`${id} is ${status}: comparing its rewards so far; missing ones count as the lowest and as the highest.`;
    note(clean`${words} benchtop watch ${id} waits for it to end.`);
  }
}

/** A run's model, checkpoint and step. */
const trainedFields = (run: EvalRun) => ({
  display_name: run.display_name ?? null,
  base_model_slug: run.base_model_slug ?? null,
  parent_checkpoint_id: run.parent_checkpoint_id ?? null,
  training_run_id: run.training_run_id ?? null,
  step: run.step ?? null,
});

/** A run, or the first of several pooled runs. */
interface Compared extends FoundRun {
  readonly ids: readonly string[];
  readonly name: string;
}

/** The runs to compare. With --pool, runs that differ only by seed become one. @throws CommandError */
function comparedOf(found: readonly FoundRun[], pool: boolean | undefined, { note }: CommandIo): readonly Compared[] {
  const named = found.map(({ row }) => namedRun(row));
  const runs = pool ? pooledRuns(named) : named;
  const problem = pool ? poolingProblem(named) : undefined;
  if (problem !== undefined && runs.length === 1) throw new CommandError(`${problem}.`, exitCodes.failed);
  for (const words of [pool && describeSameSeed(named), problem]) if (words) note(`${words}.`);
  return runs.flatMap(run => {
    const first = found.find(({ id }) => id === run.id);
    return first ? [{ ...first, ids: idsOf(run), name: run.name }] : [];
  });
}

/** A run's record. For pooled runs, it has the pool's name and all ids. */
const recordOf = ({ row, ids, name }: Compared): EvalRun =>
  ids.length === 1 ? row : { ...row, display_name: name, eval_run_id: ids.join(', ') };

/** A compared run with its rewards, and how its answers ended. */
interface ReadRun extends Compared {
  readonly read: ReadRewards;
  readonly ends: AnswerEnds | undefined;
  readonly notes: readonly Note[];
}

const notesOf = (runs: readonly ReadRun[]) => new Map(runs.map(({ id, notes }) => [id, notes]));

/** The output fields for one run, whether it is one of two or of several. */
const runFields = (run: ReadRun, { mean, tasks }: TaskMean, paired: number | undefined, full: number | undefined) => ({
  eval_run_id: run.id,
  eval_run_ids: run.ids,
  ...trainedFields(recordOf(run)),
  mean: mean ?? null,
  tasks,
  mean_in_both: paired ?? null,
  full_rewards: full ?? null,
  flags: [...new Set(run.notes.flatMap(({ flag }) => flag || []))],
  answer_ends: answerEndsFields(run.ends),
});

/** The output fields for one of two runs. */
function sideFields(run: ReadRun, side: Side, { [side]: mean, paired, full }: NamedComparison) {
  const rewards = meanOfRewards(run.read.rewards);
  return {
    ...runFields(run, mean, paired[side], full?.[side]),
    reward_mean: rewards.mean ?? null,
    rewards: rewards.rewards,
    rated_rollouts: mean.rated,
    rollouts: mean.rollouts,
    total_rollouts: mean.isUncounted || mean.isOpen ? null : mean.rollouts,
    mean_bounds: boundsField(mean),
    status: run.read.status ?? null,
  };
}

/** The reward range, from --reward-range or else the setting. @throws CommandError if it is not a range */
export function rewardRangeOf(
  { rewardRange }: { readonly rewardRange?: string | undefined },
  { compare }: CommandContext,
): Range {
  const range = rewardRange === undefined ? compare.rewardRange : parseRange(rewardRange);
  if (range === undefined) throw new CommandError('--reward-range takes two numbers, the lower one first, e.g. 0..1.');
  return range;
}

/** @throws CommandError for a value out of bounds */
function comparisonOptions(flags: CommandInput<'compare'>['flags'], context: CommandContext): ComparisonOptions {
  const { confidence = 0.95, equalWithin = context.compare.equalWithin, missing = 'bound' } = flags;
  if (!(confidence > 0 && confidence < 1))
    throw new CommandError('--confidence takes a number between 0 and 1, e.g. 0.95.');
  if (equalWithin < 0) throw new CommandError('--equal-within takes a number from 0, e.g. 0.05.');
  const range = rewardRangeOf(flags, context);
  checkGate(flags.failBelow, range);
  const { samplesPerTask } = flags;
  return { confidence, equalWithin, range, missing, ended: flags.ended, samplesPerTask };
}

/**
 * @throws CommandError for a difference that no two rewards in the range can have, because the gate would always pass
 * or always fail
 */
function checkGate(failBelow: number | undefined, [low, high]: ComparisonOptions['range']): void {
  const most = high - low;
  if (failBelow === undefined || Math.abs(failBelow) <= most) return;
  const never = failBelow > 0 ? 'passes' : 'fails a run';
  throw new CommandError(
    `--fail-below takes a number from ${-most} to ${most} for rewards of ${low}..${high}: ${failBelow} never ${never}. Other rewards need --reward-range LO..HI.`,
  );
}

/** @throws CommandError for a reward outside the given range */
function checkRange(runs: readonly ComparedRun[], range: Range): void {
  for (const { task_id, reward } of runs.flatMap(({ read }) => read.rewards)) {
    if (task_id && reward != null && isBeyond(reward, range))
      throw new CommandError(clean`A reward for ${task_id} is ${reward}, outside --reward-range ${range.join('..')}.`);
  }
}

/** @throws CommandError for different benchmarks */
export function checkBenchmarks(found: readonly Found[], { note }: Pick<CommandIo, 'note'>): void {
  const ofOne = comparability(found.map(({ id, row }) => ({ id, bench_id: (row as Partial<EvalRun>).bench_id })));
  if (ofOne.why !== undefined) throw new CommandError(`${ofOne.why}.`, exitCodes.failed);
  if (ofOne.note !== undefined) note(`${ofOne.note}.`);
}

/** @throws CommandError for runs of different benchmarks */
export async function findRuns(
  words: readonly string[],
  context: CommandContext,
  ended = false,
): Promise<readonly FoundRun[]> {
  const { io } = context;
  const ofTraining = 'to compare the curves of training runs, press i in their list in the workbench';
  const find = (word: string): Promise<FoundRun> =>
    findAmong([runs], word, context).catch(async (error: unknown) => {
      const other = isNone(error) && (await lookUp([training], word, context).catch(() => undefined));
      const [first] = other ? other.found : [];
      if (first)
        throw new CommandError(`${nameOf(first)} is not an evaluation run: ${ofTraining}.`, exitCodes.notFound);
      throw naming(word, error);
    });
  const found = await Promise.all(words.map(find));
  const rows = withTrainingNames(
    found.map(({ row }) => row),
    context,
  );
  const all = found.map((each, index) => ({ ...each, row: rows[index] ?? each.row }));
  noteUnreported(all, ended, io);
  for (const found of all) checkStatus(found, io);
  checkBenchmarks(all, io);
  return all;
}

/** Whether the comparison's words appear on a terminal, so that notes need not repeat them. */
const isShown = (flags: CommandInput<'compare'>['flags'], { columns }: CommandIo): boolean =>
  columns !== undefined && !printsRecord(flags);

/** The output fields for one of several runs. */
const gridFields = ({ compared, mean, isBase, tasksForHalf }: GridRow, run: ReadRun) => ({
  ...runFields(run, mean, isBase ? undefined : compared.paired.new, compared.full?.new),
  base_mean_in_both: isBase ? null : (compared.paired.base ?? null),
  difference: isBase ? null : (compared.difference ?? null),
  interval: isBase ? null : (compared.interval ?? null),
  n: compared.pairs,
  verdict: isBase ? 'base' : compared.verdict.kind,
  verdict_words: isBase ? null : compared.verdict.words,
  caution: compared.caution || null,
  tasks_for_half: tasksForHalf ?? null,
});

/** How to compare runs, and print the result. */
interface Asked {
  readonly options: ComparisonOptions;
  readonly flags: CommandInput<'compare'>['flags'];
  readonly io: CommandIo;
  /** The grader that gives the rewards, if they are not the runs' own. */
  readonly grader: string | undefined;
  /** Whether this grader could read and grade every rollout that had ended. */
  readonly isGraded: boolean;
}

/** Compares each run with the first. */
async function compareMany(
  runs: readonly ReadRun[],
  items: readonly ComparedRun[],
  { options, flags, io, grader, isGraded }: Asked,
): Promise<number> {
  const [{ id: base = '' } = {}] = runs;
  const ends = runs.map(run => run.ends);
  const grid = gridOf(items, base, options, ends);
  const tasks = gridTasks(items);
  const verdicts = gridVerdicts(grid, notesOf(runs)).map(
    ({ letter, name, words }) => clean`${letter} ${name}: ${words}`,
  );
  const record = {
    base,
    grader: grader ?? null,
    confidence: options.confidence,
    confidence_each: grid.confidence,
    correction: 'bonferroni',
    runs: grid.rows.map((row, index) => gridFields(row, runs[index] as ReadRun)),
    tasks,
  };
  await printRecord(record, base, flags, io, {
    text: () => {
      const textOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string =>
        flags.markdown ? markdownText(rows, columns) : rowsText(rows, columns, 'table', io);
      const words = [
        ...(grader === undefined ? [] : [`${describeRewardsBy(grader)}.`]),
        describeFamilyIntervals(grid, options.confidence),
        ...verdicts,
      ].join(flags.markdown ? '\n\n' : '\n');
      const verdict = `${textOf(grid.rows, gridColumns(grid.confidence))}\n${words}`;
      const byTask = textOf(tasks, taskColumns(grid.rows));
      // In a terminal, what comes last stays on screen.
      return flags.markdown ? `${verdict}\n\n${byTask}` : `${byTask}\n${verdict}\n`;
    },
  });
  if (!isShown(flags, io)) for (const words of verdicts) io.note(words);
  return isGraded ? exitCodes.done : exitCodes.failed;
}

/** Compares two runs. The exit code is the result of `--fail-below` and, with a grader, of its work. */
async function comparePair(
  [base, fresh]: readonly [ReadRun, ReadRun],
  { options, flags, io, grader, isGraded }: Asked,
): Promise<number> {
  const { failBelow, undecided = 'fail' } = flags;
  const summary = compareRuns(compareTasks(base.read, fresh.read), options, [base.ends, fresh.ends]);
  const compared = base.id === fresh.id ? ofSameRun(summary) : summary;
  const { interval, verdict, wins, losses, ties } = compared;
  const gate = failBelow === undefined ? undefined : compared.gate(failBelow);
  const record = {
    base: sideFields(base, 'base', compared),
    new: sideFields(fresh, 'new', compared),
    grader: grader ?? null,
    difference: compared.difference ?? null,
    interval: interval ?? null,
    n: compared.pairs,
    tasks: compared.tasks,
    tasks_without_reward: compared.lacking,
    ungraded_tasks: summary.ungradedNames ?? [],
    verdict: verdict.kind,
    verdict_words: verdict.words,
    more_tasks: verdict.moreTasks ?? null,
    caution: compared.caution || null,
    equal_within: options.equalWithin,
    reward_range: { low: options.range[0], high: options.range[1] },
    missing: options.missing,
    samples_per_task: options.samplesPerTask ?? null,
    wins,
    losses,
    ties,
    ...(gate && { fail_below: failBelow, passed: gate.outcome === 'passed', gate: gate.outcome }),
  };
  const passes =
    gate === undefined || gate.outcome === 'passed' || (gate.outcome === 'undecided' && undecided === 'pass');
  const code = passes && isGraded ? exitCodes.done : exitCodes.failed;
  io.exitUnread?.(code);
  const named =
    base.id === fresh.id
      ? ([['base and new', [base.id]]] as const)
      : ([
          ['base', [base.id]],
          ['new', [fresh.id]],
        ] as const);
  const noted = describeNotesOf(named, notesOf([base, fresh]));
  const facts = [
    ...withValue([{ label: 'grader', value: grader }]),
    ...noted.map(value => ({ label: 'note', value })),
    ...comparisonFacts(recordOf(base), recordOf(fresh), compared, gate),
  ];
  await printRecord(record, fresh.id, flags, io, {
    text: () => (flags.markdown ? markdownFacts(facts) : factRows(facts, io)),
  });
  if (gate && gate.outcome !== 'passed' && !isShown(flags, io)) io.note(gate.words);
  return code;
}

/** Reads the rewards of the runs, and compares them. */
async function compareFound(
  found: readonly Compared[],
  options: ComparisonOptions,
  flags: CommandInput<'compare'>['flags'],
  context: CommandContext,
  chosen: ReturnType<typeof graderIn>,
): Promise<number> {
  const { io } = context;
  const named = found.map(({ id, ids, name, row }) => {
    const pool = ids.length > 1 ? ids : undefined;
    return { id, name, model: describeModel(row, true) || undefined, options: optionsOf(row), pool };
  });
  const { items: own, dropped, note } = await comparedRuns(named).readPage({ ...context, query: {} });
  if (note) io.note(note);
  if (dropped > 0) io.note(`${counted(dropped, 'reward')} could not be read: not counted in these means.`);
  const grader = chosen?.graderFor(context.service, options.range);
  const regraded = grader && regradedRuns(own, await regradeNoting(rolloutsIn(own), grader, context));
  for (const { words } of regraded ?? []) io.note(words);
  const items = regraded?.map(({ run }) => run) ?? own;
  const isGraded = regraded?.every(each => each.isGraded) ?? true;
  if (flags.rewardRange !== undefined) checkRange(items, options.range);
  const pools = found.map(({ ids }) => ids);
  const notes = savedNotes(context.memory);
  const ends = await readAnswerEnds(pools, context, io.note);
  const runs = items.map(({ read }, index): ReadRun => {
    const run = found[index] as Compared;
    return { ...run, read, ends: ends[index], notes: run.ids.flatMap(id => notes.get(id) ?? []) };
  });
  const [base, fresh, ...others] = runs;
  const asked = { options, flags, io, grader: chosen && describeGrader(chosen.choice), isGraded };
  return base && fresh && others.length === 0 ? comparePair([base, fresh], asked) : compareMany(runs, items, asked);
}

export async function run(
  { args: [baseWord = '', newWord = '', ...more], flags }: CommandInput<'compare'>,
  io: CommandIo,
): Promise<number> {
  const words = [baseWord, newWord, ...more];
  const checkCount = ({ length }: readonly unknown[]): void => {
    if (length > maxCompared) throw new CommandError(`At most ${maxCompared} runs can be compared at once.`);
    if (length > 2 && flags.failBelow !== undefined)
      throw new CommandError('--fail-below is for two runs or two pools.');
  };
  if (!flags.pool) checkCount(words);
  const chosen = graderIn(flags, io);
  return withService(flags, io, async context => {
    const options = comparisonOptions(flags, context);
    const found = await findRuns(words, context, flags.ended);
    const isPlainPair = found.length === 2 && !flags.pool;
    if (!isPlainPair && new Set(found.map(({ id }) => id)).size < found.length)
      throw new CommandError('A run is named twice.');
    const runs = comparedOf(found, flags.pool, io);
    checkCount(runs);
    return compareFound(runs, options, flags, context, chosen);
  });
}
