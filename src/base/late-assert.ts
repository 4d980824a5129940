/** Replaces `node:assert` in the bundle: a package uses it to check one argument, and loading it takes 2 ms. */

/** @throws TypeError if the values differ */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  if (actual !== expected) throw new TypeError(message);
}
