/**
 * Reads a file of trajectories in chunks, so that its size does not matter: JSON Lines, a JSON array, or consecutive
 * pretty-printed objects.
 */

import type { FileHandle } from 'node:fs/promises';
import { errorMessage } from '../base/errors.ts';
import { parseExactly } from '../base/exact-json.ts';
import { deepestRequest, isNestedDeeper } from '../base/json-depth.ts';
import { bytes, counted } from '../text/numbers.ts';
import { readJson } from './python-json.ts';

/** What was read of a trajectory. */
interface ReadItem {
  readonly value: Record<string, unknown> | undefined;
  /** Why it cannot be sent as it is. */
  readonly error: string | undefined;
  /** How many of its numbers are NaN or infinite. */
  readonly notFinite: number;
}

/** One trajectory in a file, or an error in its place. The byte range's end is exclusive. */
export interface Item extends Range, ReadItem {
  /** Its line in the file, or its index in the array, from 1. */
  readonly line: number;
  /** Its place in the file in words, which no other has, e.g. `line 3`. */
  readonly place: string;
  /** In bytes. */
  readonly size: number;
}

/** Returns a chunk of the file that begins at this offset; shorter near the end of the file, empty after it. */
export type ReadBytes = (position: number) => Promise<Uint8Array>;

interface Range {
  readonly start: number;
  readonly end: number;
  /** Whether the file ends within the item, without a newline or a bracket: the rest of it may not be written yet. */
  readonly isOpen?: true;
}

const pieceBytes = 256 * 1024;
/** Maximum size of a trajectory in bytes: a request is a single string. */
const largestItem = 128 * 1024 * 1024;
/** A request adds two levels of nesting. */
const deepestItem = deepestRequest - 2;

const [tab, newline, carriageReturn, space, quote, comma, backslash] = [9, 10, 13, 32, 34, 44, 92];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];

const isSpace = (byte: number): boolean =>
  byte === space || byte === newline || byte === carriageReturn || byte === tab;

/** Reads a file. Caches the last two chunks, because an item is first located, then read. */
export function bytesOf(file: FileHandle): ReadBytes {
  let kept: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  return async position => {
    const known = kept.find(({ at, bytes }) => position >= at && position < at + bytes.length);
    if (known) return known.bytes.subarray(position - known.at);
    const buffer = Buffer.allocUnsafe(pieceBytes);
    const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, position);
    const bytes = buffer.subarray(0, bytesRead);
    kept = [...kept.slice(-1), { at: position, bytes }];
    return bytes;
  };
}

/** A file's trajectories, in order. An unreadable one yields an item with an error instead of ending the iteration. */
export async function* readItems(read: ReadBytes): AsyncGenerator<Item> {
  const { form, start } = await formOf(read);
  const ranges = form === 'lines' ? lines(read, start) : values(read, start, form === 'array' ? 1 : 0);
  let line = 0;
  for await (const range of ranges) {
    line += 1;
    const size = range.end - range.start;
    const item = await itemOf(read, { line, place: `${units[form]} ${line}`, size, ...range });
    if (item) yield item;
  }
}

/** What an item's number counts, for messages. */
const units = { lines: 'line', array: 'element', objects: 'object' } as const;

/** Detects the format from the first bytes: an array, multi-line objects, or JSON Lines. @throws Error for UTF-16 */
async function formOf(read: ReadBytes): Promise<{ form: keyof typeof units; start: number }> {
  const head = await read(0);
  const mark = Buffer.from(head.subarray(0, 2)).toString('hex');
  if (mark === 'fffe' || mark === 'feff')
    throw new Error('It is UTF-16. Convert it to UTF-8: iconv -f UTF-16 -t UTF-8');
  const start = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  let first = start;
  while (first < head.length && isSpace(head[first] ?? 0)) first += 1;
  if (head[first] === openList) return { form: 'array', start: first + 1 };
  let next = first + 1;
  while (head[next] === space || head[next] === carriageReturn) next += 1;
  // If the first line is a single brace, the objects span several lines.
  return { form: head[first] === openObject && head[next] === newline ? 'objects' : 'lines', start };
}

async function* pieces(read: ReadBytes, start: number): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
  for (let at = start; ; ) {
    const bytes = await read(at);
    if (bytes.length === 0) return;
    yield { at, bytes };
    at += bytes.length;
  }
}

