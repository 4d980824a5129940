/** The places for comparing runs. */

import type { EvalRun } from '../contract/evaluations.ts';
import { instant } from '../present/times.ts';
import type { RememberedStore } from '../store/store.ts';
import { baselineOf } from './baseline.ts';
import { describeModel } from './models.ts';
import type { NamedRun, Place } from './place.ts';
import { likenessOf, optionsOf } from './pools.ts';

/** The part of the store that knows when a run was first seen, and when this machine started it. */
type Memory = Pick<RememberedStore, 'seen'>;

/** The range of possible start times in epoch milliseconds: some services do not report the start. */
function startOf({ eval_run_id, created_at }: EvalRun, memory: Memory): readonly [from: number, to: number] {
  const created = instant(created_at);
  if (created !== undefined) return [created, created];
  // The time at which a run was first seen is only an upper bound: the run may be much older.
  const { startedAt = -Infinity, firstSeenAt = Infinity } = memory.seen.find('run', eval_run_id) ?? {};
  return [startedAt, firstSeenAt];
}

export function namedRun(run: EvalRun): NamedRun {
  const { eval_run_id: id, display_name, bench_id } = run;
  const model = describeModel(run);
  const likeness = likenessOf(run);
  const options = optionsOf(run);
  return {
    id,
    name: display_name ?? id,
    ...(model && { model }),
    ...(bench_id && { bench_id }),
    ...(options && { options }),
    ...(likeness !== undefined && { likeness }),
  };
}

/** The steps of two runs if one training run saved both checkpoints, which may be evaluated in any order. */
function stepsInOne(one: EvalRun, other: EvalRun): readonly [one: number, other: number] | undefined {
  const isOne = one.training_run_id != null && one.training_run_id === other.training_run_id;
  return isOne && one.step != null && other.step != null ? [one.step, other.step] : undefined;
}

/**
 * The place for comparing several runs. The base is the baseline of the benchmark, or else the earliest run, or the
 * lowest step of its training run.
 */
export function compareManyPlace(rows: readonly EvalRun[], memory: RememberedStore): Place<'compare-many'> {
  const startedAt = (run: EvalRun): number => startOf(run, memory)[1];
  const earliest = rows.reduce<EvalRun | undefined>(
    (first, run) => (!first || startedAt(run) < startedAt(first) ? run : first),
    undefined,
  );
  const lowest = rows.reduce((first, run) => {
    const [step, other] = (first && stepsInOne(first, run)) ?? [0, 0];
    return other < step ? run : first;
  }, earliest);
  const kept = rows.find(run => run.eval_run_id === baselineOf(memory, run.bench_id));
  return { view: 'compare-many', runs: rows.map(namedRun), base: (kept ?? lowest)?.eval_run_id ?? '' };
}

/**
 * The place for comparing two runs. The base is the lower step of one training run, or else the earlier run, or `one` if
 * the order is unknown.
 */
export function comparePlace(one: EvalRun, other: EvalRun, memory: Memory): Place<'compare'> {
  const [[oneFrom, oneTo], [otherFrom, otherTo]] = [startOf(one, memory), startOf(other, memory)];
  const [step, otherStep] = stepsInOne(one, other) ?? [0, 0];
  const isLater = step === otherStep ? otherTo < oneFrom : otherStep < step;
  const [base, fresh] = isLater ? [other, one] : [one, other];
  const isDated = isLater || step !== otherStep || oneTo <= otherFrom;
  return { view: 'compare', base: namedRun(base), new: namedRun(fresh), ...(!isDated && { isUndated: true }) };
}
