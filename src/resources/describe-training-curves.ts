/** Describes a training run's curves in words. */
import { emptyCurve, stepValues, type TrainerCurve } from '../contract/trainer-curve.ts';
import type { HeldOutReward } from '../contract/training.ts';
import { describeCurve } from '../present/describe-curve.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { betterThan, heldOutMeans, isOutstanding, otherSplits } from '../queries/held-out.ts';
import { curveName, describeBetter, describeHeldOut } from './describe-held-out.ts';
import { diagnosticsOf } from './diagnostics.ts';

/**
 * The held-out curve, the trainer's curve and its diagnostics, in lines with indented details. A curve is undefined if
 * it could not be read.
 */
export function describeTrainingCurves(
  heldOutRead: readonly HeldOutReward[] | undefined,
  trainerRead: TrainerCurve | undefined,
  range: Range | undefined,
): readonly string[] {
  const [heldOut, trainer] = [heldOutRead ?? [], trainerRead ?? emptyCurve];
  const unread = [...(heldOutRead ? [] : ['held-out reward']), ...(trainerRead ? [] : ['trainer reward'])];
  const means = heldOutMeans(heldOut);
  const higher = means && betterThan(means.best, heldOut);
  const certain = means && [
    `newest: ${describeHeldOut(means.last, range)}`,
    ...(means.best.step === means.last.step ? [] : [`best: ${describeHeldOut(means.best, range)}`]),
    ...(higher?.why === 'lost samples' ? [`not the best: ${describeBetter(higher)}`] : []),
  ];
  const others = otherSplits(heldOut);
  const ofRows = (rows: readonly HeldOutReward[]) => ({
    name: others.length > 0 ? curveName('held-out reward', rows) : 'held-out reward',
    points: rows.map(row => ({ step: row.step, value: row.held_out_reward, isUnfinished: isOutstanding(row) })),
  });
  const curves = [
    ofRows(heldOut),
    ...others.map(ofRows),
    { name: 'trainer reward', points: stepValues(trainer, trainer.rewards) },
    ...diagnosticsOf(trainer).map(({ label, values }) => ({ name: label, points: stepValues(trainer, values) })),
  ];
  return curves.flatMap(({ name, points }, index) => {
    if (unread.includes(name)) return [`${name}: could not be read`];
    const [first = '', ...details] = describeCurve(name, points);
    return [first, ...[...(index === 0 ? (certain ?? []) : []), ...details].map(line => `  ${line}`)];
  });
}
