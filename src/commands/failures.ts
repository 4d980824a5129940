/** `benchtop failures`: classifies the rollouts in a run, training run or dataset by how they ended. */
import type { Trajectory } from '../contract/trajectories.ts';
import { differingWords, outcomeClasses, outcomeKinds } from '../present/outcome-classes.ts';
import { outcomeColumns } from '../resources/outcomes.ts';
import { describePolicies, ofSteps } from '../resources/task-groups.ts';
import { unlistedOf } from '../resources/unlisted.ts';
import { readRollouts as readOwn, withEnds } from '../rollouts/read.ts';
import { counted } from '../text/numbers.ts';
import { exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { printRecord, rowsText } from './output.ts';
import { checkSteps, codeOf, noteSteps, readRollouts } from './rollouts.ts';
import type { CommandInput } from './table/commands.ts';
import { withRollouts } from './with-rollouts.ts';

export async function run({ args: [word = ''], flags }: CommandInput<'failures'>, io: CommandIo): Promise<number> {
  const { steps } = flags;
  checkSteps(steps);
  return withRollouts({ word }, flags, io, async (context, named) => {
    let all: readonly Trajectory[] = [];
    const { id, rewards, unread, ...own } = await readRollouts(named, context, {
      read: async owner => {
        const listed = await readOwn(owner, context);
        all = listed.rows;
        const chosen = new Set(ofSteps(all, steps));
        // Only a rollout's own record may have its step.
        const rows = all.filter(row => row.policy_step == null || chosen.has(row));
        return withEnds({ ...listed, rows }, context);
      },
    });
    const rows = ofSteps(own.rows, steps);
    const classes = outcomeClasses(rows);
    const record = {
      id,
      status: rewards?.status ?? null,
      rollouts: rows.length,
      not_listed: unlistedOf(all, rewards) ?? null,
      classes: classes.map(each => ({
        ...{ by: outcomeKinds[each.by], class: each.value ?? null, count: each.rows.length, share: each.share },
        ...{ mean: each.mean ?? null, rewards: each.scores.length },
        differing_words: differingWords(each).map(([word, count]) => ({ word, count })),
        trajectory_ids: each.rows.map(({ trajectory_id }) => trajectory_id),
      })),
    };
    await printRecord(record, id, flags, io, {
      text: () => {
        for (const words of describePolicies(rows)) io.note(`${words}.`);
        noteSteps(rows, steps, io);
        return rowsText(classes, outcomeColumns, 'table', io);
      },
    });
    if (classes.length > 0 || rows.length === 0) return codeOf({ unread });
    io.note(`The service does not report how the ${counted(rows.length, 'rollout')} ended.`);
    return exitCodes.endUnseen;
  });
}
