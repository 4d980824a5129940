/**
 * The files in the data folder by which programs find the local service and ensure that there is only one. Mode 0600.
 */

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod/mini';
import { errorCode, errorMessage, isDamagedDatabase, isDiskFull, sqliteCode } from '../../base/errors.ts';
import { takeLock } from '../../base/file-lock.ts';
import { fileSharing, folderSharing, makePrivateFolder, SharedError } from '../../base/ownership.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { databasePath } from '../store/database-path.ts';
import { Keyring, masterKeyLength } from '../store/keyring.ts';

const address = z.object({ base_url: z.string(), api_key: z.string(), pid: z.number(), instance_id: z.string() });
export type ServiceAddress = z.output<typeof address>;

const addressFile = 'service.json';
const keyFile = 'api-key';
const masterKeyFile = 'master-key';
const lockFile = 'lock.db';
const holderFile = 'lock.pid';
const successorFile = 'successor';
/** Files that hold a key, or decide where a key is sent. */
const secretFiles = [addressFile, keyFile, masterKeyFile];

/** Describes how other users can access the folder or its secret files; undefined if they cannot. */
export function dataFolderSharing(folder: string): SharedError | undefined {
  const sharing = folderSharing(folder);
  if (sharing) return new SharedError(folder, sharing);
  for (const name of [...secretFiles, lockFile]) {
    const path = join(folder, name);
    const found = fileSharing(path, name === lockFile ? 'change' : 'read');
    if (found) return new SharedError(path, found);
  }
  return undefined;
}
/** If an announced service has not started after this long, it will not start. */
const successorMs = 10_000;

/** The data folder is unusable. The message gives the reason and advice. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

function describe(folder: string, error: unknown): DataFolderError {
  if (error instanceof SharedError)
    return new DataFolderError(
      `The data folder cannot be used: ${error.message}, or set BENCHTOP_DATA_DIR to another.`,
    );
  const reason = errorMessage(error).replace(/\.$/, '');
  const advice = isDiskFull(error) ? `Free some space, ${otherwiseAdvice}` : 'Set BENCHTOP_DATA_DIR to another one';
  return new DataFolderError(`The data folder ${folder} cannot be used: ${reason}. ${advice}.`);
}

/** Whether the file system is read-only, where SQLite cannot open or write a file. */
const isReadOnly = (error: unknown): boolean => errorCode(error) === 'EROFS' || sqliteCode(error) === 8;

const otherwiseAdvice = 'or set BENCHTOP_DATA_DIR to another folder';

/** Explains that the database is damaged, with advice. */
function damageMessage(folder: string, error: unknown): string {
  return `The database ${databasePath(folder)} is damaged: ${errorMessage(error).replace(/\.$/, '')}. Nothing in it was changed. Restore it from a backup, move it away to start without its data, ${otherwiseAdvice}.`;
}

/** Turns the error of a failed start into a DataFolderError with advice, if the folder or its files caused it. */
export function startError(folder: string, error: unknown): unknown {
  if (isDamagedDatabase(error)) return new DataFolderError(damageMessage(folder, error));
  const isOfFolder = sqliteCode(error) !== undefined || /^E(?!RR_)/.test(errorCode(error) ?? '');
  return isOfFolder && !(error instanceof DataFolderError) ? describe(folder, error) : error;
}

/** Creates the folder, and checks that other users cannot write to it. @throws DataFolderError */
export function makeDataFolder(folder: string): void {
  try {
    makePrivateFolder(folder);
    const sharing = dataFolderSharing(folder);
    if (sharing) throw sharing;
  } catch (error) {
    throw describe(folder, error);
  }
}

function writePrivate(folder: string, name: string, text: string): void {
  try {
    replaceFile(join(folder, name), text);
  } catch (error) {
    throw describe(folder, error);
  }
}

/** Files and folders that are created after the database. If any of them exists, the database is not new. */
const laterFiles: ReadonlySet<string> = new Set([masterKeyFile, keyFile, 'uploads', 'checkpoints', 'deployments']);

/**
 * Rejects a database that has lost its content and would pass for a new one.
 *
 * @throws DataFolderError
 */
export function refuseEmptyDatabase(folder: string): void {
  const path = databasePath(folder);
  if (statSync(path, { throwIfNoEntry: false })?.size !== 0) return;
  const others = readdirSync(folder).filter(name => laterFiles.has(name));
  if (others.length === 0) return;
  throw new DataFolderError(
    `The database ${path} is empty, although the folder has ${others.sort().join(', ')}. Restore it from a backup, delete it to start without its data, ${otherwiseAdvice}.`,
  );
}

