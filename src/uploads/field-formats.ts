/**
 * Converts other programs' rollout files to the contract's trajectories. Recognises a record by its fields, never by
 * its file name, and names the fields it leaves out.
 */
import { createHash } from 'node:crypto';
import { parseJson } from '../base/json-depth.ts';
import { isRawJson, isRecord, own } from '../base/own-property.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ForeignRecord {
  /** The format in words, e.g. `an Inspect log`. */
  readonly format: string;
  readonly trajectories: readonly Record<string, unknown>[];
  /** Names of the fields that were left out. */
  readonly leftOut: readonly string[];
  /** The number of rewards that are not numbers; they are kept in the metadata. */
  readonly unreadRewards?: number;
  /** A note about the whole record, as a sentence. */
  readonly note?: string | undefined;
  readonly scores?: Scores;
}

/** The scores in an Inspect log. */
export interface Scores {
  /** The score that is the reward; undefined if none is. */
  readonly reward: string | undefined;
  readonly names: readonly string[];
  /** How many rollouts have scores, but not that one. */
  readonly without: number;
}

/** Whether a reward is missing. Python writes missing ones as NaN. */
const isMissing = (reward: unknown): boolean => reward == null || Number.isNaN(reward);

/** The metadata field that keeps rewards that are not numbers, by name. */
export const unreadRewardsField = 'unread_rewards';

/**
 * Metadata with the rewards that are not numbers. Infinite ones become strings, because JSON has no infinite numbers.
 */
function unreadableRewards(rewards: readonly (readonly [name: string, value: unknown])[]): Record<string, unknown> {
  const asText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);
  return withoutEmpty({
    [unreadRewardsField]: Object.fromEntries(rewards.map(([name, value]) => [name, asText(value)])),
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const wordOf = (value: unknown): string | undefined => {
  if (isRawJson(value)) return value.rawJSON;
  return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
};
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
/** A short name for a value. */
const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
const recordsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});

/** `rate_limit: too fast` for an error with a message; other errors as JSON. */
function describeProblem(error: unknown): string {
  // Anthropic nests a request's error inside the response body.
  const { code, type, message } = recordOf(recordOf(error)['error'] ?? error);
  if (typeof message !== 'string') return typeof error === 'string' ? error : JSON.stringify(error);
  return [wordOf(code ?? type), message].filter(Boolean).join(': ');
}

/**
 * The trajectory for a failed batch request, with nothing but its error. It has a step, because a service may refuse a
 * whole upload with a trajectory that has none.
 */
const failedResult = (task_id: string, error: unknown): Record<string, unknown> => ({
  task_id,
  error: describeProblem(error),
  steps: [{ messages: [], has_error: true }],
});

/** A trajectory's metadata fields, without empty ones. */
function keptFields(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return withoutEmpty(Object.fromEntries(names.map(name => [name, own<unknown>(fields, name)])));
}

