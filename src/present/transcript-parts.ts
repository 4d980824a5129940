/**
 * What a message consists of: reasoning, text, refusals, tool calls and their results, attachments, and fields that are
 * not known. Reads the document's form, OpenAI's and Anthropic's. Pure.
 */
import { messageContent } from '../contract/common.ts';
import { message as messageSchema, type TrajectoryMessage } from '../contract/trajectories.ts';
import { isRecord, own } from '../text/own.ts';
import { attachmentWords, binaryWords } from './attachments.ts';
import { isJson, type JsonMember, membersOf, stringOf } from './json-members.ts';
import { readableJson } from './readable-json.ts';

export interface ToolCall {
  readonly kind: 'call';
  readonly id: string | undefined;
  /** Empty if it has none. */
  readonly name: string;
  /** The command or its like on one line, without the lines that follow. */
  readonly summary: string;
  /** Lines of the command that the summary leaves out. */
  readonly more: number;
  /** Its arguments, readable. */
  readonly text: string;
}

export interface ToolResponse {
  readonly kind: 'response';
  /** The id of its call. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly isError: boolean;
  readonly text: string;
}

export type MessagePart =
  | { readonly kind: 'reasoning' | 'text' | 'refusal' | 'attachment' | 'json'; readonly text: string }
  | ToolCall
  | ToolResponse;

/** Fields of a message or a step that the contract does not know, one per line. */
export function otherFields(row: object, known: ReadonlySet<string>): string {
  return Object.entries(row)
    .filter(([name, value]) => !known.has(name) && !isEmpty(value))
    .map(([name, value]) => `${name}: ${compact(value)}`)
    .join('\n');
}

/** A value on one line, as JSON unless it is text, with the size of binary content in its place. */
export function compact(value: unknown): string {
  const shown = (each: unknown): unknown => {
    const binary = typeof each === 'string' ? binaryWords(each) : undefined;
    return binary === undefined ? each : `[${binary}]`;
  };
  if (typeof value === 'string') return String(shown(value));
  return JSON.stringify(value, (_, each: unknown) => shown(each));
}

export function isEmpty(value: unknown): boolean {
  return value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

const knownFields: ReadonlySet<string> = new Set(Object.keys(messageSchema.shape));

/** Fields of a message that the contract does not know. */
export const otherMessageFields = (message: TrajectoryMessage): string => otherFields(message, knownFields);

/** Roles whose content is the result of a tool call. */
const toolRoles: ReadonlySet<string> = new Set(['tool', 'function']);

export const isToolRole = (role: string | null | undefined): boolean => role != null && toolRoles.has(role);

/** Whether a message is the result of a tool that failed. */
export const failed = ({ is_error }: TrajectoryMessage): boolean => is_error === true || is_error === 'true';

/** What a message consists of, in the order for reading. */
export function partsOf(message: TrajectoryMessage): readonly MessagePart[] {
  const { role, reasoning, reasoning_content, refusal, tool_calls, tool_response, function_call } = message;
  const parts: MessagePart[] = [];
  const thoughts = new Set([reasoning, reasoning_content]);
  for (const thought of thoughts) if (thought) parts.push({ kind: 'reasoning', text: readableJson(thought) });
  const content = contentOf(message);
  if (isToolRole(role)) {
    const text = textOf(content);
    const isError = failed(message);
    const own = { id: message.tool_call_id ?? undefined, name: message.name ?? undefined, isError };
    if (text !== '') parts.push({ kind: 'response', ...own, text });
  } else parts.push(...contentParts(content));
  if (refusal && !parts.some(part => part.kind === 'refusal' && part.text === refusal)) {
    parts.push({ kind: 'refusal', text: refusal });
  }
  if (tool_calls) parts.push(...callsOf(tool_calls));
  if (function_call) parts.push(...callsOf(function_call));
  if (tool_response) parts.push(...responsesOf(tool_response, message));
  return parts;
}

/** The content as it was sent: the local service has its parts in a field of their own. */
function contentOf({ content, content_parts: parts }: TrajectoryMessage): unknown {
  if (!Array.isArray(parts) || parts.length === 0) return content;
  return content == null || content === messageContent(parts) ? parts : content;
}

function contentParts(content: unknown): readonly MessagePart[] {
  if (content == null || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap(partOf);
  return isRecord(content) && typeof content['type'] === 'string' ? partOf(content) : [jsonPart(content)];
}

/** Content as one text, as a tool has sent it. */
function textOf(content: unknown): string {
  return contentParts(content)
    .map(({ kind, text }) => (kind === 'attachment' ? `[${text}]` : readableResult(text)))
    .join('\n');
}

const jsonPart = (value: unknown): MessagePart => ({ kind: 'json', text: readableJson(JSON.stringify(value)) });

function partOf(part: unknown): readonly MessagePart[] {
  if (typeof part === 'string') return part === '' ? [] : [{ kind: 'text', text: part }];
  if (!isRecord(part)) return [jsonPart(part)];
  const { type } = part;
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart('text', part['text'], part);
    case 'refusal':
      return textPart('refusal', part['refusal'], part);
    case 'thinking':
      return textPart('reasoning', part['thinking'], part);
    case 'reasoning':
      return textPart('reasoning', part['text'] ?? joined(part['summary']) ?? joined(part['content']), part);
    case 'redacted_thinking':
      return [{ kind: 'reasoning', text: '(redacted by the provider)' }];
  }
  const attachment = attachmentWords(part);
  if (attachment !== undefined) return [{ kind: 'attachment', text: attachment }];
  if (/(^|_)(tool_use|tool_call|function_call)$/.test(String(type))) return [callOf(JSON.stringify(part))];
  if (/(^|_)(tool_result|tool_response|call_output)$/.test(String(type))) {
    return [responseOf(membersOf(JSON.stringify(part))) ?? jsonPart(part)];
  }
  return [jsonPart(part)];
}

function textPart(kind: 'text' | 'refusal' | 'reasoning', text: unknown, part: object): readonly MessagePart[] {
  if (typeof text !== 'string') return [jsonPart(part)];
  return text === '' ? [] : [{ kind, text }];
}

/** The texts of a list of parts, a paragraph each; undefined if there is none. */
function joined(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const texts = parts.map(part => (isRecord(part) ? own(part, 'text') : part)).filter(text => typeof text === 'string');
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

const callNames = ['name', 'tool_name', 'tool'] as const;
const callArguments = ['arguments', 'input', 'args', 'parameters'] as const;
const callIds = ['id', 'call_id', 'tool_call_id', 'tool_use_id'] as const;
/** Fields that every call has and that say nothing. */
const callEnvelope: ReadonlySet<string> = new Set(['type', 'index', 'function', 'cache_control']);

/** Tool calls that came as text: JSON of one or several, or anything else. */
function callsOf(text: string): readonly MessagePart[] {
  if (!isJson(text)) return [plainCall(text)];
  const inner = stringOf(text.trim());
  if (inner !== undefined) return inner === '' ? [] : callsOf(inner);
  const start = text.trimStart()[0];
  if (start === '[') return membersOf(text).map(({ json }) => callOf(json));
  return start === '{' ? [callOf(text)] : [plainCall(text)];
}

function plainCall(text: string): ToolCall {
  const [summary = '', ...rest] = text.trim().split('\n');
  return { kind: 'call', id: undefined, name: '', summary, more: rest.length, text };
}

/** One call, from its JSON. */
function callOf(json: string): ToolCall {
  const outer = membersOf(json);
  const members = [...outer, ...membersOf(fieldOf(outer, ['function']) ?? '')];
  const name = stringOf(fieldOf(members, callNames) ?? '');
  if (name === undefined || repeats(outer))
    return { ...plainCall(json.replace(/\s+/g, ' ')), text: readableJson(json) };
  const input = fieldOf(members, callArguments);
  const used = new Set<string>([...callNames, ...callArguments, ...callIds, ...callEnvelope]);
  const others = members.filter(member => !used.has(member.name) && !isEmptyJson(member.json));
  const text = [...(input === undefined ? [] : [readableResult(stringOf(input) ?? input)]), ...others.map(lineOf)];
  return {
    kind: 'call',
    id: stringOf(fieldOf(members, callIds) ?? ''),
    name,
    ...summaryOf(input),
    text: text.filter(Boolean).join('\n'),
  };
}

const isEmptyJson = (json: string): boolean => /^(null|""|\[\s*\]|\{\s*\})$/.test(json);
const lineOf = ({ name, json }: JsonMember): string => `${name}: ${stringOf(json) ?? json}`;

function fieldOf(members: readonly JsonMember[], names: readonly string[]): string | undefined {
  for (const name of names) {
    const member = members.find(each => each.name === name && each.json !== 'null');
    if (member) return member.json;
  }
  return undefined;
}

function repeats(members: readonly JsonMember[]): boolean {
  return new Set(members.map(({ name }) => name)).size < members.length;
}

/** Arguments that say what a call does, the most telling first. */
const mainArguments = [
  'command',
  'cmd',
  'script',
  'code',
  'query',
  'url',
  'file_path',
  'path',
  'pattern',
  'text',
] as const;

/** The arguments on one line, the command first. */
function summaryOf(input: string | undefined): Pick<ToolCall, 'summary' | 'more'> {
  const text = input === undefined ? '' : (stringOf(input) ?? input).trim();
  if (!text.startsWith('{') || !isJson(text)) return firstLine(text);
  const members = membersOf(text);
  const isMain = ({ name }: JsonMember): boolean => mainArguments.some(main => main === name);
  const main = mainArguments.map(name => members.find(each => each.name === name)).find(Boolean);
  const { summary, more } = main ? firstLine(lineText(main.json)) : { summary: '', more: 0 };
  const rest = members.filter(each => each !== main).map(({ name, json }) => ({ name, ...firstLine(lineText(json)) }));
  const words = rest.map(each =>
    isMain({ name: each.name, json: '' }) ? each.summary : `${each.name}=${each.summary}`,
  );
  return {
    summary: [summary, ...words].filter(Boolean).join('  '),
    more: more + rest.reduce((sum, each) => sum + each.more, 0),
  };
}

function firstLine(text: string): Pick<ToolCall, 'summary' | 'more'> {
  const [summary = '', ...rest] = text.trim().split('\n');
  return { summary: summary.trim(), more: rest.length };
}

/** The value of an argument: text as it is, JSON on one line. */
function lineText(json: string): string {
  const text = stringOf(json);
  if (text === undefined) return compact(JSON.parse(json));
  const binary = binaryWords(text);
  return binary === undefined ? text : `[${binary}]`;
}

const resultIds = ['tool_call_id', 'tool_use_id', 'call_id'] as const;
const resultBodies = ['content', 'output', 'result', 'response'] as const;
const resultEnvelope: ReadonlySet<string> = new Set(['type', 'role', 'name', 'is_error', 'cache_control']);

/** Results that came as text: one or several with the ids of their calls, parts, or anything else. */
function responsesOf(text: string, message: TrajectoryMessage): readonly MessagePart[] {
  const trimmed = text.trimStart();
  const plain: ToolResponse = {
    kind: 'response',
    id: message.tool_call_id ?? undefined,
    name: message.name ?? undefined,
    isError: failed(message),
    text: '',
  };
  if (!isJson(text)) return [{ ...plain, text }];
  if (trimmed.startsWith('{')) return [responseOf(membersOf(text)) ?? { ...plain, text: readableResult(text) }];
  if (!trimmed.startsWith('[')) return [{ ...plain, text: stringOf(text.trim()) ?? text }];
  const all = membersOf(text).map(({ json }) => (json.startsWith('{') ? responseOf(membersOf(json)) : undefined));
  const known = all.filter(each => each !== undefined);
  if (known.length > 0 && known.length === all.length) return known;
  return [{ ...plain, text: bodyOf(text) }];
}

/** A result with the id of its call; undefined if it has none. */
function responseOf(members: readonly JsonMember[]): ToolResponse | undefined {
  const id = stringOf(fieldOf(members, resultIds) ?? '');
  const body = fieldOf(members, resultBodies);
  if (id === undefined || repeats(members)) return undefined;
  const used = new Set<string>([...resultIds, ...resultBodies, ...resultEnvelope]);
  const others = members.filter(member => !used.has(member.name) && !isEmptyJson(member.json));
  return {
    kind: 'response',
    id,
    name: stringOf(fieldOf(members, ['name']) ?? ''),
    isError: fieldOf(members, ['is_error']) === 'true',
    text: [...(body === undefined ? [] : [bodyOf(body)]), ...others.map(lineOf)].join('\n'),
  };
}

/** The body of a result, from its JSON: a text, parts, or a value. */
function bodyOf(json: string): string {
  const text = stringOf(json);
  if (text !== undefined) return readableResult(text);
  if (json.trimStart().startsWith('[')) {
    const parts: unknown = JSON.parse(json);
    const isPart = (part: unknown): boolean => isRecord(part) && typeof part['type'] === 'string';
    if (Array.isArray(parts) && parts.length > 0 && parts.every(isPart)) return textOf(parts);
  }
  return readableResult(json);
}

/** Readable JSON without the braces of an object, which would be the only line of it in a fold. */
function readableResult(text: string): string {
  const shown = readableJson(text);
  if (shown === text || !shown.startsWith('{\n') || !shown.endsWith('\n}')) return shown;
  return shown
    .split('\n')
    .slice(1, -1)
    .map(line => line.slice(2))
    .join('\n');
}
