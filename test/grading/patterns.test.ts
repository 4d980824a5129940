/** How long matching a pattern may take. */
import { expect, it, onTestFinished, vi } from 'vitest';

it('waits for a pattern on a machine so busy that each attempt is delayed', async () => {
  // Another file of this process may have loaded the real one.
  vi.resetModules();
  const error = Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  const waits: number[] = [];
  /** Delayed in each attempt; the expression is compiled in the last one. */
  class Script {
    runInContext(context: { readonly run: () => void }, { timeout }: { readonly timeout: number }): void {
      waits.push(timeout);
      if (waits.length !== 7) throw error;
      context.run();
    }
  }
  vi.doMock('node:vm', () => ({ createContext: (context: object) => context, Script }));
  vi.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 0, system: 0 });
  onTestFinished(() => {
    vi.doUnmock('node:vm');
    vi.restoreAllMocks();
  });
  const { patternMatches } = await import('../../src/grading/patterns.ts');
  const { gradeMs } = await import('../../src/local/engine/worker-thread.ts');
  expect(patternMatches('a', 'b')).toBeUndefined();
  expect(waits).toHaveLength(14);
  expect(gradeMs).toBeGreaterThan(waits.reduce((sum, each) => sum + each));
});
