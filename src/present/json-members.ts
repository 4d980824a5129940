/** Splits JSON into members without parsing the values, so that numbers and repeated keys stay as written. Pure. */
import { isNestedDeeper } from '../base/json-depth.ts';

/** A field of an object or, if the name is empty, an element of an array. */
export interface JsonMember {
  readonly name: string;
  /** The value's source text. */
  readonly json: string;
}

/** Whether a text is JSON that can be laid out. JSON that is nested too deeply counts as plain text. */
export function isJson(text: string): boolean {
  try {
    return !isNestedDeeper(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The position after the closing quote of the string at `start`. The JSON must be valid. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** The content of a JSON string; undefined for other values. The JSON must be valid. */
export function stringOf(json: string): string | undefined {
  if (!json.startsWith('"')) return undefined;
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
}

const spaces = /[ \t\r\n]*/y;
const scalar = /[^,\]} \t\r\n]+/y;
const marks = /["[\]{}]/g;

function indexAfter(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return Math.max(at, pattern.lastIndex);
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first !== '{' && first !== '[') return indexAfter(scalar, text, start);
  let depth = 0;
  for (let at = start; ; ) {
    marks.lastIndex = at;
    const found = marks.exec(text);
    if (!found) return text.length;
    at = found.index + 1;
    if (found[0] === '"') at = endOfString(text, found.index);
    else depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
    if (depth === 0) return at;
  }
}

/** The fields of an object, or the elements of an array; none for other values. The JSON must be valid. */
export function membersOf(json: string): readonly JsonMember[] {
  const members: JsonMember[] = [];
  const start = indexAfter(spaces, json, 0);
  const isObject = json[start] === '{';
  if (!isObject && json[start] !== '[') return members;
  let at = indexAfter(spaces, json, start + 1);
  while (at < json.length && json[at] !== '}' && json[at] !== ']') {
    let name = '';
    if (isObject) {
      const end = endOfString(json, at);
      name = stringOf(json.slice(at, end)) ?? '';
      // The colon may have spaces around it.
      at = indexAfter(spaces, json, indexAfter(spaces, json, end) + 1);
    }
    const end = endOfValue(json, at);
    members.push({ name, json: json.slice(at, end) });
    at = indexAfter(spaces, json, end);
    if (json[at] === ',') at = indexAfter(spaces, json, at + 1);
  }
  return members;
}

/** The source text of the first of these fields that is present and not null. */
export function jsonOf(members: readonly JsonMember[], names: readonly string[]): string | undefined {
  for (const name of names) {
    const member = members.find(each => each.name === name && each.json !== 'null');
    if (member) return member.json;
  }
  return undefined;
}

/** Whether an object contains the same field twice. A parser would drop one of the values. */
export function repeats(members: readonly JsonMember[]): boolean {
  return new Set(members.map(({ name }) => name)).size < members.length;
}

/** An object's other, non-empty fields, one per line. */
export function otherLines(members: readonly JsonMember[], known: ReadonlySet<string>): string[] {
  return members
    .filter(({ name, json }) => !known.has(name) && !/^(null|""|\[\s*\]|\{\s*\})$/.test(json))
    .map(({ name, json }) => `${name}: ${stringOf(json) ?? json}`);
}
