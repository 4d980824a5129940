/** Rollout orders and records. */

import { errorMessage } from '../../base/errors.ts';
import { hashOf } from '../../base/hash.ts';
import { parseDeepJson } from '../../base/json-depth.ts';
import type { ToolTurn } from '../model/episode.ts';
import { defaultSampling, type Generated } from '../model/policy.ts';
import type { Task } from '../samples/manifest.ts';
import type { SecretStore } from '../store/secrets.ts';
import type { RolloutOrder, RolloutResult } from './messages.ts';

/** A task, and the index of its sample, from 0. */
export interface PlannedRollout {
  readonly task: Task;
  readonly sample: number;
}

interface EvaluationSampling {
  /** The run's seed. Two runs with the same seed and model have the same rollouts. */
  readonly seed: number;
  /** Maximum number of tokens in an answer; a task may set a lower limit. */
  readonly longest: number | undefined;
}

/**
 * A rollout's seed depends on the task and not on the run, so that all runs draw the same random numbers for a task.
 * This reduces the noise in comparisons (common random numbers).
 */
export function orderOf({ task, sample }: PlannedRollout, { seed, longest }: EvaluationSampling): RolloutOrder {
  const maxTokens = task.max_tokens ?? longest ?? defaultSampling.max_tokens;
  const sampling = {
    ...defaultSampling,
    max_tokens: Math.min(maxTokens, longest ?? maxTokens),
    seed: hashOf(`${seed} evaluation ${task.name} ${sample}`),
  };
  return { task_id: task.name, sample, turns: task.turns, grader: task.grader, tools: task.tools, sampling };
}

/** @throws Error naming one of the task's secrets that is missing or cannot be decrypted */
export function requireSecrets({ environment }: Task, organizationId: string, secrets: SecretStore): void {
  for (const variable of environment) {
    if ('secret_name' in variable && secrets.value(organizationId, variable.secret_name) === undefined)
      throw new Error(`The task needs the secret ${variable.secret_name}, which does not exist.`);
  }
}

/** A rollout that never started. */
export function failedRollout(task_id: string, sample: number, error: unknown): RolloutResult {
  return {
    task_id,
    sample,
    grader: null,
    calls: [],
    step_rewards: [],
    answer: null,
    reward: null,
    explanation: '',
    error: errorMessage(error),
    latency_ms: 0,
  };
}

/** The outcome of a rollout without a grader: it has no reward, but did not fail. */
export function ungradedResult(reason: string): Pick<RolloutResult, 'reward' | 'explanation' | 'error'> {
  return { reward: null, explanation: `Not graded: ${reason}.`, error: null };
}

/** An answer as a message. */
function assistantMessage(
  { text, tokens: _, content_parts, ...answer }: Generated,
  finish_reason = answer.finish_reason,
) {
  const content = content_parts === undefined ? text : parseDeepJson(content_parts);
  return { role: 'assistant', content, ...answer, finish_reason };
}

/** A tool call and its result as the messages of a step. */
function callMessages({ generated, result }: ToolTurn, index: number) {
  const id = `call_${index}`;
  const { name, arguments: parameters, text, is_error } = result;
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(parameters) } };
  return [
    {
      ...assistantMessage(generated, generated.finish_reason === 'stop' ? 'tool_calls' : generated.finish_reason),
      tool_calls: [call],
    },
    { role: 'tool', name, tool_call_id: id, tool_response: text, is_error },
  ];
}

/** A rollout's messages as the contract's steps: the prompt, each tool call, the answer and its grade. */
export function rolloutRecord(turns: RolloutOrder['turns'], result: RolloutResult) {
  const { calls, answer, grader, reward, error, explanation, step_rewards } = result;
  const graded = explanation === '' ? [] : [{ role: 'grader', content: explanation }];
  const parts: { messages: object[]; has_error: boolean }[] = calls.map((call, index) => ({
    messages: callMessages(call, index),
    has_error: call.result.is_error,
  }));
  if (answer) parts.push({ messages: [assistantMessage(answer)], has_error: false });
  const [first = { messages: [], has_error: false }, ...others] = parts;
  const all = [
    { ...first, messages: [...turns.map(({ role, content }) => ({ role, content })), ...first.messages] },
    ...others,
  ];
  let message_id = 0;
  const steps = all.map(({ messages, has_error }, step_index) => {
    const isLast = step_index === all.length - 1;
    const stepMessages = isLast ? [...messages, ...graded] : messages;
    const earned = step_rewards[step_index] ?? (isLast && step_rewards.length === 0 ? reward : null);
    return {
      step_index,
      ...(earned === null ? {} : { reward: earned }),
      has_error: has_error || (isLast && error !== null),
      messages: stepMessages.map(message => ({ message_id: message_id++, ...message })),
    };
  });
  const ranOut = answer === null && calls.length > 0;
  return {
    task_id: result.task_id,
    sample: result.sample,
    reward,
    error,
    steps,
    ...(error === null && ranOut && { termination_reason: 'MAX_STEPS' }),
    details: grader && grader.kind !== 'none' ? JSON.stringify({ grader }) : null,
  };
}
