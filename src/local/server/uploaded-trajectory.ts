/**
 * Parses uploaded trajectories. The document does not show their shape: a trajectory has steps with messages, or a
 * single conversation (`messages`), and optional metadata about its task, model, rewards, metrics and end. Other fields
 * are kept, so that an exported trajectory can be uploaded without loss.
 */
import * as z from 'zod/mini';
import { isRecord, own } from '../../base/own-property.ts';
import { describeTooLarge, pathOf } from '../../contract/issues.ts';
import { parseWhole } from '../../contract/proto-field.ts';
import { trajectoryStatuses } from '../../contract/status.ts';
import { lastToolError } from '../../contract/tool-error.ts';
import { terminationReasons } from '../../contract/trajectories.ts';
import { type UploadedReward, weightedMean } from '../store/reward-logs.ts';
import { finishOf, messagesOf } from '../store/trajectories.ts';
import type { UploadedTrajectory, UploadFailure } from '../store/trajectory-uploads.ts';
import { check } from './validate.ts';

const text = z.nullish(z.string());
const values = z.nullish(z.record(z.string(), z.unknown()));

const message = z.looseObject({ role: z.string().check(z.minLength(1)), content: z.nullish(z.unknown()) });
const messages = z.array(message);
const step = z.looseObject({
  reward: z.nullish(z.number()),
  has_error: z.nullish(z.boolean()),
  messages,
});

/** Finds a word, ignoring case; undefined if it is unknown. */
function findWord<Word extends string>(words: readonly Word[], text: string): Word | undefined {
  return words.find(word => word.toLowerCase() === text.toLowerCase());
}

const uploaded = z.looseObject({
  trace_id: text,
  conversation_id: text,
  task_id: text,
  task: z.nullish(z.union([z.string(), z.looseObject({ name: text, task_id: text, conversation_id: text })])),
  model_id: text,
  status: text,
  termination_reason: text,
  reward: z.nullish(z.number()),
  error: text,
  metrics: values,
  execution_metrics: values,
  metadata: values,
  steps: z.nullish(z.array(step)),
  messages: z.nullish(messages.check(z.minLength(1))),
});

/** A logged reward. Rewards in another shape are kept, but do not count. */
const loggedReward = z.looseObject({
  reward_id: z.nullish(z.string().check(z.minLength(1))),
  name: z.string().check(z.minLength(1)),
  value: z.number(),
  weight: z.nullish(z.number().check(z.gte(0))),
  explanation: text,
  created_at: text,
});

/**
 * Fields that a service sets itself. In an exported trajectory they identify the source, so they become its `origin`.
 */
const serviceFields = [
  'trajectory_id',
  'organization_id',
  'eval_run_id',
  'training_run_id',
  'dataset_id',
  'dataset_name',
  'dataset_source',
  'dataset_gcs_prefix',
  'source',
  'num_steps',
  'created_at',
  'gcs_blob_uri',
  'model_association_source',
  'model_association_metadata',
] as const;

export function failureOfItem(message: string, item_index: number, context: Record<string, unknown>): UploadFailure {
  return { code: 'invalid_trajectory_upload', message, item_index, context };
}

/** Parses a trajectory. Returns a failure if it cannot be stored. */
export function readUploaded(value: unknown, index: number): UploadedTrajectory | UploadFailure {
  const read = parseWhole(uploaded, value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const path = pathOf(issue?.path ?? []);
    const words = (issue && describeTooLarge(issue, value)) ?? issue?.message ?? 'cannot be read';
    return failureOfItem(`${path === '' ? '' : `${path}: `}${words}`, index, { path });
  }
  const item = read.data;
  const steps = stepsOf(item);
  // A request may have failed before the first message.
  if (steps.length === 0 && item.error == null)
    return failureOfItem('steps: there are neither steps nor messages', index, { path: 'steps' });
  const rollout = rolloutOf(item);
  const status = item.status ?? textIn(rollout, 'status') ?? (item.error == null ? 'completed' : 'failed');
  const knownStatus = findWord(trajectoryStatuses, status);
  const isOpen = knownStatus === 'running' || knownStatus === 'pending';
  return {
    ...aboutOf(item, {
      ...(knownStatus === undefined && { uploaded_status: status }),
      ...keptRollout(rollout, isOpen),
    }),
    status: knownStatus ?? (item.error == null ? 'completed' : 'failed'),
    steps: steps.map(withStepIndex),
    ...moreOf(item),
  };
}

const openedSchema = z.extend(uploaded, { dataset: text, dataset_name: text });

/**
 * Parses a trajectory that is being opened: it is still running, and may have steps.
 *
 * @throws ApiError `validation_error`
 */
export function readOpened(value: unknown): UploadedTrajectory & { readonly dataset: string | undefined } {
  const { dataset: named, dataset_name, ...item } = check(openedSchema, value);
  const status = item.status?.toLowerCase() === 'pending' ? 'pending' : 'running';
  const dataset = named ?? dataset_name ?? undefined;
  const about = aboutOf(item, keptRollout(rolloutOf(item), true));
  return {
    ...about,
    status,
    termination_reason: null,
    steps: stepsOf(item).map(withStepIndex),
    ...moreOf(item),
    dataset,
  };
}

type Uploaded = z.output<typeof uploaded>;
type Fields = Readonly<Record<string, unknown>>;

function textIn(fields: Fields, name: string): string | undefined {
  const value = own(fields, name);
  return typeof value === 'string' ? value : undefined;
}

