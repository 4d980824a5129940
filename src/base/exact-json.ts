/**
 * Integers that a double cannot hold, such as 64-bit seeds and ids. `JSON.parse` would round them; here they become raw
 * JSON (github.com/tc39/proposal-json-parse-with-source), which `JSON.stringify` writes as it was read.
 */
import type { RawJson } from './own-property.ts';

/** The proposal's additions, which the compiler's library lacks. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
}

const { parse, rawJSON } = JSON as unknown as JsonWithSource;

/** Finds integers that may be unsafe: 2^53 has 16 digits. The digits of a fraction do not count. */
const mayBeUnsafe = /(?:^|[\s:,[-])\d{16}/;

/**
 * Parses JSON; an integer that a number cannot hold becomes raw JSON.
 *
 * @param revive changes every other value
 * @throws SyntaxError
 */
export function parseExactly(text: string, revive?: (value: unknown) => unknown): unknown {
  if (!revive && !mayBeUnsafe.test(text)) return JSON.parse(text);
  return parse(text, (_, value, { source }) => {
    const isChanged =
      typeof value === 'number' &&
      source !== undefined &&
      Math.abs(value) > Number.MAX_SAFE_INTEGER &&
      /^-?\d+$/.test(source) &&
      source !== String(value);
    return isChanged ? rawJSON(source) : revive ? revive(value) : value;
  });
}
