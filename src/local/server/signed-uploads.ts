/**
 * Signed upload addresses, and the storage behind them. An address contains one file's benchmark, path, size, type and
 * expiry; an HMAC over all of it makes it the only credential. The storage responds in XML, as object stores do.
 */

import type { Context } from 'hono';
import { isDiskFull } from '../../base/errors.ts';
import type { Keyring } from '../store/keyring.ts';
import {
  type DeclaredFile,
  UnknownUpload,
  UploadClosed,
  type UploadFolder,
  UploadMismatch,
} from '../store/upload-folder.ts';

/** How long an address is valid. */
export const uploadLifetimeMs = 15 * 60_000;

export const storagePath = '/storage/:bench_id';

export class SignedUploads {
  readonly #keyring: Keyring;
  readonly #folder: UploadFolder;
  readonly #now: () => number;

  constructor(keyring: Keyring, folder: UploadFolder, now: () => number = Date.now) {
    this.#keyring = keyring;
    this.#folder = folder;
    this.#now = now;
  }

  /** Records the declared files and returns an address for each. */
  allocate(origin: string, benchId: string, files: readonly DeclaredFile[]) {
    const expires = this.#now() + uploadLifetimeMs;
    this.#folder.declare(benchId, files);
    const urls = files.map(({ path, content_type, size_bytes }) => {
      const parts = ['PUT', benchId, path, size_bytes, content_type, expires] as const;
      const query = new URLSearchParams({
        path,
        size: String(size_bytes),
        type: content_type,
        expires: String(expires),
        signature: this.#keyring.sign('upload', parts),
      });
      return { path, url: `${origin}/storage/${benchId}?${query}`, headers: { 'Content-Type': content_type } };
    });
    return { bench_id: benchId, urls, expires_at: new Date(expires).toISOString() };
  }

  /**
   * Handles a request to one of these addresses.
   *
   * @param isIngested whether the benchmark accepts no more files
   * @param onVerified called once the signature is verified
   */
  async receive(
    context: Context,
    isIngested: (benchId: string) => boolean,
    onVerified: () => void = () => {},
  ): Promise<Response> {
    const benchId = context.req.param('bench_id') ?? '';
    const { path = '', size = '', type = '', expires = '', signature = '' } = context.req.query();
    const parts = [context.req.method, benchId, path, Number(size), type, Number(expires)];
    if (!this.#keyring.verify('upload', parts, signature)) {
      return refuse(403, 'SignatureDoesNotMatch', 'The address, the method or its signature has been changed.');
    }
    onVerified();
    if (Number(expires) <= this.#now()) return refuse(403, 'RequestExpired', 'The address has expired.');
    const sent = context.req.header('content-type');
    // A request without a type is accepted. HTTP libraries add a charset.
    if (sent !== undefined && mediaType(sent) !== mediaType(type)) {
      return refuse(403, 'SignatureDoesNotMatch', `The address is for content of the type ${type}.`);
    }
    const length = context.req.header('content-length');
    if (length !== undefined && Number(length) !== Number(size)) {
      return refuse(400, 'EntitySizeMismatch', `The address is for ${size} bytes, not for ${length}.`);
    }
    try {
      const bytes = context.req.raw.body ?? [];
      await this.#folder.receive(benchId, path, Number(size), bytes, () => isIngested(benchId));
    } catch (error) {
      if (error instanceof UploadClosed) return refuse(409, 'ObjectLocked', error.message);
      if (error instanceof UnknownUpload) return refuse(404, 'NoSuchUpload', error.message);
      if (error instanceof UploadMismatch) return refuse(400, 'EntitySizeMismatch', error.message);
      if (isDiskFull(error)) {
        return refuse(
          507,
          'InsufficientStorage',
          'The disk of this machine is full. Nothing was stored; free some space and try again.',
        );
      }
      throw error;
    }
    return context.body(null, 200);
  }
}

/** The type without its parameters. */
function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function refuse(status: number, code: string, message: string): Response {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error>`;
  // The rest of the body is not read, so the connection must close.
  return new Response(body, { status, headers: { 'Content-Type': 'application/xml', Connection: 'close' } });
}
