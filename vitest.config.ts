import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongFirst from './test/setup/long-first.ts';

/** For a test that hangs. A busy machine may take twenty times as long as an idle one; hooks may wait for several things. */
const timeouts = { testTimeout: 300_000, hookTimeout: 600_000, expect: { poll: { timeout: 240_000 } } };

/**
 * One process may run several of these files, which share the code that they import: to import it again takes longer than
 * most of them do. Not those that replace modules, or that draw with Ink without the program's own output.
 */
const sharing = globSync(
  'test/{base,chat,commands,config,contract,grading,local,present,queries,resources,rollouts,service,store,text,uploads,workbench,ui/{app,data,keys,navigation,program,views,widgets,windows}}/**/*.test.{ts,tsx}',
).filter(path => !/\bvi\.(mock|doMock|hoisted|resetModules)\(|'ink-testing-library'/.test(readFileSync(path, 'utf8')));

const unit = {
  setupFiles: './tools/rig/no-date.ts',
  // Ink asks child processes for the terminal's size, and chalk for its colours, unless the environment answers.
  // React as users have it; its development build takes half as long again. `test/simulate` hears its warnings.
  env: { COLUMNS: '100', LINES: '40', FORCE_COLOR: '3', NODE_ENV: 'production' },
  ...timeouts,
};
/**
 * Vitest reads an imported name from an object without a prototype, which V8 keeps as a dictionary until it is itself the
 * prototype of another. Tests of screens take a fifteenth less CPU time with it.
 */
const fastImports = {
  name: 'fast-imports',
  enforce: 'post',
  transform: (code: string) => ({ code: `${code}\nObject.create(__vite_ssr_exports__);`, map: null }),
} as const;

export default defineConfig({
  // Here, not in the projects: those that leave the config of Vite alone share what has been transformed.
  oxc: { jsx: { runtime: 'automatic', development: false } },
  plugins: [fastImports],
  test: {
    globalSetup: './test/setup/run.ts',
    // Where a harness is broken, each of its tests would fail after its whole timeout.
    bail: 30,
    reporters: ['default', './test/setup/totals.ts'],
    // Tests wait for terminals, polls and other processes about half of the time: two workers more than there are cores.
    maxWorkers: availableParallelism() + 2,
    // Screens are drawn from many short-lived objects: with room for them, collecting them takes half the time. In MB.
    execArgv: ['--max-semi-space-size=64'],
    // For `test/setup/run.ts`, which waits for the processes that tests have stopped.
    teardownTimeout: 120_000,
    sequence: { sequencer: LongFirst },
    // Some tests run vitest in a copy with the same node_modules, which would empty this cache meanwhile.
    fsModuleCache: false,
    projects: [
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: './test/setup/build.ts',
          ...timeouts,
        },
      },
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/e2e/**', ...sharing],
          ...unit,
        },
      },
      {
        test: {
          name: 'unit-sharing',
          include: sharing,
          isolate: false,
          unstubEnvs: true,
          unstubGlobals: true,
          ...unit,
        },
      },
    ],
  },
});
