/** How deep JSON may be nested. */

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
