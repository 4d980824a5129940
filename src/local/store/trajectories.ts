/** Trajectories with their steps and messages. */

import { parseExactly } from '../../base/exact-json.ts';
import { isRawJson, isRecord } from '../../base/own-property.ts';
import { contentText, toText } from '../../contract/message-content.ts';
import { hasEnded } from '../../contract/status.ts';
import { lastToolError } from '../../contract/tool-error.ts';
import type { TrajectoryListQuery } from '../../contract/trajectories.ts';
import type { Database } from './database.ts';
import type { DatasetStore } from './datasets.ts';
import { newId, now } from './ids.ts';
import { readPage } from './list-page.ts';
import type { DatasetRow, TrajectoryRow } from './records.ts';
import { rewardsOf } from './reward-logs.ts';

/** Sorts below every reward, so that when the best come first, missing rewards come last. */
const noReward = -1e300;

/** How many characters of JSON are sent at a time. */
const pieceLength = 64 * 1024;

const trajectoryList = {
  table: 'trajectories',
  // Many trajectories may be stored within a millisecond; row ids keep their order.
  id: 'rowid',
  sorts: {
    created_at: 'created_at',
    status: 'status',
    num_steps: 'num_steps',
    reward: `coalesce(reward, ${noReward})`,
    task_id: "coalesce(task_id, '')",
  },
  searches: ['trajectory_id', "coalesce(task_id, '')", "coalesce(model_id, '')", "coalesce(error, '')"],
} as const;

type Stored = Omit<TrajectoryRow, 'trajectory_id' | 'num_steps' | 'finish_reason' | 'tool_error'>;

/** A new trajectory's fields. Missing ones stay empty. */
export interface NewTrajectory extends Partial<Stored> {
  readonly trajectory_id?: string;
  readonly organization_id: string;
  readonly source: string;
  readonly status: string;
  /** Steps with their messages, in the contract's form. */
  readonly steps: readonly unknown[];
}

export class TrajectoryStore {
  readonly #database: Database;
  readonly #datasets: DatasetStore;

  constructor(database: Database, datasets: DatasetStore) {
    this.#database = database;
    this.#datasets = datasets;
  }

