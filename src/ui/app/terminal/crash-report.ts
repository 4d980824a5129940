/** Failure reports: private files without secrets. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorStack } from '../../../base/errors.ts';
import { makePrivateFolder } from '../../../base/ownership.ts';

/**
 * Writes a report on `error`, with its stack. `details` are additional lines, e.g. the component stack. Returns the
 * path; undefined if the report cannot be written.
 */
export function writeCrashReport(
  folder: string,
  error: unknown,
  redact: (text: string) => string,
  details: string,
): string | undefined {
  const time = new Date().toISOString();
  const lines = [
    `time ${time}`,
    `node ${process.version} ${process.platform} ${process.arch}`,
    '',
    errorStack(error),
    details,
    '',
  ];
  // Short enough for the screen: `crash-20261121T093012345Z.txt`.
  const path = join(folder, `crash-${time.replaceAll(/[-:.]/g, '')}.txt`);
  try {
    makePrivateFolder(folder);
    writeFileSync(path, redact(lines.join('\n')), { mode: 0o600, flag: 'wx' });
    return path;
  } catch {
    return undefined;
  }
}
