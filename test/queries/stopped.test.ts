/** Waiting for a shared result, until the user stops waiting. */
import { expect, it } from 'vitest';
import { StoppedError, unlessStopped } from '../../src/queries/action.ts';

it('passes on values and failures', async () => {
  const { signal } = new AbortController();
  expect(await unlessStopped(Promise.resolve('tea'), signal)).toBe('tea');
  await expect(unlessStopped(Promise.reject(new Error('cold')), signal)).rejects.toThrow('cold');
});

it('ends with the signal, without an unhandled rejection', async () => {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<string>();
  const waiting = unlessStopped(promise, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toBeInstanceOf(StoppedError);
  // An unhandled rejection fails the whole run.
  reject(new Error('much later'));
  const failing = Promise.reject(new Error('at the same time'));
  await expect(unlessStopped(failing, controller.signal)).rejects.toBeInstanceOf(StoppedError);
  await new Promise(setImmediate);
});
