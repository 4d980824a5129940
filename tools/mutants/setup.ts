/** Setup of a mutation run: activates the mutant before each test file, and records the reached mutants after it. */
import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

const active = Number(readFileSync(process.env['BENCHTOP_MUTANT_FILE'] ?? '', 'utf8'));
const reachedFile = process.env['BENCHTOP_REACHED_FILE'];
const reached = new Set<number>();

Object.assign(globalThis, {
  __mutant: (id: number): boolean => {
    reached.add(id);
    return id === active;
  },
});

afterAll(() => {
  if (!reachedFile) return;
  const { testPath } = expect.getState();
  appendFileSync(reachedFile, `${JSON.stringify({ test: testPath, reached: [...reached] })}\n`);
});
