/** Time that passes only when a test lets it: polls are never late, however busy the machine is. */
import { onTestFinished, vi } from 'vitest';

/** From now on until the end of the test. */
export function startVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets time pass until the work is done: without it, the terminal draws nothing and nothing is polled. */
export async function passing(work: Promise<void>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    // Code of views loads in real time.
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(10);
  }
  await done;
}
