/** Queries about one benchmark: each has its own key, and is polled while something is being built. */
import { expect, it } from 'vitest';
import { benchmarkImages, type Readiness } from '../../src/contract/benchmarks.ts';
import {
  benchmarkList,
  benchmarkQuery,
  imageList,
  readinessQuery,
  runtimeList,
  taskCountQuery,
} from '../../src/queries/benchmarks.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { type Answers, fakeService } from '../service/fake-service.ts';

const context = (answers: Answers) => ({
  service: fakeService(answers),
  signal: new AbortController().signal,
  memory: RememberedStore.inMemory('test'),
  query: {},
});
const image = (task_id: string, build_status?: string) => ({ task_id, ...(build_status && { build_status }) });

it('keeps each query under a key of its own below that of all benchmarks, so that a change makes all be read again', () => {
  const questions = ['b1', 'b2'].flatMap(id =>
    [benchmarkQuery, readinessQuery, taskCountQuery, imageList].map(each => each(id).key),
  );
  const keys = [...questions, benchmarkList.key].map(key => JSON.stringify(key));
  expect(new Set(keys).size).toBe(9);
  expect(keys.filter(key => key.startsWith('["benchmarks",'))).toEqual(keys);
});

it('counts the tasks and lists the images of this benchmark', async () => {
  const count = await taskCountQuery('b1').read(
    context({ countTasks: ({ params }) => ({ task_count: params.bench_id }) }),
  );
  expect(count).toEqual({ task_count: 'b1' });
  const listed = context({ listBenchmarkImages: ({ params }) => ({ images: [image(`task of ${params.bench_id}`)] }) });
  expect((await imageList('b1').readPage(listed)).items).toEqual([image('task of b1')]);
});

it.each([
  ['one is being built', [image('a', 'completed'), image('b', 'building')], 'building'],
  ['one does not say, as a new build at first', [image('a', 'completed'), image('b')], 'building'],
  ['all are built', [image('a', 'completed'), image('b', 'failed')], 'open'],
  ['there is none', [], 'open'],
])('polls images while any is being built: %s', (_, images, activity) => {
  const read = benchmarkImages.parse({ images });
  expect(imageList('b1').activity?.(read.images)).toBe(activity);
});

it('polls a benchmark while it is not ready', () => {
  const { activity } = readinessQuery('b1');
  expect([undefined, { ready: false }, { ready: true }].map(activity)).toEqual(['building', 'building', 'open']);
});

it('gives a benchmark no status if the service reports neither readiness nor a blocker (B3)', () => {
  const { observes } = readinessQuery('b1');
  const status = (said: object) => observes?.({ ready: null, ...said } as Readiness).status;
  expect([status({}), status({ unready_task_image_counts: { pending: 1 } })]).toEqual([undefined, 'not ready']);
});

it('polls runtimes while one is being built', () => {
  const runtime = (build_status: string) => ({ runtime_id: 'r1', build_status });
  expect(runtimeList.activity?.([runtime('completed'), runtime('building')])).toBe('building');
  expect(runtimeList.activity?.([runtime('completed')])).toBe('open');
});

it('stops reading a list of runtimes that is no longer needed', async () => {
  const given: unknown[] = [];
  const asked = context({ listBenchmarkRuntimes: (_, { signal }) => given.push(signal) });
  await runtimeList.readPage(asked);
  expect(given).toEqual([asked.signal]);
});
