/**
 * Parses uploaded trajectories. The document does not show their shape: one has steps with messages, or a single
 * conversation (`messages`), and optional metadata about task, model, reward, metrics and end.
 */
import * as z from 'zod/mini';
import { pathOf } from '../../contract/issues.ts';
import { terminationReasons, trajectoryStatuses } from '../../contract/trajectories.ts';
import type { UploadedTrajectory, UploadFailure } from '../store/trajectory-uploads.ts';
import { check } from './validate.ts';

const text = z.nullish(z.string());
const values = z.nullish(z.record(z.string(), z.unknown()));

const message = z.looseObject({ role: z.string().check(z.minLength(1)), content: z.nullish(z.unknown()) });
const messages = z.array(message).check(z.minLength(1));
const step = z.looseObject({
  reward: z.nullish(z.number()),
  has_error: z.nullish(z.boolean()),
  messages,
});

/** One of these words, in any case; null for any other text. */
function known<Word extends string>(words: readonly Word[]) {
  return z.nullish(
    z.pipe(
      z.string(),
      z.transform(text => words.find(word => word.toLowerCase() === text.toLowerCase()) ?? null),
    ),
  );
}

const uploaded = z.object({
  trace_id: text,
  conversation_id: text,
  task_id: text,
  task: z.nullish(z.union([z.string(), z.looseObject({ name: text, task_id: text, conversation_id: text })])),
  model_id: text,
  // Other services may have more of both: unknown ones are left out.
  status: known(trajectoryStatuses),
  termination_reason: known(terminationReasons),
  reward: z.nullish(z.number()),
  error: text,
  metrics: values,
  execution_metrics: values,
  metadata: values,
  steps: z.nullish(z.array(step).check(z.minLength(1))),
  messages: z.nullish(messages),
});

export function failureOfItem(message: string, item_index: number, context: Record<string, unknown>): UploadFailure {
  return { code: 'invalid_trajectory_upload', message, item_index, context };
}

/** Parses one; returns what is wrong if it cannot be stored. */
export function readUploaded(value: unknown, index: number): UploadedTrajectory | UploadFailure {
  const read = uploaded.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const path = pathOf(issue?.path ?? []);
    return failureOfItem(`${path === '' ? '' : `${path}: `}${issue?.message ?? 'cannot be read'}`, index, { path });
  }
  const item = read.data;
  const steps = stepsOf(item);
  if (steps.length === 0) return failureOfItem('steps: neither steps nor messages are there', index, { path: 'steps' });
  const failed = item.error != null;
  return { ...aboutOf(item), status: item.status ?? (failed ? 'failed' : 'completed'), steps: steps.map(numbered) };
}

const opened = z.extend(uploaded, { dataset: text, dataset_name: text });

/**
 * Parses the metadata of a trajectory being opened: it is running, and may have steps.
 *
 * @throws ApiError `validation_error`
 */
export function readOpened(value: unknown): UploadedTrajectory & { readonly dataset: string | undefined } {
  const item = check(opened, value);
  const status = item.status === 'pending' ? 'pending' : 'running';
  const dataset = item.dataset ?? item.dataset_name ?? undefined;
  return { ...aboutOf(item), status, termination_reason: null, steps: stepsOf(item).map(numbered), dataset };
}

type Uploaded = z.output<typeof uploaded>;

function stepsOf({ steps, messages: said }: Uploaded): z.output<typeof step>[] {
  return steps ?? (said ? [{ messages: said }] : []);
}

function aboutOf(item: Uploaded) {
  const { metrics, execution_metrics, metadata } = item;
  const details = {
    ...(metrics && { metrics }),
    ...(execution_metrics && { execution_metrics }),
    ...(metadata && { metadata }),
  };
  const task = typeof item.task === 'string' ? { name: item.task } : (item.task ?? {});
  return {
    trace_id: item.trace_id ?? undefined,
    conversation_id: item.conversation_id ?? ('conversation_id' in task ? task.conversation_id : null) ?? undefined,
    termination_reason: item.termination_reason ?? null,
    task_id: item.task_id ?? ('task_id' in task ? task.task_id : null) ?? task.name ?? null,
    model_id: item.model_id ?? null,
    reward: item.reward ?? null,
    error: item.error ?? null,
    details: Object.keys(details).length === 0 ? null : JSON.stringify(details),
  };
}

function numbered({ messages: said, reward, has_error }: z.output<typeof step>, step_index: number) {
  return {
    step_index,
    ...(reward == null ? {} : { reward }),
    has_error: has_error ?? false,
    messages: said.map((each, message_id) => ({ message_id, ...each })),
  };
}
