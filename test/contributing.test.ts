/** CONTRIBUTING.md's lists of the files that the data passes through. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Output } from 'ink';
import { parseSync } from 'oxc-parser';
import { captureOwnerStack } from 'react';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ListData } from '../src/queries/lists/list.ts';
import type { Place } from '../src/resources/place.ts';
import type { Tracer } from '../src/service/trace.ts';
import { Painter } from '../src/ui/app/painter/painter.ts';
import { eventually } from './eventually.ts';
import type { Screen } from './screen.ts';
import { hostileServer, json, serviceAt } from './service/hostile-server.ts';
import { askFor, openView, sayYes, screenActions } from './ui/program/actions.tsx';
import { openProgram } from './ui/program/rig.tsx';

/** What leads to the places that the tests below listen at: the files of each stack, the innermost first. */
const heard: { readonly at: 'window' | 'diff' | 'row'; readonly files: readonly string[] }[] = [];

const filesIn = (stack: string | null | undefined): string[] => [
  ...new Set([...(stack ?? '').matchAll(/\/src\/([^:?\s]+\.tsx?)/g)].map(([, path = '']) => path)),
];

vi.mock(import('../src/ui/app/shell-context.tsx'), async importOriginal => {
  const original = await importOriginal();
  return {
    ...original,
    useShell: () => {
      const shell = original.useShell();
      return {
        ...shell,
        showOverlay: overlay => {
          heard.push({ at: 'window', files: filesIn(new Error().stack) });
          shell.showOverlay(overlay);
        },
      };
    },
  };
});

vi.mock(import('../src/ui/app/painter/diff.ts'), async importOriginal => {
  const original = await importOriginal();
  return {
    ...original,
    diffFrame: (...frames) => {
      heard.push({ at: 'diff', files: filesIn(new Error().stack) });
      return original.diffFrame(...frames);
    },
  };
});

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
  ['ui/views/benchmarks/use-benchmark-actions.tsx', 'the scope that has its binding'],
  ['ui/widgets/form/form.tsx', 'the window that it is in, which it calls with its values'],
  ['service/index.ts', 'the service that an action is given'],
  ['ui/app/painter/painter.ts', 'the stream that is given it'],
  ['ui/app/painter/cached-rows.ts', 'Ink, which draws what a view gives'],
  ['queries/use-live.ts', 'react-query, which runs the query'],
  ['queries/lists/reader.ts', 'the list that it is given'],
]);

const [toRequest, toCell, toWords] = [
  'From a key to its request',
  'From an answer to a changed cell',
  'From a 401 to its words',
] as const;