function withoutEmpty(fields: Fields): Record<string, unknown> {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    value === null ||
    (Array.isArray(value) && value.length === 0) ||
    (isRecord(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function othersOf(fields: Fields, known: readonly string[]): string[] {
  return Object.keys(withoutEmpty(fields)).filter(name => !known.includes(name));
}

/** Divides messages into steps. Each of the model's answers begins a step; the first step also contains the prompt. */
function stepsOf(messages: readonly Fields[]): { readonly messages: readonly Fields[] }[] {
  const steps: { messages: Fields[] }[] = [];
  let answered = false;
  for (const message of messages) {
    const isAnswer = message['role'] === 'assistant';
    if (steps.length === 0 || (isAnswer && answered)) steps.push({ messages: [] });
    answered ||= isAnswer;
    steps.at(-1)?.messages.push(message);
  }
  return steps;
}

/** A list of messages, or a string as a single message with this role. */
function messagesOf(value: unknown, role: string): Fields[] {
  const text = textOf(value);
  return text === undefined ? recordsIn(value) : [{ role, content: text }];
}

/** Parses a verifiers message's tool calls, which are JSON strings. Other strings stay as they are. */
function verifiersMessage(message: Fields): Fields {
  const { tool_calls } = message;
  if (!Array.isArray(tool_calls)) return message;
  const callOf = (call: unknown): unknown => {
    const read = typeof call === 'string' ? parseJson(call) : undefined;
    return isRecord(read) ? read : call;
  };
  return { ...message, tool_calls: tool_calls.map(callOf) };
}

const unreadReward = (reward: unknown): readonly (readonly [name: string, value: unknown])[] =>
  isMissing(reward) || numberOf(reward) !== undefined ? [] : [['reward', reward]];

/** Rollouts from verifiers and prime-rl: a prompt, a completion (empty if the rollout failed) and a reward. */
function fromVerifiers(fields: Fields): ForeignRecord | undefined {
  const { prompt, completion, reward } = fields;
  const answers = messagesOf(completion, 'assistant');
  const isMessages = Array.isArray(prompt) || Array.isArray(completion);
  const steps = stepsOf([...messagesOf(prompt, 'user'), ...answers].map(verifiersMessage));
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
  // `task` names the environment: without an id, rollouts of the same prompt belong to the same task.
  const example = wordOf(fields['example_id'] ?? fields['id']) ?? (task && hashOf(prompt));
  const error = fields['error'];
  const truncated = fields['is_truncated'] === true ? 'TRUNCATION' : undefined;
  // What another field has replaced is kept in the metadata.
  const replaced = [...(truncated === undefined ? [] : ['stop_condition']), ...(task_id === undefined ? [] : ids)];
  const record = withoutEmpty({
    task_id: task_id ?? ([task, example].filter(each => each !== undefined).join('/') || undefined),
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
  };
}

/** The values of Inspect's grades (correct, partially correct, incorrect, no answer) and words, as Inspect reads them. */
const inspectGrades: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };
const inspectAnswers: Readonly<Record<string, number>> = { yes: 1, true: 1, no: 0, false: 0 };

function inspectNumber(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return numberOf(value);
  const word = own<number>(inspectGrades, value) ?? own<number>(inspectAnswers, value.toLowerCase());
  const number = word ?? Number(value.trim() || Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}

interface InspectReward {
  readonly name: string;
  readonly score: unknown;
  /** The score as a number; undefined if it is not a number. */
  readonly value: number | undefined;
  readonly explanation: string | undefined;
}

/** A sample's scores by scorer. */
const scoresIn = ({ scores, score }: Fields): Fields => recordOf(scores ?? (isRecord(score) ? { score } : undefined));

/** A score's values by name: a single one, or one per named value. */
const partsOf = (name: string, value: unknown): [name: string, value: unknown][] =>
  isRecord(value) ? Object.entries(value).map(([part, each]) => [`${name}.${part}`, each]) : [[name, value]];

/** The first scorer that a log names, as its samples name it. An unfinished log has no results yet. */
function firstScorer({ results, eval: evaluation }: Fields): string | undefined {
  const [scored] = recordsIn(recordOf(results)['scores']);
  const [scorer] = recordsIn(recordOf(evaluation)['scorers']);
  // A scorer from a package has the package's name before its own.
  return textOf(scored?.['scorer']) ?? textOf(scorer?.['name'])?.replace(/^.*\//, '');
}

/**
 * The score that is the reward: the first scorer's, unless it gives several. A scorer may give none to the first
 * sample, so the log's order of scorers counts before that of the samples.
 */
export function rewardScoreOf(samples: readonly Fields[], log: Fields): Pick<Scores, 'reward'> | undefined {
  const all = samples.map(scoresIn);
  const name = firstScorer(log) ?? all.map(scores => Object.keys(scores)[0]).find(each => each !== undefined);
  if (name === undefined) return undefined;
  const value = all.map(scores => recordOf(own(scores, name))['value']).find(each => !isMissing(each));
  const parts = partsOf(name, value);
  return { reward: parts.length === 1 ? parts[0]?.[0] : undefined };
}

/** An Inspect score as rewards. */
function inspectRewards(name: string, { value, explanation, answer }: Fields): InspectReward[] {
  const answered = textOf(answer);
  const words = [answered && `answered ${answered}`, textOf(explanation)].filter(Boolean).join('\n') || undefined;
  return partsOf(name, value)
    .filter(([, score]) => !isMissing(score))
    .map(([part, score]) => ({ name: part, score, value: inspectNumber(score), explanation: words }));
}

const inspectLimits: Readonly<Record<string, string>> = {
  message: 'MAX_STEPS',
  time: 'TIMEOUT',
  working: 'TIMEOUT',
  token: 'LIMIT_REACHED',
  context: 'TRUNCATION',
};

/** Restores strings that Inspect stores once and refers to by hash. */
function withAttachments(value: unknown, attachments: Fields): unknown {
  if (typeof value === 'string') {
    const [, hash] = /^attachment:\/\/([0-9a-f]+)$/.exec(value) ?? [];
    return hash === undefined ? value : (own<unknown>(attachments, hash) ?? value);
  }
  if (Array.isArray(value)) return value.map(each => withAttachments(each, attachments));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withAttachments(each, attachments)]));
}

/** An Inspect message with its tool calls and errors in OpenAI's form. */
function inspectMessage(message: Fields): Fields {
  const { id: _, source: __, tool_calls, function: called, error, ...rest } = message;
  const calls = recordsIn(tool_calls).map(({ id, function: name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) },
  }));
  const problem = textOf(recordOf(error)['message']);
  const parts = recordsIn(rest['content']).map(inspectPart);
  return {
    ...rest,
    ...(parts.length > 0 && { content: parts }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(called !== undefined && { name: called }),
    ...(problem !== undefined && { is_error: true, error, ...(!rest['content'] && { content: problem }) }),
  };
}

/** Converts Inspect's reasoning and images to forms that the transcript shows. */
function inspectPart(part: Fields): Fields {
  if (part['type'] === 'reasoning') return { type: 'thinking', thinking: part['reasoning'] ?? part['summary'] ?? '' };
  if (part['type'] === 'image') return { type: 'image_url', image_url: { url: part['image'] } };
  return part;
}

const sampleFields = ['id', 'epoch', 'messages', 'scores', 'score', 'error', 'limit', 'attachments', 'output'];
const sampleMetadata = ['target', 'metadata', 'input', 'choices', 'total_time', 'working_time', 'model_usage'];

/**
 * Converts a sample from an Inspect log, and counts the scores that are not numbers. Scores other than the reward weigh
 * nothing, because scorers also count tokens and the like.
 *
 * @param log names the task
 */
function inspectSample(sample: Fields, log: Fields, reward: string | undefined) {
  const { error, limit, attachments } = sample;
  const scored = Object.entries(scoresIn(sample)).flatMap(([name, each]) => inspectRewards(name, recordOf(each)));
  const rewards = scored
    .filter(({ value }) => value !== undefined)
    .map(({ name, value, explanation }) =>
      withoutEmpty({ name, value, weight: name === reward ? undefined : 0, explanation }),
    );
  const unreadable = scored
    .filter(({ value }) => value === undefined)
    .map(({ name, score: value }) => [name, value] as const);
  const messages = recordsIn(withAttachments(sample['messages'], recordOf(attachments)));
  const { model, task } = recordOf(log['eval']);
  const stop = textOf(recordOf(recordsIn(recordOf(sample['output'])['choices'])[0])['stop_reason']);
  const end = messages.findLastIndex(({ role }) => role === 'assistant');
  const marked = messages.map((message, index) => ({
    ...inspectMessage(message),
    ...(index === end && stop !== undefined && { finish_reason: stop }),
  }));
  const type = textOf(recordOf(limit)['type']);
  const id = wordOf(sample['id']);
  const name = textOf(model);
  const usage = recordOf(name && own(recordOf(sample['model_usage']), name));
  const record = withoutEmpty({
    task_id: id,
    model_id: name,
    completion_tokens: usage['output_tokens'],
    error: isRecord(error) ? textOf(error['message']) : textOf(error),
    termination_reason: type && (own<string>(inspectLimits, type) ?? 'LIMIT_REACHED'),
    rewards,
    metadata: {
      ...keptFields(sample, sampleMetadata),
      ...withoutEmpty({ task, epoch: sample['epoch'] }),
      ...unreadableRewards(unreadable),
    },
    steps: stepsOf(marked),
  });
  return { record, unreadRewards: unreadable.length, names: scored.map(each => each.name) };
}

/** How a log's run ended, unless it succeeded and has samples. */
export function inspectEnd({ eval: evaluation, status, error }: Fields, samples: number): string | undefined {
  if (typeof status !== 'string' || (status === 'success' && samples > 0)) return undefined;
  const task = textOf(recordOf(evaluation)['task']) ?? 'the log';
  const why = error == null ? '' : `: ${describeProblem(error)}`;
  return `The run of ${task} has the status ${status}${samples === 0 ? ' and no samples' : ''}${why.replace(/\.$/, '')}.`;
}

function fromInspect(fields: Fields, chosen?: Pick<Scores, 'reward'>): ForeignRecord | undefined {
  // A run that ended before its first sample leaves a log with a plan but no samples.
  const { eval: evaluation, plan, samples = isRecord(plan) ? [] : undefined } = fields;
  if (!isRecord(evaluation) || !Array.isArray(samples)) return undefined;
  const all = recordsIn(samples);
  const leftOut = new Set(all.flatMap(sample => othersOf(sample, [...sampleFields, ...sampleMetadata])));
  const reward = (chosen ?? rewardScoreOf(all, fields))?.reward;
  const read = all.map(sample => inspectSample(sample, fields, reward));
  const without = read.filter(({ names }) => names.length > 0 && !names.some(name => name === reward));
  return {
    format: 'an Inspect log',
    trajectories: read.map(({ record }) => record),
    leftOut: [...leftOut],
    unreadRewards: read.reduce((sum, { unreadRewards }) => sum + unreadRewards, 0),
    note: inspectEnd(fields, all.length),
    scores: { reward, names: [...new Set(read.flatMap(({ names }) => names))], without: without.length },
  };
}

/** Converts a sample from an Inspect `.eval` file. @param header the file's `header.json` */
export function fromInspectSample(
  sample: Fields,
  header: Fields,
  chosen?: Pick<Scores, 'reward'>,
): ForeignRecord | undefined {
  return fromInspect({ ...header, eval: recordOf(header['eval']), samples: [sample] }, chosen);
}

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

function fromShareGpt(fields: Fields): ForeignRecord | undefined {
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
function fromAnthropic(fields: Fields): ForeignRecord | undefined {
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
function fromOpenAi(fields: Fields): ForeignRecord | undefined {
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
  const { messages: _, system: __, model, reward, ...more } = fields;
  const { metadata } = more;
  const named = isRecord(metadata) ? metadata : withoutEmpty({ metadata });
  const unreadable = typeof reward === 'number' ? [] : unreadReward(reward);
  const record = withoutEmpty({
    ...more,
    ...(unreadable.length > 0 && { metadata: { ...named, ...unreadableRewards(unreadable) } }),
    ...(textOf(model) && { model_id: model }),
    reward: typeof reward === 'number' ? reward : undefined,
    steps: stepsOf(messages),
  });
  return { format, trajectories: [record], leftOut: [], unreadRewards: unreadable.length };
}

/**
 * A dump by a trainer or a script: a score with a prompt and a completion, an input and an output (as verl writes
 * them), or messages. An id names the rollout if there is a task, and otherwise the task. Keeps all other fields.
 */
function fromDump(fields: Fields): ForeignRecord | undefined {
  const { input, output, prompt = input, completion = output, score, reward: named, ...rest } = fields;
  const { messages, id, task, task_id, step, ...more } = rest;
  const text = textOf(prompt);
  const isScore = named == null;
  const reward = named ?? score;
  const isText = text !== undefined && typeof completion === 'string' && (isScore || text === input || task_id != null);
  // A large integer is no reward either, but is then kept in the metadata, and noted.
  const isNumber = typeof reward === 'number' || isRawJson(reward);
  if (!isNumber || !(isText || (isScore && Array.isArray(messages)))) return undefined;
  const taskName = wordOf(task_id) ?? textOf(task);
  const record = withoutEmpty({
    ...more,
    ...(isScore ? {} : { score }),
    ...(task === taskName ? {} : { task }),
    ...(prompt === input ? {} : { input }),
    ...(completion === output ? {} : { output }),
    task_id: taskName ?? wordOf(id) ?? (text && hashOf(text)),
    trace_id: taskName && wordOf(id),
    policy_step: numberOf(step),
    reward,
  });
  if (isText)
    return conversation(record, "a trainer's dump", [
      ...messagesOf(text, 'user'),
      ...messagesOf(completion, 'assistant'),
    ]);
  const conversed = { ...record, messages };
  return fromAnthropic(conversed) ?? fromOpenAi(conversed);
}

/** Fields that only the contract's trajectories have. Records with any of them are not converted. */
const ownFields = ['steps', 'trajectory_id', 'rollout', 'rewards', 'task_id', 'trace_id', 'termination_reason'];

/** Why a record with a prompt and an answer is not a rollout; undefined for other records. */
export function dumpProblem({ input, output, prompt = input, completion = output, ...others }: Fields) {
  const isDump = textOf(prompt) !== undefined && typeof completion === 'string';
  if (!isDump || ['messages', 'error', ...ownFields].some(name => name !== 'task_id' && Object.hasOwn(others, name)))
    return undefined;
  return 'A prompt and a completion are read as a rollout only with a number as their score or reward. Without one, write them as messages';
}

/**
 * Converts another program's record; undefined for a contract trajectory or an unknown format.
 *
 * @param score the score of an Inspect log that is the reward
 */
export function foreignRecord(fields: Fields, score?: string): ForeignRecord | undefined {
  const has = ownFields.filter(name => Object.hasOwn(fields, name));
  // Other programs may name the task as the contract does.
  if (has.some(name => name !== 'task_id')) return undefined;
  if (has.length > 0)
    return (
      fromDump(fields) ?? (fields['messages'] == null ? (fromVerifiers(fields) ?? fromShareGpt(fields)) : undefined)
    );
  return (
    fromDump(fields) ??
    fromInspect(fields, score === undefined ? undefined : { reward: score }) ??
    fromVerifiers(fields) ??
    fromShareGpt(fields) ??
    fromAnthropic(fields) ??
    fromOpenAi(fields)
  );
}
