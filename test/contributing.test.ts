/** The lists of CONTRIBUTING.md that follow the data from file to file. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Place } from '../src/resources/place.ts';
import type { Tracer } from '../src/service/trace.ts';
import { eventually } from './eventually.ts';
import type { Screen } from './screen.ts';
import { askFor, openView, sayYes, screenActions } from './ui/program/actions.tsx';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** The files that a section names, in order. */
function wayOf(title: string): string[] {
  const section = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(`### ${title}`)[1]?.split(/^##/m)[0] ?? '';
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path);
}

/** The files of `src` that a file imports when it runs. */
function importsOf(path: string): string[] {
  const { module } = parseSync(path, readFileSync(join(source, path), 'utf8'));
  const lazy = readFileSync(join(source, path), 'utf8').matchAll(/import\('([^']+)'\)/g);
  const loaded = module.staticImports.filter(({ entries }) => !entries.every(({ isType }) => isType));
  return [...loaded.map(each => each.moduleRequest.value), ...[...lazy].map(([, name = '']) => name)]
    .filter(name => name.startsWith('.'))
    .map(name => normalize(join(dirname(path), name)));
}

/** Files that get what is passed on without an import, and from what. */
const behindOthers: ReadonlyMap<string, string> = new Map([
  ['ui/keys/router.tsx', 'Ink, which reads the input'],
  ['ui/views/benchmarks/use-benchmark-actions.tsx', 'the scope that has its binding'],
  ['service/index.ts', 'the service that an action is given'],
  ['ui/app/painter/painter.ts', 'the stream that is given it'],
  ['ui/app/painter/cached-rows.ts', 'Ink, which draws what a view gives'],
  ['queries/use-live.ts', 'react-query, which runs the query'],
  ['queries/lists/reader.ts', 'the list that it is given'],
]);

describe.each([
  ['From a key to its request', 14],
  ['From an answer to a changed cell', 14],
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

describe('what stack traces show', () => {
  const limit = Error.stackTraceLimit;
  beforeAll(() => {
    Error.stackTraceLimit = 100;
  });
  afterAll(() => {
    Error.stackTraceLimit = limit;
  });

  /** The files of the program that wait for an operation, the one that waits for all the others last. */
  async function filesBehind(
    operation: string,
    kind: 'request' | 'answer',
    place: Place,
    use = async (_: Screen): Promise<void> => {},
  ): Promise<string[]> {
    const stacks: string[] = [];
    const tracer: Tracer = event => {
      if (event.kind === kind && event.operation === operation) stacks.push(new Error().stack ?? '');
    };
    const { screen } = await openView(place, { tracer });
    await use(screen);
    const stack = await eventually(() => {
      expect(stacks).not.toEqual([]);
      return stacks[0] ?? '';
    });
    const files = [...stack.matchAll(/\/src\/([^:?\s]+\.tsx?)/g)].map(([, path = '']) => path);
    // Without a tracer it is not on the way.
    return [...new Set(files)].filter(path => path !== 'service/trace.ts');
  }

  const named = (title: string, files: readonly string[]): string[] =>
    wayOf(title).filter(path => files.includes(path));

  it('of a request is in its way, in that order', async () => {
    const [evaluate] = screenActions;
    if (!evaluate) throw new Error('There is no action.');
    const files = await filesBehind('startEval', 'request', evaluate.place, async screen => {
      await askFor(screen, evaluate);
      await sayYes(screen);
    });
    expect(files).toContain('ui/views/shared/form-window.tsx');
    expect(named('From a key to its request', files)).toEqual(files.toReversed());
  });

  it.each<[title: string, operation: string, place: Place]>([
    ['From an answer to a changed cell', 'listDeployments', { view: 'list', resource: 'deployments' }],
    ['From a 401 to its words', 'listDeployments', { view: 'list', resource: 'deployments' }],
  ])('of an answer is in its way, in that order: %s', async (title, operation, place) => {
    const files = await filesBehind(operation, 'answer', place);
    expect(files.at(-1)).toBe('queries/use-live.ts');
    expect(named(title, files)).toEqual(files);
  });
});
