/** Removes secrets from text: all known ones, and anything that looks like one. */
import { isRawJson } from '../base/own-property.ts';

const replacement = '[redacted]';

/** Shown in place of a secret value. */
export const hiddenValue = '••••';

/** Shorter values would remove ordinary words from every message. */
const shortestSecret = 4;

const forms: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bsk-[\w-]{6,}/g, replacement],
  [/\b(Bearer)(\s+|%20)[\w.~+/=-]{8,}/gi, `$1 ${replacement}`],
  [/(\bauthorization\b["']?\s*[:=][\s"']*)(?!Bearer \[)[^\s"',;}][^"',;\r\n}]*/gi, `$1${replacement}`],
  [/(\bx-api-key\b["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi, `$1${replacement}`],
  // Signed object store addresses: Azure `sig`, AWS and Google `X-…-Signature`, `X-…-Credential`, and tokens.
  [
    /([?&;](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|(?:access_)?token|api_?key)=)[^&#\s"'<>]+/gi,
    `$1${replacement}`,
  ],
  [/(:\/\/)[^/?#\s"'@]+@/g, `$1${replacement}@`],
];

/**
 * Returns a function that replaces secrets in any text: those in `secrets` at the time of the call (also URL-encoded or
 * inside JSON), `sk-…` keys, bearer tokens, API key headers, signatures in signed addresses, passwords in URLs.
 */
export function redactor(secrets: Iterable<string>): (text: string) => string {
  return text => {
    const values = [...secrets].filter(secret => secret.length >= shortestSecret);
    const spellings = values.flatMap(secret => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
    ]);
    let redacted = text;
    for (const spelling of [...new Set(spellings)].sort((a, b) => b.length - a.length)) {
      redacted = redacted.replaceAll(spelling, replacement);
    }
    for (const [pattern, substitute] of forms) redacted = redacted.replace(pattern, substitute);
    return redacted;
  };
}

export type Redact = (text: string) => string;

/** Values nested deeper are cut off. */
const maxDepth = 32;

/**
 * Redacts every string inside a JSON value, names included. Services echo their input: a wrong key in "no such key …",
 * a secret's value in a validation error.
 */
export function redactDeep(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null || isRawJson(value)) return value;
  if (depth === maxDepth) return '[…]';
  if (Array.isArray(value)) return value.map(item => redactDeep(item, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(name), redactDeep(item, redact, depth + 1)]),
  );
}
