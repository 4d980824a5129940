/** What is left behind when the program fails: a file for the user alone, without secrets. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the report and gives its path, or undefined where it cannot be written. */
export function writeCrashReport(folder: string, error: unknown, redact: (text: string) => string): string | undefined {
  const time = new Date().toISOString();
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const report = [`time ${time}`, `node ${process.version} ${process.platform} ${process.arch}`, '', stack, ''].join(
    '\n',
  );
  const path = join(folder, `crash-${time.replaceAll(':', '-')}.txt`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, redact(report), { mode: 0o600, flag: 'wx' });
    return path;
  } catch {
    return undefined;
  }
}
