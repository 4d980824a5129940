/** Conversations from ShareGPT, Anthropic's and OpenAI's APIs, and dumps by trainers and scripts. */
import { isRawJson, isRecord, own } from '../../base/own-property.ts';
import {
  describeProblem,
  type Fields,
  type ForeignRecord,
  keptFields,
  messagesOf,
  numberOf,
  ownFields,
  recordOf,
  recordsIn,
  stepsOf,
  taskOfPrompt,
  textOf,
  unreadableRewards,
  unreadReward,
  withoutEmpty,
  wordOf,
} from './fields.ts';
import { isOfVerifiers } from './verifiers.ts';

/**
 * The trajectory for a failed request or trial, without messages. It has a step, because a service may refuse a whole
 * upload with a trajectory that has none.
 */
const failedResult = (task_id: string, error: unknown): Record<string, unknown> => ({
  task_id,
  error: describeProblem(error),
  steps: [{ messages: [], has_error: true }],
});

const shareGptRoles: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
  assistant: 'assistant',
  function_call: 'assistant',
  system: 'system',
  tool: 'tool',
  observation: 'tool',
  function_response: 'tool',
};

export function fromShareGpt(fields: Fields): ForeignRecord | undefined {
  const turns = recordsIn(fields['conversations']);
  if (turns.length === 0 || !turns.every(({ from, value }) => typeof from === 'string' && typeof value === 'string'))
    return undefined;
  const messages = turns.map(({ from, value }) => {
    const role = own<string>(shareGptRoles, String(from)) ?? String(from);
    return from === 'function_call' ? { role, tool_calls: value } : { role, content: value };
  });
  const system = textOf(fields['system']);
  const { conversations: _, id, system: __, task_id, model, score, reward: named, ...others } = fields;
  const reward = named ?? score;
  const metadata = withoutEmpty({ ...others, ...(named != null && { score }) });
  const record = { conversation_id: wordOf(id), task_id: wordOf(task_id), model, reward, metadata };
  return conversation(record, 'a ShareGPT conversation', [
    ...(system ? [{ role: 'system', content: system }] : []),
    ...messages,
  ]);
}

/**
 * A result of τ-bench: a conversation with tools, its task, its reward and the number of its trial. A trial that raised
 * an exception has no messages, and counts with its reward.
 */
export function fromTauBench({ traj, task_id, trial, ...fields }: Fields): ForeignRecord | undefined {
  const messages = recordsIn(traj);
  const task = wordOf(task_id);
  const isFailed = Array.isArray(traj) && traj.length === 0 && numberOf(trial) !== undefined;
  if (isFailed && task !== undefined && numberOf(fields['reward']) !== undefined) {
    const failed = failedResult(task, recordOf(fields['info'])['error'] ?? 'The trial failed.');
    return { format: 'a τ-bench result', trajectories: [{ ...fields, sample: trial, ...failed }], leftOut: [] };
  }
  if (messages.length === 0 || !messages.every(({ role }) => typeof role === 'string')) return undefined;
  return conversation({ ...fields, task_id: task, sample: trial }, 'a τ-bench result', messages);
}

/** Finish reasons for Anthropic's stop reasons. */
const stopReasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'refusal',
};

/** A conversation whose last answer gets the record's stop reason and tokens. Unknown fields stay in the record. */
function withLastAnswer(fields: Fields, format: string, messages: readonly Fields[]): ForeignRecord {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  if (last === -1) return conversation(fields, format, messages);
  const { stop_reason, usage, ...rest } = fields;
  const finish = own<string>(stopReasons, String(stop_reason));
  const { input_tokens, output_tokens, ...more } = recordOf(usage);
  const end = withoutEmpty({
    finish_reason: finish,
    prompt_tokens: numberOf(input_tokens),
    completion_tokens: numberOf(output_tokens),
  });
  const others = withoutEmpty({ ...(finish === undefined && { stop_reason }), usage: isRecord(usage) ? more : usage });
  return conversation({ ...rest, ...others }, format, messages.with(last, { ...end, ...messages[last] }));
}

/** A request or response of Anthropic's Messages API, or a line of batch results. */
export function fromAnthropic(fields: Fields): ForeignRecord | undefined {
  const { result, custom_id, type, role, system, messages } = fields;
  if (isRecord(result) && typeof custom_id === 'string' && typeof result['type'] === 'string') {
    const inner = isRecord(result['message']) ? fromAnthropic(result['message']) : undefined;
    const [answer] = inner?.trajectories ?? [failedResult(custom_id, result['error'] ?? result['type'])];
    return {
      format: 'an Anthropic batch result',
      trajectories: [{ task_id: custom_id, ...answer }],
      leftOut: inner?.leftOut ?? [],
    };
  }
  if (type === 'message' && role === 'assistant' && Array.isArray(fields['content'])) {
    const about = keptFields(fields, ['model', 'stop_reason', 'usage']);
    return withLastAnswer(about, 'an Anthropic response', [{ role, content: fields['content'] }]);
  }
  const all = recordsIn(messages);
  const hasSystem = (typeof system === 'string' || Array.isArray(system)) && all.length > 0;
  const partTypes = ['tool_use', 'tool_result', 'thinking'];
  const hasParts = all.some(({ content }) => recordsIn(content).some(part => partTypes.includes(String(part['type']))));
  const isEnded = typeof fields['stop_reason'] === 'string' && all.length > 0;
  if (!hasSystem && !hasParts && !isEnded) return undefined;
  return withLastAnswer(fields, 'Anthropic messages', [
    ...(hasSystem ? [{ role: 'system', content: system }] : []),
    ...all,
  ]);
}

