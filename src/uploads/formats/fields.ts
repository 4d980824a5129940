/** What all formats of other programs share: the record that they give, and the parts of a trajectory. */
import { createHash } from 'node:crypto';
import { parseJson } from '../../base/json-depth.ts';
import { isRawJson, isRecord, own } from '../../base/own-property.ts';

export type Fields = Readonly<Record<string, unknown>>;

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
export const isMissing = (reward: unknown): boolean => reward == null || Number.isNaN(reward);

/** The metadata field that keeps rewards that are not numbers, by name. */
export const unreadRewardsField = 'unread_rewards';

/**
 * Metadata with the rewards that are not numbers. Infinite ones become strings, because JSON has no infinite numbers.
 */
export function unreadableRewards(
  rewards: readonly (readonly [name: string, value: unknown])[],
): Record<string, unknown> {
  const asText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);
  return withoutEmpty({
    [unreadRewardsField]: Object.fromEntries(rewards.map(([name, value]) => [name, asText(value)])),
  });
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
export const wordOf = (value: unknown): string | undefined => {
  if (isRawJson(value)) return value.rawJSON;
  return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
};
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);

/** A rollout's task and, if that is not named, a note that its prompt replaces the name. */
export const taskOfPrompt = (named: string | undefined, prompt: unknown): Pick<ForeignRecord, 'note'> & Task =>
  named === undefined && prompt != null && !(Array.isArray(prompt) && prompt.length === 0)
    ? { task_id: hashOf(prompt), note: 'Rollouts with the same prompt are one task, where no task is named.' }
    : { task_id: named, note: undefined };
interface Task {
  readonly task_id: string | undefined;
}
export const recordsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
export const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});

/** `rate_limit: too fast` for an error with a message; other errors as JSON. */
export function describeProblem(error: unknown): string {
  // Anthropic nests a request's error inside the response body.
  const { code, type, message } = recordOf(recordOf(error)['error'] ?? error);
  if (typeof message !== 'string') return typeof error === 'string' ? error : JSON.stringify(error);
  return [wordOf(code ?? type), message].filter(Boolean).join(': ');
}

/** A trajectory's metadata fields, without empty ones. */
export function keptFields(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return withoutEmpty(Object.fromEntries(names.map(name => [name, own<unknown>(fields, name)])));
}

export function withoutEmpty(fields: Fields): Record<string, unknown> {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    value === null ||
    (Array.isArray(value) && value.length === 0) ||
    (isRecord(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

export function othersOf(fields: Fields, known: readonly string[]): string[] {
  return Object.keys(withoutEmpty(fields)).filter(name => !known.includes(name));
}

/** Divides messages into steps. Each of the model's answers begins a step; the first step also contains the prompt. */
export function stepsOf(messages: readonly Fields[]): { readonly messages: readonly Fields[] }[] {
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

/** Parses a message's tool calls, which verifiers writes as JSON strings. Other strings stay as they are. */
function withCalls(message: Fields): Fields {
  const { tool_calls } = message;
  if (!Array.isArray(tool_calls)) return message;
  const callOf = (call: unknown): unknown => {
    const read = typeof call === 'string' ? parseJson(call) : undefined;
    return isRecord(read) ? read : call;
  };
  return { ...message, tool_calls: tool_calls.map(callOf) };
}

/** A list of messages, or a string as a single message with this role. */
export function messagesOf(value: unknown, role: string): Fields[] {
  const text = textOf(value);
  return text === undefined ? recordsIn(value).map(withCalls) : [{ role, content: text }];
}

export const unreadReward = (reward: unknown): readonly (readonly [name: string, value: unknown])[] =>
  isMissing(reward) || numberOf(reward) !== undefined ? [] : [['reward', reward]];

/** Fields that only the contract's trajectories have. Records with any of them are not converted. */
export const ownFields = ['steps', 'trajectory_id', 'rollout', 'rewards', 'task_id', 'trace_id', 'termination_reason'];
