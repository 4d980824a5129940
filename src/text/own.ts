/**
 * What a plain object holds under a name that is only known at run time; undefined if it holds nothing of its own.
 * `object[name]` would find what every object inherits if a name that came over the wire is `__proto__` or
 * `constructor`.
 */
export function own<Value>(object: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Whether a value that came as JSON is an object with fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
