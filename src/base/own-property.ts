/**
 * JSON text in place of a value. `JSON.stringify` writes it unchanged; `parseExactly` uses it for large integers. It
 * cannot be converted by `String`, or sent to a thread.
 */
export interface RawJson {
  readonly rawJSON: string;
}

// Not beside `parseExactly`: `isRecord` loads before the program's code is cached, and would load that file too.
export const isRawJson = (JSON as unknown as { isRawJSON: (value: unknown) => value is RawJson }).isRawJSON;

/**
 * The own property of a plain object under a name known only at run time; undefined if there is none. `object[name]`
 * would return an inherited property if a name from the wire is `__proto__` or `constructor`.
 */
export function own<Value>(object: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Whether a JSON value is an object with fields, which a large integer is not. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}
