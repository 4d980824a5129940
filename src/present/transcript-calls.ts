/** Parses a message's tool calls, in the formats of the document, OpenAI and Anthropic. Pure. */
import { parseExactly } from '../base/exact-json.ts';
import { describeBinary } from './attachments.ts';
import { isJson, jsonOf, membersOf, otherLines, repeats, stringOf } from './json-members.ts';
import { compact } from './other-fields.ts';
import { readableFields, readableJson } from './readable-json.ts';

export interface ToolCall {
  readonly kind: 'call';
  readonly id: string | undefined;
  /** Empty if it has none. */
  readonly name: string;
  /** The first line of the command or main argument. */
  readonly summary: string;
  /** How many further lines the summary leaves out. */
  readonly more: number;
  /** Its arguments as readable text. */
  readonly text: string;
}

const callNames = ['name', 'tool_name', 'tool'] as const;
const callArguments = ['arguments', 'input', 'args', 'parameters'] as const;
const callIds = ['id', 'call_id', 'tool_call_id', 'tool_use_id'] as const;
/** Fields that are equal in every call, and therefore not shown. */
const callEnvelope: ReadonlySet<string> = new Set(['type', 'index', 'function', 'cache_control']);

/** Parses text with tool calls: JSON with one or more calls, or any other text. */
export function callsOf(text: string): readonly ToolCall[] {
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

/** Parses a call from its JSON. */
export function callOf(json: string): ToolCall {
  const outer = membersOf(json);
  const members = [...outer, ...membersOf(jsonOf(outer, ['function']) ?? '')];
  const name = stringOf(jsonOf(members, callNames) ?? '');
  if (name === undefined || repeats(outer))
    return { ...plainCall(json.replace(/\s+/g, ' ')), text: readableJson(json) };
  const input = jsonOf(members, callArguments);
  const used = new Set<string>([...callNames, ...callArguments, ...callIds, ...callEnvelope]);
  const text = [
    ...(input === undefined ? [] : [readableFields(stringOf(input) ?? input)]),
    ...otherLines(members, used),
  ];
  return {
    kind: 'call',
    id: stringOf(jsonOf(members, callIds) ?? ''),
    name,
    ...summaryOf(input),
    text: text.filter(Boolean).join('\n'),
  };
}

/** The arguments that best describe a call, most important first. */
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

/** The arguments on one line, command first. */
function summaryOf(input: string | undefined): Pick<ToolCall, 'summary' | 'more'> {
  const text = input === undefined ? '' : (stringOf(input) ?? input).trim();
  if (!text.startsWith('{') || !isJson(text)) return firstLine(text);
  const members = membersOf(text);
  const main = mainArguments.map(name => members.find(each => each.name === name)).find(Boolean);
  const { summary, more } = main ? firstLine(lineText(main.json)) : { summary: '', more: 0 };
  const rest = members.filter(each => each !== main).map(({ name, json }) => ({ name, ...firstLine(lineText(json)) }));
  const words = rest.map(each =>
    mainArguments.some(name => name === each.name) ? each.summary : `${each.name}=${each.summary}`,
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

/** An argument's value: strings unchanged, JSON on one line. */
function lineText(json: string): string {
  const text = stringOf(json);
  if (text === undefined) return compact(parseExactly(json));
  const binary = describeBinary(text);
  return binary === undefined ? text : `[${binary}]`;
}
