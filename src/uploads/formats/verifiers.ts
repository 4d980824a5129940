/** Rollouts from verifiers and prime-rl. */
import { isRawJson, own } from '../../base/own-property.ts';
import {
  type Fields,
  type ForeignRecord,
  keptFields,
  messagesOf,
  numberOf,
  othersOf,
  recordOf,
  stepsOf,
  taskOfPrompt,
  textOf,
  unreadableRewards,
  unreadReward,
  withoutEmpty,
  wordOf,
} from './fields.ts';

/** Whether a prompt and a completion with a reward are from verifiers, which names each one's example or environment. */
export const isOfVerifiers = ({ prompt, reward, example_id, task }: Fields): boolean =>
  prompt != null && reward != null && (example_id ?? task) != null;

/** Rollouts from verifiers and prime-rl: a prompt, a completion (empty if the rollout failed) and a reward. */
export function fromVerifiers(fields: Fields): ForeignRecord | undefined {
  const { prompt, completion, reward } = fields;
  const answers = messagesOf(completion, 'assistant');
  const isMessages = Array.isArray(prompt) || Array.isArray(completion);
  const steps = stepsOf([...messagesOf(prompt, 'user'), ...answers]);
  const isEmpty = completion === null || completion === '' || (Array.isArray(completion) && completion.length === 0);
  if (answers.length === 0 && !isEmpty) return undefined;
  if (steps.length === 0 || prompt === undefined || (reward == null && !isMessages)) return undefined;
  const unreadable = unreadReward(reward);
  const task_id = wordOf(fields['task_id']);
  const ids = ['example_id', 'id', 'task'];
  const known = ['prompt', 'completion', 'reward', 'metrics', 'error', 'stop_condition', 'task_id', ...ids];
  const metadata = ['answer', 'info', 'timing', 'token_usage', 'tool_defs', 'advantage', 'is_completed', 'rollout_id'];
  const others = othersOf(fields, [...known, ...metadata, 'is_truncated', 'model']);
  // The reward functions' values are fields beside `reward`.
  const functions = others.filter(name => {
    const value = own(fields, name);
    return numberOf(value) !== undefined || isRawJson(value);
  });
  const metrics = { ...recordOf(fields['metrics']), ...keptFields(fields, functions) };
  const task = textOf(fields['task']);
  // `task` names the environment, and not the example.
  const { task_id: example, note } = taskOfPrompt(task_id ?? wordOf(fields['example_id'] ?? fields['id']), prompt);
  const error = fields['error'];
  const truncated = fields['is_truncated'] === true ? 'TRUNCATION' : undefined;
  // What another field has replaced is kept in the metadata.
  const replaced = [...(truncated === undefined ? [] : ['stop_condition']), ...(task_id === undefined ? [] : ids)];
  const record = withoutEmpty({
    task_id: task_id ?? [task, example].filter(each => each !== undefined).join('/'),
    model_id: textOf(fields['model']),
    reward: numberOf(reward),
    error: error == null || typeof error === 'string' ? textOf(error) : JSON.stringify(error),
    termination_reason: truncated ?? textOf(fields['stop_condition']),
    metrics,
    completion_tokens: numberOf(recordOf(fields['token_usage'])['output_tokens']),
    metadata: { ...keptFields(fields, [...metadata, ...replaced]), ...unreadableRewards(unreadable) },
    steps,
  });
  return {
    format: 'a verifiers or prime-rl rollout',
    trajectories: [record],
    leftOut: others.filter(name => !functions.includes(name)),
    unreadRewards: unreadable.length,
    note,
  };
}
