/** `benchtop regrade`: grades existing rollouts again, and shows the changes. Writes nothing to the service. */
import { readFileSync } from 'node:fs';
import { errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { Column } from '../present/column.ts';
import { type Fact, withValue } from '../present/fact.ts';
import { factText } from '../present/fact-text.ts';
import { numberColumn } from '../present/number-columns.ts';
import { agreementOf } from '../present/statistics/agreement.ts';
import { comparisonDefaults, summariseComparison } from '../present/statistics/comparison.ts';
import type { RunTasks } from '../present/statistics/tasks.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { intervalLabel } from '../resources/comparison.ts';
import { counted, difference, parseRange, percent, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { checkRecordFlags, lineText, printRecord, rowsText } from './output.ts';
import { commandGrader, graderOf, modelGrader, type Regrader } from './regraders.ts';
import { readRollouts } from './rollouts.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

type Flags = CommandInput<'regrade'>['flags'];

/** A rollout with both rewards. */
interface Regraded {
  readonly trajectory_id: string;
  readonly task_id: string | undefined;
  readonly reward: number | undefined;
  readonly new_reward: number | undefined;
  readonly explanation: string;
  readonly error: string | undefined;
}

const changeOf = ({ reward: before, new_reward: after }: Regraded): number | undefined =>
  before === undefined || after === undefined ? undefined : after - before;

const columns: readonly Column<Regraded>[] = [
  { id: 'task', title: 'TASK', width: { min: 12, max: 40, grow: 1 }, value: row => row.task_id },
  numberColumn('reward', 'REWARD', row => row.reward),
  numberColumn('new', 'NEW', row => row.new_reward),
  numberColumn('change', 'CHANGE', changeOf, { text: difference }),
  {
    ...{ id: 'explanation', title: 'EXPLANATION', width: { min: 12, max: 100, grow: 2 }, cutAt: 'end' },
    value: row => row.error ?? (row.explanation || undefined),
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, value: row => row.trajectory_id },
];

/** A rubric, or the file that holds it after `@`. @throws CommandError */
function rubricOf(rubric: string): string {
  if (!rubric.startsWith('@')) return rubric;
  try {
    return readFileSync(rubric.slice(1), 'utf8');
  } catch (error) {
    throw new CommandError(clean`The rubric cannot be read: ${errorMessage(error)}`);
  }
}

/** @throws CommandError unless exactly one grader is given */
function graderIn(flags: Flags): (context: CommandContext) => Regrader {
  const { with: words, command, judge, rubric, limit = 30 } = flags;
  if ([words, command, judge].filter(each => each !== undefined).length !== 1)
    throw new CommandError('Name one grader: --with, --command or --judge.');
  if ((judge === undefined) !== (rubric === undefined)) throw new CommandError('--judge and --rubric go together.');
  if (judge !== undefined) {
    const text = rubricOf(rubric ?? '');
    return ({ service }) => modelGrader(service, judge, text);
  }
  const grader = words === undefined ? commandGrader(command ?? '', limit * 1_000) : graderOf(words);
  return () => grader;
}

/** Grades each rollout that did not fail, a few at a time, in the order of the list. */
async function regradeAll(
  rows: readonly Trajectory[],
  grader: Regrader,
  context: CommandContext,
): Promise<readonly Regraded[]> {
  const graded = new Map<string, Regraded>();
  await inParallel(rows, async row => {
    const { trajectory_id } = row;
    const of = { trajectory_id, task_id: row.task_id ?? undefined, reward: row.reward ?? undefined };
    try {
      const trajectory = await trajectoryQuery(trajectory_id).read(context);
      const { reward: new_reward, explanation } = await grader(trajectory, context.signal);
      graded.set(trajectory_id, { ...of, new_reward, explanation, error: undefined });
    } catch (error) {
      context.signal.throwIfAborted();
      graded.set(trajectory_id, { ...of, new_reward: undefined, explanation: '', error: errorMessage(error) });
    }
  });
  return rows.flatMap(({ trajectory_id }) => graded.get(trajectory_id) ?? []);
}

/** What the new grader changes, over the rollouts that both graders have graded. */
function summaryOf(all: readonly Regraded[], options: typeof comparisonDefaults, passAt: number) {
  const both = all.flatMap(row => {
    const { reward: before, new_reward: after } = row;
    // A rollout without a task is a task of its own.
    const task = row.task_id ?? ` ${row.trajectory_id}`;
    return before === undefined || after === undefined ? [] : [{ task, before, after }];
  });
  const tasks = [...Map.groupBy(both, ({ task }) => task).values()];
  const run = (of: 'before' | 'after'): RunTasks => ({
    tasks: tasks.map(rollouts => rollouts.map(each => each[of])),
    end: 'complete',
  });
  const agreement = agreementOf(
    both.map(({ task, before, after }) => ({ task, first: before >= passAt, second: after >= passAt })),
  );
  return { compared: summariseComparison(run('before'), run('after'), options), agreement, both: both.length };
}

function factsOf(
  all: readonly Regraded[],
  { compared, agreement, both }: ReturnType<typeof summaryOf>,
  left: { readonly failed: number; readonly unlisted: number },
  passAt: number,
): readonly Fact[] {
  const { interval, paired } = compared;
  const { count, agreed, lost, gained, kappa } = agreement;
  const broken = all.filter(({ error }) => error !== undefined).length;
  const [graded, unrated] = [all.length - broken, all.length - broken - both];
  const failed = left.failed + left.unlisted;
  return withValue([
    { label: 'graded again', value: `${graded} of ${counted(all.length + failed, 'rollout')}` },
    { label: 'failed', value: failed > 0 ? `${failed}, not graded` : undefined },
    { label: 'not gradable', value: broken || undefined },
    { label: 'without a reward', value: unrated > 0 ? `${unrated} before, not compared` : undefined },
    {
      label: 'mean',
      value: `${reward(paired.base)} before, ${reward(paired.new)} now, of ${counted(compared.pairs, 'task')}`,
    },
    { label: 'difference', value: compared.difference === undefined ? undefined : difference(compared.difference) },
    {
      label: interval === undefined ? 'between' : `${intervalLabel(interval)} between`,
      value: interval && `${difference(interval.low)} and ${difference(interval.high)}`,
    },
    { label: 'passes', value: `${lost} lost, ${gained} gained (reward at least ${reward(passAt)})` },
    { label: 'agreement', value: count === 0 ? undefined : `${percent(agreed / count)} of ${count}` },
    { label: "Cohen's kappa", value: kappa === undefined ? undefined : kappa.toFixed(2) },
    {
      label: '95% between',
      value: agreement.interval && `${agreement.interval.low.toFixed(2)} and ${agreement.interval.high.toFixed(2)}`,
    },
  ]);
}

/** The largest change first; ungraded rollouts last. */
function inOrder(all: readonly Regraded[]): readonly Regraded[] {
  const size = (row: Regraded): number => (row.error === undefined ? Math.abs(changeOf(row) ?? 0) : -1);
  return all.toSorted((left, right) => size(right) - size(left));
}

export async function run({ args: [word = ''], flags }: CommandInput<'regrade'>, io: CommandIo): Promise<number> {
  const graderFor = graderIn(flags);
  await checkRecordFlags(flags, [], io);
  return withService(flags, io, async context => {
    const { compare } = context.config.preferences;
    const range = flags.rewardRange === undefined ? compare.rewardRange : parseRange(flags.rewardRange);
    if (range === undefined)
      throw new CommandError('--reward-range takes two numbers, the lower one first, e.g. 0..1.');
    const passAt = flags.passAt ?? range[1];
    const { id, rows, total } = await readRollouts(word, ['runs', 'training', 'datasets'], context, io);
    const failed = rows.filter(({ status }) => status === 'failed');
    const gradable = rows.filter(({ status }) => status !== 'failed');
    const all = inOrder(await regradeAll(gradable, graderFor(context), context));
    const left = { failed: failed.length, unlisted: Math.max(0, (total ?? rows.length) - rows.length) };
    const summary = summaryOf(all, { ...comparisonDefaults, range, missing: 'ignore' }, passAt);
    const { compared, agreement } = summary;
    const changed = all.filter(row => row.error !== undefined || changeOf(row) !== 0);
    const errors = all.filter(({ error }) => error !== undefined);
    const record = {
      id,
      rollouts: all.length + left.failed + left.unlisted,
      graded: all.length - errors.length,
      failed: left.failed + left.unlisted,
      not_gradable: errors.length,
      compared: summary.both,
      tasks: compared.pairs,
      mean: compared.paired.base ?? null,
      new_mean: compared.paired.new ?? null,
      difference: compared.difference ?? null,
      interval: compared.interval ?? null,
      pass_at: passAt,
      passes_lost: agreement.lost,
      passes_gained: agreement.gained,
      agreement: agreement.count === 0 ? null : agreement.agreed / agreement.count,
      kappa: agreement.kappa ?? null,
      kappa_interval: agreement.interval ?? null,
      trajectories: all.map(row => ({
        ...row,
        task_id: row.task_id ?? null,
        reward: row.reward ?? null,
        new_reward: row.new_reward ?? null,
        change: changeOf(row) ?? null,
        error: row.error ?? null,
      })),
    };
    await printRecord(record, id, flags, io, {
      text: () => {
        const facts = factsOf(all, summary, left, passAt);
        const head =
          io.columns === undefined
            ? facts.map(({ label, value }) => `${label}\t${lineText(value)}\n`).join('')
            : factText(facts, undefined);
        return changed.length === 0 ? head : `${head}\n${rowsText(changed, columns, 'table', io)}`;
      },
    });
    if (errors.length > 0)
      io.note(clean`${counted(errors.length, 'rollout')} could not be graded, e.g. ${errors[0]?.error ?? ''}`);
    return errors.length > 0 ? exitCodes.failed : exitCodes.done;
  });
}
