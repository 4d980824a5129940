/**
 * Lays out JSON for reading: indented, with multi-line strings as separate lines. Tokens are kept as written, so that
 * large numbers and repeated keys stay as the model or the tool sent them. Pure; takes linear time.
 */
import { describeBinary } from './attachments.ts';
import { endOfString, isJson, stringOf } from './json-members.ts';

const step = '  ';
/** Marks a multi-line string; its lines follow, indented. */
const block = '|';
/** The field of tool calls that contains JSON within JSON. */
const nestedKey = '"arguments"';
/** The kinds of characters outside strings: a space, a single-character token, a quote, or part of another token. */
const kinds = new Uint8Array(128);
const [other, aSpace, aMark, aQuote] = [0, 1, 2, 3] as const;
for (const character of ' \t\r\n') kinds[character.charCodeAt(0)] = aSpace;
for (const character of '{}[],:') kinds[character.charCodeAt(0)] = aMark;
kinds['"'.charCodeAt(0)] = aQuote;
/** Maximum indentation depth. */
const maxDepth = 40;
const indents = Array.from({ length: maxDepth + 1 }, (_, depth) => step.repeat(depth));

function indentOf(depth: number): string {
  return indents[Math.min(depth, maxDepth)] ?? '';
}

/** An indented line. Text after a carriage return starts in the same column. */
const indentLine = (line: string, by: string): string => by + line.replace(/\r(?!$)/g, `\r${by}`);

function jsonTokens(text: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  while (at < text.length) {
    const kind = kinds[text.charCodeAt(at)];
    if (kind === aSpace) {
      at += 1;
      continue;
    }
    let end = at + 1;
    if (kind === aQuote) end = endOfString(text, at);
    else if (kind === other) while (end < text.length && kinds[text.charCodeAt(end)] === other) end += 1;
    tokens.push(text.slice(at, end));
    at = end;
  }
  return tokens;
}

class Writer {
  readonly lines: string[] = [];
  #line = '';
  #depth = 0;
  /** Whether the last value was a block of lines, which needs no separator before the next value. */
  #afterBlock = false;

  #isEmpty(): boolean {
    return this.#line === '' || this.#line.trimStart() === '';
  }

  add(text: string): void {
    if (this.#afterBlock && text === ',') return;
    this.#line += text;
    this.#afterBlock = false;
  }

  break(by = 0): void {
    if (!this.#isEmpty()) this.lines.push(this.#line);
    this.#depth += by;
    this.#line = indentOf(this.#depth);
  }

  addBlock(lines: readonly string[]): void {
    this.add(block);
    this.lines.push(this.#line);
    for (const line of lines) this.lines.push(indentLine(line, indentOf(this.#depth + 1)));
    this.#line = '';
    this.#afterBlock = true;
  }

  /** Adds lines with their own indentation: the first continues the current line, the others are indented. */
  addNested([first = '', ...rest]: readonly string[]): void {
    this.add(first);
    for (const line of rest) {
      this.lines.push(this.#line);
      this.#line = indentLine(line, indentOf(this.#depth));
    }
  }

  addString(token: string, key: string | undefined): void {
    const text = stringOf(token) ?? '';
    const binary = describeBinary(text);
    if (binary !== undefined) this.add(`[${binary}]`);
    else if (key === nestedKey && /^\s*[{[]/.test(text) && isJson(text)) this.addNested(linesOf(text));
    else if (/[\n\r]/.test(text)) this.addBlock(text.replace(/\n$/, '').split('\n'));
    else this.add(token);
  }
}

function linesOf(json: string): string[] {
  const writer = new Writer();
  const tokens = jsonTokens(json);
  let key: string | undefined;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token === '{' || token === '[') {
      writer.add(token);
      if (next !== '}' && next !== ']') writer.break(1);
    } else if (token === '}' || token === ']') {
      const previous = tokens[index - 1];
      if (previous !== '{' && previous !== '[') writer.break(-1);
      writer.add(token);
    } else if (token === ',') {
      writer.add(token);
      writer.break();
    } else if (token === ':') writer.add(': ');
    else if (next === ':') {
      key = token;
      writer.add(token);
      continue;
    } else if (token.startsWith('"')) writer.addString(token, key);
    else writer.add(token);
    if (token !== ':') key = undefined;
  }
  writer.break();
  return writer.lines;
}

/** An object, an array or a JSON string as readable lines; any other text unchanged. */
export function readableJson(text: string): string {
  if (!/^\s*["{[]/.test(text) || !isJson(text)) return text;
  // Show a string without its quotes.
  if (text.trimStart().startsWith('"')) return JSON.parse(text) as string;
  return linesOf(text).join('\n');
}

/** Like `readableJson`, but without an object's braces, which would take up the visible lines of a fold. */
export function readableFields(text: string): string {
  const shown = readableJson(text);
  if (shown === text || !shown.startsWith('{\n') || !shown.endsWith('\n}')) return shown;
  return shown
    .split('\n')
    .slice(1, -1)
    .map(line => line.slice(2).replaceAll('\r  ', '\r'))
    .join('\n');
}
