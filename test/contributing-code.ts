/** The code in CONTRIBUTING.md, which tests use as written there. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The code blocks of a chapter, by their file. */
export function codeOf(chapter: string): Map<string, string> {
  const text = readFileSync(fileURLToPath(new URL('../CONTRIBUTING.md', import.meta.url)), 'utf8');
  const from = text.indexOf(`## ${chapter}\n`);
  expect(from).toBeGreaterThan(-1);
  const [, section = ''] = text.slice(from).split(/^## /m);
  return new Map([...section.matchAll(/^```ts (\S+)\n(.*?)^```$/gms)].map(([, path = '', code = '']) => [path, code]));
}
