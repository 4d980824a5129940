/** Held-out rewards for programs, the same in the JSON of every command. */
import { isRecord, own } from '../base/own-property.ts';
import type { Range } from '../present/statistics/tasks.ts';
import type { FailedRounds, HeldOutMean } from '../queries/held-out.ts';
import { type HeldOut, intervalOfHeldOut } from './training-columns.ts';

/** One held-out reward. @param range the range of rewards from the settings */
export function heldOutPoint(held: HeldOutMean, range: Range | undefined) {
  const { step, reward, samples, expected, split, isOld, isUnfinished } = held;
  return {
    ...{ step, reward, interval: intervalOfHeldOut(held, range) ?? null },
    ...{ samples: samples ?? null, expected: expected ?? null, split: split ?? null },
    may_change: Boolean(isOld || isUnfinished),
  };
}

/**
 * A training run's held-out rewards; undefined if none has been measured.
 *
 * @param failed the rounds without a reward, if no round has one
 */
export function heldOutFields(held: HeldOut | null | undefined, range: Range | undefined, failed?: FailedRounds) {
  const rounds = held ? held.last.failedSince : failed;
  const failed_rounds = rounds && !rounds.isUnfinished ? rounds.rounds : 0;
  if (!held && failed_rounds === 0) return undefined;
  return {
    last: held ? heldOutPoint(held.last, range) : null,
    best: held ? heldOutPoint(held.best, range) : null,
    failed_rounds,
  };
}

const example: HeldOutMean = { step: 1, reward: 0.5, samples: 100, expected: 100, split: 'test' };

const hasField = (record: object | undefined, names: readonly string[]): boolean =>
  names.reduce<unknown>((value, name) => (isRecord(value) ? own(value, name) : undefined), record) !== undefined;

/** Whether the held-out rewards of a training run may have a field, e.g. `best.interval.low`. */
export const isHeldOutField = (names: readonly string[]): boolean =>
  hasField(heldOutFields({ last: example, best: example }, undefined), names);

/** Whether a single held-out reward may have a field, e.g. `interval.low`. */
export const isHeldOutPointField = (names: readonly string[]): boolean =>
  hasField(heldOutPoint(example, undefined), names);

/** A row with a single held-out reward, for programs. */
export const withHeldOutPoint = <Row extends { readonly held_out?: HeldOutMean | undefined }>(
  row: Row,
  range: Range | undefined,
): object => (row.held_out ? { ...row, held_out: heldOutPoint(row.held_out, range) } : row);
