/** Stands in for `node:assert` in the bundle, where one package checks one argument with it: loading it takes 2 ms. */

/** @throws TypeError if the values differ */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  if (actual !== expected) throw new TypeError(message);
}
