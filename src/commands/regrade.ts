/** `benchtop regrade`: regrades existing rollouts and shows the changes. Writes nothing to the service. */
import { passAtProblem } from '../present/statistics/tasks.ts';
import { unlistedOf } from '../resources/unlisted.ts';
import {
  changeOf,
  describeUngraded,
  type Regraded,
  type RegradeSummary,
  regradedColumns,
  regradedInOrder,
  regradeFacts,
  separateGrades,
  summariseRegrade,
} from '../rollouts/regrade.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { rewardRangeOf } from './compare.ts';
import { CommandError, exitCodes } from './exit.ts';
import { graderIn, regradeNoting } from './grader.ts';
import type { CommandIo } from './io.ts';
import { factRows, printRecord, rowsText } from './output.ts';
import { codeOf, readRollouts } from './rollouts.ts';
import type { CommandInput } from './table/commands.ts';
import { withRollouts } from './with-rollouts.ts';

export async function run({ args: [word = ''], flags }: CommandInput<'regrade'>, io: CommandIo): Promise<number> {
  const grader = graderIn(flags, io);
  if (!grader) throw new CommandError('Name one grader: --with, --command or --judge.');
  // Rollouts from a file are served without models.
  return withRollouts({ word, takesFile: flags.judge === undefined }, flags, io, async (context, named) => {
    const range = rewardRangeOf(flags, context);
    const problem = flags.passAt === undefined ? undefined : passAtProblem(flags.passAt, range);
    if (problem !== undefined)
      throw new CommandError(`--pass-at takes ${problem}. Other rewards need --reward-range LO..HI.`);
    const { id, ...rollouts } = await readRollouts(named, context);
    const grades = await regradeNoting(rollouts.rows, grader.graderFor(context.service, range), context);
    const { rows: graded, left } = separateGrades(grades);
    const summary = summariseRegrade(graded, { range, passAt: flags.passAt });
    const { passAt } = summary;
    const all = regradedInOrder(graded, passAt);
    const changed = all.filter(row => row.error !== undefined || changeOf(row) !== 0);
    const errors = all.filter(({ error }) => error !== undefined);
    const { rows, rewards } = rollouts;
    const record = {
      ...{ id, rollouts: rows.length, graded: all.length - errors.length, ...left },
      ...{ not_listed: unlistedOf(rows, rewards) ?? null, not_gradable: errors.length },
      ...summaryRecord(summary),
      trajectories: all.map(gradedRecord),
    };
    await printRecord(record, id, flags, io, {
      text: () => {
        const head = factRows(regradeFacts(all, summary, left), io);
        return changed.length === 0 ? head : `${head}\n${rowsText(changed, regradedColumns(passAt), 'table', io)}`;
      },
    });
    if (errors.length > 0)
      io.note(clean`${counted(errors.length, 'rollout')} could not be graded: ${describeUngraded(all)}.`);
    return errors.length > 0 ? exitCodes.failed : codeOf(rollouts);
  });
}

/** How two graders' means and verdicts differ, for programs. */
function summaryRecord({ compared, agreement, changed, passAt, both, outside, tasks, nameless }: RegradeSummary) {
  return {
    compared: both,
    outside_range: outside,
    tasks,
    without_task: nameless,
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
    changed: changed.count,
    lower: changed.lower,
    mean_absolute_change: changed.mean,
  };
}

const gradedRecord = (row: Regraded) => ({
  ...row,
  task_id: row.task_id ?? null,
  reward: row.reward ?? null,
  new_reward: row.new_reward ?? null,
  change: changeOf(row) ?? null,
  error: row.error ?? null,
});
