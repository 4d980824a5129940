import { ConfigError, type Origin } from './origin.ts';

/** What other users must not be able to do with a file: read a secret, or change what is executed. */
export type Danger = 'read' | 'change';

const refused = {
  read: { mask: 0o077, words: 'read or changed', chmod: '600' },
  change: { mask: 0o022, words: 'changed', chmod: 'go-w' },
};

/**
 * Refuses a file that other users may read or change. Windows has no such modes and is skipped.
 *
 * @param why what in the file makes this dangerous
 * @throws ConfigError naming the file and the command that fixes its mode
 */
export function refuseShared(path: string, mode: number, danger: Danger, why: string, origin?: Origin): void {
  const { mask, words, chmod } = refused[danger];
  if (process.platform === 'win32' || (mode & mask) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  throw new ConfigError(
    `${path} can be ${words} by other users (mode ${shown}), and ${why}. The file was not used. Run: chmod ${chmod} ${quoted(path)}`,
    origin,
  );
}

/** The path quoted for a shell. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
