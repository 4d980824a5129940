/** Replaces `node:assert` in the bundle: one package checks one argument with it, and loading it takes 2 ms. */

/** @throws TypeError if the values differ */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  if (actual !== expected) throw new TypeError(message);
}
