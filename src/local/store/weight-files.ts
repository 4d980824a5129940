/**
 * Weight files. A file is either complete or missing: it is written to a temporary file, flushed to disk and renamed.
 * Readers verify its hash.
 */

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage } from '../../base/errors.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { CorruptFileError } from '../model/container.ts';
import { sha256 } from './ids.ts';

/** A weight file and its expected hash. */
export interface WeightFile {
  readonly path: string;
  readonly hash: string;
}

/** The weight file is unusable: missing, cut off, changed, or of another kind. */
export class WeightFileError extends Error {
  override readonly name = 'WeightFileError';
  readonly code: 'weights_missing' | 'weights_corrupt';

  constructor(code: WeightFileError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Writes a file atomically and durably. Returns its hash. */
export function writeDurably(path: string, bytes: Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, bytes);
  return sha256(bytes);
}

/** @throws WeightFileError if the hash does not match */
export function readVerified({ path, hash }: WeightFile): Uint8Array {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const reason = errorMessage(error);
    throw new WeightFileError('weights_missing', `The weight file cannot be read: ${reason}.`);
  }
  if (sha256(bytes) !== hash) {
    throw new WeightFileError('weights_corrupt', 'The weight file has been changed or cut off since it was written.');
  }
  return bytes;
}

/** Reads and parses a file. @throws WeightFileError, also if the file is intact but has other content */
export function readVerifiedAs<Content>(file: WeightFile, read: (bytes: Uint8Array) => Content): Content {
  try {
    return read(readVerified(file));
  } catch (error) {
    if (error instanceof CorruptFileError) throw new WeightFileError('weights_corrupt', error.message);
    throw error;
  }
}
