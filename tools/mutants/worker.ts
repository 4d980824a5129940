/**
 * Runs tests on request with one long-lived vitest, in the copy that is its working folder. Takes `{ active, tests }`
 * from its parent, and answers with `{ failed }`. It is a process of its own because a mutant may loop forever.
 */
import { writeFileSync } from 'node:fs';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';

const [activeFile = '', workers = '1', bail = '0'] = process.argv.slice(2);

/** Keeps the requested order; by default, vitest begins with the longest. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

const vitest = await createVitest('test', {
  watch: false,
  config: false,
  // It would be that of the copied project, whose tests may be running.
  fsModuleCache: false,
  bail: Number(bail),
  reporters: [{}],
  sequence: { sequencer: AsGiven },
  maxWorkers: Number(workers),
  testTimeout: 30_000,
  hookTimeout: 30_000,
  include: ['test/**/*.test.{ts,tsx}'],
  exclude: ['test/e2e/**'],
  setupFiles: ['tools/mutants/setup.ts'],
  env: { COLUMNS: '100', LINES: '40', FORCE_COLOR: '3', NODE_ENV: 'test' },
});

async function runTests({ active, tests }: { active: number; tests: readonly string[] }): Promise<void> {
  writeFileSync(activeFile, String(active));
  const project = vitest.getRootProject();
  vitest.state.clearErrors();
  const specifications = tests.map(test => project.createSpecification(test));
  const { testModules: all, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The list includes the results of earlier runs.
  const testModules = all.filter(({ moduleId }) => tests.includes(moduleId));
  const failed = testModules.filter(module => !module.ok()).map(({ moduleId }) => moduleId);
  process.send?.({
    failed: unhandledErrors.length > 0 && failed.length === 0 ? ['unhandled'] : failed,
    error: testModules
      .flatMap(module => [...module.children.allTests('failed')])
      .at(0)
      ?.result()
      .errors?.at(0)?.message,
    times: testModules.map(module => {
      const { duration, collectDuration, prepareDuration, setupDuration } = module.diagnostic();
      return [module.moduleId, duration + collectDuration + prepareDuration + setupDuration];
    }),
  });
}

process.on('message', (message: { active: number; tests: readonly string[] }) => void runTests(message));
process.on('disconnect', () => process.exit());
process.send?.('ready');