/** An OpenAI chat request or fine-tuning example, or a line of batch results. */
export function fromOpenAi(fields: Fields): ForeignRecord | undefined {
  const { custom_id, body, response, messages } = fields;
  if (typeof custom_id === 'string' && (isRecord(body) || response !== undefined)) {
    const inner = isRecord(body) ? body : recordOf(recordOf(response)['body']);
    const error = fields['error'] ?? inner['error'];
    const answer =
      fromOpenAi(inner) ??
      (error == null ? undefined : { trajectories: [failedResult(custom_id, error)], leftOut: [] });
    if (!answer) return undefined;
    const format = isRecord(body) ? 'an OpenAI batch request' : 'an OpenAI batch result';
    return { ...answer, format, trajectories: answer.trajectories.map(each => ({ task_id: custom_id, ...each })) };
  }
  const choices = recordsIn(fields['choices']).filter(({ message }) => isRecord(message));
  if (choices.length > 0) {
    const usage = recordOf(fields['usage']);
    const counts = choices.length === 1 ? keptFields(usage, ['prompt_tokens', 'completion_tokens']) : {};
    const trajectories = choices.map(({ message, finish_reason }) =>
      withoutEmpty({
        model_id: textOf(fields['model']),
        steps: [{ messages: [{ ...recordOf(message), finish_reason, ...counts }] }],
      }),
    );
    return { format: 'an OpenAI completion', trajectories, leftOut: [] };
  }
  const all = recordsIn(messages);
  return all.length === 0 ? undefined : conversation(fields, 'an OpenAI conversation', all);
}

/** Converts a conversation; its record's other fields stay unchanged. */
function conversation(fields: Fields, format: string, messages: readonly Fields[]): ForeignRecord {
  const { messages: _, system: __, model, reward, resolved, instance_id, ...more } = fields;
  const { metadata } = more;
  const named = isRecord(metadata) ? metadata : withoutEmpty({ metadata });
  const unreadable = typeof reward === 'number' ? [] : unreadReward(reward);
  // Agents on SWE-bench write their task and its result so.
  const task = more['task_id'] == null ? wordOf(instance_id) : undefined;
  const isResult = typeof resolved === 'boolean' && reward == null && more['rewards'] == null;
  const record = withoutEmpty({
    ...more,
    ...(task === undefined ? { instance_id } : { task_id: task }),
    ...(isResult ? { rewards: [{ name: 'resolved', value: Number(resolved) }] } : { resolved }),
    ...(unreadable.length > 0 && { metadata: { ...named, ...unreadableRewards(unreadable) } }),
    ...(textOf(model) && { model_id: model }),
    reward: typeof reward === 'number' ? reward : undefined,
    steps: stepsOf(messages),
  });
  return { format, trajectories: [record], leftOut: [], unreadRewards: unreadable.length };
}

/** The messages before the first answer. */
function promptIn(messages: readonly Fields[]): readonly Fields[] {
  const answer = messages.findIndex(({ role }) => role === 'assistant');
  return answer === -1 ? messages : messages.slice(0, answer);
}

/** Whether a value is a text, or a list of messages. */
const isTextOrMessages = (value: unknown): boolean => typeof value === 'string' || recordsIn(value).length > 0;

/**
 * A dump by a trainer or a script: a score or a reward with a prompt and a completion, an input and an output (as verl
 * writes them), or messages. An id names the rollout if there is a task, and otherwise the task. Keeps all other fields.
 */
export function fromDump(fields: Fields): ForeignRecord | undefined {
  const { input, output, prompt = input, completion = output, score, reward: named, ...rest } = fields;
  const { messages, id, task, task_id, step, ...more } = rest;
  const isScore = named == null;
  const reward = named ?? score;
  const isPair = isTextOrMessages(prompt) && prompt !== '' && isTextOrMessages(completion) && !isOfVerifiers(fields);
  // With a task and a reward, messages are a trajectory of the contract.
  const hasMessages = Array.isArray(messages) && (isScore || task_id == null);
  // A large integer is no reward either, but is then kept in the metadata, and noted.
  // Verifiers' format keeps an infinite one too.
  const mayBeInfinite = isScore || prompt === input;
  const isNumber = (mayBeInfinite ? typeof reward === 'number' : Number.isFinite(reward)) || isRawJson(reward);
  if (!isNumber || !(isPair || hasMessages)) return undefined;
  const taskName = wordOf(task_id) ?? textOf(task);
  const { task_id: taskId, note } = taskOfPrompt(
    taskName ?? wordOf(id),
    isPair ? prompt : promptIn(recordsIn(messages)),
  );
  const record = withoutEmpty({
    ...more,
    ...(isScore ? {} : { score }),
    ...(task === taskName ? {} : { task }),
    ...(prompt === input ? {} : { input }),
    ...(completion === output ? {} : { output }),
    task_id: taskId,
    trace_id: taskName && wordOf(id),
    policy_step: numberOf(step) ?? more['policy_step'],
    reward,
  });
  const conversed = { ...record, messages };
  const read = isPair
    ? conversation(record, "a trainer's dump", [...messagesOf(prompt, 'user'), ...messagesOf(completion, 'assistant')])
    : (fromAnthropic(conversed) ?? fromOpenAi(conversed));
  return read && { ...read, note };
}

/** Why a record with a prompt and an answer is not a rollout; undefined for other records. */
export function dumpProblem({ input, output, prompt = input, completion = output, ...others }: Fields) {
  const isDump = textOf(prompt) !== undefined && typeof completion === 'string';
  if (!isDump || ['messages', 'error', ...ownFields].some(name => name !== 'task_id' && Object.hasOwn(others, name)))
    return undefined;
  return 'A prompt and a completion are read as a rollout only with a number as their score or reward. Without one, write them as messages';
}
