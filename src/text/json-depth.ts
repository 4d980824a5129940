/** Reads JSON, and how deep it may be nested. */

/** Levels of arrays and objects. Records have some ten; what reads and prints them is recursive. */
export const deepestJson = 1_000;

/** Levels of a request to the local service: what is stored of it comes back within records and lists, readable. */
export const deepestRequest = deepestJson - 10;

/** Goes no deeper than `levels`, so that the stack suffices for any value. */
export function isNestedDeeper(value: unknown, levels: number = deepestJson): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some(each => isNestedDeeper(each, levels - 1));
}

/** Parses JSON however deep it is nested: nothing recursive may touch it. Undefined if it is none. */
export function parseDeepJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON. Undefined if it is none, or is nested deeper than `deepestJson`. */
export function parseJson(text: string): unknown {
  const value = parseDeepJson(text);
  return isNestedDeeper(value) ? undefined : value;
}

/** Whether a text is JSON that is nested too deep. */
export const isTooDeep = (text: string): boolean => isNestedDeeper(parseDeepJson(text));