/** A record's rollout, without empty fields. */
function rolloutOf({ rollout }: Uploaded): Fields {
  return isRecord(rollout) ? withoutNulls(rollout) : {};
}

/** The rollout, without its end if the trajectory is still running. */
function keptRollout(rollout: Fields, isOpen: boolean): Fields {
  const { status: _, termination_reason: __, ...more } = rollout;
  const kept = isOpen ? more : rollout;
  return Object.keys(kept).length === 0 ? {} : { rollout: kept };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function stepsOf({ steps, messages }: Uploaded): z.output<typeof step>[] {
  return steps ?? (messages ? [{ messages }] : []);
}

/** @param more further details about the trajectory */
function aboutOf(item: Uploaded, more: Fields) {
  const { metrics, execution_metrics, metadata } = item;
  const { counted, others } = rewardsOf(item);
  const details = {
    ...(metrics && { metrics }),
    ...(execution_metrics && { execution_metrics }),
    ...(metadata && { metadata }),
    ...unknownFields(item),
    ...keptTask(item),
    ...more,
    ...(others !== undefined && { rewards: others }),
  };
  const task = typeof item.task === 'string' ? { name: item.task } : (item.task ?? {});
  const reason = item.termination_reason ?? textIn(rolloutOf(item), 'termination_reason');
  return {
    trace_id: item.trace_id ?? undefined,
    conversation_id: item.conversation_id ?? ('conversation_id' in task ? task.conversation_id : null) ?? undefined,
    // An unknown reason is kept unchanged.
    termination_reason: reason === undefined ? null : (findWord(terminationReasons, reason) ?? reason),
    task_id: item.task_id ?? ('task_id' in task ? task.task_id : null) ?? task.name ?? null,
    model_id: item.model_id ?? null,
    // Keep an explicit null, which means no reward even if rewards were logged.
    reward: item.reward === undefined ? weightedMean(counted) : item.reward,
    error: item.error ?? null,
    details: Object.keys(details).length === 0 ? null : JSON.stringify(details),
  };
}

/** Optional fields, absent rather than null. */
function moreOf(item: Uploaded): Pick<UploadedTrajectory, 'rewards' | 'step' | 'origin'> {
  const { counted } = rewardsOf(item);
  const step = own(item, 'policy_step') ?? own(item, 'step');
  const origin = originOf(item);
  return {
    ...(counted.length > 0 && { rewards: counted }),
    ...(typeof step === 'number' && Number.isSafeInteger(step) && { step }),
    ...(origin && { origin }),
  };
}

/** A record's origin: the first service that it was exported from. */
function originOf(item: Uploaded): Fields | undefined {
  const earlier = own(item, 'origin');
  if (isRecord(earlier)) return earlier;
  const fields = withoutNulls(Object.fromEntries(serviceFields.map(name => [name, own(item, name)])));
  return Object.keys(fields).length === 0 ? undefined : fields;
}

const readFields: ReadonlySet<string> = new Set([
  ...Object.keys(uploaded.shape),
  ...serviceFields,
  'origin',
  'rollout',
  'rewards',
  'policy_step',
  'step',
]);

function unknownFields(item: Uploaded): Fields {
  const steps = stepsOf(item);
  // Drop values equal to the messages' own, so that a trajectory exported from a list equals the original.
  const read = { finish_reason: finishOf(steps), tool_error: lastToolError(messagesOf(steps)) };
  const isRead = (name: string, value: unknown) => readFields.has(name) || own(read, name) === value;
  return Object.fromEntries(Object.entries(item).filter(([name, value]) => !isRead(name, value)));
}

/** A record's task, if it contains more than the id, which is stored separately. */
function keptTask({ task, task_id }: Uploaded): Fields {
  if (task == null) return {};
  if (typeof task === 'string') return task_id == null || task_id === task ? {} : { task };
  const { name, task_id: id, conversation_id: _, ...more } = task;
  const isRead = Object.keys(more).length === 0 && [name, id].filter(each => each != null).length < 2;
  return isRead && task_id == null ? {} : { task };
}

/** The mean of a record's logged rewards, if the record has no reward; null if none of them counts. */
export const rewardByLog = (item: object): number | null => weightedMean(rewardsOf(item as Uploaded).counted);

/** A record's rewards that count, and the rest of that field. */
function rewardsOf(item: Uploaded): { readonly counted: UploadedReward[]; readonly others: unknown } {
  const rewards = own(item, 'rewards');
  if (!Array.isArray(rewards)) return { counted: [], others: rewards ?? undefined };
  const ids = new Set<string>();
  const counted: UploadedReward[] = [];
  const others: unknown[] = [];
  for (const entry of rewards) {
    const read = parseWhole(loggedReward, entry);
    if (!read.success || (read.data.reward_id != null && ids.has(read.data.reward_id))) {
      others.push(entry);
      continue;
    }
    const { reward_id, name, value, weight, explanation, created_at, ...details } = read.data;
    if (reward_id != null) ids.add(reward_id);
    counted.push({
      reward_id: reward_id ?? undefined,
      name,
      value,
      weight: weight ?? 1,
      explanation: explanation ?? '',
      created_at: created_at ?? undefined,
      details,
    });
  }
  return { counted, others: others.length === 0 ? undefined : others };
}

function withStepIndex({ messages, reward, has_error, ...more }: z.output<typeof step>, step_index: number) {
  const { step_index: _, ...others } = more;
  return {
    step_index,
    ...(reward == null ? {} : { reward }),
    has_error: has_error ?? false,
    messages: messages.map((each, message_id) => ({ message_id, ...each })),
    ...others,
  };
}
