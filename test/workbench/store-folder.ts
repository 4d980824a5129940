/** A path for a store that several starts of the program open in turn. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @param finished registers work for after the test */
export function storeFolder(finished: (done: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-store-'));
  finished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'remembered.db');
}
