/** The smallest folder that can be uploaded as a benchmark. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const task = {
  name: 'one',
  split: 'test',
  run_command: 'answer',
  input_messages: [{ role: 'user', content: 'say a' }],
  grader: { kind: 'exact', expected: 'a' },
};

/** Removed when the test ends. */
export function smallFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-small-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ name: 'one', tasks: [task] }));
  writeFileSync(join(folder, 'a.txt'), 'a');
  return folder;
}
