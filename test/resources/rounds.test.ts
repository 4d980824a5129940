/** The rounds of Watch and of the counts, which read many queries: whether they make progress, and when they stop. */
import { expect, it, onTestFinished, vi } from 'vitest';
import type { QueryContext } from '../../src/queries/query-context.ts';
import { Workbench } from '../../src/queries/workbench.tsx';
import { kinds } from '../../src/resources/catalogue.ts';
import { Counts } from '../../src/resources/counts.ts';
import { backgroundWatch, watchList } from '../../src/resources/watch.ts';
import { type Answers, pageOf, scriptedService } from '../queries/scripted-service.ts';

const ids = Array.from({ length: 10 }, (_, index) => `evr_${index}`);

/** A service with many pinned runs. `onProgress` is called with each answer to a round. */
function world(onProgress: (stop: AbortController) => void) {
  const answers: Answers = {
    listBenchmarks: () => pageOf([]),
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    getEvalProgress: ({ evalRunId = '' }) => ({ eval_run_id: evalRunId, status: 'running', total_rollouts: 4 }),
  };
  const { service, asked, requests } = scriptedService(answers);
  const poll = { focusedMs: 0, visibleMs: 0 };
  const workbench = new Workbench({ kinds, service: async () => service, profile: 'test', poll });
  onTestFinished(() => workbench.close());
  for (const id of ids) workbench.pins.toggle({ kind: 'run', id, label: id });
  const stop = new AbortController();
  const progressed = vi.fn(() => onProgress(stop));
  const context: QueryContext = { service, signal: stop.signal, memory: workbench.remembered, progressed };
  return { workbench, context, asked, requests, progressed };
}

const rounds = {
  'of Watch': (workbench: Workbench, context: QueryContext) =>
    watchList(workbench, 'focused').readPage({ ...context, query: {} }),
  'in the background': (workbench: Workbench, context: QueryContext) => backgroundWatch(workbench).read(context),
};

it.each(Object.entries(rounds))(
  'a round %s reports each answer, and asks nothing more once it is given up',
  async (_, round) => {
    const whole = world(() => {});
    await round(whole.workbench, whole.context);
    expect(whole.asked('getEvalProgress')).toBe(ids.length);
    expect(whole.progressed.mock.calls.length).toBeGreaterThanOrEqual(ids.length);
    const stopped = world(stop => stopped.asked('getEvalProgress') > 0 && stop.abort());
    await expect(round(stopped.workbench, stopped.context)).rejects.toThrow('aborted');
    await new Promise(setImmediate);
    expect(stopped.asked('getEvalProgress')).toBeLessThan(ids.length / 2);
  },
);

it('a round of the counts reports each answer, and asks nothing more once it is given up', async () => {
  const whole = world(() => {});
  await new Counts(whole.workbench).query(true).read(whole.context);
  expect(whole.progressed.mock.calls.length).toBeGreaterThan(2);
  const stopped = world(stop => stop.abort());
  await expect(new Counts(stopped.workbench).query(true).read(stopped.context)).rejects.toThrow('aborted');
  expect(stopped.progressed).toHaveBeenCalledTimes(1);
  expect(stopped.requests.length).toBeLessThan(whole.requests.length);
});