  add({ steps, trajectory_id = newId('trajectory'), ...trajectory }: NewTrajectory): string {
    this.#database.transaction(() => {
      this.#database.insert('trajectories', {
        trace_id: newId('trace'),
        created_at: now(),
        ...(trajectory as Record<string, string | number | null>),
        trajectory_id,
        num_steps: steps.length,
        finish_reason: finishOf(steps),
        tool_error: lastToolError(messagesOf(steps)) ?? null,
      });
      for (const [step_index, step] of steps.entries()) this.#insertStep(trajectory_id, step_index, step);
    });
    return trajectory_id;
  }

  /** Adds a step to a trajectory that has not ended; the first step sets the trajectory's model. */
  addStep(trajectoryId: string, model: string, step: { readonly messages: readonly unknown[] }): void {
    this.#database.transaction(() => {
      const row = this.#database.get<TrajectoryRow>('select * from trajectories where trajectory_id = ?', trajectoryId);
      if (!row || hasEnded(row.status)) return;
      this.#insertStep(trajectoryId, row.num_steps, step);
      this.#database.run(
        `update trajectories set num_steps = num_steps + 1, finish_reason = coalesce(?, finish_reason),
         tool_error = coalesce(?, tool_error), model_id = coalesce(model_id, ?),
         model_association_source = case when model_id is null then 'chat' else model_association_source end
         where trajectory_id = ?`,
        finishOf([step]),
        lastToolError(messagesOf([step])) ?? null,
        model,
        trajectoryId,
      );
    });
  }

  #insertStep(trajectory_id: string, step_index: number, step: unknown): void {
    this.#database.insert('trajectory_steps', { trajectory_id, step_index, content: JSON.stringify(step) });
  }

  /** A page of trajectories without their steps. */
  list(organizationId: string, { eval_run_id, training_run_id, dataset_name, ...query }: TrajectoryListQuery) {
    const where = { organization_id: organizationId, eval_run_id, training_run_id, dataset_name };
    const page = readPage<TrajectoryRow>(this.#database, trajectoryList, where, query);
    const ids = new Set(page.items.map(row => row.dataset_id));
    const datasets = new Map(Array.from(ids, id => [id, this.#datasets.get(id)]));
    return { ...page, items: page.items.map(row => bodyOf(row, datasets.get(row.dataset_id))) };
  }

  row(organizationId: string, trajectoryId: string): TrajectoryRow | undefined {
    return this.#database.get<TrajectoryRow>(
      'select * from trajectories where trajectory_id = ? and organization_id = ?',
      trajectoryId,
      organizationId,
    );
  }

  /** A trajectory in the contract's form. */
  recordOf(row: TrajectoryRow, withSteps: boolean) {
    const body = bodyOf(row, this.#datasets.get(row.dataset_id));
    return withSteps ? { ...body, steps: [...this.#stepsOf(row)], rewards: this.#rewardsOf(row) } : body;
  }

  /** The JSON of the record and its steps, in pieces, because it can be very large. */
  *jsonOf(row: TrajectoryRow): Generator<string> {
    const { steps: _, ...body } = this.recordOf(row, false);
    let piece = `${JSON.stringify({ ...body, rewards: this.#rewardsOf(row) }).slice(0, -1)},"steps":[`;
    for (const step of this.#stepsOf(row)) {
      if (piece.length > pieceLength) {
        yield piece;
        piece = '';
      }
      piece += `${step.step_index === 0 ? '' : ','}${JSON.stringify(step)}`;
    }
    yield `${piece}]}`;
  }

  *#stepsOf({ trajectory_id, num_steps }: TrajectoryRow) {
    const select = 'select content from trajectory_steps where trajectory_id = ? and step_index = ?';
    for (let index = 0; index < num_steps; index += 1) {
      const stored = this.#database.get<{ readonly content: string }>(select, trajectory_id, index);
      // The trajectory was deleted in the meantime.
      if (!stored) return;
      yield stepOf(parseExactly(stored.content) as Fields, index);
    }
  }

  #rewardsOf(row: TrajectoryRow) {
    const { rewards: others } = detailsOf(row);
    return [...rewardsOf(this.#database, row.trajectory_id), ...(Array.isArray(others) ? others : [])];
  }
}

/** The messages of steps of any shape. */
export const messagesOf = (steps: readonly unknown[]) =>
  steps
    .filter(isRecord)
    .flatMap(step => (Array.isArray(step['messages']) ? step['messages'] : []))
    .filter(isRecord);

/** The last finish reason in the messages of steps. */
export function finishOf(steps: readonly unknown[]): string | null {
  const last = messagesOf(steps).findLast(({ finish_reason: each }) => typeof each === 'string' && each !== '');
  return last === undefined ? null : String(last['finish_reason']);
}

function detailsOf({ details }: Pick<TrajectoryRow, 'details'>): Fields {
  return details === null ? {} : (parseExactly(details) as Fields);
}

/** A trajectory in the contract's form; null for unknown fields. */
function bodyOf(row: TrajectoryRow, dataset: DatasetRow | undefined) {
  const { content_hash: _, occurrence: __, details: ___, finish_reason, tool_error, ...rest } = row;
  const { status, termination_reason } = row;
  const details = detailsOf(row);
  return {
    // An uploaded value, in the details, takes precedence.
    finish_reason,
    tool_error,
    ...details,
    ...rest,
    dataset_source: dataset?.source ?? null,
    dataset_gcs_prefix: dataset?.gcs_prefix ?? null,
    model_association_metadata: associationOf(row),
    gcs_blob_uri: dataset ? `${dataset.gcs_prefix}${row.trajectory_id}.json` : null,
    rollout: {
      status,
      termination_reason,
      harness_diagnostic: null,
      ...(isRecord(details['rollout']) && details['rollout']),
    },
    policy_step: row.step,
    steps: null,
  };
}

type Fields = Readonly<Record<string, unknown>>;

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const integerOf = (value: unknown): number | null => (Number.isInteger(value) ? Number(value) : null);
const writtenOrNull = (value: unknown): string | null => toText(value) ?? null;

/** A step in the contract's form; the stored one may lack fields. */
function stepOf(step: Fields, step_index: number) {
  const { reward, has_error, messages } = step;
  return {
    ...step,
    step_index,
    reward: numberOf(reward),
    has_error: has_error === true,
    messages: Array.isArray(messages) ? (messages as Fields[]).map(storedMessage) : [],
  };
}

/**
 * A message in the contract's form. Text fields hold text: tool calls and responses become JSON, and parts are joined
 * into one string. The parts themselves are in a separate field.
 */
function storedMessage(message: Fields, index: number) {
  const { message_id, role, content, tool_calls, tool_response, reasoning, finish_reason } = message;
  const { prompt_tokens, completion_tokens } = message;
  const uploaded_message_id = isRawJson(message_id) ? message_id.rawJSON : message_id;
  return {
    ...message,
    ...(typeof uploaded_message_id === 'string' && { uploaded_message_id }),
    ...(Array.isArray(content) && { content_parts: content }),
    message_id: integerOf(message_id) ?? index,
    role: writtenOrNull(role),
    content: contentText(content) ?? null,
    tool_calls: writtenOrNull(tool_calls),
    tool_response: writtenOrNull(tool_response),
    reasoning: writtenOrNull(reasoning),
    finish_reason: writtenOrNull(finish_reason),
    prompt_tokens: integerOf(prompt_tokens),
    completion_tokens: integerOf(completion_tokens),
  };
}

/** How the trajectory was associated with its model. */
function associationOf({ eval_run_id, training_run_id, step }: TrajectoryRow): Record<string, unknown> {
  if (eval_run_id) return { eval_run_id };
  if (training_run_id) return { training_run_id, step };
  return {};
}