describe.each([
  [toRequest, 14],
  [toCell, 14],
  // Six between the 401 and its words.
  [toWords, 8],
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

const deployments: Place = { view: 'list', resource: 'deployments' };

/** The files that are in a way, as far as a stack has them: in the order of the way. */
const named = (title: string, files: readonly string[]): string[] => wayOf(title).filter(path => files.includes(path));

/** What called what is what the way says, and no other file of the way is between. */
function expectCalled(title: string, files: readonly string[], ...some: readonly string[]): void {
  expect(files).toEqual(expect.arrayContaining([...some]));
  const way = wayOf(title);
  expect(named(title, files)).toEqual(files.filter(path => way.includes(path)).toReversed());
}

/** The same of calls that nothing else takes part in: what draws a component is not among them. */
function expectOnlyCalled(title: string, files: readonly string[], ...some: readonly string[]): void {
  expectCalled(title, files, ...some);
  expect(files.filter(path => !wayOf(title).includes(path))).toEqual([]);
}

describe('what stack traces show', () => {
  const limit = Error.stackTraceLimit;
  beforeAll(() => {
    Error.stackTraceLimit = 100;
  });
  afterAll(() => {
    Error.stackTraceLimit = limit;
  });
  beforeEach(() => {
    heard.length = 0;
  });

  /** The program's files that await an operation, outermost last. */
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
    // Without a tracer it is not involved.
    return filesIn(stack).filter(path => path !== 'service/trace.ts');
  }

  const [evaluate] = screenActions;
  if (!evaluate) throw new Error('There is no action.');

  it('of a request is in its way, in that order', async () => {
    const files = await filesBehind('startEval', 'request', evaluate.place, async screen => {
      await askFor(screen, evaluate);
      await sayYes(screen);
    });
    expect(files).toContain('ui/views/shared/form-window.tsx');
    expect(named(toRequest, files)).toEqual(files.toReversed());
  });

  it('of the keys that lead to a request is in its way: to the window, and out of it', async () => {
    const { screen, workbench } = await openView(evaluate.place);
    await askFor(screen, evaluate);
    const [opened] = heard.filter(({ at }) => at === 'window');
    const router = ['ui/keys/router.tsx', 'ui/keys/key-router.ts'];
    expectOnlyCalled(toRequest, opened?.files ?? [], ...router, 'ui/views/benchmarks/use-benchmark-actions.tsx');
    const stacks: string[][] = [];
    const { service } = workbench;
    vi.spyOn(workbench, 'service').mockImplementation(() => {
      stacks.push(filesIn(new Error().stack));
      return service.call(workbench);
    });
    await sayYes(screen);
    const sent = stacks.find(files => files.includes('queries/use-action.ts'));
    const form = ['ui/widgets/form/form.tsx', 'ui/views/shared/form-window.tsx'];
    expectOnlyCalled(toRequest, sent ?? [], ...router, ...form);
  });

  it('of an answer is in its way, in that order', async () => {
    const files = await filesBehind('listDeployments', 'answer', deployments);
    expect(files.at(-1)).toBe('queries/use-live.ts');
    expect(named(toCell, files)).toEqual(files);
  });

  it('of an error is in its way, until it is shown', async () => {
    const refusal = {
      error: { type: 'authentication_error', code: 'invalid_api_key', message: 'The key is unknown.' },
    };
    const { url } = await hostileServer(json(refusal, 401));
    const { screen, workbench, close } = openProgram({ service: serviceAt(url).service, start: deployments });
    onTestFinished(close);
    await screen.waitFor('The key is unknown.');
    const error = workbench.cache.getQueryState<unknown, Error>(['deployments', 'list'])?.error;
    const asked = filesIn(error?.stack);
    expect(asked.filter(path => !wayOf(toWords).includes(path))).toEqual([]);
    expect(asked).toContain('service/answer-error.ts');
    // The reader of a refused answer calls the function that makes the error.
    const [maker, reader] = ['service/answer-error.ts', 'service/call-plan.ts'];
    expect(named(toWords, asked).filter(path => path !== maker)).toEqual(asked.filter(path => path !== maker));
    expect(asked.indexOf(maker)).toBeLessThan(asked.indexOf(reader));
    const shown: string[][] = [];
    const { message = '' } = error ?? {};
    Object.defineProperty(error, 'message', {
      get: () => {
        shown.push(filesIn(`${new Error().stack}\n${captureOwnerStack()}`));
        return message;
      },
    });
    await screen.resize(100, 30);
    const note = 'ui/views/shared/error-note.tsx';
    expectCalled(toWords, shown.find(files => files.includes(note)) ?? [], note, 'ui/views/shared/resource-list.tsx');
  });

  it('of rows that are drawn is in their way: to lines, to a frame, to the cells that differ', async () => {
    const frames = new Set<string>();
    const { create } = Output;
    vi.spyOn(Output, 'create').mockImplementation(size => {
      const output = create(size);
      const get = output.get.bind(output);
      output.get = () => {
        const frame = get();
        frames.add(frame.output);
        return frame;
      };
      return output;
    });
    const painted = vi.spyOn(Painter.prototype, 'frame');
    const { screen, workbench } = await openView(deployments);
    const { rows = [] } = workbench.cache.getQueryData<ListData<object>>(['deployments', 'list']) ?? {};
    const get = (): string => {
      heard.push({ at: 'row', files: filesIn(`${new Error().stack}\n${captureOwnerStack()}`) });
      return 'talker';
    };
    for (const row of rows) Object.defineProperty(row, 'model_slug', { get });
    heard.length = 0;
    await screen.press('s', 'S');
    const read = heard.filter(({ at }) => at === 'row').map(({ files }) => files);
    const list = 'ui/views/shared/resource-list.tsx';
    const [sorted, drawn] = ['use-table.ts', 'table-view.tsx'].map(name => `ui/widgets/table/${name}`) as [
      string,
      string,
    ];
    for (const file of [sorted, drawn]) {
      expectCalled(toCell, read.find(files => files.includes(file)) ?? [], file, list);
    }
    const stream = 'ui/app/painter/paint-stream.ts';
    const found = await eventually(async () => {
      await screen.press('S');
      // What waited until the line was free comes from a timer.
      const direct = heard.find(({ at, files }) => at === 'diff' && files.includes(stream));
      expect(direct).toBeDefined();
      return direct?.files ?? [];
    });
    expectOnlyCalled(toCell, found, 'ui/app/painter/painter.ts', stream);
    expect(frames).toContain(painted.mock.lastCall?.[0]);
  });
});
