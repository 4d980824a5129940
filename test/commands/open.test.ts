/** `benchtop open` for every resource: the place it opens, or the error. */
import { describe, expect, it } from 'vitest';
import { shellWords } from '../../src/base/shell-words.ts';
import { placeToOpen, sectionPlace } from '../../src/commands/open.ts';
import { homePlace } from '../../src/commands/start-checks.ts';
import type { CommandContext } from '../../src/commands/with-service.ts';
import { resources } from '../../src/resources/catalogue.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { findView } from '../../src/ui/app/registry.ts';
import { registry } from '../../src/ui/views/registry.ts';
import { fakeService } from '../service/fake-service.ts';

const none = () => ({ items: [], has_more: false, next_cursor: null, dropped: 0 });
const page = (row: object) => ({ items: [row], has_more: false, next_cursor: null, dropped: 0 });

/** A service with one of everything, named `x`. */
const context = {
  service: fakeService({
    listBenchmarks: () => page({ bench_id: 'bench_1', label: 'x' }),
    getBenchmark: () => ({ bench_id: 'bench_1', label: 'x' }),
    listEvalRuns: () => [{ eval_run_id: 'evr_1', display_name: 'x', bench_id: 'bench_1' }],
    getEvalRun: () => ({ eval_run_id: 'evr_1', display_name: 'x', bench_id: 'bench_1' }),
    listTrajectories: () => page({ trajectory_id: 'traj_1', task_id: 'x' }),
    getTrajectory: () => ({ trajectory_id: 'traj_1', task_id: 'x' }),
    listTrainingRuns: () => [{ training_run_id: 'trn_1', display_name: 'x' }],
    getTrainingRun: () => ({ training_run_id: 'trn_1', display_name: 'x' }),
    listCheckpoints: () => [{ checkpoint_id: 'ckpt_1', step_index: 6 }],
    listDeployments: () => page({ deployment_id: 'dep_1', name: 'x' }),
    getDeployment: () => ({ deployment_id: 'dep_1', name: 'x' }),
    listDatasets: () => page({ dataset_id: 'ds_1', dataset_name: 'x', name: 'x' }),
  }),
  memory: RememberedStore.inMemory('test'),
  signal: new AbortController().signal,
} as unknown as CommandContext;

/** A service with a benchmark and a dataset, and nothing else. */
const named = (label: string, dataset_name: string): CommandContext => ({
  ...context,
  service: fakeService({
    listBenchmarks: () => page({ bench_id: 'bench_1', label }),
    getBenchmark: () => ({ bench_id: 'bench_1', label }),
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: none,
    listDatasets: () => page({ dataset_id: 'ds_1', dataset_name }),
  }),
});

describe('open (R25)', () => {
  it.each(resources.map(({ names }) => names[1]))('%s', async name => {
    const word = name === 'checkpoint' ? 'x@6' : 'x';
    const opened = await placeToOpen(name, word, context).catch((error: unknown) => error);
    if (opened instanceof Error) {
      if (!opened.message.startsWith('There is no view')) throw opened;
      expect(['image', 'runtime', 'model', 'secret']).toContain(name);
      expect(opened.message).toMatch(/^There is no view of a single \w+: benchtop list \w+( --\w+ ID)? lists them\.$/);
      return;
    }
    expect(findView(registry, opened as never)).toBeDefined();
  });
});

it('opens Watch and each list by its name (W20)', async () => {
  expect(await sectionPlace('watch')).toEqual({ view: 'watch' });
  expect(await sectionPlace('training')).toEqual({ view: 'list', resource: 'training' });
  expect(await sectionPlace('t-words')).toBeUndefined();
});

it('takes its home from the settings, if that is a section (W20)', () => {
  const home = (name: string | undefined) => homePlace({ preferences: { home: name }, settingsPath: 'config.json' });
  expect(home(undefined)).toBeUndefined();
  expect(home('Training')).toEqual({ view: 'list', resource: 'training' });
  expect(() => home('kitchen')).toThrow(
    'home in config.json names no section: kitchen. The sections are: watch, inbox, benchmarks, ',
  );
});

it('looks up a trajectory without its steps, which the screen reads later', async () => {
  const asked: unknown[] = [];
  const service = fakeService({
    getTrajectory: ({ query }) => {
      asked.push(query);
      return { trajectory_id: 'traj_1', task_id: 'x' };
    },
  });
  const place = await placeToOpen('traj_1', undefined, { ...context, service });
  expect({ place, asked }).toEqual({
    place: { view: 'record', resource: 'trajectories', id: 'traj_1', label: 'x' },
    asked: [{ include_steps: false }],
  });
});

it('opens a benchmark rather than a dataset of the same name', async () => {
  expect(await placeToOpen('x', undefined, named('x', 'x'))).toMatchObject({ resource: 'benchmarks', id: 'bench_1' });
  expect(await placeToOpen('y', undefined, named('x', 'y'))).toMatchObject({ scope: { dataset: 'y' } });
});

it.each(['agentic', 'ds_9'])('opens the dataset %s without the word dataset', async word => {
  const service = fakeService({
    listBenchmarks: none,
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: none,
    listDatasets: () => page({ dataset_id: 'ds_9', dataset_name: 'agentic' }),
  });
  expect(await placeToOpen(word, undefined, { ...context, service })).toMatchObject({ scope: { dataset: 'agentic' } });
});

/** The words after `Give the id of one`, as a shell reads them, one list for each row. */
async function advised(word: string, given: CommandContext): Promise<readonly string[][]> {
  const { message } = await placeToOpen(word, undefined, given).then(
    () => new Error('nothing was refused'),
    (error: Error) => error,
  );
  const [, ids = ''] = /Give the id of one: (.*)\.$/.exec(message) ?? [];
  return ids.split(', ').map(shellWords);
}

it('suggests words that open each of several resources with the same name or id (attack20 B4)', async () => {
  const shared = { training_run_id: 'trn 1', display_name: 'x' };
  const service = fakeService({
    listBenchmarks: () => page({ bench_id: 'bench_1', label: 'tasks' }),
    ...{ listDeployments: none, listDatasets: none, listTrainingRuns: () => [shared] },
    listEvalRuns: () => [{ eval_run_id: 'trn 1', display_name: 'x', bench_id: 'bench_1' }],
    getEvalRun: ({ params }) => ({ ...params, display_name: 'x', bench_id: 'bench_1' }),
    getTrainingRun: ({ params }) => ({ ...shared, ...params }),
  });
  const given = { ...context, service };
  for (const word of ['x', 'trn 1']) {
    const opened = (await advised(word, given)).map(([first = '', second]) => placeToOpen(first, second, given));
    expect(await Promise.all(opened)).toMatchObject([
      { view: 'record', resource: 'runs', id: 'trn 1', label: 'x' },
      { view: 'record', resource: 'training', id: 'trn 1', label: 'x' },
    ]);
  }
});
