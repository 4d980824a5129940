import { defineConfig } from 'vitest/config';

/** Sessions of the built program in a real pseudo-terminal. */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
