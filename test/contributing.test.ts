/** The lists of CONTRIBUTING.md that follow the data from file to file. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** The files that a section names, in order. */
function wayOf(title: string): string[] {
  const section = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(`### ${title}`)[1]?.split(/^##/m)[0] ?? '';
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path);
}

/** The files of `src` that a file imports, types included. */
function importsOf(path: string): string[] {
  const { module } = parseSync(path, readFileSync(join(source, path), 'utf8'));
  const lazy = readFileSync(join(source, path), 'utf8').matchAll(/import\('([^']+)'\)/g);
  return [...module.staticImports.map(each => each.moduleRequest.value), ...[...lazy].map(([, name = '']) => name)]
    .filter(name => name.startsWith('.'))
    .map(name => normalize(join(dirname(path), name)));
}

/** Files that get what is passed on without an import, and from what. */
const behindOthers: ReadonlyMap<string, string> = new Map([
  ['ui/keys/router.tsx', 'Ink, which reads the input'],
  ['ui/app/painter/cached-rows.ts', 'Ink, which draws what a view gives'],
  ['queries/use-live.ts', 'react-query, which runs the query'],
  ['queries/deployments.ts', 'the promise of its call'],
  ['queries/lists/reader.ts', 'the list that it is given'],
]);

describe.each([
  ['From a key to its request', 15],
  ['From an answer to a changed cell', 16],
  ['From a 401 to its words', 8],
])('%s', (title, most) => {
  const way = wayOf(title);

  it('names files that there are, each once', () => {
    expect(way.length).toBeGreaterThan(4);
    expect(way.filter(path => !existsSync(join(source, path)))).toEqual([]);
    expect(new Set(way).size).toBe(way.length);
  });

  it('joins each file to one before it, unless it is known what is between them', () => {
    const imports = new Map(way.map(path => [path, importsOf(path)]));
    const joined = (one: string, other: string): boolean =>
      imports.get(one)?.includes(other) === true || imports.get(other)?.includes(one) === true;
    const loose = way.filter((path, index) => index > 0 && !way.slice(0, index).some(before => joined(path, before)));
    expect(loose.filter(path => !behindOthers.has(path))).toEqual([]);
  });

  it('is short', () => {
    expect(way.length).toBeLessThanOrEqual(most);
  });
});
