/** A trajectory's fields in the text index, besides its text. */
import { own } from '../base/own-property.ts';
import { isRunning } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { finishOf } from '../present/outcome-classes.ts';
import { type Length, lengthOf } from '../present/reward-length.ts';
import { textsOf } from '../present/rollout-texts.ts';
import type { TextIndex } from '../store/text-index.ts';

export type Known = ReturnType<TextIndex['known']>;

/** A trajectory's text in the index; undefined if the trajectory may have changed since it was indexed. */
export function storedText({ trajectory_id, num_steps, status }: Trajectory, known: Known) {
  const text = known.get(trajectory_id);
  const isSame = text && (num_steps == null || text.steps === undefined || text.steps === num_steps);
  return isSame && !isRunning(status) ? text : undefined;
}

/** The values that `pick` finds in the index's records of these trajectories, by trajectory id. */
function storedIn<Value>(
  rows: readonly Trajectory[],
  index: TextIndex,
  pick: (record: Partial<Trajectory>) => Value | undefined,
): ReadonlyMap<string, Value> {
  const known = index.known();
  return new Map(
    rows.flatMap(row => {
      const found = pick(recordIn(storedText(row, known)?.record));
      return found === undefined ? [] : [[row.trajectory_id, found] as const];
    }),
  );
}

/** The lengths known from the index, as trajectory fields, by trajectory id. */
export const storedLengths = (rows: readonly Trajectory[], length: Length, index: TextIndex) =>
  storedIn(rows, index, (record): Partial<Trajectory> | undefined => {
    if (lengthOf(record, length) === undefined) return undefined;
    const { completion_tokens, execution_metrics } = record;
    return length === 'tokens' ? { completion_tokens } : { execution_metrics };
  });

/** The questions and answers known from the index, by trajectory id. */
export const storedTexts = (rows: readonly Trajectory[], index: TextIndex) => storedIn(rows, index, textsOf);

/** The fields shown in a list of hits. The index keeps them, because the searched list may lack them. */
export function recordOf(trajectory: Trajectory): Partial<Trajectory> {
  const { status, error, reward, task_id, eval_run_id, training_run_id, policy_step, created_at } = trajectory;
  const { model_id, dataset_name, rollout, termination_reason } = trajectory;
  const seconds = lengthOf(trajectory, 'seconds');
  return {
    ...{ status, error, reward, task_id, eval_run_id, training_run_id, policy_step, created_at },
    ...{ model_id, dataset_name, rollout, termination_reason },
    finish_reason: finishOf(trajectory),
    read_texts: textsOf(trajectory),
    num_steps: lengthOf(trajectory, 'steps'),
    completion_tokens: lengthOf(trajectory, 'tokens'),
    execution_metrics: seconds === undefined ? undefined : { duration_s: seconds },
  };
}

/** Adds the fields that a row lacks. */
export function completed(row: Trajectory, record: Partial<Trajectory>): Trajectory {
  const lacking = Object.entries(record).filter(([name, value]) => value != null && own(row, name) == null);
  return { ...row, ...Object.fromEntries(lacking) };
}

export const recordIn = (record: string | undefined): Partial<Trajectory> =>
  record === undefined ? {} : JSON.parse(record);
