import type { Stats } from 'node:fs';
import { type Danger, folderSharing, type Sharing, sharingOf } from '../base/ownership.ts';
import { ConfigError } from './origin.ts';

function refusal(path: string, { words, fix }: Sharing, why: string): ConfigError {
  return new ConfigError(`${path} ${words}, and ${why}. The file was not used. ${fix}`);
}

/**
 * Refuses a file that other users may read or change. Windows has no such modes and is skipped.
 *
 * @param why the content that makes this dangerous
 * @throws ConfigError that names the file and the command that fixes its mode
 */
export function refuseShared(path: string, stats: Pick<Stats, 'uid' | 'mode'>, danger: Danger, why: string): void {
  const sharing = sharingOf(path, stats, danger, danger === 'read' ? '600' : 'go-w');
  if (sharing) throw refusal(path, sharing, why);
}

/** Refuses a file that other users may replace, because they may change its folder. @throws ConfigError */
export function refuseSharedFolder(folder: string, why: string): void {
  const sharing = folderSharing(folder);
  if (sharing) throw refusal(folder, sharing, why);
}
