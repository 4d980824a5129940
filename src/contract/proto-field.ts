/**
 * Keeps the field `__proto__` of JSON objects as data. `JSON.parse` makes it a field like any other, but zod drops it,
 * because it builds objects by assignment, which would set their prototype.
 */
import type * as z from 'zod/mini';
import { isRawJson, isRecord, own } from '../base/own-property.ts';

const field = '__proto__';

/** `safeParse` that keeps `__proto__` fields where the schema keeps unknown fields. */
export function parseWhole<Schema extends z.ZodMiniType>(schema: Schema, value: unknown) {
  const read = schema.safeParse(value);
  if (read.success) keepField(value, read.data);
  return read;
}

/** Recurses only as deep as the schema does; below, both sides share the same object. */
function keepField(value: unknown, read: unknown): void {
  if (value === read) return;
  if (Array.isArray(value) && Array.isArray(read)) {
    // If rows were dropped, `page` has parsed the rest one by one.
    if (value.length === read.length) for (const [index, each] of read.entries()) keepField(value[index], each);
    return;
  }
  if (!isRecord(value) || !isRecord(read)) return;
  const kept = Object.getOwnPropertyDescriptor(value, field);
  for (const name in read) keepField(own(value, name), own(read, name));
  if (kept && !Object.hasOwn(read, field)) Reflect.defineProperty(read, field, kept);
}

/**
 * Whether code that copies plain objects field by field would change a JSON value: any object in it has a `__proto__`
 * field, or is raw JSON. Not recursive, because the value may be nested deeply.
 */
export function cannotBeCopied(value: unknown): boolean {
  const rest = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    if (isRawJson(each) || (isRecord(each) && Object.hasOwn(each, field))) return true;
    if (Array.isArray(each) || isPlain(each)) for (const inner of Object.values(each)) rest.push(inner);
  }
  return false;
}

function isPlain(value: unknown): value is object {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}
