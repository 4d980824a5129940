import { ConfigError, type Origin } from './origin.ts';

/**
 * Refuses a file that group or others may read or write. Windows has no such modes and is not asked.
 * @throws ConfigError naming the file and the command that fixes it.
 */
export function refuseShared(path: string, mode: number, why: string, origin?: Origin): void {
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  throw new ConfigError(
    `${path} can be read or changed by other users (mode ${shown}), and ${why}. Nothing of it was used. Run: chmod 600 ${quoted(path)}`,
    origin,
  );
}

/** The path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
