/** README as data: its examples, by language and path. */
import { readFileSync } from 'node:fs';

export const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

export interface Example {
  readonly language: string;
  /** The file to write; empty for none. */
  readonly path: string;
  readonly text: string;
  readonly line: number;
}

export const examples: readonly Example[] = [...readme.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ({ 1: language = '', 2: path = '', 3: text = '', index }) => ({
    language,
    path,
    text,
    line: readme.slice(0, index).split('\n').length,
  }),
);
