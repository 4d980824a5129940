/** Changes to a file. */
import { pbkdf2 } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { watchForChanges } from '../../src/base/watched-file.ts';
import { eventually } from '../eventually.ts';

function watched(before?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  if (before !== undefined) writeFileSync(path, before);
  const seen = { changes: 0 };
  const stop = watchForChanges(path, 5, () => {
    seen.changes += 1;
  });
  onTestFinished(stop);
  return { path, seen, stop };
}

it('notices a change right after the call, even while all file threads are busy', async () => {
  for (let count = 0; count < 8; count += 1) pbkdf2('a', 'b', 100_000, 64, 'sha512', () => {});
  const { path, seen } = watched('old');
  writeFileSync(path, 'changed');
  await eventually(() => expect(seen.changes).toBe(1));
});

it('notices created and deleted files, and nothing once it is stopped', async () => {
  const { path, seen, stop } = watched();
  writeFileSync(path, 'new');
  await eventually(() => expect(seen.changes).toBe(1));
  rmSync(path);
  await eventually(() => expect(seen.changes).toBe(2));
  stop();
  const other = watched();
  for (const each of [path, other.path]) writeFileSync(each, 'newer');
  await eventually(() => expect(other.seen.changes).toBe(1));
  expect(seen.changes).toBe(2);
});
