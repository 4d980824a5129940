/** The files by which the local service is found, and kept to one of a kind, in its data folder. All are 0600. */

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errorMessage } from '../../text/errors.ts';
import { takeLock } from '../../text/file-lock.ts';
import { Keyring, masterKeyLength } from '../store/keyring.ts';

const address = z.object({ base_url: z.string(), api_key: z.string(), pid: z.number(), instance_id: z.string() });
export type ServiceAddress = z.output<typeof address>;

const addressFile = 'service.json';
const keyFile = 'api-key';
const masterKeyFile = 'master-key';
const lockFile = 'lock.db';
const successorFile = 'successor';
/** An announced service that has not come by then does not come. */
const successorMs = 10_000;

/** A data folder that cannot be used; the message says why and what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

function describe(folder: string, error: unknown): DataFolderError {
  const reason = errorMessage(error).replace(/\.$/, '');
  return new DataFolderError(
    `The data folder ${folder} cannot be used: ${reason}. Set BENCHTOP_DATA_DIR to another one.`,
  );
}

/** @throws DataFolderError */
export function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw describe(folder, error);
  }
}

function writePrivate(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  const fresh = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    // A new file and no link that another user has put there.
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw describe(folder, error);
  }
}

/**
 * The key that seals and signs for this folder; made the first time.
 *
 * @throws DataFolderError for a key that is damaged: with another one, what was sealed could not be opened
 */
export function keyringOf(folder: string): Keyring {
  const path = join(folder, masterKeyFile);
  if (!existsSync(path)) writePrivate(folder, masterKeyFile, randomBytes(masterKeyLength).toString('base64'));
  let key: Buffer;
  try {
    key = Buffer.from(readFileSync(path, 'utf8'), 'base64');
  } catch (error) {
    throw describe(folder, error);
  }
  if (key.byteLength === masterKeyLength) return new Keyring(key);
  throw new DataFolderError(
    `The key ${path} is damaged: it has ${key.byteLength} bytes instead of ${masterKeyLength}. Put it back from a copy: no other key opens the stored secrets. Or set BENCHTOP_DATA_DIR to another folder.`,
  );
}

/** The key of the folder's first organization; made the first time. */
export function apiKeyOf(folder: string): string {
  try {
    const known = readFileSync(join(folder, keyFile), 'utf8').trim();
    if (known !== '') return known;
  } catch {
    // Not there yet.
  }
  const key = `sk-local-${randomBytes(24).toString('base64url')}`;
  writePrivate(folder, keyFile, `${key}\n`);
  return key;
}

export function writeAddress(folder: string, service: ServiceAddress): void {
  writePrivate(folder, addressFile, JSON.stringify(service));
}

/** Where the service of this folder was last; undefined if there is none, or what is there cannot be read. */
export function readAddress(folder: string): ServiceAddress | undefined {
  try {
    return address.parse(JSON.parse(readFileSync(join(folder, addressFile), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Takes the address away, unless another service has written its own. */
export function removeAddress(folder: string, instanceId: string): void {
  if (readAddress(folder)?.instance_id === instanceId) rmSync(join(folder, addressFile), { force: true });
}

/**
 * Says that another service is about to take the place of the one that runs, so that other programs which miss that wait for
 * the new one instead of starting theirs.
 */
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

/** The service that was announced has come. */
export function withdrawSuccessor(folder: string): void {
  rmSync(join(folder, successorFile), { force: true });
}

/**
 * Takes the folder for this process until it ends, however it ends. Returns the function that gives it up, or undefined
 * if another process has it.
 *
 * @throws DataFolderError if the lock itself cannot be used
 */
export function lockFolder(folder: string): (() => void) | undefined {
  const path = join(folder, lockFile);
  try {
    return takeLock(path);
  } catch (error) {
    const reason = errorMessage(error);
    throw new DataFolderError(
      `The lock ${path} cannot be used: ${reason}. It holds no data: end every benchtop, delete it, and start again.`,
    );
  }
}

/** Whether a process has the folder at this moment. @throws DataFolderError if the lock itself cannot be used */
export function isFolderLocked(folder: string): boolean {
  if (!existsSync(join(folder, lockFile))) return false;
  const unlock = lockFolder(folder);
  unlock?.();
  return unlock === undefined;
}
