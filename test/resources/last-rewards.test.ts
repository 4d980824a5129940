/** Training runs end among hundreds of others: their last rewards are read first, and earlier ones are not shown as last. */
import { QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { fetchOnce } from '../../src/queries/live-query.ts';
import { defaultIntervals } from '../../src/queries/polling.ts';
import { roundsQuery } from '../../src/resources/rotation.ts';
import { busyWorld } from '../busy-world.ts';
import { scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const secondMs = 1_000;

/** A workbench with 256 ended runs in Watch, on a service with 40 active ones. @param shown the rows on screen */
function openBusy(shown: string) {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { answers, runs, end } = busyWorld();
  const scripted = scriptedService(answers);
  const workbench = newWorkbench({
    service: async () => scripted.service,
    poll: defaultIntervals,
  });
  onTestFinished(() => workbench.close());
  const observer = new QueryObserver(workbench.cache, { queryKey: [shown], queryFn: () => 0 });
  onTestFinished(observer.subscribe(() => {}));
  const at = Date.now() - 120 * secondMs;
  workbench.statuses.recall(
    runs.slice(44).map(({ id, name, doing }) => {
      const end = { status: doing, endTime: new Date(at).toISOString(), endedAt: at };
      return { kind: 'training', id, label: name, ...end, seenAt: at };
    }),
  );
  workbench.statuses.report(
    runs.slice(0, 44).map(({ id, name }) => ({ kind: 'training', id, label: name, status: 'running' })),
    { askedAt: at, at },
  );
  const round = roundsQuery(workbench, { counted: false, atHome: false });
  /** Runs a round every two seconds. Returns the number of requests. */
  const pass = async (seconds: number): Promise<number> => {
    const before = scripted.requests.length;
    for (let passed = 0; passed < seconds; passed += 2) {
      vi.setSystemTime(Date.now() + 2 * secondMs);
      await fetchOnce(workbench, round);
    }
    return scripted.requests.length - before;
  };
  return { workbench, runs, end, pass };
}

it.each([
  ['a list', 'progress'],
  ['Watch', 'watch'],
])('reads the last rewards of ended runs before all others, with %s on screen', async (_, shown) => {
  const { workbench, runs, end, pass } = openBusy(shown);
  await pass(30);
  // The other rows have used up their budget.
  expect(await pass(10)).toBeLessThan(2);
  const ended = runs.filter(({ doing, total }) => doing === 'moving' && total === 2_000).slice(0, 3);
  const seen = () => ended.map(({ id }) => workbench.statuses.get({ kind: 'training', id })?.measured?.last);
  const before = seen();
  const [cancelled, ...succeeded] = ended;
  for (const run of succeeded) end(run, 'succeeded');
  // It has no rewards after those that were read.
  const last = before[0]?.step ?? 800;
  if (cancelled) end(cancelled, 'cancelled', cancelled.startedAt + last * cancelled.stepMs + 1);
  const at = Date.now();
  workbench.statuses.report(
    ended.map(({ id, doing, since }) => {
      return { kind: 'training', id, status: doing, total: 2_000, endTime: new Date(since).toISOString() };
    }),
    { askedAt: at, at },
  );
  expect(seen()).toEqual(before.map(mean => mean && { ...mean, isOld: true }));
  // At most ten in a round.
  expect(await pass(2)).toBeLessThanOrEqual(10);
  await pass(2);
  expect(seen().map(mean => [mean?.step, mean?.isOld])).toEqual([last, 2_000, 2_000].map(step => [step, undefined]));
});
