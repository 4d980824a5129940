/** The active alarms of listed training runs. */
import { isRunning } from '../contract/status.ts';
import type { ProgressedRun } from '../queries/training.ts';
import { alarmsIn, judge, readingOf } from '../resources/alarms.ts';
import type { MeasuredTraining } from '../resources/training-columns.ts';
import { rememberedAt } from '../store/seen.ts';
import { countOf } from '../text/numbers.ts';
import { alarmRulesOf } from './past-alarms.ts';
import type { CommandContext } from './with-service.ts';

/**
 * When the steps were last read, in epoch milliseconds, if benchtop has not seen a new step since it last recorded
 * them.
 */
function silentAt(run: ProgressedRun, { memory }: CommandContext): number | undefined {
  const last = memory.progress.of(run.training_run_id).at(-1);
  const isKnown = last !== undefined && last.completed_steps === run.completed_steps;
  return isKnown && isRunning(run.status) && rememberedAt(run) === undefined ? Date.now() : undefined;
}

/** Adds the alarms in words. @param rows runs with their newest held-out rounds */
export function withAlarms(
  rows: readonly MeasuredTraining[],
  context: CommandContext,
): Promise<readonly MeasuredTraining[]> {
  const { memory, compare } = context;
  return Promise.all(
    rows.map(async row => {
      const { training_run_id: id, status, created_at, bench_id, held_out: heldOut, trainer_reward } = row;
      const known = {
        ...{ kind: 'training', status: status ?? undefined, startedAt: created_at ?? undefined },
        ...{ done: countOf(row.completed_steps), total: countOf(row.total_steps), mean: trainer_reward },
      };
      const reading = { ...readingOf(known, memory.progress.of(id), silentAt(row, context)), heldOut };
      const rules = await alarmRulesOf(bench_id ?? undefined, context);
      const alarms = alarmsIn(judge(reading, rules, compare.rewardRange));
      return alarms.length > 0 ? { ...row, alarm: alarms.map(({ words }) => words).join('; ') } : row;
    }),
  );
}
