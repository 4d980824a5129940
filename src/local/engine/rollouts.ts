/** Orders for rollouts, and their records. */

import { errorMessage } from '../../base/errors.ts';
import { hashOf } from '../../base/hash.ts';
import { defaultSampling } from '../model/policy.ts';
import type { Task } from '../samples/manifest.ts';
import type { SecretStore } from '../store/secrets.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';

/** A task, and the index of its sample, from 0. */
export interface PlannedRollout {
  readonly task: Task;
  readonly sample: number;
}

export interface EvaluationSampling {
  /** The seed of the run. Two runs with the same seed and model have the same rollouts. */
  readonly seed: number;
  /** Maximum tokens of an answer; a task may set a lower limit. */
  readonly longest: number | undefined;
}

/**
 * The seed of a rollout depends on the task and not on the id of the run, so that all runs draw the same random numbers for a task: a
 * comparison of two models has less noise (common random numbers).
 */
export function orderOf({ task, sample }: PlannedRollout, { seed, longest }: EvaluationSampling): RolloutOrder {
  const maxTokens = task.max_tokens ?? longest ?? defaultSampling.max_tokens;
  const sampling = {
    ...defaultSampling,
    max_tokens: Math.min(maxTokens, longest ?? maxTokens),
    seed: hashOf(`${seed} evaluation ${task.name} ${sample}`),
  };
  return { task_id: task.name, sample, turns: task.turns, grader: task.grader, sampling };
}

/**
 * The environment of a task: its own variables and its secrets.
 *
 * @throws Error that names a secret that is missing or cannot be decrypted
 */
export function environmentOf(
  task: Task,
  organizationId: string,
  secrets: SecretStore,
): Readonly<Record<string, string>> {
  const variables = task.environment.map(variable => {
    if (!('secret_name' in variable)) return [variable.name, variable.value] as const;
    const value = secrets.value(organizationId, variable.secret_name);
    if (value === undefined)
      throw new Error(`The task needs the secret ${variable.secret_name}, which does not exist.`);
    return [variable.name, value] as const;
  });
  return Object.fromEntries(variables);
}

/** A rollout that never started. */
export function failedRollout(task_id: string, sample: number, error: unknown): RolloutResult {
  const message = errorMessage(error);
  return { task_id, sample, answer: null, reward: null, explanation: '', error: message, latency_ms: 0 };
}

/** The outcome of a rollout without a grader: it has no reward, and did not fail. */
export function ungraded(reason: string): Pick<RolloutResult, 'reward' | 'explanation' | 'error'> {
  return { reward: null, explanation: `Not graded: ${reason}.`, error: null };
}

/** The messages of a rollout as the contract's steps: prompt, answer and grade. */
export function rolloutRecord(turns: RolloutOrder['turns'], result: RolloutResult) {
  const { answer, reward, error } = result;
  const prompt = turns.map(({ role, content }, index) => ({ message_id: index, role, content }));
  const reply = answer
    ? [
        {
          message_id: prompt.length,
          role: 'assistant',
          content: answer.text,
          finish_reason: answer.finish_reason,
          prompt_tokens: answer.prompt_tokens,
          completion_tokens: answer.completion_tokens,
        },
      ]
    : [];
  const graded = { message_id: prompt.length + 1, role: 'grader', content: result.explanation };
  const messages = [...prompt, ...reply, ...(result.explanation === '' ? [] : [graded])];
  const step = { step_index: 0, ...(reward === null ? {} : { reward }), has_error: error !== null, messages };
  return { task_id: result.task_id, sample: result.sample, reward, error, steps: [step] };
}
