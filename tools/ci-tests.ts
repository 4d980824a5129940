/**
 * Runs the unit and the end-to-end tests, then prints the failures and a line with the totals. A failed file runs once
 * more by itself: a busy machine can cause a timeout, but a real error fails again. Tests that passed only on the
 * second run are listed, so that they can be investigated.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** The parts of vitest's `json` report that are used. */
interface Report {
  numPassedTests: number;
  success: boolean;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

/** If more files fail, a busy machine is not the cause. */
const FILES_TO_REPEAT = 3;

const folder = mkdtempSync(join(tmpdir(), 'benchtop-ci-'));

function runTests(config: string, files: readonly string[]): Report {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  spawnSync(
    'npx',
    [
      'vitest',
      'run',
      '--config',
      config,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...files,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return JSON.parse(readFileSync(report, 'utf8')) as Report;
}

/** Each failed test, or file that could not be loaded, with the first lines of its message. */
function failures(report: Report): string[] {
  return report.testResults
    .filter(file => file.status !== 'passed')
    .flatMap(file => {
      const path = relative(process.cwd(), file.name);
      const failed = file.assertionResults.filter(test => test.status === 'failed');
      if (failed.length === 0) return [`${path}: ${firstLines(file.message)}`];
      return failed.map(test => `${path}: ${test.fullName}\n${firstLines(test.failureMessages.join('\n'))}`);
    });
}

function firstLines(message: string): string {
  return message.split('\n').slice(0, 40).join('\n');
}

let passed = 0;
const failed: string[] = [];
const passedAgain: string[] = [];
for (const config of ['vitest.config.ts', 'vitest.e2e.config.ts']) {
  const first = runTests(config, []);
  passed += first.numPassedTests;
  const firstFailures = failures(first);
  const files = first.testResults.filter(file => file.status !== 'passed').map(file => file.name);
  if (files.length === 0) {
    // An error outside of every test, such as an unhandled rejection.
    if (!first.success) failed.push(`${config}: an error outside of the tests, see above`);
  } else if (files.length > FILES_TO_REPEAT) failed.push(...firstFailures);
  else {
    const second = runTests(config, files);
    if (second.success) {
      passed += firstFailures.length;
      passedAgain.push(...firstFailures);
    } else failed.push(...firstFailures, ...failures(second).map(failure => `again: ${failure}`));
  }
}
rmSync(folder, { recursive: true, force: true });
if (passedAgain.length > 0) console.log(`Failed, and passed alone:\n\n${passedAgain.join('\n\n')}\n`);
if (failed.length > 0) console.log(`Failed:\n\n${failed.join('\n\n')}\n`);
console.log(`${passed} passed, ${failed.filter(failure => !failure.startsWith('again: ')).length} failed`);
process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;
