/** Runs the unit and the end-to-end tests and closes with one line that counts both. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'benchtop-ci-'));
let passed = 0;
let failed = 0;
let broken = false;
for (const config of ['vitest.config.ts', 'vitest.e2e.config.ts']) {
  const report = join(folder, `${config}.json`);
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const counts = JSON.parse(readFileSync(report, 'utf8')) as { numPassedTests: number; numFailedTests: number };
  passed += counts.numPassedTests;
  failed += counts.numFailedTests;
  if (status !== 0) broken = true;
}
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = broken || passed === 0 ? 1 : 0;
