/** Prints `N passed, N failed` as the last line of a run. */
import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Totals {
  readonly passed: number;
  readonly failed: number;
}

/** Failures outside of tests count too: a file that cannot be loaded, an unhandled error. */
export function totalsOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Totals {
  let [passed, failed] = [0, unhandled.length];
  for (const module of modules) {
    const states = [...module.children.allTests()].map(test => test.result().state);
    const failures = states.filter(state => state === 'failed').length;
    passed += states.filter(state => state === 'passed').length;
    failed += failures === 0 && !module.ok() ? 1 : failures;
  }
  return { passed, failed };
}

export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const { passed, failed } = totalsOf(modules, unhandled);
    process.once('exit', code => {
      // A process that was left behind is found after the last test.
      writeSync(1, `${passed} passed, ${failed === 0 && code !== 0 ? 1 : failed} failed\n`);
    });
  }
}
