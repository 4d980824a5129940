/**
 * The data folders that services run on, so that `serve --status` and `serve --stop` can point to a service on another
 * folder.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../base/ownership.ts';
import { writeAtomically } from '../config/atomic-file.ts';
import type { LocalAddress } from '../local/daemon/client.ts';

const notesFolder = (state: string): string => join(state, 'services');

/**
 * Records in a file that this process serves a data folder. A failure to write it does no harm.
 *
 * @param state the state folder
 * @returns a function that removes the record
 */
export async function recordServedFolder(state: string, dataFolder: string): Promise<() => Promise<void>> {
  const path = join(notesFolder(state), String(process.pid));
  try {
    makePrivateFolder(notesFolder(state));
    await writeAtomically(path, dataFolder);
  } catch {
    // Without the record, only a hint from --status is missing.
  }
  return () => rm(path, { force: true }).catch(() => {});
}

export interface ServedFolder {
  readonly dataFolder: string;
  readonly address: LocalAddress;
}

/** Services that run on other data folders. Removes records of killed processes. */
export async function otherServedFolders(state: string, dataFolder: string): Promise<readonly ServedFolder[]> {
  const { findService } = await import('../local/daemon/client.ts');
  const names = await readdir(notesFolder(state)).catch(() => []);
  const found = names.map(async (name): Promise<ServedFolder[]> => {
    const path = join(notesFolder(state), name);
    const folder = await readFile(path, 'utf8').catch(() => '');
    if (folder === dataFolder) return [];
    const address = folder === '' ? undefined : await findService(folder);
    if (address) return [{ dataFolder: folder, address }];
    await rm(path, { force: true }).catch(() => {});
    return [];
  });
  return (await Promise.all(found)).flat();
}
