/** The lists in CONTRIBUTING.md of the files that data passes through. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** The files named in a section, in order. */
function wayOf(title: string): string[] {
  const section = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(`### ${title}`)[1]?.split(/^##/m)[0] ?? '';
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path);
}

/** The files of `src` that a file imports at run time. */
function importsOf(path: string): string[] {
  const { module } = parseSync(path, readFileSync(join(source, path), 'utf8'));
  const lazy = readFileSync(join(source, path), 'utf8').matchAll(/import\('([^']+)'\)/g);
  const loaded = module.staticImports.filter(({ entries }) => !entries.every(({ isType }) => isType));
  return [...loaded.map(each => each.moduleRequest.value), ...[...lazy].map(([, name = '']) => name)]
    .filter(name => name.startsWith('.'))
    .map(name => normalize(join(dirname(path), name)));
}

/** Files that receive data without an import, and from which file. */
const behindOthers: ReadonlyMap<string, string> = new Map([
  ['ui/keys/router.tsx', 'Ink, which reads the input'],
  ['ui/views/record/use-actions.tsx', 'the scope that has its binding'],
  ['ui/views/list/resource-list.tsx', 'the table of the list, in `ui/views/list/list-table.ts`'],
  ['ui/views/benchmarks/start-run.tsx', 'the name of the window, in `ui/views/action-windows.ts`'],
  ['ui/widgets/form/form.tsx', 'the window that it is in, which it calls with its values'],
  ['queries/evaluations.ts', 'the entry of the action, in `resources/benchmarks.ts`'],
  ['service/index.ts', 'the service that an action is given'],
  ['ui/app/painter/painter.ts', 'the stream that is given it'],
  ['ui/app/painter/cached-rows.ts', 'Ink, which draws what a view gives'],
  ['ui/data/use-live.ts', 'react-query, which runs the query'],
  ['queries/lists/reader.ts', 'the list that it is given'],
]);

const [toRequest, toCell, toText] = [
  'From a key to its request',
  'From an answer to a changed cell',
  'From a 401 to its message',
] as const;

describe.each([
  [toRequest, 14],
  [toCell, 14],
  // Six between the 401 and its words.
  [toText, 8],
])('%s', (title, most) => {
  const way = wayOf(title);

  it('names existing files, each once', () => {
    expect(way.length).toBeGreaterThan(4);
    expect(way.filter(path => !existsSync(join(source, path)))).toEqual([]);
    expect(new Set(way).size).toBe(way.length);
  });

  it('connects each file to one before it, unless what lies between is listed', () => {
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