/** Whether the database holds secrets, which only the master key decrypts. */
function hasSecrets(folder: string): boolean {
  const path = databasePath(folder);
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const isTable = database.prepare("select 1 from sqlite_schema where name = 'secrets'").get() !== undefined;
    return isTable && database.prepare('select 1 from secrets limit 1').get() !== undefined;
  } finally {
    database.close();
  }
}

/**
 * A keyring with the folder's master key, which is created on first use.
 *
 * @throws DataFolderError if the key is damaged, or missing although secrets exist, which a new key could not decrypt
 */
export function keyringOf(folder: string): Keyring {
  const path = join(folder, masterKeyFile);
  if (!existsSync(path) && hasSecrets(folder)) {
    throw new DataFolderError(
      `The key ${path} is missing, and the database holds secrets that no other key can decrypt. Restore it from a backup, move the database away to start without its data, ${otherwiseAdvice}.`,
    );
  }
  if (!existsSync(path)) writePrivate(folder, masterKeyFile, randomBytes(masterKeyLength).toString('base64'));
  let key: Buffer;
  try {
    key = Buffer.from(readFileSync(path, 'utf8'), 'base64');
  } catch (error) {
    throw describe(folder, error);
  }
  if (key.byteLength === masterKeyLength) return new Keyring(key);
  throw new DataFolderError(
    `The key ${path} is damaged: it has ${key.byteLength} bytes instead of ${masterKeyLength}. Restore it from a backup: no other key can decrypt the stored secrets. Or set BENCHTOP_DATA_DIR to another folder.`,
  );
}

/** The API key for the folder's first organization, created on first use. */
export function apiKeyOf(folder: string): string {
  try {
    const key = readFileSync(join(folder, keyFile), 'utf8').trim();
    if (key !== '') return key;
  } catch {
    // It does not exist yet.
  }
  const key = `sk-local-${randomBytes(24).toString('base64url')}`;
  writePrivate(folder, keyFile, `${key}\n`);
  return key;
}

export function writeAddress(folder: string, service: ServiceAddress): void {
  writePrivate(folder, addressFile, JSON.stringify(service));
}

/**
 * The address last written by the folder's service; undefined if it is missing or unreadable, or if other users may
 * have written it, because the key is sent there.
 */
export function readAddress(folder: string): ServiceAddress | undefined {
  try {
    const path = join(folder, addressFile);
    if (folderSharing(folder) || fileSharing(path, 'read')) return undefined;
    return address.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Removes the address, unless another service has written its own. */
export function removeAddress(folder: string, instanceId: string): void {
  if (readAddress(folder)?.instance_id === instanceId) rmSync(join(folder, addressFile), { force: true });
}

/** Announces a successor to the running service, so that other programs wait for it instead of starting their own. */
export function announceSuccessor(folder: string): void {
  writePrivate(folder, successorFile, String(process.pid));
}

export function isSuccessorAnnounced(folder: string): boolean {
  try {
    return Math.abs(Date.now() - statSync(join(folder, successorFile)).mtimeMs) < successorMs;
  } catch {
    return false;
  }
}

/** Called once the announced service has started. */
export function withdrawSuccessor(folder: string): void {
  rmSync(join(folder, successorFile), { force: true });
}

/**
 * Locks the folder until this process exits, even if it crashes. Returns a function that unlocks it; undefined if
 * another process holds the lock.
 *
 * @throws DataFolderError if the lock itself is unusable
 */
export function lockFolder(folder: string): (() => void) | undefined {
  const path = join(folder, lockFile);
  try {
    return takeLock(path);
  } catch (error) {
    if (isDiskFull(error) || isReadOnly(error)) throw describe(folder, error);
    const reason = errorMessage(error);
    throw new DataFolderError(
      `The lock ${path} cannot be used: ${reason}. It holds no data: end every benchtop, delete it, and start again.`,
    );
  }
}

/** Records that this process holds the folder's lock, so that it can be found if it stops responding. */
export function recordHolder(folder: string): void {
  writePrivate(folder, holderFile, String(process.pid));
}

export function forgetHolder(folder: string): void {
  rmSync(join(folder, holderFile), { force: true });
}

/** The process that holds the folder's lock; undefined if there is none or its pid is unknown. */
export function holderOf(folder: string): number | undefined {
  if (!isFolderLocked(folder)) return undefined;
  try {
    const pid = Number(readFileSync(join(folder, holderFile), 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a process currently holds the folder's lock. @throws DataFolderError if the lock itself is unusable */
export function isFolderLocked(folder: string): boolean {
  if (!existsSync(join(folder, lockFile))) return false;
  const unlock = lockFolder(folder);
  unlock?.();
  return unlock === undefined;
}
