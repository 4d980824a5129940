/** Lanes: work that arrives while a lane ends is done as well. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { Lane } from '../../../src/local/engine/lane.ts';
import { eventually } from '../../eventually.ts';

it('does work that comes in the moment between its last look and its end', async () => {
  let pieces = 0;
  const lane = new Lane('test', async () => {
    pieces += 1;
    return false;
  });
  const later = setImmediate;
  let woken = false;
  // Wakes it after the microtask in which it finds nothing left, and before the one in which it has ended.
  const spy = vi.spyOn(globalThis, 'setImmediate').mockImplementation(((callback: () => void) =>
    later(() => {
      callback();
      if (woken) return;
      woken = true;
      queueMicrotask(lane.wake);
    })) as typeof setImmediate);
  onTestFinished(() => spy.mockRestore());
  lane.wake();
  await eventually(() => expect(pieces).toBe(2));
  await lane.stop();
});
