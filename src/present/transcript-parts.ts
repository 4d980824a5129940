/**
 * Divides a message into parts: reasoning, text, refusals, tool calls and their results, attachments, and unknown
 * fields. Reads the formats of the document, OpenAI and Anthropic. Pure.
 */

import { parseExactly } from '../base/exact-json.ts';
import { pushAll } from '../base/many.ts';
import { isRecord, own } from '../base/own-property.ts';
import { contentText, messageContent } from '../contract/message-content.ts';
import { hasFailed } from '../contract/tool-error.ts';
import { message as messageSchema, type TrajectoryMessage } from '../contract/trajectories.ts';
import { splitThoughts } from '../text/thoughts.ts';
import { describeAttachment, imageIn } from './attachments.ts';
import { isJson, type JsonMember, jsonOf, membersOf, otherLines, repeats, stringOf } from './json-members.ts';
import { otherFields } from './other-fields.ts';
import { readableFields, readableJson } from './readable-json.ts';
import { callOf, callsOf, type ToolCall } from './transcript-calls.ts';

export interface ToolResponse {
  readonly kind: 'response';
  /** The id of the call that it answers. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly isError: boolean;
  readonly text: string;
  /** The base64 strings or addresses of its images. */
  readonly images: readonly string[];
}

export type MessagePart =
  | { readonly kind: 'text' | 'refusal' | 'json'; readonly text: string }
  /** `tags` says where it is in the message's text. */
  | { readonly kind: 'reasoning'; readonly text: string; readonly tags?: string }
  /** `image` is an image's base64 string or address. */
  | { readonly kind: 'attachment'; readonly text: string; readonly image: string | undefined }
  | ToolCall
  | ToolResponse;

const knownFields: ReadonlySet<string> = new Set(Object.keys(messageSchema.shape));

export const otherMessageFields = (message: TrajectoryMessage): readonly string[] => otherFields(message, knownFields);

/** The roles of messages that contain a tool call's result. */
const toolRoles: ReadonlySet<string> = new Set(['tool', 'function']);

export const isToolRole = (role: string | null | undefined): boolean => role != null && toolRoles.has(role);

/** A message's parts, in reading order. */
export function partsOf(message: TrajectoryMessage): readonly MessagePart[] {
  const { role, reasoning, reasoning_content, refusal, tool_calls, tool_response, function_call } = message;
  const parts: MessagePart[] = [];
  const thoughts = new Set([reasoning, reasoning_content]);
  for (const thought of thoughts) if (thought) parts.push({ kind: 'reasoning', text: readableJson(thought) });
  const content = contentOf(message);
  if (isToolRole(role)) {
    const body = bodyIn(content);
    if (body.text !== '' || !tool_response) parts.push({ ...ownResponse(message), ...body });
  } else {
    const own = contentParts(content);
    pushAll(parts, role === 'assistant' ? own.flatMap(withThoughts) : own);
  }
  if (refusal && !parts.some(part => part.kind === 'refusal' && part.text === refusal)) {
    parts.push({ kind: 'refusal', text: refusal });
  }
  if (tool_calls) for (const call of callsOf(tool_calls)) parts.push(call);
  if (function_call) pushAll(parts, callsOf(function_call));
  if (tool_response) pushAll(parts, responsesOf(tool_response, message));
  return parts;
}

/** The original content. The local service keeps its parts in a separate field. */
function contentOf({ content, content_parts: parts }: TrajectoryMessage): unknown {
  if (!Array.isArray(parts) || parts.length === 0) return content;
  // The text may contain other parts as JSON.
  return content == null || content === contentText(parts) || content === messageContent(parts) ? parts : content;
}