async function* lines(read: ReadBytes, from: number): AsyncGenerator<Range> {
  let start = from;
  let end = from;
  for await (const { at, bytes } of pieces(read, from)) {
    end = at + bytes.length;
    for (let place = bytes.indexOf(newline); place !== -1; place = bytes.indexOf(newline, place + 1)) {
      yield { start, end: at + place };
      start = at + place + 1;
    }
  }
  yield { start, end, isOpen: true };
}

/** Values at a given bracket depth: 1 inside an array, 0 for consecutive values. */
async function* values(read: ReadBytes, from: number, base: 0 | 1): AsyncGenerator<Range> {
  let depth: number = base;
  let inText = false;
  let escaped = false;
  let start: number | undefined;
  let end = from;
  for await (const { at, bytes } of pieces(read, from)) {
    end = at + bytes.length;
    for (let place = 0; place < bytes.length; place += 1) {
      const byte = bytes[place] ?? 0;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inText = false;
        continue;
      }
      if (depth === base && (byte === comma || byte === closeList)) {
        if (start !== undefined) yield { start, end: at + place };
        start = undefined;
        // Read anything after the array as another value rather than silently ignoring it.
        if (byte === closeList) depth = 0;
        continue;
      }
      if (isSpace(byte)) continue;
      start ??= at + place;
      if (byte === quote) inText = true;
      else if (byte === openObject || byte === openList) depth += 1;
      else if (byte === closeObject || byte === closeList) {
        depth -= 1;
        if (base === 0 && depth <= 0) {
          yield { start, end: at + place + 1 };
          start = undefined;
          depth = 0;
        }
      }
    }
  }
  if (start !== undefined) yield { start, end, isOpen: true };
}

async function itemOf(read: ReadBytes, place: Omit<Item, keyof ReadItem>): Promise<Item | undefined> {
  const unusable = (error: string): Item => ({ ...place, value: undefined, error, notFinite: 0 });
  if (place.size > largestItem) return unusable(`It is larger than ${bytes(largestItem)}.`);
  let text: string;
  try {
    const bytes = await bytesAt(read, place);
    text = utf8Text(bytes);
    // Free the bytes now, not at the next garbage collection: they can outweigh everything else in memory.
    (bytes.buffer as ArrayBuffer).transfer(0);
  } catch {
    return unusable('It is not UTF-8.');
  }
  if (text.trim() === '') return undefined;
  try {
    const { value, notFinite } = readJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return unusable('It is not an object.');
    const problem = depthProblem(value);
    if (problem !== undefined) return unusable(problem);
    // Without these numbers it would be a different trajectory, e.g. one without a reward.
    const error = notFinite === 0 ? undefined : `It has ${describeNotFinite(notFinite)}, which JSON cannot represent.`;
    return { ...place, value: value as Record<string, unknown>, error, notFinite };
  } catch (error) {
    // The parser saw only this line, so its line number says nothing.
    return unusable(`It is not JSON: ${errorMessage(error).replace(/ \(line 1 column \d+\)$/, '')}`);
  }
}

/** Why a trajectory is nested too deeply; undefined if it is not. */
export const depthProblem = (value: unknown): string | undefined =>
  isNestedDeeper(value, deepestItem)
    ? `It is nested more than ${deepestItem} levels deep, and could not be read back.`
    : undefined;

/** `1 number that is NaN or infinite`. */
export const describeNotFinite = (count: number): string =>
  `${counted(count, 'number')} that ${count === 1 ? 'is' : 'are'} NaN or infinite`;

/** @throws TypeError if the bytes are not UTF-8 */
function utf8Text(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** An item on one line: a multi-line item is serialised again, others stay unchanged. */
export async function lineAt(read: ReadBytes, range: Pick<Item, 'start' | 'end'>): Promise<Uint8Array> {
  const bytes = await bytesAt(read, range);
  if (!bytes.includes(newline)) return bytes;
  try {
    return Buffer.from(JSON.stringify(parseExactly(utf8Text(bytes))));
  } catch {
    return bytes.map(byte => (byte === newline || byte === carriageReturn ? space : byte));
  }
}

async function bytesAt(read: ReadBytes, { start, end }: Range): Promise<Uint8Array> {
  // `Buffer.concat` would hold all bytes twice.
  const whole = Buffer.allocUnsafeSlow(end - start);
  let at = start;
  while (at < end) {
    const bytes = (await read(at)).subarray(0, end - at);
    if (bytes.length === 0) break;
    whole.set(bytes, at - start);
    at += bytes.length;
  }
  return whole.subarray(0, at - start);
}
