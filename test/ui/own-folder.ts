/** The current folder, where exports are saved; other tests save there at the same time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach } from 'vitest';

/** Gives each test of the file, or of the group, an empty current folder. */
export function inOwnFolders(): void {
  beforeEach(() => {
    const before = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-own-'));
    process.chdir(folder);
    return () => {
      process.chdir(before);
      rmSync(folder, { recursive: true, force: true });
    };
  });
}
