/** Time that passes only when a test advances it: polls are never late, however busy the machine is. */
import { onTestFinished, vi } from 'vitest';

/** From now on until the end of the test. */
export function startVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets this time pass. Code that is needed loads in real time, and none passes meanwhile. */
export async function pass(ms: number): Promise<void> {
  const stepMs = 1_000;
  for (let left = ms; left > 0; left -= stepMs) {
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(Math.min(left, stepMs));
  }
}

/** Lets time pass until the work is done: without it, the terminal draws nothing and nothing is polled. */
export async function passing(work: Promise<void>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) await pass(10);
  await done;
}
