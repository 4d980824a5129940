/** Requests outside the contract: any path on the service, with the usual credentials, retries and redaction. */
import * as z from 'zod/mini';
import type { Endpoint, Method } from '../contract/common.ts';
import { WireFailure } from '../net/failure.ts';
import type { Client } from './client.ts';
import { openOperation, readText } from './operation.ts';
import { type CallOptions, defaultMaxBytes } from './options.ts';

interface RawRequest {
  readonly method: Method;
  /** Path below the service's address, with its query. Begins with a slash. */
  readonly path: string;
  /** JSON, sent unchanged. */
  readonly body?: Uint8Array | undefined;
}

/** Sends the request and returns the response text. @throws ServiceError */
export type SendRaw = (request: RawRequest, options?: CallOptions) => Promise<string>;

export function rawSender(client: Client): SendRaw {
  return async ({ method, path, body }, options = {}) => {
    // Braces would be placeholders.
    const pattern = path.replaceAll(/[{}]/g, encodeURIComponent);
    const raw: Endpoint = { operation: 'raw', method, path: pattern, auth: 'apiKey', response: z.unknown() };
    const open = await openOperation(client, raw, {}, { ...options, at: path, payload: body });
    try {
      return await readText(open.answer, open.facts, options.maxBytes ?? defaultMaxBytes);
    } catch (error) {
      throw error instanceof WireFailure ? open.failed(error, open.facts) : error;
    } finally {
      open.end();
    }
  };
}
