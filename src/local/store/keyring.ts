/**
 * A data folder's cryptographic keys: one random master key in a private file, from which HKDF (RFC 5869) derives a key
 * for each use, so that a signature for one use is invalid for any other.
 */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

export const masterKeyLength = 32;
const nonceLength = 12;
const tagLength = 16;

/** A value was sealed with another key or for another owner, or has been changed. */
class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** The uses of signatures: upload addresses, ids of benchmarks before ingest, trajectory tokens, and settings. */
type SignedUse = 'upload' | 'benchmark' | 'trajectory' | 'settings';

export class Keyring {
  readonly #master: Uint8Array;

  /** @throws RangeError for a key that is not {@link masterKeyLength} bytes long */
  constructor(master: Uint8Array) {
    if (master.byteLength !== masterKeyLength) {
      throw new RangeError(`The key of the data folder has ${master.byteLength} bytes instead of ${masterKeyLength}.`);
    }
    this.#master = master;
  }

  #key(use: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#master, '', `benchtop ${use}`, 32));
  }

  /** HMAC-SHA256 over the parts and their boundaries. */
  sign(use: SignedUse, parts: readonly (string | number)[]): string {
    return createHmac('sha256', this.#key(use)).update(JSON.stringify(parts)).digest('base64url');
  }

  verify(use: SignedUse, parts: readonly (string | number)[], signature: string): boolean {
    const expected = Buffer.from(this.sign(use, parts));
    const actual = Buffer.from(signature);
    return expected.length === actual.length && timingSafeEqual(expected, actual);
  }

  /** Encrypts with AES-256-GCM. `owner` is authenticated: the value can be opened only for the same owner. */
  seal(owner: string, value: string): Uint8Array {
    const nonce = randomBytes(nonceLength);
    const cipher = createCipheriv('aes-256-gcm', this.#key('secrets'), nonce);
    cipher.setAAD(Buffer.from(owner));
    const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  /** @throws SealBroken */
  open(owner: string, sealed: Uint8Array): string {
    const nonce = sealed.subarray(0, nonceLength);
    const tag = sealed.subarray(nonceLength, nonceLength + tagLength);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key('secrets'), nonce);
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(tag);
      const text = Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
      return text.toString('utf8');
    } catch (error) {
      throw new SealBroken('A stored secret cannot be opened with the key of this data folder.', { cause: error });
    }
  }
}
