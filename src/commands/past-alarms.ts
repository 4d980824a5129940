/** `benchtop doctor --alarms ID`: the alarms that a past run would have raised. */

import type { AlarmRules } from '../config/alarms.ts';
import { rulesFor } from '../config/alarms.ts';
import { emptyCurve } from '../contract/trainer-curve.ts';
import type { TrainingRun } from '../contract/training.ts';
import { benchmarkQuery } from '../queries/benchmarks.ts';
import { checkpointTimesQuery } from '../queries/checkpoints.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training-curves.ts';
import { reportLines } from '../resources/alarm-report.ts';
import { labelOf } from '../resources/define.ts';
import { lookAt } from '../resources/look.ts';
import { historyOf, type PastReport, reportOf, reportOfRun } from '../resources/past-alarms.ts';
import { countsByRewards, lacksEnds, needsRewards, rolloutEndsQuery } from '../resources/rollout-ends.ts';
import { isNotOffered } from '../service/errors.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { type Found, findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { noteUnreadable, printRecord, timeText } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

/** The limits for a benchmark's runs. Reads the benchmark's name if a pattern may match it. @throws ServiceError */
export async function alarmRulesOf(benchId: string | undefined, context: CommandContext): Promise<AlarmRules> {
  const { alarms } = context.config.preferences;
  if (benchId === undefined || alarms.benchmarks.length === 0) return rulesFor(alarms, [benchId]);
  const remembered = context.memory.seen.find('benchmark', benchId)?.label;
  const label = remembered ?? (await benchmarkQuery(benchId).read(context)).label ?? undefined;
  return rulesFor(alarms, [benchId, label]);
}

/** The response, or `none` if the service does not offer it. @throws ServiceError */
const unlessMissing = <Answer>(reading: Promise<Answer>, none: Answer): Promise<Answer> =>
  reading.catch((error: unknown) => {
    if (!isNotOffered(error)) throw error;
    return none;
  });

async function reportOn({ resource, id, row }: Found, rules: AlarmRules, context: CommandContext) {
  const { rewardRange } = context.compare;
  if (resource.kind !== 'training') {
    const label = labelOf(resource, row);
    const run = await lookAt({ kind: resource.kind ?? '', id, label }, context);
    const isCounted = rules.failedShare !== undefined && lacksEnds(run);
    const ends = isCounted ? await unlessMissing(rolloutEndsQuery(run).read(context), undefined) : undefined;
    const isByRewards = needsRewards({ ...run, ends }, rules);
    const counts = isByRewards ? await unlessMissing(countsByRewards(run, context), undefined) : undefined;
    return reportOfRun({ ...run, ends, ...counts }, rules, rewardRange);
  }
  const [heldOut, trainer, checkpoints] = await Promise.all([
    unlessMissing(heldOutRewardsQuery(id, true).read(context), []),
    unlessMissing(trainerRewardsQuery(id, true).read(context), emptyCurve),
    unlessMissing(checkpointTimesQuery(id, true).read(context), []),
  ]);
  for (const answer of [heldOut, trainer]) noteUnreadable(answer, context.io);
  const history = historyOf(row as TrainingRun, { heldOut, trainer }, checkpoints, context.memory);
  return reportOf(history, rules, rewardRange);
}

function fieldsOf({ alarms, unjudged, audit }: PastReport) {
  return {
    alarms: alarms.map(({ kind, step, at, value, limit, words, overAtStep }) => ({
      kind,
      step: step ?? null,
      at: at === undefined ? null : new Date(at).toISOString(),
      value,
      limit,
      words,
      over_at_step: overAtStep ?? null,
    })),
    unjudged,
    audit: audit ?? null,
  };
}

export function printPastAlarms(
  word: string,
  flags: CommandInput<'doctor'>['flags'],
  io: CommandIo,
): Promise<ExitCode> {
  return withService(flags, io, async context => {
    const found = await findAmong([resourceOrThrow('training'), resourceOrThrow('runs')], word, context);
    const { resource, id, row } = found;
    const rules = await alarmRulesOf(resource.parent?.(row) ?? undefined, context);
    const report = await reportOn(found, rules, context);
    const timeOf = (ms: number): string => timeText(ms, io);
    const record = { kind: resource.kind, id, label: labelOf(resource, row), ...fieldsOf(report) };
    await printRecord(record, id, flags, io, { text: () => `${reportLines(report, rules, timeOf).join('\n')}\n` });
    return report.alarms.length > 0 ? exitCodes.alarm : exitCodes.done;
  });
}
