/** Runs that continue from an earlier step. */
import { expect, it } from 'vitest';
import { SetBacks } from '../../../src/queries/statuses/set-backs.ts';
import { knownResource } from '../../../src/queries/statuses/store.ts';

const run = knownResource({ kind: 'training', id: 'trn_1', label: 'long' }, [
  { kind: 'training', id: 'trn_1', status: 'running' },
]);

function follow(...answers: readonly (readonly [by: string, step: number])[]) {
  const setBacks = new SetBacks();
  const announced: number[] = [];
  setBacks.subscribe(({ step }) => announced.push(step));
  for (const [by, step] of answers) setBacks.follow(run, step, by);
  const { from, step } = setBacks.of('trn_1') ?? {};
  return { words: from === undefined ? 'none' : `${from} to ${step}`, announced };
}

it('are seen by a query that says less than it did before, until the run has come as far again', () => {
  expect(follow(['progress', 39], ['progress', 30], ['progress', 34])).toEqual({ words: '39 to 30', announced: [30] });
  expect(follow(['progress', 39], ['progress', 30], ['progress', 39])).toEqual({ words: 'none', announced: [30] });
});

it('are not seen by what is read for the first time, nor by a query that lags behind another', () => {
  expect(follow(['progress', 30])).toEqual({ words: 'none', announced: [] });
  expect(follow(['progress', 39], ['list', 37], ['progress', 40], ['list', 39])).toEqual({
    words: 'none',
    announced: [],
  });
});

it('count from the furthest step, and are not over while a query still says how far the run was', () => {
  expect(follow(['progress', 39], ['progress', 30], ['progress', 34], ['progress', 30]).words).toBe('39 to 30');
  expect(follow(['list', 39], ['progress', 39], ['progress', 30], ['list', 39]).words).toBe('39 to 30');
});
