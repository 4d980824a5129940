/**
 * The field `__proto__` of JSON objects. `JSON.parse` makes it a field like any other, but zod leaves it out of what it
 * reads, as it builds objects by assignment, which would set their prototype. Here it is kept as data.
 */
import type * as z from 'zod/mini';
import { isRecord, own } from '../text/own.ts';

const field = '__proto__';

/** `safeParse`, which keeps the fields called `__proto__` wherever the schema keeps unknown fields. */
export function parseWhole<Schema extends z.ZodMiniType>(schema: Schema, value: unknown) {
  const read = schema.safeParse(value);
  if (read.success) keepField(value, read.data);
  return read;
}

/** Goes only as deep as the schema does: what it takes unread is the same object in both. */
function keepField(value: unknown, read: unknown): void {
  if (value === read) return;
  if (Array.isArray(value) && Array.isArray(read)) {
    // Rows were left out of it: those that remain have been read by themselves.
    if (value.length === read.length) for (const [index, each] of read.entries()) keepField(value[index], each);
    return;
  }
  if (!isRecord(value) || !isRecord(read)) return;
  const kept = Object.getOwnPropertyDescriptor(value, field);
  for (const name in read) keepField(own(value, name), own(read, name));
  if (kept && !Object.hasOwn(read, field)) Reflect.defineProperty(read, field, kept);
}

/** Whether an object in a JSON value has such a field. Not recursive: the value may be nested deep. */
export function hasProtoField(value: unknown): boolean {
  const rest = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    if (isRecord(each) && Object.hasOwn(each, field)) return true;
    if (Array.isArray(each) || isPlain(each)) for (const inner of Object.values(each)) rest.push(inner);
  }
  return false;
}

function isPlain(value: unknown): value is object {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}
