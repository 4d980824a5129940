/** Describes the alarm limits, and the alarms of a past run, in lines. */
import { counted, percent } from '../text/numbers.ts';
import { clockOrDay, duration } from '../text/time.ts';
import type { AlarmRules } from '../workbench/workbench.ts';
import { shortestSilenceMs } from './alarms.ts';
import type { PastAlarm, PastReport } from './past-alarms.ts';

/** The enabled alarms and their limits. */
function describeLimits(rules: AlarmRules): readonly string[] {
  const { silentMs, silentPaces, belowBest, failedShare, heldOut, trainer, evaluation } = rules;
  const outside = (name: string, range: AlarmRules['heldOut']): string =>
    range ? `${name} outside ${range.join('..')}` : '';
  return [
    silentMs === undefined ? '' : `no new step for ${duration(silentMs)}`,
    silentPaces === undefined
      ? ''
      : `no new step for ${silentPaces} times the usual time per step, and for at least ${duration(shortestSilenceMs)}`,
    belowBest === undefined
      ? ''
      : `${counted(belowBest, 'held-out reward')} in a row below the best${belowBest > 1 ? ', or fewer far below' : ''}`,
    failedShare === undefined ? '' : `more than ${percent(failedShare)} of the rollouts failed`,
    outside('held-out', heldOut),
    outside('trainer reward', trainer),
    outside('mean', evaluation),
  ].filter(Boolean);
}

function describePastAlarm(
  { step, at, kind, value, words, overAtStep }: PastAlarm,
  timeOf: (ms: number) => string,
): string {
  const time = at === undefined ? 'time unknown' : `by ${timeOf(at)}`;
  const whole = kind === 'stall' ? `${words}: at least ${duration(value)}` : words;
  if (step === undefined) return `${time}: ${whole}`;
  return `step ${step}, ${time}: ${whole}; ${overAtStep === undefined ? 'not over' : `over at step ${overAtStep}`}`;
}

/** @param timeOf formats an instant given in epoch milliseconds */
export function reportLines(
  { alarms, unjudged, audit }: PastReport,
  rules: AlarmRules,
  timeOf: (ms: number) => string = clockOrDay,
): readonly string[] {
  const limits = describeLimits(rules);
  return [
    alarms.length === 0 ? 'No alarm.' : `${counted(alarms.length, 'alarm')}:`,
    ...(alarms.length === 0 && audit
      ? [`But ${audit}. Read its audit: Q in the run's view, or benchtop describe RUN --audit.`]
      : []),
    ...alarms.map(alarm => `  ${describePastAlarm(alarm, timeOf)}`),
    ...unjudged.map(words => `Not checked: ${words}.`),
    limits.length === 0 ? 'All alarms are off in the settings.' : `Alarms: ${limits.join('; ')}.`,
  ];
}
