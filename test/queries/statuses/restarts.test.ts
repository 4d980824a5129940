/** Runs that continue from an earlier step. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { knownResource } from '../../../src/queries/statuses/known-resource.ts';
import { Restarts } from '../../../src/queries/statuses/restarts.ts';

const run = knownResource({ kind: 'training', id: 'trn_1', label: 'long' }, [
  { kind: 'training', id: 'trn_1', status: 'running' },
]);

function follow(...answers: readonly (readonly [by: string, step: number])[]) {
  const restarts = new Restarts();
  const announced: number[] = [];
  restarts.subscribe(({ step }) => announced.push(step));
  for (const [by, step] of answers) restarts.follow(run, step, by);
  const { from, step } = restarts.of('trn_1') ?? {};
  return { words: from === undefined ? 'none' : `${from} to ${step}`, announced };
}

it('are seen by a query with fewer steps than before, until the run has caught up', () => {
  expect(follow(['progress', 39], ['progress', 30], ['progress', 34])).toEqual({ words: '39 to 30', announced: [30] });
  expect(follow(['progress', 39], ['progress', 30], ['progress', 39])).toEqual({ words: 'none', announced: [30] });
});

it('are not seen by a first read, or by a query that lags behind another', () => {
  expect(follow(['progress', 30])).toEqual({ words: 'none', announced: [] });
  expect(follow(['progress', 39], ['list', 37], ['progress', 40], ['list', 39])).toEqual({
    words: 'none',
    announced: [],
  });
});

it('count from the furthest step, and last while a query still reports the old progress', () => {
  expect(follow(['progress', 39], ['progress', 30], ['progress', 34], ['progress', 30]).words).toBe('39 to 30');
  expect(follow(['list', 39], ['progress', 39], ['progress', 30], ['list', 39]).words).toBe('39 to 30');
});

it('count once for all queries that see one within half a minute, with their earliest step', () => {
  let at = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => at);
  onTestFinished(() => now.mockRestore());
  const restarts = new Restarts();
  const announced: number[] = [];
  restarts.subscribe(({ step }) => announced.push(step));
  const seen = (by: string, step: number) => {
    restarts.follow(run, step, by);
    return restarts.of('trn_1');
  };
  for (const by of ['list', 'one', 'progress']) seen(by, 39);
  expect(seen('list', 30)).toEqual({ resource: run, from: 39, step: 30 });
  const known = seen('one', 32);
  expect(known).toEqual({ resource: run, from: 39, step: 30 });
  at = 29_999;
  expect(seen('progress', 30)).toBe(known);
  expect(seen('progress', 28)).toEqual({ resource: run, from: 39, step: 28 });
  expect(announced).toEqual([30]);
  seen('progress', 33);
  at = 30_000;
  expect(seen('progress', 31)).toEqual({ resource: run, from: 39, step: 31 });
  expect(announced).toEqual([30, 31]);
});

it('are not seen by a query with the same answer again, a dropped one, or one of a completed run', () => {
  const restarts = new Restarts();
  restarts.follow(run, 39, 'list');
  restarts.follow(run, 39, 'list');
  expect(restarts.of('trn_1')).toBeUndefined();
  restarts.drop('list');
  restarts.follow(run, 30, 'list');
  expect(restarts.of('trn_1')).toBeUndefined();
  restarts.follow({ ...run, status: 'cancelled' }, 20, 'list');
  expect(restarts.of('trn_1')).toBeUndefined();
});