function contentParts(content: unknown): readonly MessagePart[] {
  if (content == null || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap(partOf);
  return isRecord(content) && typeof content['type'] === 'string' ? partOf(content) : [jsonPart(content)];
}

/** Separates a text from the thoughts before it. */
function withThoughts(part: MessagePart): readonly MessagePart[] {
  const split = part.kind === 'text' ? splitThoughts(part.text) : undefined;
  if (!split) return [part];
  const { thoughts, answer, tags } = split;
  const text = answer.replace(/^\s*\n/, '');
  return [
    { kind: 'reasoning', text: thoughts.trim(), tags },
    ...(text.trim() === '' ? [] : [{ kind: 'text', text } as const]),
  ];
}

type Body = Pick<ToolResponse, 'text' | 'images'>;

/** The content as a single text, and its images. */
function bodyIn(content: unknown): Body {
  const parts = contentParts(content);
  return {
    text: parts.map(({ kind, text }) => (kind === 'attachment' ? `[${text}]` : readableFields(text))).join('\n'),
    images: parts.flatMap(part => (part.kind === 'attachment' && part.image) || []),
  };
}

const plainBody = (text: string): Body => ({ text, images: [] });

/** A result without a body. */
const ownResponse = (message: TrajectoryMessage): ToolResponse => ({
  kind: 'response',
  id: message.tool_call_id ?? undefined,
  name: message.name ?? undefined,
  isError: hasFailed(message),
  ...plainBody(''),
});

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
      return textPart('reasoning', part['text'] ?? joinTexts(part['summary']) ?? joinTexts(part['content']), part);
    case 'redacted_thinking':
      return [{ kind: 'reasoning', text: '(redacted by the provider)' }];
  }
  const written = documentText(part);
  if (written !== undefined) return textPart('text', written, part);
  const attachment = describeAttachment(part);
  if (attachment !== undefined) return [{ kind: 'attachment', text: attachment, image: imageIn(part) }];
  if (/(^|_)(tool_use|tool_call|function_call)$/.test(String(type))) return [callOf(JSON.stringify(part))];
  if (/(^|_)(tool_result|tool_response|call_output)$/.test(String(type))) {
    return [responseOf(membersOf(JSON.stringify(part))) ?? jsonPart(part)];
  }
  return [jsonPart(part)];
}

/** The title and text of a document in Anthropic's format; undefined if the document is not text. */
function documentText({ type, title, source }: Readonly<Record<string, unknown>>): string | undefined {
  if (type !== 'document' || !isRecord(source)) return undefined;
  const text =
    source['type'] === 'text'
      ? source['data']
      : source['type'] === 'content'
        ? bodyIn(source['content']).text
        : undefined;
  if (typeof text !== 'string') return undefined;
  return typeof title === 'string' && title !== '' ? `[document ${title}]\n${text}` : `[document]\n${text}`;
}

function textPart(kind: 'text' | 'refusal' | 'reasoning', text: unknown, part: object): readonly MessagePart[] {
  if (typeof text !== 'string') return [jsonPart(part)];
  return text === '' ? [] : [{ kind, text }];
}

/** Joins the texts in a list of parts as paragraphs; undefined if there are none. */
function joinTexts(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const texts = parts.map(part => (isRecord(part) ? own(part, 'text') : part)).filter(text => typeof text === 'string');
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

const resultIds = ['tool_call_id', 'tool_use_id', 'call_id'] as const;
const resultBodies = ['content', 'output', 'result', 'response'] as const;
const resultEnvelope: ReadonlySet<string> = new Set(['type', 'role', 'name', 'is_error', 'cache_control']);

/** Parses text with tool results: JSON with one or more results, with parts, or any other text. */
function responsesOf(text: string, message: TrajectoryMessage): readonly MessagePart[] {
  const trimmed = text.trimStart();
  const plain = ownResponse(message);
  if (!isJson(text)) return [{ ...plain, text }];
  if (trimmed.startsWith('{')) return [responseOf(membersOf(text)) ?? { ...plain, text: readableFields(text) }];
  if (!trimmed.startsWith('[')) return [{ ...plain, text: stringOf(text.trim()) ?? text }];
  const all = membersOf(text).map(({ json }) => (json.startsWith('{') ? responseOf(membersOf(json)) : undefined));
  const known = all.filter(each => each !== undefined);
  if (known.length > 0 && known.length === all.length) return known;
  return [{ ...plain, ...bodyOf(text) }];
}

/** Parses a result that contains the id of its call; undefined without an id. */
function responseOf(members: readonly JsonMember[]): ToolResponse | undefined {
  const id = stringOf(jsonOf(members, resultIds) ?? '');
  const body = jsonOf(members, resultBodies);
  if (id === undefined || repeats(members)) return undefined;
  const used = new Set<string>([...resultIds, ...resultBodies, ...resultEnvelope]);
  const { text, images } = body === undefined ? { text: undefined, images: [] } : bodyOf(body);
  return {
    kind: 'response',
    id,
    name: stringOf(jsonOf(members, ['name']) ?? ''),
    isError: jsonOf(members, ['is_error']) === 'true',
    text: [...(text === undefined ? [] : [text]), ...otherLines(members, used)].join('\n'),
    images,
  };
}

/** Parses a result's body from its JSON: a string, parts, or another value. */
function bodyOf(json: string): Body {
  const text = stringOf(json);
  if (text !== undefined) return plainBody(readableFields(text));
  if (json.trimStart().startsWith('[')) {
    const parts = parseExactly(json);
    const isPart = (part: unknown): boolean => isRecord(part) && typeof part['type'] === 'string';
    if (Array.isArray(parts) && parts.length > 0 && parts.every(isPart)) return bodyIn(parts);
  }
  return plainBody(readableFields(json));
}
