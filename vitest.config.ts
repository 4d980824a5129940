import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/e2e/**'],
    // Ink asks child processes for the terminal's size, and chalk for its colours, unless the environment answers.
    env: { COLUMNS: '100', LINES: '40', FORCE_COLOR: '3', NODE_ENV: 'test' },
    // Vitest leaves a core free otherwise, which is half of a machine with two.
    maxWorkers: '100%',
    // For what hangs. A busy machine may take ten times as long as an idle one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
